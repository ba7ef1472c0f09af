//! The gRPC binding, over mocks and over sockets.
#![cfg(feature = "grpc")]

mod bodies;
mod calls;
mod errors;
mod mount;
mod old;
mod servers;
mod support;
