//! What goes wrong for people who run A2A servers, each fault tried on a ready-made server over a real socket.
//!
//! A test is named after the faults it tries. `faults.md` says, for every fault, which tests try it or which work it is
//! left to; the module `table` checks that.

mod card;
mod framing;
mod lifecycle;
mod owners;
mod parts;
mod rest;
mod sse;
mod store;
mod table;
mod version;
#[path = "../wire/mod.rs"]
mod wire;
