//! Activates the protocol extensions that a caller asks for and the agent supports.
//!
//! Callers name extensions in the `A2A-Extensions` header (spec 1.0 §3.2.6), or in `X-A2A-Extensions` as 0.3 called it.
//! Those that the agent supports are put into the request's extensions ([`ActivatedExtensions`]) and named in the
//! response header of the request's version; the rest is ignored. A request that does not activate what the agent
//! requires is refused with `ExtensionSupportRequired`, whatever the operation (spec 1.0 §3.3.4).
//!
//! Leave it out if the agent supports no extensions; with none to support it puts nothing into a request. What an extension does is the business of the agent or of a layer
//! of your own further in.
//!
//! ```
//! use a2a_layers::{
//!     call::Binding,
//!     error::BoxError,
//!     extension::{ActivatedExtensions, ExtensionLayer},
//!     operation::{Answer, GetTask, Operation, OperationRequest, Outcome, ProtocolVersion},
//!     types::AgentExtension,
//! };
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let service = ServiceBuilder::new()
//!     .layer(ExtensionLayer::new([AgentExtension::new("https://example.com/ext/citations")]))
//!     .service(service_fn(|request: Request<Operation>| async move {
//!         let activated = request.extensions().get::<ActivatedExtensions>();
//!         assert!(activated.is_some_and(|all| all.contains("https://example.com/ext/citations")));
//!         Ok::<_, BoxError>(Response::new(Outcome::<()>::Answer(Answer::PushConfigDeleted)))
//!     }));
//!
//! let get = OperationRequest::GetTask(GetTask::new("t"));
//! let request = Request::get("/")
//!     .header("A2A-Extensions", "https://example.com/ext/citations, https://example.com/ext/unknown")
//!     .body(Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, get))?;
//! let response = service.oneshot(request).await?;
//! assert_eq!(response.headers()["A2A-Extensions"], "https://example.com/ext/citations");
//! # Ok(())
//! # }
//! ```

mod activated;
mod future;
mod layer;
mod service;

pub use self::{activated::ActivatedExtensions, future::ResponseFuture, layer::ExtensionLayer, service::Extension};
