mod batch;
mod claims;
mod listen;
mod open;
mod place;
mod read;
mod retain;
mod schema;
mod tell;
mod writer;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures_core::Stream;
use sqlx::PgPool;

pub use self::open::PostgresTaskStoreBuilder;
use self::{place::Place, tell::Told};
use super::{
    Claim, ListQuery, LostRun, Snapshot, StoreError, StoredPage, TaskStore,
    durable::{Durable, Limits, durable_store},
};
use crate::{
    owner::Owner,
    task::LogEntry,
    types::{Event, Task, TaskStatusUpdateEvent},
};

/// Keeps tasks in Postgres, shared by any number of replicas: feature `postgres`, and `postgres-tls` for TLS to it.
///
/// Its tables are in a [schema](PostgresTaskStoreBuilder::schema) of their own, which is made, and brought up to this version
/// of the crate, when the store is opened; any number of replicas may start at once. A subscription, a cancel or the next
/// message may come in at any of them. Clones share everything, and are one holder of a [lease](TaskStore#leases).
///
/// Needs Postgres 12 or newer, and a connection that stays the same one: a pooler in front of it has to pool sessions, not
/// transactions.
///
/// # Writing
///
/// What comes while a transaction is under way is written with the next one, and all of it is one statement, so many tasks
/// at once cost few round trips and few commits. Nobody is told of an event before it is committed.
///
/// A database that is away for less than the store's [patience](PostgresTaskStoreBuilder::patience), as for a restart, is
/// waited for; beyond it calls end as [`StoreError::Unavailable`]. If a connection is lost at a commit, the store looks
/// whether the commit took place, and answers accordingly.
///
/// # Waiting
///
/// Whoever waits in this process is told by it. What other replicas write is told by `LISTEN` and `NOTIFY`, a moment after
/// the commit; and once in a [while](PostgresTaskStoreBuilder::poll) the store looks itself, for what was not told since
/// a connection was lost.
///
/// # Connections
///
/// At most [readers](PostgresTaskStoreBuilder::readers) + [writers](PostgresTaskStoreBuilder::writers) + 2, which is 12 for
/// each replica unless set otherwise, and one more for a moment after one was lost.
///
/// ```no_run
/// use a2a_layers::task::{PostgresTaskStore, TaskLayer};
///
/// # async fn open() -> Result<(), a2a_layers::task::StoreError> {
/// let layer = TaskLayer::with_store(PostgresTaskStore::open("postgres://user@localhost/db").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresTaskStore(Durable<Postgres>);

/// The database, for those who read it.
struct Postgres {
    readers: PgPool,
    place: Arc<Place>,
    holder: i64,
    told: Arc<Told>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.name();
        f.debug_struct("Postgres").field("place", &place).field("holder", &self.holder).finish_non_exhaustive()
    }
}

durable_store!(PostgresTaskStore, PostgresTaskStoreBuilder);

impl PostgresTaskStore {
    /// Opens a database, given as a URL, with the defaults of the [builder](Self::builder). In the URL may stand what
    /// stands there for other programs, such as `sslmode` and `sslrootcert`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database cannot be reached, or its tables are of a later version; its source says
    /// which, and of what database.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn open(url: impl Into<String>) -> Result<Self, StoreError> {
        Self::builder(url).open().await
    }

    /// Opens a database with limits of one's own.
    pub fn builder(url: impl Into<String>) -> PostgresTaskStoreBuilder {
        PostgresTaskStoreBuilder::new(url.into())
    }
}
