//! The files of tasks that are gone.

use std::{sync::Mutex, time::Duration};

use a2a_layers::{
    agent::Update,
    blob::{BlobLayer, Collector, MemoryBlobStore, Reference, Referrer},
    operation::{Answer, Operation, OperationRequest, Outcome, ProtocolVersion, SendMessage},
    owner::Owner,
    task::{MemoryTaskStore, ReplyMode, TaskLayer, TaskStore},
    types::{Message, Part, PartContent, Task, TaskState},
};
use futures_util::{Stream, TryStreamExt};
use http::Request;
use tower::{Layer, ServiceExt, service_fn};

use super::*;

pub(crate) const BASE: &str = "https://a.example/files";

fn id_of(url: &str) -> BlobId {
    BlobId::parse(url.strip_prefix(BASE).unwrap().strip_prefix('/').unwrap()).unwrap()
}

fn ann() -> Owner {
    Owner::new("ann")
}

/// An agent that gives back the files it gets, and one of its own.
async fn send<St: BlobStore>(tasks: &MemoryTaskStore, files: &St, owner: &Owner, parts: Vec<Part>) -> Arc<Task> {
    let agent = service_fn(|request: Request<Arc<Message>>| async move {
        let mut updates: Vec<_> = request.body().parts.iter().cloned().map(Update::Part).collect();
        updates.push(Update::Part(Part::raw(&b"own"[..])));
        Ok::<_, BoxError>(a2a_layers::agent::Reply::updates(updates))
    });
    let agent = BlobLayer::new(files.clone()).keep_references(true).layer(agent);
    let service = TaskLayer::with_store(tasks.clone()).layer(agent);
    let mut message = Message::user("x");
    message.parts = parts.into();
    let send = OperationRequest::SendMessage(SendMessage::new(message));
    let mut request = Request::new(Operation::new(ProtocolVersion::V1_0, a2a_layers::call::Binding::JsonRpc, send));
    request.extensions_mut().insert(owner.clone());
    match service.oneshot(request).await.unwrap().into_body() {
        Outcome::Answer(Answer::SentTask(view)) => Arc::clone(view.task()),
        other => panic!("{other:?}"),
    }
}

/// The URLs of a task's files, in its messages and its results.
fn urls(task: &Task) -> Vec<String> {
    let said = task.history.iter().flat_map(|message| &message.parts);
    let made = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    let urls = said.chain(made).filter_map(|part| match &part.content {
        PartContent::Url(url) => Some(url.clone()),
        _ => None,
    });
    urls.collect()
}

async fn is_there<St: BlobStore>(files: &St, url: &str) -> bool {
    files.get(id_of(url)).await.unwrap().is_some()
}

/// A moment, so that what has just been noted is older than no grace at all.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// What every store that keeps references has to do.
pub(crate) async fn keeps_references<St: BlobStore>(store: St) {
    assert!(store.keeps_references());
    let (one, two) = (Referrer::new(ann(), "t/../1 é"), Referrer::new(Owner::anonymous(), "2"));
    let long = Referrer::new(Owner::new("o".repeat(3_000)), "t".repeat(3_000));
    let nameless = Referrer::new(Owner::new(""), "2");
    let id = id_of(&store.put_for(File::new("x").with_filename("a"), &one).await.unwrap());
    let other = id_of(&store.put_for(File::new("y"), &two).await.unwrap());
    let plain = id_of(&store.put(File::new("z")).await.unwrap());
    for referrer in [&two, &one, &nameless, &long] {
        store.refer(id, referrer).await.unwrap();
    }
    store.refer(BlobId::random(), &one).await.unwrap();
    let of = async |id: BlobId| store.references_to(id).await.unwrap();
    let who = |mut references: Vec<Reference>| {
        references.sort_by_key(|reference| (reference.referrer.owner.clone(), reference.referrer.task_id.clone()));
        references.into_iter().map(|reference| reference.referrer).collect::<Vec<_>>()
    };
    let all = [two.clone(), nameless.clone(), one.clone(), long.clone()];
    assert_eq!(who(of(id).await), all);
    assert_eq!(who(of(other).await), std::slice::from_ref(&two));
    assert_eq!(of(plain).await, []);
    // Each is in one part of all.
    let mut listed = Vec::new();
    for part in 0..=u8::MAX {
        let references: Vec<_> = store.references(part).try_collect().await.unwrap();
        assert!(references.iter().all(|reference| reference.blob.part() == part));
        listed.extend(references);
    }
    assert_eq!(listed.len(), 5);
    for reference in &listed {
        assert!(of(reference.blob).await.contains(reference));
    }
    for reference in listed.iter().filter(|reference| reference.referrer != two) {
        for _ in 0..2 {
            store.forget(reference).await.unwrap();
        }
    }
    assert_eq!((who(of(id).await), who(of(other).await)), (vec![two.clone()], vec![two]));
    for _ in 0..2 {
        store.remove(id).await.unwrap();
    }
    assert_eq!(store.get(id).await.unwrap(), None);
    assert!(store.get(other).await.unwrap().is_some() && store.get(plain).await.unwrap().is_some());
}

