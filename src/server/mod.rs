//! All of it, ready-made: one call from an agent to a server.
//!
//! [`Mount`] takes an agent and builds the whole stack of layers around it; the [`A2aService`] that comes out is an
//! ordinary tower service over HTTP, to be given to hyper, axum or [`serve`]. [`Settings`] choose between the ways in which
//! servers differ, and [`Mounts`] puts several mounts behind one port.
//!
//! One port has every binding, with one agent and one store of tasks behind all of them:
//!
//! | binding | where | served |
//! | --- | --- | --- |
//! | JSON-RPC | at exactly the path of the mount's URL | always |
//! | HTTP+JSON | at the paths below it: `/message:send`, and `/v1/message:send` in 0.3 | with the feature `rest`, unless [`Settings`] say no |
//! | gRPC | at the paths that it has for every agent, whatever the URL | with the feature `grpc`, if [`Mount`] or [`Settings`] say so |
//!
//! The card names all that are served. [`docs::bindings`](crate::docs::bindings) says why the defaults are these, and how to
//! write another.
//!
//! Leave it out to compose the layers yourself, with your own between them: see
//! [`ServiceBuilderExt`](crate::ServiceBuilderExt).
//!
//! Here one agent is there twice, in protocol 1.0 and in 0.3 alone:
//!
//! ```
//! use std::convert::Infallible;
//!
//! use a2a_layers::{
//!     part::Input,
//!     server::{Mount, Mounts, Settings},
//! };
//! use bytes::Bytes;
//! use http::{Request, StatusCode};
//! use http_body_util::Empty;
//! use tower::{ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), a2a_layers::error::BoxError> {
//! let agent = service_fn(|request: Request<Input>| async move {
//!     Ok::<_, Infallible>(request.body().text().to_uppercase())
//! });
//! let new = Mount::new("shout", agent)
//!     .url("https://agents.example/shout")
//!     .settings(Settings::strict_1_0())
//!     .build()?;
//! let old = Mount::new("shout-old", agent)
//!     .url("https://agents.example/shout/0.3")
//!     .settings(Settings::strict_0_3().card_path("/shout/0.3/agent-card.json").legacy_card_path(None))
//!     .build()?;
//! // Two mounts that claim the same path would be an error here.
//! let site = Mounts::new().mount(new)?.mount(old)?;
//!
//! for path in ["/.well-known/agent-card.json", "/shout/0.3/agent-card.json"] {
//!     let response = site.clone().oneshot(Request::get(path).body(Empty::<Bytes>::new())?).await?;
//!     assert_eq!(response.status(), StatusCode::OK);
//! }
//! # Ok(())
//! # }
//! ```

mod bindings;
mod blobs;
mod connection;
mod error;
mod files;
#[cfg(feature = "grpc")]
mod grpc;
mod head_timeout;
mod linger;
mod mount;
mod mounts;
mod not_grpc;
#[cfg(feature = "http2")]
mod preface;
mod requests;
mod serve;
mod service;
mod settings;
mod shared;
mod write_timeout;

pub use self::{
    error::ConfigError,
    mount::Mount,
    mounts::Mounts,
    serve::{Serve, serve},
    service::{A2aService, ResponseBody, ResponseFuture},
    settings::Settings,
};
