//! The messages as they are on the wire, and clients that speak them, generated from the `.proto` files beside this one.
//!
//! A server needs none of this; it is here for callers in Rust, and for tests. A client goes over whatever service it is
//! given, such as a channel of tonic's (with its feature `channel`); there is no `connect`, for this crate does without
//! that feature:
//!
//! ```no_run
//! use a2a_layers::grpc::proto::v1_0::{ListTasksRequest, a2a_service_client::A2aServiceClient};
//! use tonic::transport::Channel;
//!
//! # async fn ask() -> Result<(), a2a_layers::error::BoxError> {
//! let channel = Channel::from_static("http://127.0.0.1:8000").connect().await?;
//! let tasks = A2aServiceClient::new(channel).list_tasks(ListTasksRequest::default()).await?;
//! # Ok(())
//! # }
//! ```

pub use super::json::{Struct, Value};

/// Version 1.0: the package `lf.a2a.v1`.
#[allow(missing_docs, missing_debug_implementations, unreachable_pub, clippy::all, clippy::return_self_not_must_use)]
pub mod v1_0 {
    include!("generated/lf.a2a.v1.rs");
}

/// Version 0.3: the package `a2a.v1`. What both versions have alike is in [`v1_0`].
#[allow(missing_docs, missing_debug_implementations, unreachable_pub, clippy::all, clippy::return_self_not_must_use)]
pub mod v0_3 {
    include!("generated/a2a.v1.rs");
}

/// What both packages declare, as a serialised `google.protobuf.FileDescriptorSet`, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("generated/descriptors.bin");