/// What comes of the files of tasks that come and go.
pub(crate) async fn collects<St: BlobStore>(files: St) {
    let tasks = MemoryTaskStore::new().max_finished(2);
    let untracked = files.put(File::new("before")).await.unwrap();
    let first = send(&tasks, &files, &ann(), vec![Part::raw(&b"a"[..]), Part::raw(&b"b"[..])]).await;
    let [a, b, _, _, own] = urls(&first).try_into().unwrap();
    // Somebody else quotes one of them, and its task outlives the first.
    let second =
        send(&tasks, &files, &Owner::new("bob"), vec![Part::url(&a), Part::url("https://else.example/x")]).await;
    let second_own = urls(&second).pop().unwrap();
    a_moment().await;
    let mut collector = Collector::new(tasks.clone(), files.clone()).grace(Duration::ZERO);
    let done = collector.collect_all().await.unwrap();
    assert_eq!((done.looked_at, done.forgotten, done.removed), (5, 0, 0), "all tasks are there");

    let third = send(&tasks, &files, &ann(), vec![Part::text("x")]).await;
    assert!(tasks.get(&ann(), &first.id).await.is_err(), "the first has gone");
    let young = Collector::new(tasks.clone(), files.clone()).collect_all().await.unwrap();
    assert_eq!((young.looked_at, young.forgotten, young.removed), (6, 0, 0), "the grace is not over");
    // Two at once do no harm.
    let mut another = collector.clone();
    let (one, two) = tokio::join!(collector.collect_all(), another.collect_all());
    assert!(one.unwrap().removed + two.unwrap().removed >= 2);
    for (url, kept) in [(&a, true), (&b, false), (&own, false), (&second_own, true), (&untracked, true)] {
        assert_eq!(is_there(&files, url).await, kept, "{url}");
    }
    assert!(is_there(&files, &urls(&third)[0]).await);
    let done = collector.collect_all().await.unwrap();
    assert_eq!((done.looked_at, done.forgotten, done.removed), (3, 0, 0), "there is nothing left to do");

    // With the last task that quotes it, a file goes.
    for _ in 0..2 {
        send(&tasks, &files, &ann(), vec![Part::text("x")]).await;
    }
    a_moment().await;
    let done = collector.collect_all().await.unwrap();
    assert_eq!((done.forgotten, done.removed), (3, 3));
    for (url, kept) in [(&a, false), (&second_own, false), (&untracked, true)] {
        assert_eq!(is_there(&files, url).await, kept, "{url}");
    }
}

#[tokio::test]
async fn memory_keeps_references() {
    keeps_references(MemoryBlobStore::new(BASE)).await;
}

#[tokio::test]
async fn files_in_memory_go_with_their_tasks() {
    collects(MemoryBlobStore::new(BASE)).await;
}

#[tokio::test]
async fn references_in_memory_count_and_go_with_their_files() {
    let store = MemoryBlobStore::new(BASE).max_bytes(3 * MemoryBlobStore::BYTES_PER_FILE);
    let id = id_of(&store.put(File::new("x")).await.unwrap());
    for task in 0..1_000 {
        store.refer(id, &Referrer::new(ann(), task.to_string())).await.unwrap();
    }
    assert!(store.is_empty(), "the file made room for the references to it");
    let id = id_of(&store.put_for(File::new("x"), &Referrer::new(ann(), "t")).await.unwrap());
    for _ in 0..1_000 {
        store.refer(id, &Referrer::new(ann(), "t")).await.unwrap();
    }
    assert_eq!(store.references_to(id).await.unwrap().len(), 1, "the same one counts once");
    let reference = store.references_to(id).await.unwrap().remove(0);
    store.forget(&reference).await.unwrap();
    store.remove(id).await.unwrap();
    assert!(format!("{store:?}").contains("bytes: 0"), "{store:?}");
}

