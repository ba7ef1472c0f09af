//! Composable [tower](https://docs.rs/tower) layers that turn any agent into a complete A2A (Agent2Agent) server.
//!
//! A request is always an `http::Request<T>`, a response always an `http::Response<U>`; a layer only refines the body.
//! The modules below stand in the order in which a request meets them.

#![cfg_attr(docsrs, feature(doc_cfg))]

// What everyone speaks.
pub mod error;
pub mod owner;
pub mod types;

// The wire: bytes in, bytes out.
pub mod agent_card;
pub mod body;
pub mod encoded;
pub mod sse;

// Calls: a method and its parameters.
pub mod call;
pub mod dialect;
pub mod json_rpc;
pub mod version;

// Operations: what a caller wants.
pub mod capability;
pub mod extension;
pub mod media_type;
pub mod operation;
pub mod task;

// Messages, and what an agent reads of them.
pub mod blob;
pub mod part;

// The agent.
pub mod agent;

// All of it, ready-made.
pub mod server;

mod builder;
pub use builder::ServiceBuilderExt;
