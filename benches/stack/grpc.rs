//! gRPC, beside a bare service of tonic's that reads the same messages and answers with messages of the same shape.

use std::{convert::Infallible, future::Future, pin::Pin, task::Poll};

use a2a_layers::grpc::proto::v1_0::{
    Artifact, Message, Part, SendMessageRequest, SendMessageResponse, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskState, TaskStatus, TaskStatusUpdateEvent, part::Content, send_message_response, stream_response::Payload,
};
use futures_util::{StreamExt as _, stream, stream::BoxStream};
use http::{Request, Response};
use prost::Message as _;
use prost_types::Timestamp;
use tokio::sync::mpsc;
use tonic::{
    Status,
    codegen::{Body, BoxFuture, Service, StdError},
    server::{Grpc, NamedService, ServerStreamingService, UnaryService},
    transport::{Server, server::TcpIncoming},
};
use tonic_prost::ProstCodec;

use crate::{
    calls::WORDS,
    http2,
    load::Work,
    machine::listen,
    ours::{self, CHUNK, CHUNKS, said},
    throughput::{Pair, Side, of_ours, pair},
};

const ID: &str = "d9d6f4eb-6a5c-479d-81cd-7d855df4b0a7";
const OTHER_ID: &str = "128e402b-5fe5-4756-a2f1-df51f6a72d7d";

fn text(text: String) -> Part {
    Part { content: Some(Content::Text(text)), ..Part::default() }
}

fn work(method: &str, marker: &str, events: usize) -> Work {
    let message =
        Message { message_id: "m1".into(), role: 1, parts: vec![text(WORDS.to_owned())], ..Message::default() };
    let request = SendMessageRequest { message: Some(message), ..SendMessageRequest::default() };
    let call = http2::call(&format!("/lf.a2a.v1.A2AService/{method}"), &request.encode_to_vec());
    Work { events, http2: true, ..Work::new(vec![call], marker) }
}

pub(crate) fn send() -> Pair {
    let work = || work("SendMessage", "You said: What is", 1);
    pair(async move || (of_ours(ours::grpc_send(), work()).await, of_tonic(Bare::default(), work()).await))
}

/// An agent that answers with a message, beside a service that does no more than that.
pub(crate) fn message() -> Pair {
    let work = || work("SendMessage", "You said: What is", 1);
    pair(async move || {
        (of_ours(ours::grpc_message(), work()).await, of_tonic(Bare { echoes: true, ..Bare::default() }, work()).await)
    })
}

pub(crate) fn stream(yields: bool) -> Pair {
    let work = || work("SendStreamingMessage", CHUNK, CHUNKS + 3);
    pair(async move || {
        (of_ours(ours::grpc_stream(yields), work()).await, of_tonic(Bare { yields, ..Bare::default() }, work()).await)
    })
}

/// The bare service on a port of its own.
async fn of_tonic(bare: Bare, work: Work) -> Side {
    let (listener, address) = listen().await;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    tokio::spawn(Server::builder().add_service(bare).serve_with_incoming(incoming));
    Side { address, work, connections: crate::throughput::CONNECTIONS }
}

/// What a generated server does, less the trait that a user would fill in.
#[derive(Clone, Default)]
struct Bare {
    /// Whether a send is answered with a message.
    echoes: bool,
    yields: bool,
}

impl NamedService for Bare {
    const NAME: &'static str = "lf.a2a.v1.A2AService";
}

impl<B> Service<Request<B>> for Bare
where
    B: Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let bare = self.clone();
        match request.uri().path() {
            "/lf.a2a.v1.A2AService/SendMessage" => {
                Box::pin(async move { Ok(Grpc::new(ProstCodec::default()).unary(bare, request).await) })
            }
            _ => Box::pin(async move { Ok(Grpc::new(ProstCodec::default()).server_streaming(bare, request).await) }),
        }
    }
}

type Answer<T> = Pin<Box<dyn Future<Output = Result<tonic::Response<T>, Status>> + Send>>;

impl UnaryService<SendMessageRequest> for Bare {
    type Response = SendMessageResponse;
    type Future = Answer<SendMessageResponse>;

    fn call(&mut self, request: tonic::Request<SendMessageRequest>) -> Self::Future {
        let mut message = placed(request.into_inner());
        let answer = said(match message.parts.first_mut() {
            Some(Part { content: Some(Content::Text(text)), .. }) => text,
            _ => "",
        });
        let payload = if self.echoes {
            let parts = vec![text(answer)];
            let message = Message { message_id: ID.into(), role: 2, parts, ..Message::default() };
            send_message_response::Payload::Message(message)
        } else {
            let parts = vec![text(answer)];
            let artifact = Artifact { artifact_id: "artifact-1".into(), parts, ..Artifact::default() };
            let task = Task { artifacts: vec![artifact], ..task(TaskState::Completed, message) };
            send_message_response::Payload::Task(task)
        };
        let payload = Some(payload);
        Box::pin(std::future::ready(Ok(tonic::Response::new(SendMessageResponse { payload }))))
    }
}

impl ServerStreamingService<SendMessageRequest> for Bare {
    type Response = StreamResponse;
    type ResponseStream = BoxStream<'static, Result<StreamResponse, Status>>;
    type Future = Answer<Self::ResponseStream>;

    fn call(&mut self, request: tonic::Request<SendMessageRequest>) -> Self::Future {
        let yields = self.yields;
        let task = Payload::Task(task(TaskState::Submitted, placed(request.into_inner())));
        // What yields has a task of its own, as an agent has: tonic would poll a stream that yields again at once.
        let chunks = if yields {
            let (sender, receiver) = mpsc::channel(CHUNKS);
            tokio::spawn(async move {
                for index in 0..CHUNKS {
                    tokio::task::yield_now().await;
                    let _ = sender.send(chunk(index > 0)).await;
                }
            });
            stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver))).left_stream()
        } else {
            stream::iter((0..CHUNKS).map(|index| chunk(index > 0))).right_stream()
        };
        let begun = stream::iter([task, state(TaskState::Working)]);
        let events = begun.chain(chunks).chain(stream::iter([state(TaskState::Completed)]));
        let events = events.map(|payload| Ok(StreamResponse { payload: Some(payload) })).boxed();
        Box::pin(std::future::ready(Ok(tonic::Response::new(events))))
    }
}

/// The message as a turn of the task that all answers speak of.
fn placed(request: SendMessageRequest) -> Message {
    Message { task_id: ID.into(), context_id: OTHER_ID.into(), ..request.message.unwrap_or_default() }
}

fn status(state: TaskState) -> Option<TaskStatus> {
    let timestamp = Some(Timestamp { seconds: 1_767_323_045, nanos: 678_000_000 });
    Some(TaskStatus { state: state.into(), message: None, timestamp })
}

fn task(state: TaskState, message: Message) -> Task {
    Task {
        id: ID.into(),
        context_id: OTHER_ID.into(),
        status: status(state),
        history: vec![message],
        ..Task::default()
    }
}

fn state(state: TaskState) -> Payload {
    Payload::StatusUpdate(TaskStatusUpdateEvent {
        task_id: ID.into(),
        context_id: OTHER_ID.into(),
        status: status(state),
        metadata: None,
    })
}

fn chunk(append: bool) -> Payload {
    let parts = vec![text(CHUNK.to_owned())];
    Payload::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: ID.into(),
        context_id: OTHER_ID.into(),
        artifact: Some(Artifact { artifact_id: "artifact-1".into(), parts, ..Artifact::default() }),
        append,
        last_chunk: false,
        metadata: None,
    })
}
