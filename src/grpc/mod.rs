//! The gRPC binding: operations as protobuf messages over HTTP/2, in protocol versions 1.0 and 0.3 (spec 1.0 §10, 0.3
//! §3.2.2).
//!
//! [`GrpcLayer`] stands where [`json_rpc`](crate::json_rpc) and [`version`](crate::version) stand for JSON-RPC: above
//! [`capability`](crate::capability), [`extension`](crate::extension), [`task`](crate::task) and all that is below them,
//! which it shares with the other bindings. The version is that of the package that is called: `lf.a2a.v1.A2AService` is
//! 1.0, `a2a.v1.A2AService` is 0.3. Leave it out if no caller speaks gRPC.
//!
//! ```
//! use a2a_layers::{
//!     ServiceBuilderExt as _,
//!     error::BoxError,
//!     grpc::proto::v1_0::{
//!         Message, Part, Role, SendMessageRequest, a2a_service_client::A2aServiceClient, part::Content,
//!         send_message_response::Payload,
//!     },
//!     part::Input,
//!     task::MemoryTaskStore,
//! };
//! use http::Request;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let grpc = ServiceBuilder::new().grpc().task(MemoryTaskStore::new()).part().service_fn(
//!     |request: Request<Input>| async move { Ok::<_, BoxError>(format!("you said: {}", request.body().text())) },
//! );
//! // To serve it: `tonic::transport::Server::builder().add_service(grpc.v1_0()).add_service(grpc.v0_3())`, or, both
//! // packages at once, `a2a_layers::server::serve(listener, grpc)`.
//!
//! let part = Part { content: Some(Content::Text("hi".into())), ..Part::default() };
//! let message =
//!     Message { message_id: "m1".into(), role: Role::User.into(), parts: vec![part], ..Message::default() };
//! let request = SendMessageRequest { message: Some(message), ..SendMessageRequest::default() };
//! let answer = A2aServiceClient::new(grpc).send_message(request).await?.into_inner();
//! let Some(Payload::Task(task)) = answer.payload else { panic!("no task") };
//! assert_eq!(task.artifacts[0].parts[0].content, Some(Content::Text("you said: hi".into())));
//! # Ok(())
//! # }
//! ```
//!
//! [`Mount::grpc`](crate::server::Mount::grpc) does the same on the port of a ready-made server.
//!
//! # What travels beside the messages
//!
//! The head of the call reaches the agent as it came, so whatever tower or tonic layers stand outside may put into its
//! extensions an [`Owner`](crate::owner::Owner), for example. Of its metadata are read
//!
//! | key | meaning |
//! | --- | --- |
//! | `a2a-version` | if it is there and another than the package's: `FAILED_PRECONDITION`, before anything else |
//! | `a2a-extensions`, `x-a2a-extensions` | extensions to activate; they come back under the key of the version |
//! | `last-event-id` | for a subscription, the number of the event that the caller has last seen |
//! | `grpc-timeout` | when the caller gives up: `DEADLINE_EXCEEDED`. It ends the wait or the stream, and not the task |
//!
//! # Errors
//!
//! Each [`ErrorKind`](crate::error::ErrorKind) has its code (spec 1.0 §5.4). The details of a status
//! (`grpc-status-details-bin`) are a `google.rpc.Status` with what there is of `ErrorInfo` (the reason, in the domain
//! `a2a-protocol.org`), `BadRequest` (each field that is not as it must be) and `RetryInfo`. What led to an error is
//! logged and never sent.
//!
//! | what comes | code |
//! | --- | --- |
//! | bytes that are no message, a field that is missing or out of range | `INVALID_ARGUMENT` |
//! | a message above [`limit`](GrpcLayer::limit) | `RESOURCE_EXHAUSTED` |
//! | a message that is not there after [`read_deadline`](GrpcLayer::read_deadline) | `DEADLINE_EXCEEDED` |
//! | an unknown method, a compressed message | `UNIMPLEMENTED` |
//! | a request that is none of gRPC's | HTTP 415 or 405 |
//!
//! # Version 0.3
//!
//! It says some things in another way: tasks go by names (`tasks/{id}`), a send that does not say `blocking` does not
//! wait, a `history_length` of 0 is all of it, and a subscription to a task that is over is answered with the task. Data
//! that is no object goes in one, marked as in this version's JSON. Bytes of files are bytes, as the type of their field
//! says, unless [`base64_files`](GrpcLayer::base64_files) is set. `ListTasks` is not there.
//!
//! # Streams
//!
//! A stream is read from the task's log when the caller takes what was sent before: HTTP/2's flow control reaches to the
//! log, and a slow reader holds nobody up. The message of an event is written once for each version and shared by all who
//! read it.
//!
//! # Another binding
//!
//! This module is the shape of one that needs no [`Call`](crate::call::Call)s, because its messages have types: find the
//! operation that a request is ([`OperationKind`](crate::operation::OperationKind)), make an
//! [`Operation`](crate::operation::Operation) of it, call the service below with the head as it came, and write the
//! [`Outcome`](crate::operation::Outcome): an [`Answer`](crate::operation::Answer), or a stream of
//! [`StreamEvent`](crate::operation::StreamEvent)s. Any error of the service below becomes an [`Error`](crate::error::Error) by
//! [`find_error`](crate::error::find_error). A binding whose parameters are JSON is better off with `Call`s, as
//! [`json_rpc`](crate::json_rpc) is.

mod body;
mod call;
mod convert;
mod future;
mod head;
mod json;
mod language;
mod layer;
pub mod proto;
mod rpc;
mod service;
mod status;
mod v0_3;
mod v1_0;
mod wire;

use http::HeaderValue;

pub use self::{
    body::ResponseBody,
    future::ResponseFuture,
    layer::GrpcLayer,
    service::{Grpc, Package},
};
use crate::operation::ProtocolVersion;

const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/grpc");

/// The name of the service of this version, package and all.
pub(crate) fn service_name(version: ProtocolVersion) -> &'static str {
    if version < ProtocolVersion::V1_0 { rpc::SERVICE_0_3 } else { rpc::SERVICE_1_0 }
}

#[cfg(test)]
mod tests;
