//! The messages as they are on the wire, and clients that speak them, generated from the `.proto` files beside this one.
//!
//! A server needs none of this; it is here for callers in Rust, and for tests.

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
