//! A small agent behind gRPC: as a service, and on a socket with tonic's server around it.

use std::{collections::HashMap, future::Future, net::SocketAddr, time::Duration};

use a2a_layers::{
    agent::{Reply, RequestExt as _, Update},
    capability::CapabilityLayer,
    error::{BoxError, Error},
    extension::ExtensionLayer,
    grpc::{
        Grpc, GrpcLayer,
        proto::{
            v0_3::a2a_service_client::A2aServiceClient as OldClient,
            v1_0::{self as wire, a2a_service_client::A2aServiceClient as Client},
        },
    },
    operation::{Operation, Outcome},
    part::{Input, PartLayer},
    task::{EventStream, TaskLayer},
    types::{AgentCard, AgentExtension},
};
use futures_util::{StreamExt as _, stream};
use http::{Request, Response};
use tokio::net::TcpListener;
use tonic::{
    Status,
    service::Routes,
    transport::{Channel, Endpoint},
};
use tonic_types::StatusExt as _;
use tower::{Service, ServiceBuilder};

/// Long enough for a loaded machine, and no test waits for it unless it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const EXTENSION: &str = "https://ext.example/citations";

async fn act(request: Request<Input>) -> Result<Reply, BoxError> {
    let text = request.body().text().to_owned();
    Ok(match &*text {
        "fail" => return Err("hunter2".into()),
        "ask" => Reply::updates(vec![Update::input_required("which?")]),
        "reject" => Reply::updates(vec![Update::rejected("no")]),
        "minute" => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Reply::updates(vec!["a minute later".into()])
        }
        "count" => Reply::stream(stream::iter((1..=3).map(|n| Ok::<_, BoxError>(format!("{n} "))))),
        "endless" => {
            let mut number = 0_u64;
            Reply::stream(stream::repeat_with(move || {
                number += 1;
                Ok::<_, BoxError>(format!("{number} ").repeat(1000))
            }))
        }
        "hang" => Reply::stream(stream::once(async { Ok::<_, BoxError>("begun") }).chain(stream::pending())),
        "headers" => {
            let header = request.headers().get("x-said").and_then(|value| value.to_str().ok()).unwrap_or("nothing");
            let extensions: Vec<_> = request.task_context().extensions().iter().map(str::to_owned).collect();
            Reply::updates(vec![format!("{header}; {}; {extensions:?}", request.uri().path()).into()])
        }
        _ => Reply::updates(vec![format!("heard: {text}").into()]),
    })
}

pub(crate) trait Operations:
    Service<Request<Operation>, Response = Response<Outcome<EventStream>>, Error = Error, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Operations for S where
    S: Service<Request<Operation>, Response = Response<Outcome<EventStream>>, Error = Error, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

pub(crate) fn card() -> AgentCard {
    let mut card = AgentCard::new("test", "Tests", "1");
    card.capabilities.extended_agent_card = true;
    card
}

pub(crate) fn operations() -> impl Operations {
    ServiceBuilder::new()
        .layer(CapabilityLayer::new().streaming(true).extended_agent_card(card()))
        .layer(ExtensionLayer::new([AgentExtension::new(EXTENSION)]))
        .layer(TaskLayer::new())
        .layer(PartLayer::new())
        .service_fn(act)
}

/// Both packages on one port, each a service of tonic's router.
pub(crate) async fn start(layer: GrpcLayer) -> SocketAddr {
    let grpc = Grpc::new(operations(), layer);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Tonic's own server looks at deadlines too, and would be as fast.
    let routes = Routes::new(grpc.v1_0()).add_service(grpc.v0_3());
    tokio::spawn(axum::serve(listener, routes.into_axum_router()).into_future());
    address
}

pub(crate) async fn channel(address: SocketAddr) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

pub(crate) async fn client() -> Client<Channel> {
    Client::new(channel(start(GrpcLayer::new()).await).await)
}

pub(crate) async fn old_client() -> OldClient<Channel> {
    OldClient::new(channel(start(GrpcLayer::new()).await).await)
}

pub(crate) fn part(text: &str) -> wire::Part {
    wire::Part { content: Some(wire::part::Content::Text(text.into())), ..Default::default() }
}

pub(crate) fn message(text: &str) -> wire::Message {
    wire::Message {
        message_id: "m1".into(),
        role: wire::Role::User.into(),
        parts: vec![part(text)],
        ..Default::default()
    }
}

pub(crate) fn send(text: &str) -> wire::SendMessageRequest {
    wire::SendMessageRequest { message: Some(message(text)), ..Default::default() }
}

/// Does not wait for the end.
pub(crate) fn send_at_once(text: &str) -> wire::SendMessageRequest {
    let configuration = wire::SendMessageConfiguration { return_immediately: true, ..Default::default() };
    wire::SendMessageRequest { configuration: Some(configuration), ..send(text) }
}

pub(crate) fn task(response: wire::SendMessageResponse) -> wire::Task {
    match response.payload {
        Some(wire::send_message_response::Payload::Task(task)) => task,
        other => panic!("no task: {other:?}"),
    }
}

pub(crate) fn text(parts: &[wire::Part]) -> String {
    let text = |part: &wire::Part| match &part.content {
        Some(wire::part::Content::Text(text)) => text.clone(),
        other => format!("{other:?}"),
    };
    parts.iter().map(text).collect()
}

/// All that a task has to show.
pub(crate) fn shown(task: &wire::Task) -> String {
    task.artifacts.iter().map(|artifact| text(&artifact.parts)).collect()
}

pub(crate) fn state(task: &wire::Task) -> wire::TaskState {
    task.status.as_ref().unwrap().state()
}

/// The reason and the facts in a status' details.
pub(crate) fn reason(status: &Status) -> (String, HashMap<String, String>) {
    let details = status.get_error_details();
    details.error_info().map(|info| (info.reason.clone(), info.metadata.clone())).unwrap_or_default()
}

/// The first field that a status complains of.
pub(crate) fn field(status: &Status) -> String {
    let details = status.get_error_details();
    details.bad_request().map(|bad| bad.field_violations[0].field.clone()).unwrap_or_default()
}

pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it takes for ever")
}
