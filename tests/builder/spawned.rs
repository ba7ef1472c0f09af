//! A stack with tower's `timeout`, `load_shed` and `concurrency_limit` between the layers, spawned from a user's `main`
//! on each server. If the bounds of a layer were too special, these would not compile.

use std::time::Duration;

use a2a_layers::{
    ServiceBuilderExt, agent_card::AgentCardService, error::BoxError, server::serve, task::MemoryTaskStore,
};
use axum::Router;
use hyper::{client::conn::http1::handshake, server::conn::http1::Builder};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tonic::service::Routes;
use tower::ServiceBuilder;

use crate::{
    agent, card,
    client::{call, message},
};

const MINUTE: Duration = Duration::from_secs(60);

/// Spelled out where it is used, as users do, so that its whole type is known there.
macro_rules! stack {
    ($card:expr) => {
        ServiceBuilder::new()
            .agent_card(AgentCardService::new($card.clone())?)
            .sse()
            .body()
            .json_rpc("/rpc")
            .load_shed()
            .concurrency_limit(100)
            .timeout(MINUTE)
            .version()
            .timeout(MINUTE)
            .capability(&$card)
            .load_shed()
            .concurrency_limit(100)
            .extension(&$card)
            .media_type(&$card)
            .timeout(MINUTE)
            .task(MemoryTaskStore::new())
            .load_shed()
            .concurrency_limit(10)
            .timeout(MINUTE)
            .accepted_output()
            .part()
            .timeout(MINUTE)
            .service_fn(agent)
    };
}

/// One real request over a socket.
async fn answers(listening: std::net::SocketAddr) -> Result<(), BoxError> {
    let (mut sender, connection) = handshake(TokioIo::new(TcpStream::connect(listening).await?)).await?;
    tokio::spawn(connection);
    let response = sender.send_request(call("SendMessage", message(json!({ "text": "hello" })))).await?;
    let body = http_body_util::BodyExt::collect(response.into_body()).await?.to_bytes();
    let text = std::str::from_utf8(&body)?;
    assert!(text.contains("heard: hello") && text.contains("TASK_STATE_COMPLETED"), "{text}");
    Ok(())
}

#[tokio::test]
async fn on_the_server_of_this_crate() -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let card = card()?;
    let service = stack!(card);
    tokio::spawn(serve(listener, service));
    answers(address).await
}

#[tokio::test]
async fn on_hyper() -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let card = card()?;
    let service = stack!(card);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move { Builder::new().serve_connection(TokioIo::new(stream), service).await });
        }
    });
    answers(address).await
}

#[tokio::test]
async fn on_axum() -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let card = card()?;
    let service = stack!(card);
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback_service(service)).await });
    answers(address).await
}

#[tokio::test]
async fn beside_tonic() -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let card = card()?;
    let service = stack!(card);
    let (_, health) = tonic_health::server::health_reporter();
    let app = Routes::new(health).into_axum_router().fallback_service(service);
    tokio::spawn(async move { axum::serve(listener, app).await });
    answers(address).await
}

/// The same from inside of a future that is itself spawned, with everything held across awaits.
#[tokio::test]
async fn from_a_spawned_main() -> Result<(), BoxError> {
    let main = async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let card = card()?;
        let service = stack!(card);
        tokio::select! {
            served = serve(listener, service) => Ok(served?),
            answered = answers(address) => answered,
        }
    };
    tokio::spawn(main).await?
}
