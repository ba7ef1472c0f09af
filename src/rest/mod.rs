//! HTTP+JSON: verbs and paths in; documents, or streams of events, out.
//!
//! Takes the whole body of a request, finds the operation that its verb and path mean, and calls the inner service with
//! a [`Call`]: the operation's method, its parameters, and what stands in the path. Results go back as they are.
//!
//! Leave it out to serve another binding.

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
