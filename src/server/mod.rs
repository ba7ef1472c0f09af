//! All of it, ready-made: one call from an agent to a server.
//!
//! [`Mount`] takes an agent and builds the whole stack of layers around it; the [`A2aService`] that comes out is an
//! ordinary tower service, to be given to hyper, axum or [`Serve`]. [`Settings`] choose between the ways in which servers
//! differ, and [`Mounts`] puts several mounts behind one port.
//!
//! Leave it out to compose the layers yourself, with your own between them.

mod blobs;
mod error;
mod files;
mod linger;
mod mount;
mod mounts;
mod serve;
mod service;
mod settings;

pub use self::{
    error::ConfigError,
    mount::Mount,
    mounts::Mounts,
    serve::{Serve, serve},
    service::{A2aService, ResponseBody, ResponseFuture},
    settings::Settings,
};
