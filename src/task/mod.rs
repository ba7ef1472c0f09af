//! The life of tasks: an event log for each, and cursors on it.

mod fold;
mod log;
mod store;

pub use self::{
    fold::{FoldError, fold},
    log::LogEntry,
    store::{ListQuery, Snapshot, StoreError, StoredPage, TaskStore},
};
