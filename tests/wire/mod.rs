//! A real server on a real socket, an agent that plays scripts, and a client that writes whatever bytes it likes.

mod actor;
mod connection;
mod envelope;
mod rest;
mod server;
mod version;

pub(crate) use self::{
    actor::{Actor, SECRET, Stage},
    connection::{Answer, Connection, Events, INTERNALS, post},
    envelope::{error_code, error_text, state, task},
    rest::rest,
    server::Server,
    version::Version,
};
