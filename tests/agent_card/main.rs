//! The card of an agent: how it is made, checked, written and served.

mod build;
mod forms;
mod serve;

use a2a_layers::{
    agent_card::{AgentCardBuilder, AgentCardService},
    types::AgentCard,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use serde_json::Value;
use tower::{Service, ServiceExt};

const URL: &str = "https://agents.example/echo";

fn builder() -> AgentCardBuilder {
    AgentCardBuilder::new("echo").json_rpc(URL)
}

fn card() -> AgentCard {
    builder().build().unwrap()
}

fn get(path: &str) -> http::request::Builder {
    Request::get(path)
}

fn no_body(request: http::request::Builder) -> Request<Empty<Bytes>> {
    request.body(Empty::new()).unwrap()
}

async fn ask<S, B>(service: S, request: http::request::Builder) -> Response<Bytes>
where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>>,
    S::Error: std::fmt::Debug,
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Debug,
{
    let (head, body) = service.oneshot(no_body(request)).await.unwrap().into_parts();
    Response::from_parts(head, body.collect().await.unwrap().to_bytes())
}

/// The card as a caller of this version gets it; an empty version asks for none.
async fn served(card: AgentCard, version: &str) -> Value {
    let service = AgentCardService::new(card).unwrap();
    let response = ask(service, get("/").header("A2A-Version", version)).await;
    serde_json::from_slice(response.body()).unwrap()
}
