mod claims;
mod many;
mod open;
mod others;
mod read;
mod schema;
mod writer;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures_core::Stream;
use sqlx::SqlitePool;

pub use self::open::SqliteTaskStoreBuilder;
use super::{
    Claim, ListQuery, LostRun, Snapshot, StoreError, StoredPage, TaskStore,
    durable::{Durable, Limits, durable_store},
};
use crate::{
    owner::Owner,
    task::LogEntry,
    types::{Event, Task, TaskStatusUpdateEvent},
};

/// Keeps tasks in a SQLite file, so that they outlive the process: feature `sqlite`.
///
/// One file beside which SQLite keeps two more (`-wal`, `-shm`). It is made, and brought up to this version of the crate,
/// when it is opened. Any number of processes **of one machine** may share it: a subscription, a cancel or the next
/// message may come in at any of them. Clones share everything, and are one holder of a
/// [lease](TaskStore#leases).
///
/// What happens while a transaction is under way is written with the next one, so many tasks at once cost few commits; a
/// commit waits for the disk unless it is [relaxed](SqliteTaskStoreBuilder::relaxed). Nobody is told of an event before it
/// is committed. Whoever waits in this process is told by it, and of what other processes write within
/// [100 ms](SqliteTaskStoreBuilder::poll).
///
/// ```no_run
/// use a2a_layers::task::{SqliteTaskStore, TaskLayer};
///
/// # async fn open() -> Result<(), a2a_layers::task::StoreError> {
/// let layer = TaskLayer::with_store(SqliteTaskStore::open("sqlite:./tasks.db").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteTaskStore(Durable<Sqlite>);

/// The file, for those who read it.
struct Sqlite {
    readers: SqlitePool,
    holder: i64,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("holder", &self.holder).finish_non_exhaustive()
    }
}

durable_store!(SqliteTaskStore, SqliteTaskStoreBuilder);

impl SqliteTaskStore {
    /// Opens a file, given as a path or as a URL (`sqlite:./tasks.db`), with the defaults of the
    /// [builder](Self::builder). There is none in memory: that is what [`MemoryTaskStore`](super::MemoryTaskStore) is for.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the file cannot be opened, is none of this store's, or of a later version; its source
    /// says which, and of what file.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn open(place: impl Into<String>) -> Result<Self, StoreError> {
        Self::builder(place).open().await
    }

    /// Opens a file with limits of one's own.
    pub fn builder(place: impl Into<String>) -> SqliteTaskStoreBuilder {
        SqliteTaskStoreBuilder::new(place.into())
    }
}

#[cfg(test)]
mod tests;
