//! Holds callers and the agent to the media types that each of them takes.
//!
//! [`MediaTypeLayer`] refuses a message with a part whose *stated* media type the agent does not take, with
//! `ContentTypeNotSupported` (spec 1.0 §3.1.1). Parts that state none pass. Use it where the input modes were chosen on
//! purpose; leave it out where the agent looks for itself.
//!
//! [`AcceptedOutputLayer`] stands next to the agent and looks at what it answers: an answer in none of the caller's
//! `acceptedOutputModes` becomes an error that says so, instead of being sent in silence. Leave it out to send whatever
//! the agent says; the modes reach the agent either way
//! ([`TaskContext::accepted_output_modes`](crate::agent::TaskContext::accepted_output_modes)).
//!
//! Both compare types without regard to case and parameters. `*/*` and `*` stand for all types, `image/*` for a family, and
//! so does a bare `image`.
//!
//! ```
//! use a2a_layers::{
//!     call::Binding,
//!     error::{BoxError, ErrorKind},
//!     media_type::MediaTypeLayer,
//!     operation::{Answer, Operation, OperationRequest, Outcome, ProtocolVersion, SendMessage},
//!     types::{Message, Part},
//! };
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let service = ServiceBuilder::new()
//!     .layer(MediaTypeLayer::new(["text/plain", "image/*"]))
//!     .service(service_fn(|_: Request<Operation>| async {
//!         Ok::<_, BoxError>(Response::new(Outcome::<()>::Answer(Answer::PushConfigDeleted)))
//!     }));
//! let send = |part: Part| {
//!     let send = OperationRequest::SendMessage(SendMessage::new(Message::user(part)));
//!     Request::new(Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, send))
//! };
//!
//! let picture = Part::url("https://example.com/cat").with_media_type("image/png");
//! assert!(service.clone().oneshot(send(picture)).await.is_ok());
//!
//! let sound = Part::url("https://example.com/meow").with_media_type("audio/mpeg");
//! let error = service.oneshot(send(sound)).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::ContentTypeNotSupported);
//! # }
//! ```

mod future;
mod layer;
mod mode;
mod output;
mod service;

pub use self::{
    future::ResponseFuture,
    layer::MediaTypeLayer,
    output::{AcceptedOutput, AcceptedOutputFuture, AcceptedOutputLayer},
    service::MediaType,
};
