//! The servers it can be in, and what comes of clients that go.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use a2a_layers::{
    ServiceBuilderExt as _,
    error::{BoxError, Error},
    grpc::{
        Grpc, GrpcLayer,
        proto::v1_0::{self as wire, a2a_service_client::A2aServiceClient as Client, stream_response::Payload},
    },
    operation::{Operation, Outcome, StreamEvent},
    part::Input,
    server::serve,
    task::{EventStream, MemoryTaskStore},
    types::Message,
};
use futures_util::{StreamExt as _, stream};
use http::{Request, Response};
use tokio::{net::TcpListener, sync::oneshot};
use tonic::transport::{Server, server::TcpIncoming};
use tower::{ServiceBuilder, service_fn};

use crate::support::{PATIENCE, channel, operations, send, shown, soon, task};

async fn listener() -> (TcpListener, std::net::SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn heard(address: std::net::SocketAddr) -> String {
    let mut client = Client::new(channel(address).await);
    shown(&task(soon(client.send_message(send("hi"))).await.unwrap().into_inner()))
}

#[tokio::test]
async fn in_a_server_of_tonics_with_layers_around_it() {
    let (listener, address) = listener().await;
    let grpc = Grpc::new(operations(), GrpcLayer::new());
    let (_reporter, health) = tonic_health::server::health_reporter();
    let server = Server::builder()
        .layer(ServiceBuilder::new().load_shed().concurrency_limit(10).timeout(PATIENCE))
        .timeout(PATIENCE)
        .concurrency_limit_per_connection(10)
        .add_service(health)
        .add_service(grpc.v1_0())
        .add_service(grpc.v0_3())
        .serve_with_incoming(TcpIncoming::from(listener));
    tokio::spawn(server);
    assert_eq!(heard(address).await, "heard: hi");
}

#[tokio::test]
async fn alone_in_the_server_of_this_crate() {
    let (listener, address) = listener().await;
    tokio::spawn(serve(listener, Grpc::new(operations(), GrpcLayer::new())));
    assert_eq!(heard(address).await, "heard: hi");
}

/// Spelled out as users do, with layers of tower's between ours, whose errors are boxes.
#[tokio::test]
async fn a_stack_with_towers_layers_in_it_can_be_spawned() {
    let (listener, address) = listener().await;
    let agent = |request: Request<Input>| async move { Ok::<_, BoxError>(request.body().text().to_uppercase()) };
    let stack = ServiceBuilder::new()
        .grpc()
        .load_shed()
        .concurrency_limit(10)
        .timeout(PATIENCE)
        .task(MemoryTaskStore::new())
        .timeout(PATIENCE)
        .part()
        .service_fn(agent);
    tokio::spawn(serve(listener, stack));
    assert_eq!(heard(address).await, "HI");
}

/// Streams a message, and then nothing for ever.
fn silent(
    dropped: oneshot::Sender<()>,
) -> impl tower::Service<Request<Operation>, Response = Response<Outcome<EventStream>>, Error = Error, Future: Send>
+ Clone
+ Send
+ Sync
+ 'static {
    let dropped = Arc::new(Mutex::new(Some(dropped)));
    service_fn(move |_: Request<Operation>| {
        let guard = dropped.lock().unwrap().take();
        let first = StreamEvent::Message(Arc::new(Message::agent("begun")));
        // The stream owns the sender, so that its end is seen by the receiver.
        let events = stream::iter([Ok(first)]).chain(stream::pending()).map(move |event| (&guard, event).1);
        std::future::ready(Ok(Response::new(Outcome::Stream(EventStream::new(events)))))
    })
}

#[tokio::test]
async fn f47_a_reader_that_resets_its_stream_drops_it() {
    let (listener, address) = listener().await;
    let (dropped, gone) = oneshot::channel();
    tokio::spawn(serve(listener, Grpc::new(silent(dropped), GrpcLayer::new())));
    let mut client = Client::new(channel(address).await);
    let mut events = client.send_streaming_message(send("")).await.unwrap().into_inner();
    let first = soon(events.message()).await.unwrap().unwrap();
    assert!(matches!(first.payload, Some(Payload::Message(_))));
    drop(events);
    assert!(soon(gone).await.is_err(), "dropped, not sent");
    // The connection is none the worse for it.
    let again = client.send_streaming_message(send("")).await;
    assert!(soon(async { again.unwrap().into_inner().message().await }).await.unwrap().is_some());
}

#[tokio::test]
async fn a_caller_that_goes_while_it_waits_changes_nothing() {
    let (listener, address) = listener().await;
    tokio::spawn(serve(listener, Grpc::new(operations(), GrpcLayer::new())));
    let mut client = Client::new(channel(address).await);
    let mut other = client.clone();
    let waiting = other.send_message(wire::SendMessageRequest {
        message: Some(wire::Message { context_id: "c".into(), ..crate::support::message("hang") }),
        ..Default::default()
    });
    // It is reset while the agent is at work.
    assert!(tokio::time::timeout(Duration::from_millis(300), waiting).await.is_err());
    let of = wire::ListTasksRequest { context_id: "c".into(), ..Default::default() };
    let tasks = soon(client.list_tasks(of)).await.unwrap().into_inner().tasks;
    assert_eq!(tasks.len(), 1);
    assert_eq!(crate::support::state(&tasks[0]), wire::TaskState::Working);
}
