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
use crate::operation::ProtocolVersion;

const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/grpc");

/// The name of the service of this version, package and all.
pub(crate) fn service_name(version: ProtocolVersion) -> &'static str {
    if version < ProtocolVersion::V1_0 { rpc::SERVICE_0_3 } else { rpc::SERVICE_1_0 }
}

#[cfg(test)]
mod tests;
