//! What goes in and out, small and large.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use a2a_layers::{
    call::Binding,
    encoded::Frame,
    error::Error,
    operation::{Operation, OperationRequest, ProtocolVersion, SendMessage},
    types::{Artifact, Event, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, Timestamp},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::{Stream, stream};
use http::{HeaderValue, Request, Response, header};

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;

pub(crate) const ID: &str = "3f1c9a52-6f0b-4f5e-9d52-0f2f7a1f3c11";
pub(crate) const CONTEXT: &str = "b64c4ad4-5b7e-4b37-8a58-4f0c1be0a9de";

/// Prose with line breaks and quotes now and then, as people and models write it.
pub(crate) fn text(bytes: usize) -> String {
    "She said \"hello\" and went on to explain, at some length, what there was to do about it.\n"
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

pub(crate) fn file(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 31 + at / 251) as u8).collect()
}

pub(crate) fn file_base64(bytes: usize) -> String {
    STANDARD.encode(file(bytes))
}

/// The parameters of a send, in both versions at once: each skips what only the other knows.
pub(crate) fn send_params(version: ProtocolVersion, part: &str) -> String {
    let (kind, role) = if version == ProtocolVersion::V1_0 { ("", "ROLE_USER") } else { (KIND, "user") };
    format!(r#"{{"message":{{{kind}"messageId":"{ID}","role":"{role}","parts":[{part}]}}}}"#)
}

const KIND: &str = r#""kind":"message","#;

pub(crate) fn text_part(version: ProtocolVersion, bytes: usize) -> String {
    let text = serde_json::to_string(&text(bytes)).unwrap();
    if version == ProtocolVersion::V1_0 {
        format!(r#"{{"text":{text}}}"#)
    } else {
        format!(r#"{{"kind":"text","text":{text}}}"#)
    }
}

pub(crate) fn file_part(version: ProtocolVersion, bytes: usize) -> String {
    let base64 = file_base64(bytes);
    if version == ProtocolVersion::V1_0 {
        format!(r#"{{"raw":"{base64}","filename":"a.bin","mediaType":"application/octet-stream"}}"#)
    } else {
        format!(
            r#"{{"kind":"file","file":{{"bytes":"{base64}","name":"a.bin","mimeType":"application/octet-stream"}}}}"#
        )
    }
}

/// A call of JSON-RPC with these parameters.
pub(crate) fn envelope(method: &str, params: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":"{ID}","method":"{method}","params":{params}}}"#).into()
}

pub(crate) fn post<T>(body: T) -> Request<T> {
    let mut request = Request::new(body);
    *request.method_mut() = http::Method::POST;
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request
}

pub(crate) fn json<T>(body: T) -> Response<T> {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(crate) fn message(bytes: usize) -> Message {
    Message::agent(text(bytes)).with_message_id(ID)
}

/// A task with one artifact, and so many messages of history.
pub(crate) fn task(messages: usize) -> Arc<Task> {
    let mut task = Task::new(ID, CONTEXT, TaskState::Completed);
    task.status.timestamp = Some(Timestamp::from_millis(1_767_225_600_123));
    task.artifacts = [Arc::new(Artifact::new("answer", vec![Part::text(text(200))]))].into();
    task.history = (0..messages)
        .map(|_| Arc::new(Message::user(text(200)).with_message_id(ID).with_task_id(ID).with_context_id(CONTEXT)))
        .collect();
    Arc::new(task)
}

/// A piece of an answer, as streams are made of.
pub(crate) fn chunk() -> Event {
    let artifact = Artifact::new("answer", vec![Part::text(text(60))]);
    let mut update = TaskArtifactUpdateEvent::new(ID.into(), CONTEXT.into(), artifact);
    update.append = true;
    Event::ArtifactUpdate(update)
}

pub(crate) fn send(message: Message) -> Request<Operation> {
    operation(OperationRequest::SendMessage(SendMessage::new(message)))
}

pub(crate) fn operation(request: OperationRequest) -> Request<Operation> {
    Request::new(Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, request))
}

/// An event of a stream.
const EVENT: &[u8] = &[b'1'; 200];

/// A hundred events that are ready.
pub(crate) fn events() -> impl Stream<Item = Result<Frame, Error>> {
    stream::iter(std::iter::repeat_n(Frame::new(EVENT), 100).map(Ok))
}

/// Polls to the end a stream that never waits.
pub(crate) fn exhaust<T>(mut stream: impl Stream<Item = T> + Unpin) {
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(item)) = Pin::new(&mut stream).poll_next(&mut cx) {
        std::hint::black_box(item);
    }
}
