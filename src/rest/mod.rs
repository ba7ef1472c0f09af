//! HTTP+JSON, which many call REST: verbs and paths in; documents, or streams of events, out.
//!
//! Takes the whole body of a request, finds the operation that its verb and path mean, and calls the inner service with
//! a [`Call`]: the operation's method, its parameters, and what stands in the path. Results go back as they are, without
//! an envelope; errors become a `google.rpc.Status` with the HTTP status of their kind.
//!
//! Leave it out to serve another binding, or to call the inner service without HTTP: a [`Call`] is easily made.
//!
//! # Paths
//!
//! Below the [base path](RestLayer::base), for versions since 1.0 (spec 1.0 §11.3):
//!
//! | Verb and path | Operation |
//! | --- | --- |
//! | `POST /message:send`, `POST /message:stream` | send, with one answer or a stream |
//! | `GET /tasks`, `GET /tasks/{id}` | list, get |
//! | `POST /tasks/{id}:cancel` | cancel |
//! | `GET` or `POST /tasks/{id}:subscribe` | subscribe |
//! | `POST` or `GET /tasks/{id}/pushNotificationConfigs` | create or list webhooks |
//! | `GET` or `DELETE /tasks/{id}/pushNotificationConfigs/{configId}` | get or delete one |
//! | `GET /extendedAgentCard` | the card for those who authenticate |
//!
//! Each is there with a tenant before it, too: `/{tenant}/message:send`. In version 0.3 all of them stand below `/v1`,
//! have no tenant, and the card is `GET /v1/card`; such a path says that the call is in 0.3. `HEAD` is `GET` without what
//! it says, and `OPTIONS` names the verbs.
//!
//! Ids are percent-decoded once, after the path has been split, and mean nothing here: `a%2Fb` and `..` are ids like
//! others. Verbs behind a colon are split off the last segment, and other colons are the id's own.
//!
//! # Parameters
//!
//! A `POST` says everything in its body that the path does not say; what has no body says it in the query, in camelCase
//! or snake_case (spec 1.0 §11.5). Where both say it, the path wins. A `POST` needs neither a body nor a `Content-Type`;
//! one that it has must be `application/json` or `application/a2a+json`. Answers are `application/a2a+json`, and in
//! version 0.3, or [by choice](RestLayer::plain_json), `application/json`.
//!
//! # What is refused
//!
//! | Request | Answer |
//! | --- | --- |
//! | another path | HTTP 404 |
//! | another verb | HTTP 405 with `Allow` |
//! | a body of another media type | HTTP 400, `CONTENT_TYPE_NOT_SUPPORTED` |
//! | a body with a `Content-Encoding` | HTTP 415 |
//! | percent-encoding that is none, or not of UTF-8 | HTTP 400, naming the field |
//! | what the inner service fails with | the status of its kind ([`ErrorKind::http_status`](crate::error::ErrorKind::http_status)) |
//!
//! The body of each is `{"error":{"code","status","message","details"}}` (spec 1.0 §11.6), with an `ErrorInfo` for errors
//! of the protocol and a `BadRequest` for fields that are not as they must be. Version 0.3 leaves the form open: there,
//! the code and the message of JSON-RPC stand beside `error`, so that readers of either form find theirs. An error that
//! is known before a stream begins is such an answer and no stream; one that comes later is an event named `error`, and
//! the last. The [`ErrorKind`](crate::error::ErrorKind) is also put into the response's extensions, for layers outside
//! that count errors. Causes of internal errors go to the log (`tracing`), never to callers.
//!
//! # Example
//!
//! Nothing here knows what an agent does. A shelf:
//!
//! ```
//! use a2a_layers::{
//!     call::Call,
//!     encoded::{Encoded, Frame},
//!     error::Error,
//!     rest::RestLayer,
//! };
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! // It streams nothing, so any type of stream will do.
//! type NoStream = futures_util::stream::Empty<Result<Frame, Error>>;
//!
//! async fn look_up(request: Request<Call>) -> Result<Response<Encoded<NoStream>>, Error> {
//!     let call = request.body();
//!     assert_eq!(call.method(), "GetTask");
//!     match call.path().task_id.as_deref() {
//!         Some("urn:book:7") => Ok(Response::new(Encoded::Document(r#"{"title":"Seven"}"#.into()))),
//!         id => Err(Error::task_not_found(id.unwrap_or_default())),
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let shelf = ServiceBuilder::new().layer(RestLayer::new().base("/shelf")).service(service_fn(look_up));
//! let get = |path: &str| shelf.clone().oneshot(Request::get(path).body(Bytes::new()).unwrap());
//!
//! let found = get("/shelf/tasks/urn:book:7").await.unwrap();
//! assert_eq!(found.headers()["content-type"], "application/a2a+json");
//! assert!(matches!(found.into_body(), Encoded::Document(document) if document == r#"{"title":"Seven"}"#));
//!
//! assert_eq!(get("/shelf/tasks/urn:book:8").await.unwrap().status(), 404);
//! assert_eq!(get("/shelf/message:send").await.unwrap().headers()["allow"], "POST, OPTIONS");
//! # }
//! ```
//!
//! With [`BodyLayer`](crate::body::BodyLayer) and [`SseLayer`](crate::sse::SseLayer) around it, it is a service of
//! hyper's requests. Give the former this layer's [`Routes`], and bad heads are refused before their bodies are read:
//!
//! ```
//! use a2a_layers::{body::BodyLayer, rest::RestLayer};
//! use tower::ServiceBuilder;
//!
//! let rest = RestLayer::new().base("/shelf");
//! let stack = ServiceBuilder::new().layer(BodyLayer::new().gate(rest.routes())).layer(rest);
//! # let _ = stack;
//! ```
//!
//! # A binding of one's own
//!
//! A binding is a layer that turns `Request<Bytes>` into `Request<Call>`, and what comes back into
//! `Encoded<impl Stream<Item = Frame>>`. It names methods as JSON-RPC does, puts what it knows besides into
//! [`Call::with_path`] and [`Call::with_version`], and writes errors in its own form. The dialect must say that it
//! [speaks](crate::dialect::Dialect::speaks) the binding.
//!
//! [`Call`]: crate::call::Call
//! [`Call::with_path`]: crate::call::Call::with_path
//! [`Call::with_version`]: crate::call::Call::with_version

mod answer;
mod future;
mod layer;
mod query;
mod route;
mod routes;
mod service;
mod stream;

pub(crate) use self::service::call;
pub use self::{future::ResponseFuture, layer::RestLayer, routes::Routes, service::Rest, stream::Events};
