//! Serves an agent's card, so that clients find out what it does and where it is.
//!
//! [`AgentCardLayer`] answers at `/.well-known/agent-card.json` and, marked as deprecated, at the old
//! `/.well-known/agent.json`; every other request goes on untouched. Leave it out where another server publishes the
//! card. [`AgentCardService`] is the same without the paths, for a router of your own.
//!
//! A card is written once, when the service is made, in each version that it has an interface of. A request gets the
//! form that its `A2A-Version` (header, then query) asks for; one that asks for none of them gets the only form there
//! is or, where both 0.3 and 1.0 are offered, a union that readers of either understand. Answers carry an `ETag` of the
//! content, `Last-Modified`, `Cache-Control` and `Vary`; `If-None-Match`, `If-Modified-Since`, `HEAD` and `OPTIONS` are
//! understood, other verbs get a 405. Scripts of other origins may read the card: the origin is echoed, never `*`.
//!
//! [`AgentCardBuilder`] makes a card of what an agent knows about itself. A card that breaks a rule of the protocol is
//! refused before it is served, with the field's name ([`CardError`]).
//!
//! ```
//! use a2a_layers::agent_card::{AgentCardBuilder, AgentCardLayer, AgentCardService};
//! use http::{Request, Response, StatusCode};
//! use http_body_util::{BodyExt, Empty};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let card = AgentCardBuilder::new("echo").json_rpc("https://agents.example/echo").build()?;
//! let service = ServiceBuilder::new()
//!     .layer(AgentCardLayer::new(AgentCardService::new(card)?))
//!     .service(service_fn(|_: Request<String>| async {
//!         Ok::<_, std::convert::Infallible>(Response::new(Empty::<bytes::Bytes>::new()))
//!     }));
//!
//! let request = Request::get("/.well-known/agent-card.json").header("A2A-Version", "1.0").body(String::new())?;
//! let response = service.oneshot(request).await?;
//!
//! assert_eq!(response.status(), StatusCode::OK);
//! assert!(response.headers().contains_key("etag"));
//! let body = response.into_body().collect().await?.to_bytes();
//! assert!(body.starts_with(br#"{"name":"echo","description":"Agent \"echo\"","supportedInterfaces":["#));
//! # Ok(())
//! # }
//! ```
//!
//! Behind a proxy, either state the public URL on the card or take it from the headers of a proxy that you trust:
//! see [`PublicUrl`].

mod body;
mod builder;
mod check;
mod conditional;
mod document;
mod error;
mod future;
mod layer;
mod leaf;
mod public_url;
mod service;

pub use self::{
    body::ResponseBody, builder::AgentCardBuilder, check::check, error::CardError, future::ResponseFuture,
    layer::AgentCardLayer, leaf::AgentCardService, public_url::PublicUrl, service::ServeAgentCard,
};
