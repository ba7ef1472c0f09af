//! A store for files between the task and the agent: what the history keeps.

use std::time::Duration;

use a2a_layers::{
    blob::{BlobId, BlobLayer, BlobStore, File, MemoryBlobStore},
    operation::ListTasks,
    task::TaskLayer,
    types::{Part, PartContent},
};
use futures_util::FutureExt;

use super::*;

/// A store that takes a second for a file, and takes none whose name is `broken`.
#[derive(Clone)]
struct Slow(MemoryBlobStore);

impl BlobStore for Slow {
    async fn put(&self, file: File) -> Result<String, BoxError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if file.filename.as_deref() == Some("broken") {
            return Err("the disk is full".into());
        }
        self.0.put(file).await
    }

    async fn get(&self, id: BlobId) -> Result<Option<File>, BoxError> {
        self.0.get(id).await
    }
}

fn server<St: BlobStore>(store: St) -> Server {
    Server::new(TaskLayer::new(), BlobLayer::new(store).layer(asking()))
}

fn file(name: &str) -> Message {
    let mut message = Message::user("look");
    message.parts.push(Part::raw(&b"bytes"[..]).with_filename(name));
    message
}

fn url(task: &Task) -> &str {
    match &task.history[0].parts[1].content {
        PartContent::Url(url) => url,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_history_keeps_urls_and_no_bytes() {
    let server = server(MemoryBlobStore::new("https://files.example"));
    let view = server.send(file("a")).await.unwrap();
    assert!(url(view.task()).starts_with("https://files.example/"));
    assert_eq!(view.task().history[0].parts[1].filename.as_deref(), Some("a"));
    let after = server.send(follow_up(&view.task().id, "that one")).await.unwrap();
    assert_eq!(url(after.task()), url(view.task()));
}

#[tokio::test]
async fn a_follow_up_keeps_urls_too() {
    let server = server(MemoryBlobStore::new("https://files.example"));
    let task = Arc::clone(server.send("hi").await.unwrap().task());
    let after = server.send(file("a").with_task_id(task.id.clone())).await.unwrap();
    let last = after.task().history.last().unwrap();
    assert!(matches!(&last.parts[1].content, PartContent::Url(url) if url.starts_with("https://files.example/")));
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_holds_the_task_back_and_not_its_history() {
    let server = server(Slow(MemoryBlobStore::new("https://files.example")));
    let mut request = file("a").into_send();
    request.configuration.return_immediately = true;
    let mut sending = Box::pin(server.send(request));
    assert!(sending.as_mut().now_or_never().is_none());
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 0);
    let view = sending.await.unwrap();
    assert!(url(view.task()).starts_with("https://files.example/"));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_stored_leaves_no_task() {
    let server = server(Slow(MemoryBlobStore::new("https://files.example")));
    let error = server.send(file("broken")).await.unwrap_err();
    assert_eq!((error.code(), &*error.message()), (-32603, "Internal error"));
    assert_eq!(code(server.stream(file("broken")).await), -32603);
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 0);
}
