//! What the tests of the rows share: a client, scripted agents, six mounts in one process.

mod blobs;
mod events;
mod ledger;
mod script;
mod talk;
mod world;

pub(crate) use self::{
    blobs::SpyBlobs,
    events::{Event, Events},
    ledger::Ledger,
    script::{SECRET, Script},
    talk::{ALL, BREAD, BREAD_0_3, BREAD_1_0, ONLY_0_3, ONLY_1_0, Op, STRICT_0_3, STRICT_1_0, Talk, VIBES},
    world::{World, bread, files_bread, strict, vibes},
};
