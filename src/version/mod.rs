//! Makes operations out of calls, in the version that the caller speaks, and answers in that version.
//!
//! [`VersionLayer`] finds out which [`Dialect`](crate::dialect::Dialect) a [`Call`](crate::call::Call) is in, has it
//! read the call, and remembers it for the way back: results, items of a stream and the details of errors are written in
//! the dialect that the call came in. What is refused here never reaches the inner service.
//!
//! Which version is it (spec 1.0 §3.6)? The first of these that says something:
//!
//! 1. the path, where it is one of a version: `/v1/…` over HTTP+JSON is 0.3, and a header or a parameter that says
//!    otherwise is -32009,
//! 2. the header `A2A-Version`,
//! 3. the query parameter `A2A-Version`,
//! 4. the version that the mount takes for granted: 0.3, as the specification wants it, or that of
//!    [`VersionLayer::only`].
//!
//! Versions are compared by `Major.Minor`. A version that is not offered, or that is none, is -32009 on every operation,
//! before anything else is looked at. A method is looked up in its version's table alone, so the name that another
//! version has for it is -32601, with words that name the version to ask for; over HTTP+JSON, where there is the path but
//! not in that version, it is -32009. [`lenient`](VersionLayer::lenient) makes an exception for callers that name no
//! version. The dialect is that of the version and of the call's binding.
//!
//! Leave this layer out where calls arrive as [`Operation`](crate::operation::Operation)s already, as over gRPC.
//!
//! ```
//! use std::{convert::Infallible, sync::Arc};
//!
//! use a2a_layers::{
//!     call::{Binding, Call},
//!     encoded::Encoded,
//!     operation::{Answer, Operation, Outcome, StreamEvent},
//!     types::Message,
//!     version::VersionLayer,
//! };
//! use futures_util::stream;
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! type NoStream = stream::Empty<Result<StreamEvent, a2a_layers::error::Error>>;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let service = ServiceBuilder::new().layer(VersionLayer::new()).service_fn(|_: Request<Operation>| async {
//!     let answer = Answer::SentMessage(Arc::new(Message::agent("hello").with_message_id("m2")));
//!     Ok::<_, Infallible>(Response::new(Outcome::<NoStream>::from(answer)))
//! });
//!
//! let call = Call::new(Binding::JsonRpc, "message/send").with_params(
//!     r#"{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"hi"}]}}"#,
//! );
//! let response = service.clone().oneshot(Request::new(call)).await?;
//! let Encoded::Document(document) = response.into_body() else { panic!("not a stream") };
//! assert_eq!(
//!     document,
//!     r#"{"kind":"message","messageId":"m2","role":"agent","parts":[{"kind":"text","text":"hello"}]}"#,
//! );
//!
//! let call = Call::new(Binding::JsonRpc, "SendMessage")
//!     .with_params(r#"{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#);
//! let request = Request::builder().header("A2A-Version", "1.0").body(call)?;
//! let Encoded::Document(document) = service.oneshot(request).await?.into_body() else { panic!("not a stream") };
//! assert_eq!(document, r#"{"message":{"messageId":"m2","role":"ROLE_AGENT","parts":[{"text":"hello"}]}}"#);
//! # Ok(())
//! # }
//! ```
//!
//! A mount for one version alone, which needs no header:
//!
//! ```
//! use a2a_layers::{dialect::V1_0, version::VersionLayer};
//!
//! let layer = VersionLayer::only(V1_0::new());
//! # let _ = layer;
//! ```

mod future;
mod layer;
mod negotiate;
mod service;
mod speaker;
mod stream;

pub use self::{future::ResponseFuture, layer::VersionLayer, service::Version, stream::EncodedStream};
