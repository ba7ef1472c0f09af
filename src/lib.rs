//! Composable [tower](https://docs.rs/tower) layers that turn any agent into a complete A2A (Agent2Agent) server.
//!
//! Agents of different frameworks call each other over A2A: an agent card to find out what an agent does, JSON-RPC,
//! HTTP+JSON or gRPC to talk to it, streams of events, tasks, and files. Two wire versions live side by side, 0.3 and
//! 1.0. Each of these concerns is a layer here, around an agent that is an ordinary `tower::Service`; each can be used
//! alone, left out, replaced, tuned and measured.
//!
//! # An agent, served
//!
//! ```
//! use a2a_layers::{error::BoxError, part::Input, server::Mount};
//! use bytes::Bytes;
//! use http::Request;
//! use http_body_util::{BodyExt, Full};
//! use tower::{ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let agent = service_fn(|request: Request<Input>| async move {
//!     Ok::<_, BoxError>(format!("you said: {}", request.body().text()))
//! });
//! let service = Mount::new("echo", agent).url("http://127.0.0.1:8000/").build()?;
//! // With a listener: `a2a_layers::server::serve(listener, service).await?`
//!
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":
//!     {"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}"#;
//! let request = Request::post("/")
//!     .header("content-type", "application/json")
//!     .header("a2a-version", "1.0")
//!     .body(Full::<Bytes>::from(call))?;
//! let answer = service.oneshot(request).await?.into_body().collect().await?.to_bytes();
//! assert!(String::from_utf8_lossy(&answer).contains("you said: hi"));
//! # Ok(())
//! # }
//! ```
//!
//! # The levels
//!
//! A request is always an `http::Request<T>`, a response always an `http::Response<U>`; a layer only refines the body. The
//! head travels untouched from the socket to the agent, so nothing is lost on the way: the caller's identity,
//! `A2A-Extensions`, `Last-Event-ID`, `traceparent`.
//!
//! | level | request body | response body | layers |
//! | --- | --- | --- | --- |
//! | wire | any `http_body::Body` | a body | [`agent_card`], [`serve_blobs`](blob::ServeBlobsLayer), [`sse`], [`body`](mod@body) |
//! | whole | `Bytes` | [`Encoded`](encoded::Encoded) | [`json_rpc`] or `rest` |
//! | call | [`Call`](call::Call) | [`Encoded`](encoded::Encoded) | [`version`] |
//! | operation | [`Operation`](operation::Operation) | [`Outcome`](operation::Outcome) | [`capability`], [`extension`], [`media_type`], [`task`] |
//! | message | [`Message`](types::Message) | [`impl IntoReply`](agent::IntoReply) | [`blob`], [`accepted_output`](media_type::AcceptedOutputLayer), [`part`] |
//! | input | [`Input`](part::Input) | [`impl IntoReply`](agent::IntoReply) | the agent |
//!
//! `grpc` makes operations of what comes from the wire, and stands in the place of [`sse`] to [`version`].
//!
//! A layer between two levels translates; layers of one level reorder and swap freely, and any tower or tower-http layer
//! that is generic over the body fits between them. [`server::Mount`] puts them all together;
//! [`ServiceBuilderExt`] spells the same out.
//!
//! # Features
//!
//! - `rest`, on by default, for it has no dependencies: HTTP+JSON, the `rest` module, and `Mount` serves it beside
//!   JSON-RPC.
//! - `grpc`: the module `grpc`, gRPC in versions 1.0 and 0.3, from the wire straight to operations, and
//!   `server::Mount::grpc`, which serves it on the port of a mount. It brings tonic and prost.
//! - `grpc-health`, `grpc-reflection`: gRPC's protocols of these names beside it, if `Mount::grpc_health` and
//!   `Mount::grpc_reflection` say so.
//! - `http2`: `server::serve` speaks HTTP/2 too, on the same port; part of `grpc`.
//! - `object-store`: `blob::ObjectBlobStore` keeps files in anything that the `object_store` crate
//!   reaches: a local directory, and, with that crate's own features, S3, Google Cloud Storage and Azure.
//! - `sqlite`: `task::SqliteTaskStore` keeps tasks in a file, so that they outlive the process.
//! - `postgres`: `task::PostgresTaskStore` keeps tasks in Postgres, shared by any number of replicas; `postgres-tls` reaches it
//!   over TLS, and trusts whom the machine trusts.
//! - `testing`: `testing::conformance` checks a task store of one's own against the contract.
//!
//! The modules below stand in the order in which a request meets them. [`docs::benchmarking`] says what each layer costs,
//! and how to measure one of your own; [`docs::bindings`] how to write another binding.

// Here it is without exception; the benches have one, an allocator that counts.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

// What everyone speaks.
pub mod error;
pub mod owner;
pub mod types;

// The wire: bytes in, bytes out.
pub mod agent_card;
pub mod body;
pub mod encoded;
pub mod sse;

// Calls: a method and its parameters.
mod binding;
pub mod call;
pub mod dialect;
pub mod json_rpc;
mod percent;
#[cfg(feature = "rest")]
pub mod rest;
pub mod version;

// Operations: what a caller wants.
pub mod capability;
pub mod extension;
pub mod media_type;
pub mod operation;
pub mod task;

// Operations at once: what a binding does that needs no calls.
#[cfg(feature = "grpc")]
#[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
pub mod grpc;

// Messages, and what an agent reads of them.
pub mod blob;
pub mod part;

// The agent.
pub mod agent;

// All of it, ready-made.
pub mod server;

// For those who write a part of their own.
#[cfg(any(test, feature = "testing"))]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;

// Pages, not code.
pub mod docs;

// Sugar, to spell it out.
mod builder;
mod scan;
mod short;
mod timer;
pub use builder::ServiceBuilderExt;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
