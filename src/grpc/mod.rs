//! gRPC.

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

const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/grpc");
