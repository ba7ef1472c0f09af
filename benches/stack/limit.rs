//! The limit: what bare hyper does for the same bytes, with no A2A logic at all.
//!
//! Each handler reads the same request into a plain struct with serde_json, and writes a plain struct of the shape of our
//! answer, for every request anew. It looks up no method, keeps no task, makes no ids (they are constants of the same
//! length) and reads no clock. hyper is as it comes, with its timer, and with TCP_NODELAY.

use std::{
    borrow::Cow,
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::{Deserialize, Serialize};
use tokio::{net::TcpListener, sync::watch};

const ID: &str = "d9d6f4eb-6a5c-479d-81cd-7d855df4b0a7";
const OTHER_ID: &str = "128e402b-5fe5-4756-a2f1-df51f6a72d7d";
const MOMENT: &str = "2026-01-02T03:04:05.678Z";

/// As many files of 1 MiB as the stack is told to keep.
const KEPT_FILES: usize = super::ours::KEPT_BYTES >> 20;

#[derive(Deserialize)]
pub(crate) struct Call<'a, P> {
    #[serde(rename = "jsonrpc", borrow)]
    _jsonrpc: Cow<'a, str>,
    id: u64,
    #[serde(rename = "method", borrow)]
    _method: Cow<'a, str>,
    params: P,
}

