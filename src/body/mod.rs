//! Collects the body of a request, under a limit of bytes and a limit of time.
//!
//! Whatever is inside gets a `Request<Bytes>` and can read it at once, without waiting and without a limit of its own.
//! A body that came in one piece is passed on without a copy. Leave this layer out where the body is whole already, as
//! in a test, or where something outside collects it.
//!
//! # What is refused
//!
//! | Body | Answer |
//! | --- | --- |
//! | larger than [`limit`](BodyLayer::limit) | HTTP 413 |
//! | not there within [`read_deadline`](BodyLayer::read_deadline) | HTTP 408 |
//! | broken off | HTTP 400 |
//!
//! The [`Gate`] words the answer, and may refuse a request by its head before anything of the body is read. A refused
//! body is still read and thrown away, up to [`drain_limit`](BodyLayer::drain_limit) and within the deadline: a client
//! that writes everything before it reads would otherwise find the connection reset and never see why. If some of the
//! body remains unread, the connection closes after the answer. A client that sent `Expect: 100-continue` is answered
//! at once.
//!
//! The deadline needs tokio's timer, if the body has to be waited for.
//!
//! # Example
//!
//! ```
//! use std::convert::Infallible;
//!
//! use a2a_layers::{
//!     body::BodyLayer,
//!     encoded::{Encoded, Frame},
//! };
//! use bytes::Bytes;
//! use http::{Request, Response, StatusCode};
//! use http_body_util::Full;
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! type NoStream = futures_util::stream::Empty<Frame>;
//!
//! async fn echo(request: Request<Bytes>) -> Result<Response<Encoded<NoStream>>, Infallible> {
//!     Ok(Response::new(Encoded::Document(request.into_body())))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let echo = ServiceBuilder::new().layer(BodyLayer::new().limit(4)).service(service_fn(echo));
//!
//! let response = echo.clone().oneshot(Request::new(Full::<Bytes>::from("\"ok\""))).await.unwrap();
//! assert!(matches!(response.into_body(), Encoded::Document(document) if document == "\"ok\""));
//!
//! let response = echo.oneshot(Request::new(Full::<Bytes>::from("\"too large\""))).await.unwrap();
//! assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
//! # }
//! ```
//!
//! In front of JSON-RPC, with heads refused before bodies are read:
//!
//! ```
//! use a2a_layers::{body::BodyLayer, json_rpc::JsonRpcLayer};
//! use tower::ServiceBuilder;
//!
//! let json_rpc = JsonRpcLayer::new().path("/a2a");
//! let stack = ServiceBuilder::new().layer(BodyLayer::new().gate(json_rpc.endpoint())).layer(json_rpc);
//! # let _ = stack;
//! ```

mod collect;
mod future;
mod gate;
mod layer;
mod service;

#[cfg(feature = "grpc")]
pub(crate) use self::future::read;
pub use self::{
    future::ResponseFuture,
    gate::{AnyHead, Gate},
    layer::BodyLayer,
    service::Body,
};
