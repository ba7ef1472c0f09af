//! The life of tasks: an event log for each, and cursors on it.

mod error;
mod fold;
mod layer;
mod log;
mod narrator;
mod next;
mod requests;
mod run;
mod runs;
mod send;
mod service;
mod settings;
mod source;
mod store;
mod stream;
mod subscribe;
mod telling;
mod watch;

pub use self::{
    fold::{FoldError, fold},
    layer::TaskLayer,
    log::LogEntry,
    service::{ResponseFuture, Tasks},
    settings::{CancelMode, CancelScope, CloseOn, FirstEvent, Replay, ReplyMode},
    store::{ListQuery, MemoryTaskStore, Snapshot, StoreError, StoredPage, TaskStore},
    stream::EventStream,
};
