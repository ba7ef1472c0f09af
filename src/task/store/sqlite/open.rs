//! How a file is opened, and with which limits.

use std::{path::PathBuf, str::FromStr as _, time::Duration};

use sqlx::{
    ConnectOptions as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::time::{Instant, sleep};

use super::{Inner, SqliteTaskStore, Watching, schema::migrate, watch_others, writer::Writer};
use crate::{error::BoxError, task::StoreError};

/// How a [`SqliteTaskStore`] is to be opened: [`SqliteTaskStore::builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `open`"]
pub struct SqliteTaskStoreBuilder {
    place: String,
    pub(super) settings: Settings,
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) readers: u32,
    pub(super) patience: Duration,
    pub(super) is_relaxed: bool,
    pub(super) lease: Duration,
    pub(super) poll: Duration,
    pub(super) max_finished: u64,
    pub(super) max_age: Duration,
    pub(super) max_interrupted: u64,
    pub(super) max_interrupted_age: Duration,
    pub(super) max_bytes: Option<u64>,
}

impl SqliteTaskStoreBuilder {
    pub(super) fn new(place: String) -> Self {
        Self {
            place,
            settings: Settings {
                readers: 4,
                patience: Duration::from_secs(15),
                is_relaxed: false,
                lease: SqliteTaskStore::DEFAULT_LEASE,
                poll: Duration::from_millis(100),
                max_finished: SqliteTaskStore::DEFAULT_MAX_FINISHED,
                max_age: SqliteTaskStore::DEFAULT_MAX_AGE,
                max_interrupted: SqliteTaskStore::DEFAULT_MAX_INTERRUPTED,
                max_interrupted_age: SqliteTaskStore::DEFAULT_MAX_INTERRUPTED_AGE,
                max_bytes: None,
            },
        }
    }

    /// How many connections read at once, at least 1; one more writes. Default: 4, as reads are short and the file is
    /// mostly in memory.
    pub fn readers(mut self, connections: u32) -> Self {
        self.settings.readers = connections.max(1);
        self
    }

    /// How long a read waits for a connection, and a write for another process that writes, before the store counts as
    /// not available. Default: 15 s, so that a machine that stands still for ten loses no run, and a lease does not run
    /// out meanwhile.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.settings.patience = patience;
        self
    }

    /// Whether what was acknowledged need only survive the end of the process, and not that of the machine. Default:
    /// false, every commit waits for the disk. With it, a power cut may take the last moments; what is left is whole.
    pub fn relaxed(mut self, relaxed: bool) -> Self {
        self.settings.is_relaxed = relaxed;
        self
    }

    /// How long a lease lasts, at least 10 ms: so long after a process was killed its tasks at work end as failed.
    /// Default: 30 s, as a disk or a machine may well stand still for ten.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = lease.max(Duration::from_millis(10));
        self
    }

    /// How often somebody who waits looks whether another process has written to the file, at least every millisecond.
    /// Default: every 100 ms; it costs next to nothing, and what this process writes is told at once anyway.
    pub fn poll(mut self, interval: Duration) -> Self {
        self.settings.poll = interval.max(Duration::from_millis(1));
        self
    }

    /// How many finished tasks are kept. Default: 1,000,000, some gigabytes of ordinary answers.
    ///
    /// Those beyond it, and those that are too old, go three times in a [lease](Self::lease).
    pub fn max_finished(mut self, tasks: u64) -> Self {
        self.settings.max_finished = tasks;
        self
    }

    /// How long finished tasks are kept. Default: 30 days, so that a caller can come back after a holiday.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.settings.max_age = age;
        self
    }

    /// How many tasks may wait for their callers, as input-required or auth-required. Default: 1,000,000, as for
    /// finished ones: most questions are never answered.
    pub fn max_interrupted(mut self, tasks: u64) -> Self {
        self.settings.max_interrupted = tasks;
        self
    }

    /// How long a task may wait for its caller. Default: 30 days, as for finished ones.
    pub fn max_interrupted_age(mut self, age: Duration) -> Self {
        self.settings.max_interrupted_age = age;
        self
    }

    /// How large the file may become, in bytes; beyond it the store counts as not available until something has gone.
    /// `None`, the default: as large as the disk allows.
    pub fn max_bytes(mut self, bytes: Option<u64>) -> Self {
        self.settings.max_bytes = bytes;
        self
    }

    /// Opens the file, makes it if there is none, and brings it up to this version of the crate.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the file cannot be opened, is none of this store's, or of a later version; its source
    /// says which, and of what file.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn open(self) -> Result<SqliteTaskStore, StoreError> {
        let place = self.place.clone();
        // SQLite does not say which file it means.
        self.open_inner().await.map_err(|error| StoreError::Unavailable(format!("{place}: {error}").into()))
    }

    async fn open_inner(self) -> Result<SqliteTaskStore, BoxError> {
        let Self { place, settings } = self;
        let path = path(&place)?;
        let options = SqliteConnectOptions::from_str("sqlite://")?
            .filename(path)
            .create_if_missing(true)
            .synchronous(if settings.is_relaxed { SqliteSynchronous::Normal } else { SqliteSynchronous::Full })
            .busy_timeout(settings.patience)
            .disable_statement_logging();
        let mut connection = first_connection(&options, settings.patience).await?;
        migrate(&mut connection).await?;
        limit(&mut connection, settings.max_bytes).await?;
        let made = sqlx::query("INSERT INTO holders (beat) VALUES (0)").execute(&mut connection).await?;
        let holder = made.last_insert_rowid();
        let readers = SqlitePoolOptions::new()
            .max_connections(settings.readers)
            .acquire_timeout(settings.patience)
            .test_before_acquire(false)
            .connect_with(options.clone())
            .await?;
        let watching = Watching::new(options.connect().await?, holder).await?;
        let writer = Writer::start(connection, holder, settings.lease);
        let store = SqliteTaskStore(std::sync::Arc::new(Inner::new(readers, writer, holder, settings)));
        watch_others(&store, watching);
        Ok(store)
    }
}

