//! How a file is opened, and with which limits.

use std::{path::PathBuf, str::FromStr as _, time::Duration};

use sqlx::{
    ConnectOptions as _, Executor as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::time::{Instant, sleep};

use super::{
    Sqlite, SqliteTaskStore,
    others::{Watching, watch_others},
    schema::migrate,
    writer::Work,
};
use crate::{
    error::BoxError,
    task::{
        StoreError,
        store::durable::{Durable, Limits, Renewal, Topics, Writer},
    },
};

/// How a [`SqliteTaskStore`] is to be opened: [`SqliteTaskStore::builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `open`"]
pub struct SqliteTaskStoreBuilder {
    place: String,
    readers: u32,
    patience: Duration,
    is_relaxed: bool,
    poll: Duration,
    max_bytes: Option<u64>,
    pub(super) limits: Limits,
}

impl SqliteTaskStoreBuilder {
    pub(super) fn new(place: String) -> Self {
        Self {
            place,
            readers: 4,
            patience: Duration::from_secs(15),
            is_relaxed: false,
            poll: Duration::from_millis(100),
            max_bytes: None,
            limits: SqliteTaskStore::DEFAULT_LIMITS,
        }
    }

    /// How many connections read at once, at least 1; one more writes. Default: 4, as reads are short and the file is
    /// mostly in memory.
    pub fn readers(mut self, connections: u32) -> Self {
        self.readers = connections.max(1);
        self
    }

    /// How long a read waits for a connection, and a write for another process that writes, before the store counts as
    /// not available. Default: 15 s, so that a machine that stands still for ten loses no run, and a lease does not run
    /// out meanwhile.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Whether what was acknowledged need only survive the end of the process, and not that of the machine. Default:
    /// false, every commit waits for the disk. With it, a power cut may take the last moments; what is left is whole.
    pub fn relaxed(mut self, relaxed: bool) -> Self {
        self.is_relaxed = relaxed;
        self
    }

    /// How often somebody who waits looks whether another process has written to the file, at least every millisecond.
    /// Default: every 100 ms; it costs next to nothing, and what this process writes is told at once anyway.
    pub fn poll(mut self, interval: Duration) -> Self {
        self.poll = interval.max(Duration::from_millis(1));
        self
    }

    /// How large the file may become, in bytes; beyond it the store counts as not available until something has gone.
    /// `None`, the default: as large as the disk allows.
    pub fn max_bytes(mut self, bytes: Option<u64>) -> Self {
        self.max_bytes = bytes;
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
        let path = path(&self.place)?;
        let options = SqliteConnectOptions::from_str("sqlite://")?
            .filename(path)
            .create_if_missing(true)
            .synchronous(if self.is_relaxed { SqliteSynchronous::Normal } else { SqliteSynchronous::Full })
            .busy_timeout(self.patience)
            .disable_statement_logging();
        let mut connection = first_connection(&options, self.patience).await?;
        migrate(&mut connection).await?;
        limit(&mut connection, self.max_bytes).await?;
        let made = sqlx::query("INSERT INTO holders (beat) VALUES (0)").execute(&mut connection).await?;
        let holder = made.last_insert_rowid();
        let readers = SqlitePoolOptions::new()
            .max_connections(self.readers)
            .acquire_timeout(self.patience)
            .test_before_acquire(false)
            .connect_with(options.clone())
            .await?;
        let watching = Watching::new(options.connect().await?, holder).await?;
        // It waits for others by itself.
        connection.execute("PRAGMA busy_timeout = 0").await?;
        let (renewal, patience) = (Renewal::new(self.limits.lease), self.patience);
        let writer = Writer::start([Work { connection, holder, renewal, patience }]);
        let store = Durable::new(Sqlite { readers, holder }, writer, Topics::default(), self.limits);
        watch_others(&store, self.poll, watching);
        Ok(SqliteTaskStore(store))
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
pub(super) fn is_busy(error: &dyn sqlx::error::DatabaseError) -> bool {
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
