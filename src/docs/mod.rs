//! Longer texts, about more than one item.

#[doc = include_str!("benchmarking.md")]
pub mod benchmarking {}

#[doc = include_str!("bindings.md")]
pub mod bindings {}

#[doc = include_str!("replicas.md")]
pub mod replicas {}
