//! The bindings of a mount, over the one service below them.

#[cfg(feature = "rest")]
mod both;

#[cfg(feature = "rest")]
pub(super) use self::both::{BindingsLayer, Items};

/// The items of a stream, as their binding writes them.
#[cfg(not(feature = "rest"))]
pub(super) type Items<T> = crate::json_rpc::Envelopes<T>;
