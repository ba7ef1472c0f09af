//! Refuses what the agent's card does not promise, before anything is looked up.
//!
//! Without streaming, a stream or a subscription is an `UnsupportedOperation`; without push notifications, all four
//! operations on webhooks, and a message that brings a webhook, are `PushNotificationNotSupported`; the extended card
//! is answered here if it is a fixed one (spec 1.0 §3.3.4). The inner service is not called for any of these.
//!
//! It looks at operations, so at requests that could be read. Where one that could not is to be refused for the same
//! reason, tell [`VersionLayer::capability`](crate::version::VersionLayer::capability) and its like.
//!
//! Leave it out if the agent offers everything. It says nothing about extensions and media types; the
//! [`extension`](crate::extension) and [`media_type`](crate::media_type) layers do.
//!
//! ```
//! use a2a_layers::{
//!     call::Binding,
//!     capability::CapabilityLayer,
//!     error::{BoxError, ErrorKind},
//!     operation::{Answer, Operation, OperationRequest, Outcome, ProtocolVersion, SubscribeToTask},
//! };
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let service = ServiceBuilder::new()
//!     .layer(CapabilityLayer::new().push_notifications(true))
//!     .service(service_fn(|_: Request<Operation>| async {
//!         Ok::<_, BoxError>(Response::new(Outcome::<()>::Answer(Answer::PushConfigDeleted)))
//!     }));
//!
//! let subscribe = OperationRequest::SubscribeToTask(SubscribeToTask::new("t"));
//! let operation = Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, subscribe);
//! let error = service.oneshot(Request::new(operation)).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
//! # }
//! ```

mod future;
mod layer;
mod service;

pub(crate) use self::layer::Offered;
pub use self::{future::ResponseFuture, layer::CapabilityLayer, service::Capability};