#[tokio::test]
async fn a_message_that_comes_to_nothing_and_an_answer_without_a_task_leave_nothing_for_ever() {
    let (tasks, files) = (MemoryTaskStore::new(), MemoryBlobStore::new(BASE));
    let layer = BlobLayer::new(files.clone()).keep_references(true);
    let refuses = layer.layer(service_fn(async |_: Request<Arc<Message>>| {
        Err::<&str, _>(Error::new(a2a_layers::error::ErrorKind::Overloaded))
    }));
    let answers = layer
        .layer(service_fn(async |_: Request<Arc<Message>>| Ok::<_, BoxError>(Message::agent(Part::raw(&b"y"[..])))));
    let send = || {
        let send = OperationRequest::SendMessage(SendMessage::new(Message::user(Part::raw(&b"x"[..]))));
        Request::new(Operation::new(ProtocolVersion::V1_0, a2a_layers::call::Binding::JsonRpc, send))
    };
    let layer = TaskLayer::with_store(tasks.clone()).reply(ReplyMode::Auto);
    assert!(layer.layer(refuses).oneshot(send()).await.is_err());
    let answer = layer.layer(answers).oneshot(send()).await.unwrap().into_body();
    let Outcome::Answer(Answer::SentMessage(message)) = answer else { panic!() };
    assert!(matches!(message.parts[0].content, PartContent::Url(_)));
    assert_eq!((files.len(), tasks.len()), (3, 0));
    a_moment().await;
    let mut collector = Collector::new(tasks, files.clone());
    collector.collect_all().await.unwrap();
    assert_eq!(files.len(), 3, "there is time to fetch it");
    collector.grace(Duration::ZERO).collect_all().await.unwrap();
    assert!(files.is_empty());
}

#[tokio::test]
async fn without_notes_or_without_a_task_nothing_is_removed() {
    let files = MemoryBlobStore::new(BASE);
    let agent = service_fn(async |_: Request<Arc<Message>>| Ok::<_, BoxError>("x"));
    let message = || Request::new(Arc::new(Message::user(Part::raw(&b"x"[..]))));
    BlobLayer::new(files.clone()).layer(agent).oneshot(message()).await.unwrap();
    BlobLayer::new(files.clone()).keep_references(true).layer(agent).oneshot(message()).await.unwrap();
    a_moment().await;
    let mut collector = Collector::new(MemoryTaskStore::new(), files.clone()).grace(Duration::ZERO);
    assert_eq!(collector.collect_all().await.unwrap(), Default::default());
    assert_eq!(files.len(), 2);
    let mut collector = Collector::new(MemoryTaskStore::new(), Spy::default());
    assert!(collector.collect().await.unwrap_err().to_string().contains("keeps no references"));
}

/// A store in memory in which somebody quotes a file while its collector is looking at tasks.
#[derive(Clone)]
struct Quoting(MemoryBlobStore, Arc<Mutex<Option<(BlobId, Referrer)>>>);

impl BlobStore for Quoting {
    async fn put(&self, file: File) -> Result<String, BoxError> {
        self.0.put(file).await
    }

    async fn get(&self, id: BlobId) -> Result<Option<File>, BoxError> {
        self.0.get(id).await
    }

    fn keeps_references(&self) -> bool {
        true
    }

    fn references(&self, part: u8) -> impl Stream<Item = Result<Reference, BoxError>> + Send {
        self.0.references(part)
    }

    async fn references_to(&self, blob: BlobId) -> Result<Vec<Reference>, BoxError> {
        let references = self.0.references_to(blob).await;
        let quote = self.1.lock().unwrap().take();
        if let Some((blob, referrer)) = quote {
            self.0.refer(blob, &referrer).await?;
        }
        references
    }

    async fn forget(&self, reference: &Reference) -> Result<(), BoxError> {
        self.0.forget(reference).await
    }

    async fn remove(&self, blob: BlobId) -> Result<(), BoxError> {
        self.0.remove(blob).await
    }
}

#[tokio::test]
async fn a_file_that_is_quoted_while_it_is_looked_at_stays() {
    let (tasks, files) = (MemoryTaskStore::new(), MemoryBlobStore::new(BASE));
    let id = id_of(&files.put_for(File::new("x"), &Referrer::new(ann(), "gone")).await.unwrap());
    tasks.create(&ann(), Arc::new(Task::new("new", "c", TaskState::Working))).await.unwrap();
    a_moment().await;
    let quote = Arc::new(Mutex::new(Some((id, Referrer::new(ann(), "new")))));
    let mut collector = Collector::new(tasks, Quoting(files.clone(), quote)).grace(Duration::ZERO);
    let done = collector.collect_all().await.unwrap();
    assert_eq!((done.forgotten, done.removed), (1, 0));
    assert!(files.get(id).await.unwrap().is_some());
    assert_eq!(&*files.references_to(id).await.unwrap()[0].referrer.task_id, "new");
}

#[tokio::test(start_paused = true)]
async fn it_goes_round_by_itself() {
    let (tasks, files) = (MemoryTaskStore::new(), MemoryBlobStore::new(BASE));
    files.put_for(File::new("x"), &Referrer::new(ann(), "gone")).await.unwrap();
    let collector = Collector::new(tasks, files.clone()).grace(Duration::ZERO);
    let round = tokio::spawn(collector.run(Duration::from_secs(60)));
    tokio::time::sleep(Duration::from_secs(60 * 256)).await;
    assert!(files.is_empty());
    assert!(!round.is_finished());
    round.abort();
}
