use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use a2a_layers::{
    agent::{ArtifactUpdate, Reply, RequestExt, Update},
    error::{BoxError, ErrorKind},
    types::{Artifact, Json, Message, Part},
};
use futures_util::{Stream, StreamExt, future::Either, stream};
use http::Request;
use serde_json::json;
use tokio::sync::Semaphore;
use tower::Service;

/// What agents fail with, and no caller may ever read.
pub(crate) const SECRET: &str = "SECRET-DETAIL";

/// What the scripts of one server share with its test.
#[derive(Debug)]
pub(crate) struct Stage {
    /// How many messages the agent has got.
    pub(crate) calls: AtomicUsize,
    /// How many scripts that wait are being played.
    pub(crate) waiting: AtomicUsize,
    /// How many scripts have done what they wait to do.
    pub(crate) deeds: AtomicUsize,
    /// One permit lets one script go on.
    pub(crate) gate: Semaphore,
}

impl Default for Stage {
    fn default() -> Self {
        let zero = || AtomicUsize::new(0);
        Self { calls: zero(), waiting: zero(), deeds: zero(), gate: Semaphore::new(0) }
    }
}

/// Counts a script that waits, as long as it is there.
struct Waiting(Arc<Stage>);

impl Waiting {
    fn new(stage: Arc<Stage>) -> Self {
        stage.waiting.fetch_add(1, Ordering::SeqCst);
        Self(stage)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An agent that does what the first text of a message says.
#[derive(Clone)]
pub(crate) struct Actor(Arc<Stage>);

impl Actor {
    pub(crate) fn new(stage: Arc<Stage>) -> Self {
        Self(stage)
    }
}

impl Service<Request<Arc<Message>>> for Actor {
    type Response = Reply;
    type Error = BoxError;
    type Future = Ready<Result<Reply, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Arc<Message>>) -> Self::Future {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        ready(self.play(&request))
    }
}

impl Actor {
    fn play(&self, request: &Request<Arc<Message>>) -> Result<Reply, BoxError> {
        let message = request.body();
        let script = message.parts.iter().find_map(Part::as_text).unwrap_or_default();
        if let Some(count) = script.strip_prefix("burst ") {
            let count: usize = count.parse()?;
            return Ok(stream_of(stream::iter((0..count).map(|number| Update::progress(format!("{number:05}"))))));
        }
        if let Some(count) = script.strip_prefix("deltas ") {
            let count: usize = count.parse()?;
            return Ok(stream_of(stream::iter((0..count).map(|_| Update::text("x")))));
        }
        Ok(match script {
            "echo" => Reply::updates(vec![Artifact::new("a1", message.parts[1..].to_vec()).into()]),
            "who" => Reply::updates(vec![Update::data(Json::from(self.facts(request)))]),
            "message" => Reply::message(Message::agent("a direct message")),
            "ask" => Reply::updates(vec![Update::input_required("which?")]),
            "auth" => stream_of(stream::iter([Update::auth_required("log in")]).chain(self.gate(request))),
            "wait" => stream_of(stream::iter([Update::progress("waiting")]).chain(self.gate(request))),
            "wait silently" => stream_of(self.gate(request)),
            "deaf" => {
                let waiting = Waiting::new(Arc::clone(&self.0));
                let never = stream::pending().map(move |update: Update| (update, &waiting).0);
                stream_of(stream::iter([Update::working()]).chain(never))
            }
            "chunks" => Reply::updates(chunks()),
            "orphan" => Reply::updates(vec![ArtifactUpdate::new(artifact("orphan")).appended().into()]),
            "lines" => Reply::updates(vec![artifact("one\ntwo\r\nthree\u{2028}four\u{85}<b>&漢字").into()]),
            "large" => Reply::updates(vec![artifact(&"l".repeat(100 << 10)).into()]),
            "list data" => Reply::updates(vec![Update::data(Json::from(json!([1, "two", null])))]),
            "null data" => Reply::updates(vec![Update::data(Json::from(json!(null)))]),
            "no parts" => Reply::updates(vec![Artifact::new("a1", Vec::new()).into()]),
            "late words" => Reply::updates(vec![Update::completed(), Update::working(), Update::text("late")]),
            "reject" => Reply::updates(vec![Update::rejected("not mine")]),
            "panic" => panic!("{SECRET}"),
            "panic when dropped" => dropped_badly(Update::input_required("which?")),
            "panic when dropped at the end" => dropped_badly(Update::completed()),
            "panic when dropped after a message" => dropped_badly(Message::agent("all of it").into()),
            "panic when canceled" => dropped_badly(Update::working()),
            "panic late" => {
                let panics = stream::once(async { panic!("{SECRET}") });
                stream_of(stream::iter([Update::progress("soon")]).chain(panics))
            }
            "fail" => return Err(SECRET.into()),
            "fail late" => failing(SECRET.into()),
            "refuse" => return Err(a2a_layers::error::Error::new(ErrorKind::ContentTypeNotSupported).into()),
            "refuse late" => failing(a2a_layers::error::Error::new(ErrorKind::UnsupportedOperation).into()),
            _ => Reply::updates(vec![artifact("done").into()]),
        })
    }

