//! Bad input, bad clients and bad agents against a ready-made server, as real bytes over real sockets.
//!
//! Wherever an answer is read, it is also looked at for what no answer may have: a status of 500 or more, a second
//! envelope, words from inside. Wherever a server is dropped, it must not have panicked. Nothing may take for ever.

mod agents;
mod bodies;
mod clients;
mod heads;
mod mutations;
mod races;
mod readers;
mod rest;
mod values;
#[path = "../wire/mod.rs"]
mod wire;