#[derive(Deserialize)]
struct Send<M> {
    message: M,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Get {
    #[serde(rename = "id")]
    _id: String,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Message {
    message_id: String,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    context_id: Option<&'static str>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    task_id: Option<&'static str>,
    role: String,
    parts: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
struct Part {
    text: String,
}

impl Message {
    fn text(&self) -> &str {
        self.parts.first().map_or("", |part| &part.text)
    }

    /// As a turn of the task that all answers speak of.
    fn placed(mut self) -> Self {
        (self.context_id, self.task_id) = (Some(OTHER_ID), Some(ID));
        self
    }
}

#[derive(Serialize)]
struct Answer<T> {
    jsonrpc: &'static str,
    id: u64,
    result: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Event<'a> {
    Message(Message),
    Task(Task),
    StatusUpdate(StatusUpdate),
    ArtifactUpdate(ArtifactUpdate<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Task {
    id: &'static str,
    context_id: &'static str,
    status: Status,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact<Vec<Part>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<Message>,
}

#[derive(Serialize)]
struct Status {
    state: &'static str,
    timestamp: &'static str,
}

impl Status {
    const fn of(state: &'static str) -> Self {
        Self { state, timestamp: MOMENT }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact<P> {
    artifact_id: &'static str,
    parts: P,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdate {
    task_id: &'static str,
    context_id: &'static str,
    status: Status,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdate<'a> {
    task_id: &'static str,
    context_id: &'static str,
    artifact: Artifact<[Words<'a>; 1]>,
    append: bool,
}

#[derive(Serialize)]
struct Words<'a> {
    text: &'a str,
}

/// Serves with bare hyper.
pub(crate) async fn serve<H, F, B>(listener: TcpListener, handler: H)
where
    H: Fn(Request<Incoming>) -> F + Clone + std::marker::Send + 'static,
    F: Future<Output = Response<B>> + std::marker::Send,
    B: Body<Data = Bytes, Error = Infallible> + std::marker::Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new());
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (builder, handler) = (builder.clone(), handler.clone());
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = handler(request);
                async move { Ok::<_, Infallible>(answer.await) }
            });
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn whole(request: Request<Incoming>) -> Bytes {
    request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}

fn json(answer: &impl Serialize) -> Response<Full<Bytes>> {
    let mut body = Vec::with_capacity(512);
    serde_json::to_writer(&mut body, answer).expect("it serialises");
    let mut response = Response::new(Full::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

fn answer(id: u64, result: Event<'_>) -> Response<Full<Bytes>> {
    json(&Answer { jsonrpc: "2.0", id, result })
}

fn reply(text: String) -> Event<'static> {
    let message = Message { message_id: OTHER_ID.to_owned(), role: "ROLE_AGENT".to_owned(), ..Message::default() };
    Event::Message(Message { parts: vec![Part { text }], context_id: Some(OTHER_ID), ..message })
}

fn task(state: &'static str, text: Option<String>, message: Message) -> Task {
    let artifact = |text| Artifact { artifact_id: "artifact-1", parts: vec![Part { text }] };
    Task {
        id: ID,
        context_id: OTHER_ID,
        status: Status::of(state),
        artifacts: text.map(artifact).into_iter().collect(),
        history: vec![message.placed()],
    }
}

/// SendMessage, answered with a message.
pub(crate) async fn message(request: Request<Incoming>) -> Response<Full<Bytes>> {
    let body = whole(request).await;
    let call: Call<'_, Send<Message>> = serde_json::from_slice(&body).expect("the load sends JSON");
    answer(call.id, reply(super::ours::said(call.params.message.text())))
}

/// SendMessage, answered with a task.
pub(crate) async fn send(request: Request<Incoming>) -> Response<Full<Bytes>> {
    let body = whole(request).await;
    let call: Call<'_, Send<Message>> = serde_json::from_slice(&body).expect("the load sends JSON");
    let text = super::ours::said(call.params.message.text());
    answer(call.id, Event::Task(task("TASK_STATE_COMPLETED", Some(text), call.params.message)))
}

/// SendMessage over HTTP+JSON, answered with a message: neither side has an envelope.
pub(crate) async fn rest_message(request: Request<Incoming>) -> Response<Full<Bytes>> {
    let body = whole(request).await;
    let send: Send<Message> = serde_json::from_slice(&body).expect("the load sends JSON");
    json(&reply(super::ours::said(send.message.text())))
}

/// SendMessage over HTTP+JSON, answered with a task.
pub(crate) async fn rest_send(request: Request<Incoming>) -> Response<Full<Bytes>> {
    let body = whole(request).await;
    let send: Send<Message> = serde_json::from_slice(&body).expect("the load sends JSON");
    let text = super::ours::said(send.message.text());
    json(&Event::Task(task("TASK_STATE_COMPLETED", Some(text), send.message)))
}

/// GetTask: one task that is always the same is written each time.
pub(crate) fn get() -> impl AsyncHandler {
    let message = Message {
        message_id: "m1".to_owned(),
        role: "ROLE_USER".to_owned(),
        parts: vec![Part { text: super::calls::WORDS.to_owned() }],
        ..Message::default()
    };
    let task = task("TASK_STATE_COMPLETED", Some(super::ours::said(super::calls::WORDS)), message);
    let task = Arc::new(task);
    move |request: Request<Incoming>| {
        let task = Arc::clone(&task);
        async move {
            let body = whole(request).await;
            let call: Call<'_, Get> = serde_json::from_slice(&body).expect("the load sends JSON");
            json(&Answer { jsonrpc: "2.0", id: call.id, result: &*task })
        }
    }
}

/// SendStreamingMessage: a task, two states and a hundred chunks, each written from a plain struct into a frame of its
/// own. With `yields` it yields before each chunk; otherwise all frames are ready at once, and hyper gathers them.
pub(crate) fn stream(yields: bool) -> impl AsyncHandler {
    move |request: Request<Incoming>| async move {
        let body = whole(request).await;
        let call: Call<'_, Send<Message>> = serde_json::from_slice(&body).expect("the load sends JSON");
        let events = events(call.id, call.params.message, yields);
        let mut response = Response::new(StreamBody::new(events));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-cache"));
        headers.insert("x-accel-buffering", header::HeaderValue::from_static("no"));
        response
    }
}

fn events(
    id: u64,
    message: Message,
    yields: bool,
) -> impl stream::Stream<Item = Result<Frame<Bytes>, Infallible>> + std::marker::Send {
    let chunks = super::ours::CHUNKS;
    stream::unfold((1, Some(message)), move |(number, mut message)| async move {
        let update = |state| StatusUpdate { task_id: ID, context_id: OTHER_ID, status: Status::of(state) };
        let result = match number {
            1 => Event::Task(task("TASK_STATE_SUBMITTED", None, message.take()?)),
            2 => Event::StatusUpdate(update("TASK_STATE_WORKING")),
            _ if number <= 2 + chunks => {
                if yields {
                    tokio::task::yield_now().await;
                }
                let artifact = Artifact { artifact_id: "artifact-1", parts: [Words { text: super::ours::CHUNK }] };
                Event::ArtifactUpdate(ArtifactUpdate { task_id: ID, context_id: OTHER_ID, artifact, append: true })
            }
            _ if number == 3 + chunks => Event::StatusUpdate(update("TASK_STATE_COMPLETED")),
            _ => return None,
        };
        let mut frame = Vec::with_capacity(384);
        if number == 1 {
            frame.extend_from_slice(b": connected\n\n");
        }
        frame.extend_from_slice(b"id: ");
        serde_json::to_writer(&mut frame, &number).expect("a number");
        frame.extend_from_slice(b"\ndata: ");
        serde_json::to_writer(&mut frame, &Answer { jsonrpc: "2.0", id, result }).expect("it serialises");
        frame.extend_from_slice(b"\n\n");
        Some((Ok(Frame::data(Bytes::from(frame))), (number + 1, message)))
    })
}

/// The card: bytes that are there, and one comparison of the entity tag.
pub(crate) fn card(card: Bytes, headers: HeaderMap) -> impl AsyncHandler {
    let shared = Arc::new((card, headers));
    move |request: Request<Incoming>| {
        let shared = Arc::clone(&shared);
        async move {
            let (card, headers) = &*shared;
            let fresh =
                request.headers().get(header::IF_NONE_MATCH).is_some_and(|tag| headers.get(header::ETAG) == Some(tag));
            let mut response = Response::new(Full::new(if fresh { Bytes::new() } else { card.clone() }));
            *response.headers_mut() = headers.clone();
            if fresh {
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                response.headers_mut().remove(header::CONTENT_LENGTH);
                response.headers_mut().remove(header::CONTENT_TYPE);
            }
            response
        }
    }
}

#[derive(Deserialize)]
struct FileMessage<'a> {
    #[serde(rename = "messageId")]
    _message_id: String,
    #[serde(rename = "role")]
    _role: String,
    #[serde(borrow)]
    parts: [File<'a>; 1],
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    raw: &'a str,
    #[serde(rename = "mediaType")]
    _media_type: String,
}

/// SendMessage with an inline file: its base64 is borrowed from the body, decoded with the base64 crate, and the bytes
/// are kept; the oldest go beyond what our store is told to keep. The answer is a task, without its history.
pub(crate) fn file() -> impl AsyncHandler {
    let files = Arc::new(Mutex::new(VecDeque::new()));
    move |request: Request<Incoming>| {
        let files = Arc::clone(&files);
        async move {
            let body = whole(request).await;
            let call: Call<'_, Send<FileMessage<'_>>> = serde_json::from_slice(&body).expect("the load sends JSON");
            let bytes = STANDARD.decode(call.params.message.parts[0].raw).expect("the load sends base64");
            if let Ok(mut files) = files.lock() {
                files.push_back(bytes);
                if files.len() > KEPT_FILES {
                    files.pop_front();
                }
            }
            let task = task("TASK_STATE_COMPLETED", Some(super::ours::said("")), Message::default());
            answer(call.id, Event::Task(Task { history: Vec::new(), ..task }))
        }
    }
}

/// A handler whose body's type does not matter.
pub(crate) trait AsyncHandler: Clone + std::marker::Send + 'static {
    fn serve(self, listener: TcpListener) -> impl Future<Output = ()> + std::marker::Send;
}

impl<H, F, B> AsyncHandler for H
where
    H: Fn(Request<Incoming>) -> F + Clone + std::marker::Send + 'static,
    F: Future<Output = Response<B>> + std::marker::Send,
    B: Body<Data = Bytes, Error = Infallible> + std::marker::Send + 'static,
{
    async fn serve(self, listener: TcpListener) {
        serve(listener, self).await;
    }
}

/// A body of ready bytes, so many times, once the gate opens; with or without a yield before each.
pub(crate) fn gated(gate: watch::Receiver<bool>, event: Bytes, events: usize, yields: bool) -> impl AsyncHandler {
    move |request: Request<Incoming>| {
        let (gate, event) = (gate.clone(), event.clone());
        async move {
            drop(whole(request).await);
            Response::new(StreamBody::new(stream::unfold(
                (0, gate, event),
                move |(sent, mut gate, event)| async move {
                    if sent == 0 {
                        let _ = gate.wait_for(|open| *open).await;
                    } else if yields {
                        tokio::task::yield_now().await;
                    }
                    let frame = Frame::data(event.clone());
                    (sent < events).then_some((Ok::<_, Infallible>(frame), (sent + 1, gate, event)))
                },
            )))
        }
    }
}

/// A body that says one thing and then nothing, for ever.
pub(crate) async fn silent(request: Request<Incoming>) -> Response<impl Body<Data = Bytes, Error = Infallible>> {
    drop(whole(request).await);
    let first = stream::iter([Ok(Frame::data(Bytes::from_static(b"data: {}\n\n")))]);
    Response::new(StreamBody::new(first.chain(stream::pending())))
}
