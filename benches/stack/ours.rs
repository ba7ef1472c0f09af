//! The stack under measure: the ready-made mount, around agents that do next to nothing.

use std::{convert::Infallible, sync::Arc};

use a2a_layers::{
    agent::{IntoReply, Reply, Update},
    blob::MemoryBlobStore,
    error::BoxError,
    owner::Owner,
    part::Input,
    server::{A2aService, Mount},
    task::{MemoryTaskStore, ReplyMode, TaskStore},
    types::{Artifact, Message, Part, Role, Task, TaskState},
};
use futures_util::{StreamExt, stream};
use http::Request;
use tokio::sync::watch;
use tower::service_fn;

/// How many chunks a stream has.
pub(crate) const CHUNKS: usize = 100;
/// What a chunk says.
pub(crate) const CHUNK: &str = "a few words ";
/// How many bytes of files are kept.
pub(crate) const KEPT_BYTES: usize = 64 << 20;

/// What every agent answers, and the limit too.
pub(crate) fn said(text: &str) -> String {
    format!("You said: {text}")
}

/// An agent that answers with a text; it comes back as a task.
pub(crate) fn send<B: Body>() -> A2aService<B> {
    mount(|input| said(input.text()))
}

/// An agent that answers with a whole message, which comes back as it is.
pub(crate) fn message<B: Body>() -> A2aService<B> {
    mount_of(answering(), ReplyMode::Auto, false)
}

/// The same agent over gRPC.
#[cfg(feature = "grpc")]
pub(crate) fn grpc_message<B: Body>() -> A2aService<B> {
    mount_of(answering(), ReplyMode::Auto, true)
}

fn answering() -> impl Fn(Input) -> Message + Clone + Send + Sync + 'static {
    |input| Message::agent(said(input.text()))
}

/// An agent that streams, with or without a yield before each chunk.
pub(crate) fn stream<B: Body>(yields: bool) -> A2aService<B> {
    mount(streaming(yields))
}

/// The same agent over gRPC.
#[cfg(feature = "grpc")]
pub(crate) fn grpc_stream<B: Body>(yields: bool) -> A2aService<B> {
    mount_of(streaming(yields), ReplyMode::Task, true)
}

/// The agent of [`send`] over gRPC.
#[cfg(feature = "grpc")]
pub(crate) fn grpc_send<B: Body>() -> A2aService<B> {
    mount_of(|input: Input| said(input.text()), ReplyMode::Task, true)
}

fn streaming(yields: bool) -> impl Fn(Input) -> Reply + Clone + Send + Sync + 'static {
    move |_| {
        let chunks = stream::iter(std::iter::repeat_n(CHUNK, CHUNKS));
        if yields {
            Reply::stream(chunks.then(|chunk| async move {
                tokio::task::yield_now().await;
                Ok::<_, Infallible>(chunk)
            }))
        } else {
            Reply::stream(chunks.map(Ok::<_, Infallible>))
        }
    }
}

/// An agent that takes files, which go into memory; so many finished tasks are kept.
pub(crate) fn file<B: Body>(tasks: usize) -> A2aService<B> {
    let agent = service_fn(|request: Request<Input>| async move { Ok::<_, Infallible>(said(request.body().text())) });
    let store = MemoryBlobStore::new("http://127.0.0.1:8000/blobs").max_bytes(KEPT_BYTES);
    Mount::new("bench", agent)
        .task_store(MemoryTaskStore::new().max_finished(tasks))
        .blob_store(store, None)
        .build()
        .expect("a mount")
}

/// An agent that says nothing until the gate opens, and then so many chunks, with or without a yield before each.
pub(crate) fn gated<B: Body>(gate: watch::Receiver<bool>, chunks: usize, yields: bool) -> A2aService<B> {
    mount(move |_| {
        let mut gate = gate.clone();
        let opened = async move {
            let _ = gate.wait_for(|open| *open).await;
            stream::iter(std::iter::repeat_n(CHUNK, chunks))
        };
        let chunks = stream::once(opened).flatten();
        Reply::stream(chunks.then(move |chunk| async move {
            if yields {
                tokio::task::yield_now().await;
            }
            Ok::<_, Infallible>(chunk)
        }))
    })
}

/// An agent that streams so many chunks.
pub(crate) fn long<B: Body>(chunks: usize) -> A2aService<B> {
    mount(move |_| Reply::stream(stream::iter(std::iter::repeat_n(CHUNK, chunks).map(Ok::<_, Infallible>))))
}

/// An agent that always asks back.
pub(crate) fn asking<B: Body>() -> A2aService<B> {
    mount(|_| Update::input_required("And then?"))
}

/// Like [`send`], but few finished tasks are kept.
pub(crate) fn forgetful<B: Body>(kept: usize) -> A2aService<B> {
    let agent = service_fn(|request: Request<Input>| async move { Ok::<_, Infallible>(said(request.body().text())) });
    let store = MemoryTaskStore::new().max_finished(kept);
    Mount::new("bench", agent).task_store(store).build().expect("a mount")
}

/// A mount with finished tasks in its store, and their ids.
pub(crate) async fn with_tasks<B: Body>(count: usize) -> (A2aService<B>, Vec<String>) {
    let store = MemoryTaskStore::new().max_finished(count.max(MemoryTaskStore::DEFAULT_MAX_FINISHED));
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        let task = finished();
        ids.push(task.id.to_string());
        store.create(&Owner::anonymous(), Arc::new(task)).await.expect("a new task");
    }
    let agent = service_fn(|_: Request<Input>| async move { Ok::<_, Infallible>("") });
    (Mount::new("bench", agent).task_store(store).build().expect("a mount"), ids)
}

fn finished() -> Task {
    let id = |message: Message| message.message_id;
    let new = || id(Message::new(Role::User, Vec::new()));
    let mut task = Task::new(new(), new(), TaskState::Completed);
    task.artifacts.push(Arc::new(Artifact::new("artifact-1", vec![Part::text(said(super::calls::WORDS))])));
    let message = Message::user(Part::text(super::calls::WORDS)).with_message_id("m1");
    let message = message.with_task_id(Arc::clone(&task.id)).with_context_id(Arc::clone(&task.context_id));
    task.history.push(Arc::new(message));
    task
}

fn mount<B: Body, R: IntoReply>(agent: impl Fn(Input) -> R + Clone + Send + Sync + 'static) -> A2aService<B> {
    mount_of(agent, ReplyMode::Task, false)
}

fn mount_of<B: Body, R: IntoReply>(
    agent: impl Fn(Input) -> R + Clone + Send + Sync + 'static,
    reply: ReplyMode,
    grpc: bool,
) -> A2aService<B> {
    let agent = service_fn(move |request: Request<Input>| {
        let answer = agent(request.into_body()).into_reply();
        async move { Ok::<_, Infallible>(answer) }
    });
    let mount = Mount::new("bench", agent).reply(reply);
    #[cfg(feature = "grpc")]
    let mount = if grpc { mount.grpc() } else { mount };
    #[cfg(not(feature = "grpc"))]
    let _ = grpc;
    mount.build().expect("a mount")
}

/// Any body that a request may have.
pub(crate) trait Body: http_body::Body<Data: Send, Error: Into<BoxError>> + Send + 'static {}

impl<B: http_body::Body<Data: Send, Error: Into<BoxError>> + Send + 'static> Body for B {}
