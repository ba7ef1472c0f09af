//! JSON-RPC 2.0: one envelope in; one envelope, or a stream of them, out.
//!
//! Takes the whole body of a request, reads the envelope, and calls the inner service with a [`Call`]: the method's
//! name and its parameters, both slices of the body. The id comes back as it came, digit for digit. What the inner
//! service answers gets the envelope; its errors become error envelopes.
//!
//! Leave it out to serve another binding, or to call the inner service without HTTP: a [`Call`] is easily made.
//!
//! # What is refused
//!
//! | Request | Answer |
//! | --- | --- |
//! | another path than [the one set](JsonRpcLayer::path) | HTTP 404 |
//! | another verb than `POST` | HTTP 405, `Allow: POST` |
//! | a media type that is not JSON, or none | error -32005 |
//! | a `Content-Encoding` | HTTP 415 |
//! | not UTF-8, or not JSON | error -32700, id null |
//! | a batch; no `id`, or one that is neither string nor integer | error -32600, id null |
//! | `jsonrpc` not `"2.0"`; no `method`, or an empty one; a member twice | error -32600 |
//!
//! Errors of the protocol go out with HTTP 200, because they are answers; where HTTP itself refuses, its body is an
//! error envelope too. Whether `params` are an object is for whoever knows the method: they arrive as they are, and
//! [`read_params`](crate::dialect::read_params) refuses others with -32602. There are no notifications: a call without
//! an id is refused and nothing runs. A kind's code is that of [`ErrorKind::code`](crate::error::ErrorKind::code). The
//! [`ErrorKind`](crate::error::ErrorKind) is also put into the response's extensions, for layers outside that count
//! errors. Causes of internal errors go to the log (`tracing`), never to callers.
//!
//! # Example
//!
//! Nothing here knows of A2A. A calculator:
//!
//! ```
//! use a2a_layers::{
//!     call::Call,
//!     encoded::{Encoded, Frame},
//!     error::{Error, ErrorKind},
//!     json_rpc::JsonRpcLayer,
//! };
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! #[derive(serde::Deserialize)]
//! struct Pair {
//!     a: i64,
//!     b: i64,
//! }
//!
//! // It streams nothing, so any type of stream will do.
//! type NoStream = futures_util::stream::Empty<Result<Frame, Error>>;
//!
//! async fn calculate(request: Request<Call>) -> Result<Response<Encoded<NoStream>>, Error> {
//!     let params = request.body().params().map_or(&b""[..], |params| params);
//!     let Pair { a, b } = serde_json::from_slice(params).map_err(|_| Error::invalid_params("", "a and b are numbers"))?;
//!     let result = match request.body().method() {
//!         "add" => a.checked_add(b).ok_or_else(|| Error::custom(1, "too large"))?,
//!         _ => return Err(ErrorKind::MethodNotFound.into()),
//!     };
//!     Ok(Response::new(Encoded::Document(result.to_string().into())))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let calculator = ServiceBuilder::new().layer(JsonRpcLayer::new()).service(service_fn(calculate));
//!
//! let call = r#"{"jsonrpc":"2.0","id":"7","method":"add","params":{"a":1,"b":2}}"#;
//! let request = Request::post("/").header("content-type", "application/json").body(Bytes::from(call)).unwrap();
//! let response = calculator.oneshot(request).await.unwrap();
//! match response.into_body() {
//!     Encoded::Document(document) => assert_eq!(document, r#"{"jsonrpc":"2.0","id":"7","result":3}"#),
//!     _ => unreachable!(),
//! }
//! # }
//! ```
//!
//! With [`BodyLayer`](crate::body::BodyLayer) and [`SseLayer`](crate::sse::SseLayer) around it, it is a service of
//! hyper's requests. Give the former this layer's [`Endpoint`], and bad heads are refused before their bodies are read.
//!
//! [`Call`]: crate::call::Call

mod answer;
mod endpoint;
mod envelope;
mod future;
mod layer;
mod service;
mod stream;

pub(crate) use self::endpoint::refuse_body;
#[cfg(feature = "rest")]
pub(crate) use self::service::call;
pub use self::{endpoint::Endpoint, future::ResponseFuture, layer::JsonRpcLayer, service::JsonRpc, stream::Envelopes};