/// The connection that brings the file to its journal, which stays with the file. SQLite does not wait for others who do
/// the same at that moment, so this does.
async fn first_connection(options: &SqliteConnectOptions, patience: Duration) -> Result<SqliteConnection, BoxError> {
    let options = options.clone().journal_mode(SqliteJournalMode::Wal);
    let started = Instant::now();
    loop {
        match options.connect().await {
            Err(sqlx::Error::Database(error)) if is_busy(&*error) && started.elapsed() < patience => {
                sleep(RETRY).await;
            }
            opened => return Ok(opened?),
        }
    }
}

/// How long to wait before the file is tried again: somebody else's change of its journal takes about that.
const RETRY: Duration = Duration::from_millis(10);

/// True for `SQLITE_BUSY` in any of its extended forms, whose lowest byte is 5.
fn is_busy(error: &dyn sqlx::error::DatabaseError) -> bool {
    error.code().and_then(|code| code.parse::<i32>().ok()).is_some_and(|code| code & 0xff == 5)
}

/// The path in what may also be written as a URL, as other programs do.
fn path(place: &str) -> Result<PathBuf, BoxError> {
    let path = place.strip_prefix("sqlite:").map_or(place, |rest| rest.strip_prefix("//").unwrap_or(rest));
    if path.is_empty() || path.starts_with(':') || path.contains('?') {
        return Err("this names no file; memory is for MemoryTaskStore, parameters for the builder".into());
    }
    Ok(PathBuf::from(path))
}

/// SQLite counts in pages.
async fn limit(connection: &mut SqliteConnection, max_bytes: Option<u64>) -> Result<(), BoxError> {
    let Some(bytes) = max_bytes else { return Ok(()) };
    let page: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&mut *connection).await?;
    let pages = bytes / page.unsigned_abs().max(1);
    sqlx::query(&format!("PRAGMA max_page_count = {}", pages.clamp(1, u64::from(u32::MAX) - 1)))
        .execute(connection)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_path_or_a_url_of_one() {
        for place in ["tasks.db", "sqlite:tasks.db", "sqlite://tasks.db"] {
            assert_eq!(path(place).unwrap(), PathBuf::from("tasks.db"));
        }
        assert_eq!(path("sqlite:///var/tasks.db").unwrap(), PathBuf::from("/var/tasks.db"));
        for place in ["", "sqlite:", "sqlite::memory:", ":memory:", "sqlite:tasks.db?mode=ro"] {
            assert!(path(place).is_err(), "{place}");
        }
    }
}