    /// Waits for the gate or a cancel; if the gate was first, does the deed and goes on to the end.
    fn gate(&self, request: &Request<Arc<Message>>) -> impl Stream<Item = Update> + Send + use<> {
        let waiting = Waiting::new(Arc::clone(&self.0));
        let cancellation = request.cancellation().clone();
        let end = async move {
            let stage = &waiting.0;
            tokio::select! {
                biased;
                () = cancellation.canceled() => Either::Left(stream::empty()),
                permit = stage.gate.acquire() => {
                    permit.expect("the gate is never closed").forget();
                    stage.deeds.fetch_add(1, Ordering::SeqCst);
                    Either::Right(stream::iter([artifact("done").into(), Update::completed()]))
                }
            }
        };
        stream::once(end).flatten()
    }

    /// What the agent gets to know of a request.
    fn facts(&self, request: &Request<Arc<Message>>) -> serde_json::Value {
        let (message, context) = (request.body(), request.task_context());
        let json = |object: Option<&a2a_layers::types::JsonObject>| {
            object.map(|object| serde_json::from_str::<serde_json::Value>(object.get()).expect("JSON"))
        };
        json!({
            "owner": context.owner().name(),
            "extensions": context.extensions().iter().collect::<Vec<_>>(),
            "metadata": json(context.metadata()),
            "messageMetadata": json(message.metadata.as_ref()),
            "modes": context.accepted_output_modes(),
            "history": context.history().count(),
            "referenced": context.referenced_tasks().iter().map(|task| &*task.id).collect::<Vec<_>>(),
            "trace": request.headers().get("traceparent").and_then(|value| value.to_str().ok()),
            "parts": message.parts.len(),
        })
    }
}

fn stream_of(updates: impl Stream<Item = Update> + Send + 'static) -> Reply {
    Reply::stream(updates.map(Ok::<_, Infallible>))
}

/// Says this and then nothing, and panics when it is dropped.
fn dropped_badly(update: Update) -> Reply {
    struct Bad;

    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("{SECRET}")
        }
    }

    let bad = Bad;
    let silence = stream::pending().map(move |update: Update| (update, &bad).0);
    stream_of(stream::iter([update]).chain(silence))
}

fn failing(error: BoxError) -> Reply {
    Reply::stream(stream::iter([Ok(Update::progress("soon")), Err(error)]))
}

fn artifact(text: &str) -> Artifact {
    Artifact::new("a1", vec![Part::text(text)])
}

/// Three pieces of one artifact.
fn chunks() -> Vec<Update> {
    let with = |text: &str, metadata: serde_json::Value| {
        let metadata = Json::from(metadata).into_object().expect("an object");
        ArtifactUpdate::new(artifact(text).with_metadata(metadata))
    };
    vec![
        with("one ", json!({ "first": 1 })).into(),
        ArtifactUpdate::new(artifact("two ")).appended().into(),
        with("three", json!({ "last": 3 })).appended().last().into(),
    ]
}
