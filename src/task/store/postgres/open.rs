//! How a database is opened, and with which limits.

use std::{fmt, sync::Arc, time::Duration};

use sqlx::postgres::PgPoolOptions;
use tokio::time::Instant;

use super::{
    Postgres, PostgresTaskStore, listen,
    place::Place,
    schema::migrate,
    tell::{Told, hello},
    writer::Work,
};
use crate::{
    error::BoxError,
    task::{
        StoreError,
        store::durable::{Durable, Limits, Renewal, Topics, Writer},
    },
};

/// How a [`PostgresTaskStore`] is to be opened: [`PostgresTaskStore::builder`].
#[derive(Clone)]
#[must_use = "nothing is opened before `open`"]
pub struct PostgresTaskStoreBuilder {
    url: String,
    schema: String,
    readers: u32,
    writers: u32,
    patience: Duration,
    is_relaxed: bool,
    poll: Duration,
    pub(super) limits: Limits,
}

impl PostgresTaskStoreBuilder {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            schema: "a2a".to_owned(),
            readers: 8,
            writers: 2,
            patience: Duration::from_secs(15),
            is_relaxed: false,
            poll: Duration::from_secs(1),
            limits: PostgresTaskStore::DEFAULT_LIMITS,
        }
    }

    /// The schema that the tables are in: up to 63 of `a-z`, `0-9` and `_`. Default: `a2a`. Stores of different schemas
    /// have nothing in common, so that one database serves several of them, and other programs beside.
    ///
    /// It is made if there is none, which the user of the URL must be allowed to do; or an owner of the database makes it,
    /// for that user.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// How many connections read at once, at least 1. Default: 8; reads are short, and a server of ordinary size has
    /// hundred connections for all replicas.
    pub fn readers(mut self, connections: u32) -> Self {
        self.readers = connections.max(1);
        self
    }

    /// How many connections write at once, at least 1. Default: 2, so that the next writes need not wait for the commit
    /// of the last ones. More of them gather less, so that each write costs the server more.
    pub fn writers(mut self, connections: u32) -> Self {
        self.writers = connections.max(1);
        self
    }

    /// How long the database may take for a connection, a lock or a statement, or be away, before the store counts as not
    /// available; at least 1 ms. A database that is at work on a statement is the one to say so; if it stands still, the
    /// store says so one second later. Default: 15 s, so that a restart, or a machine that stands still for ten, costs no
    /// run, and a lease does not run out meanwhile.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience.max(Duration::from_millis(1));
        self
    }

    /// Whether what was acknowledged need only survive the end of this process, and not that of the database's machine.
    /// Default: false, every commit waits for the server's disk. With it (`synchronous_commit = off`), a crash of the server
    /// may take the last moments; what is left is whole.
    pub fn relaxed(mut self, relaxed: bool) -> Self {
        self.is_relaxed = relaxed;
        self
    }

    /// How often the store looks itself for what others have written to the logs that somebody waits for, at least every
    /// millisecond. Default: every second; it matters only where a notification was lost.
    pub fn poll(mut self, interval: Duration) -> Self {
        self.poll = interval.max(Duration::from_millis(1));
        self
    }

    /// Opens the database, and brings its tables up to this version of the crate.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database cannot be reached, or its tables are of a later version; its source says
    /// which, and of what database.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn open(self) -> Result<PostgresTaskStore, StoreError> {
        let place = Place::new(&self.url, self.schema.clone(), self.patience, self.is_relaxed);
        let place = Arc::new(place.map_err(StoreError::Unavailable)?);
        let name = place.name();
        self.open_inner(place).await.map_err(|error| StoreError::Unavailable(format!("{name}: {error}").into()))
    }

    async fn open_inner(self, place: Arc<Place>) -> Result<PostgresTaskStore, BoxError> {
        let (mut connection, _) = place.connect(Instant::now() + self.patience).await?;
        migrate(&mut connection, &place.schema).await?;
        let holder = hello(&mut connection, &place).await?;
        drop(connection);
        let readers = PgPoolOptions::new()
            .max_connections(self.readers)
            .acquire_timeout(self.patience)
            .test_before_acquire(false)
            .after_connect({
                let place = Arc::clone(&place);
                move |connection, _| {
                    let place = Arc::clone(&place);
                    Box::pin(async move { place.begin_session(connection).await.map(drop) })
                }
            })
            .connect_lazy_with(place.options().clone());
        let told = Told::start(Arc::clone(&place), holder);
        let renewal = Renewal::new(self.limits.lease);
        let work = || Work::new(Arc::clone(&place), holder, renewal.clone(), Arc::clone(&told));
        let writer = Writer::start((0..self.writers).map(|_| work()));
        let backend = Postgres { readers, place: Arc::clone(&place), holder, told };
        let store = Durable::new(backend, writer, Topics::default(), self.limits);
        listen::start(&store, self.poll);
        Ok(PostgresTaskStore(store))
    }
}

/// Without the URL, in which there may be a password.
impl fmt::Debug for PostgresTaskStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTaskStoreBuilder")
            .field("schema", &self.schema)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
