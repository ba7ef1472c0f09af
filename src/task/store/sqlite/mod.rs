mod claims;
mod open;
mod others;
mod read;
mod schema;
mod writer;

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_core::Stream;
use futures_util::stream;
use sqlx::SqlitePool;
use tokio::sync::broadcast;

pub use self::open::SqliteTaskStoreBuilder;
use self::{
    open::Settings,
    others::{Beats, Watching, watch_others},
    read::{owner_text, state_number, stored, unavailable},
    writer::{Append, Create, Keep, Standing, Write, Writer, Written},
};
use super::{
    Claim, ListQuery, LostRun, READ_AT_ONCE, Snapshot, StoreError, StoredPage, TaskStore,
    topics::{Growth, Subscription, Topics},
};
use crate::{
    owner::Owner,
    task::{
        LogEntry, fold,
        stored::{write_events, write_task},
    },
    types::{Event, StateKind, Task, Timestamp},
};

/// How many ids of tasks that ended elsewhere may lie unheard.
const UNHEARD: usize = 4_096;
/// How much text a log may have behind its snapshot at least, in bytes. Beyond it a snapshot is written when as much has
/// come as it is long itself, so that however long a task gets, its snapshots cost no more than its log.
const UNFOLDED: usize = 16 << 10;
/// How many tasks at work are kept ready, as their next event is sure to come. More are read again each time.
const READY: usize = 100_000;

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
pub struct SqliteTaskStore(Arc<Inner>);

struct Inner {
    readers: SqlitePool,
    writer: Writer,
    holder: i64,
    settings: Settings,
    topics: Topics,
    ended: broadcast::Sender<Arc<str>>,
    beats: Mutex<Beats>,
    ready: Mutex<HashMap<Arc<str>, Ready>>,
}

/// A task at work as this process wrote it last. Whether it still stands so, the next write finds out.
struct Ready {
    owner: Owner,
    seq: i64,
    revision: u64,
    task: Arc<Task>,
    /// The lengths of the last snapshot and of what was appended since.
    snapshot: usize,
    unfolded: usize,
    /// Whether this holder is known to hold it.
    is_held: bool,
}

impl Inner {
    fn new(readers: SqlitePool, writer: Writer, holder: i64, settings: Settings) -> Self {
        Self {
            readers,
            writer,
            holder,
            settings,
            topics: Topics::default(),
            ended: broadcast::Sender::new(UNHEARD),
            beats: Mutex::default(),
            ready: Mutex::default(),
        }
    }

    async fn write(&self, write: Write) -> Result<Written, StoreError> {
        self.writer.write(write).await.map_err(unavailable)
    }

    fn take_ready(&self, owner: &Owner, id: &str) -> Option<Ready> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.get(id)?.owner == *owner { ready.remove(id) } else { None }
    }

    fn keep_ready(&self, id: &Arc<str>, task: Ready) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() < READY {
            ready.insert(Arc::clone(id), task);
        }
    }

    /// The task as this process knows it, if that is its revision.
    fn known(&self, owner: &Owner, id: &str, revision: u64) -> Option<Arc<Task>> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = ready.get(id).filter(|ready| ready.owner == *owner && ready.revision == revision)?;
        Some(Arc::clone(&ready.task))
    }

    async fn read_ready(&self, owner: &Owner, id: &str) -> Result<(Ready, bool), StoreError> {
        let (row, folded, task) = read::task(&self.readers, owner, id).await?;
        // How long the log behind a snapshot is, nobody has counted; it is at most as long as it may be.
        let unfolded = if folded == row.revision { 0 } else { UNFOLDED };
        let ready = Ready {
            owner: owner.clone(),
            seq: row.seq,
            revision: row.revision,
            task: Arc::new(task),
            snapshot: 0,
            unfolded,
            is_held: false,
        };
        Ok((ready, row.is_over))
    }

    /// Why an append that looked right was not taken.
    async fn reason(&self, owner: &Owner, id: &str) -> StoreError {
        match read::row(&self.readers, owner, id).await {
            Ok(row) if row.is_over => StoreError::Terminal,
            Ok(_) => StoreError::Conflict,
            Err(error) => error,
        }
    }
}

fn standing(task: &Task) -> Standing {
    let phase = match task.status.state.kind() {
        StateKind::Active => 0,
        StateKind::Interrupted => 1,
        StateKind::Terminal => 2,
    };
    let moment = task.status.timestamp.map_or(0, Timestamp::as_millis);
    Standing { state: state_number(task.status.state), phase, moment }
}

impl SqliteTaskStore {
    /// How long a lease lasts unless [set otherwise](SqliteTaskStoreBuilder::lease).
    pub const DEFAULT_LEASE: Duration = Duration::from_secs(30);
    /// How many finished tasks are kept unless [set otherwise](SqliteTaskStoreBuilder::max_finished).
    pub const DEFAULT_MAX_FINISHED: u64 = 1_000_000;
    /// How long finished tasks are kept unless [set otherwise](SqliteTaskStoreBuilder::max_age).
    pub const DEFAULT_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
    /// How many tasks wait for their callers unless [set otherwise](SqliteTaskStoreBuilder::max_interrupted).
    pub const DEFAULT_MAX_INTERRUPTED: u64 = 1_000_000;
    /// How long a task waits for its caller unless [set otherwise](SqliteTaskStoreBuilder::max_interrupted_age).
    pub const DEFAULT_MAX_INTERRUPTED_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

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

impl TaskStore for SqliteTaskStore {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.create_with(owner, task, &mut Vec::new()).await
    }

    async fn create_with(
        &self,
        owner: &Owner,
        mut task: Arc<Task>,
        events: &mut Vec<Event>,
    ) -> Result<Snapshot, StoreError> {
        let log: Vec<_> = std::iter::once(Event::Task(Arc::clone(&task))).chain(events.drain(..)).collect();
        if log.len() > 1 {
            let whole = Arc::make_mut(&mut task);
            for event in &log[1..] {
                fold(whole, event).map_err(|_| StoreError::Terminal)?;
            }
        }
        let (text, revision) = (write_events(&task.id, &task.context_id, &log), log.len() as u64);
        let is_active = task.status.state.kind() == StateKind::Active;
        let unfolded = text.len();
        let create = Create {
            id: Arc::clone(&task.id),
            owner: owner_text(owner).into_owned(),
            context: Arc::clone(&task.context_id),
            standing: standing(&task),
            revision: stored(revision),
            events: text,
            // What is alone in its log need not be written twice.
            snapshot: (!is_active && revision > 1).then(|| write_task(&task)),
        };
        let Written::Done(seq) = self.0.write(Write::Create(create)).await? else { return Err(StoreError::Conflict) };
        if is_active {
            let (owner, kept) = (owner.clone(), Arc::clone(&task));
            let ready = Ready { owner, seq, revision, task: kept, snapshot: 0, unfolded, is_held: true };
            self.0.keep_ready(&task.id, ready);
        }
        Ok(Snapshot::new(task, revision))
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        let inner = &*self.0;
        let mut ready = match inner.take_ready(owner, id).filter(|ready| ready.revision == expected) {
            Some(ready) => ready,
            None => match inner.read_ready(owner, id).await? {
                (_, true) => return Err(StoreError::Terminal),
                (ready, _) if ready.revision != expected => return Err(StoreError::Conflict),
                (ready, _) => ready,
            },
        };
        if events.is_empty() {
            return Ok(Snapshot::new(ready.task, expected));
        }
        let task = Arc::make_mut(&mut ready.task);
        for event in &events {
            fold(task, event).map_err(|_| StoreError::Terminal)?;
        }
        let text = write_events(&task.id, &task.context_id, &events);
        let moves = events.iter().any(|event| event.state().is_some()) || !ready.is_held;
        let at_rest = task.status.state.kind() != StateKind::Active;
        ready.unfolded += text.len();
        let snapshot = (at_rest || ready.unfolded > ready.snapshot.max(UNFOLDED)).then(|| write_task(task));
        if let Some(snapshot) = &snapshot {
            (ready.snapshot, ready.unfolded) = (snapshot.len(), 0);
        }
        let revision = expected + events.len() as u64;
        let append = Append {
            seq: ready.seq,
            expected: stored(expected),
            revision: stored(revision),
            events: text,
            moves: moves.then(|| standing(task)),
            snapshot,
        };
        let Written::Done(_) = inner.write(Write::Append(append)).await? else {
            return Err(inner.reason(owner, id).await);
        };
        let entries = (expected + 1..).zip(events).map(|(number, event)| LogEntry::new(number, event));
        inner.topics.appended(owner, id, entries);
        let task = Arc::clone(&ready.task);
        if !at_rest {
            (ready.revision, ready.is_held) = (revision, true);
            inner.keep_ready(&task.id, ready);
        }
        Ok(Snapshot::new(task, revision))
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        let inner = &*self.0;
        let is_known = inner.ready.lock().unwrap_or_else(PoisonError::into_inner).contains_key(id);
        if is_known {
            let row = read::row(&inner.readers, owner, id).await?;
            if let Some(task) = inner.known(owner, id, row.revision) {
                return Ok(Snapshot::new(task, row.revision));
            }
        }
        let (row, _, task) = read::task(&inner.readers, owner, id).await?;
        Ok(Snapshot::new(Arc::new(task), row.revision))
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        read::entries(&self.0.readers, owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        let mut subscription = self.0.topics.subscribe(owner, &Arc::from(id));
        if read::row(&self.0.readers, owner, id).await?.revision > after {
            return Ok(());
        }
        loop {
            match subscription.growth() {
                Growth::Gone => return Err(StoreError::NotFound),
                Growth::Revision(revision) if revision > after => return Ok(()),
                Growth::Revision(_) => subscription.changed().await,
            }
        }
    }

    fn follow(
        self,
        owner: Owner,
        id: Arc<str>,
        after: u64,
    ) -> impl Stream<Item = Result<LogEntry, StoreError>> + Send + 'static {
        let subscription = self.0.topics.subscribe(&owner, &id);
        let follow = Follow { store: self, owner, id, after, subscription, entries: VecDeque::new(), has_read: false };
        stream::unfold(Some(follow), |follow| async {
            let mut follow = follow?;
            match follow.next().await {
                Ok(entry) => Some((Ok(entry), Some(follow))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        read::list(&self.0.readers, owner, query).await
    }

    fn lease(&self) -> Option<Duration> {
        Some(self.0.settings.lease)
    }

    async fn renew_lease(&self) -> Result<(), StoreError> {
        self.0.write(Write::Beat).await.map(drop)
    }

    async fn release_lease(&self) -> Result<(), StoreError> {
        self.0.write(Write::Release).await.map(drop)
    }

    async fn lost_runs(&self, limit: usize) -> Result<Vec<LostRun>, StoreError> {
        let inner = &*self.0;
        let query = sqlx::query_as("SELECT id, beat FROM holders WHERE beat >= 0 AND id <> $1");
        let beats: Vec<(i64, i64)> = query.bind(inner.holder).fetch_all(&inner.readers).await.map_err(unavailable)?;
        let gone = {
            let mut seen = inner.beats.lock().unwrap_or_else(PoisonError::into_inner);
            seen.look(&beats, inner.settings.lease)
        };
        for (holder, beat) in gone {
            inner.write(Write::Bury { holder, beat }).await?;
        }
        let mut runs = Vec::new();
        for (owner, id) in read::lost(&inner.readers, inner.holder, limit).await? {
            match self.get(&owner, &id).await {
                Ok(snapshot) => runs.push(LostRun::new(owner, snapshot)),
                Err(StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    fn ended_elsewhere(&self) -> impl Stream<Item = Arc<str>> + Send + 'static {
        stream::unfold(self.0.ended.subscribe(), |mut ended| async move {
            loop {
                match ended.recv().await {
                    Ok(id) => return Some((id, ended)),
                    // Their runs find out when they next write.
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        })
    }

    fn takes_claims(&self) -> bool {
        true
    }

    async fn claim(&self, owner: &Owner, claim: &Claim, window: Duration) -> Result<Option<Claim>, StoreError> {
        self.claim_message(owner, claim, window).await
    }

    async fn release(&self, owner: &Owner, claim: &Claim) -> Result<(), StoreError> {
        self.release_message(owner, claim).await
    }

    async fn retain(&self) -> Result<(), StoreError> {
        self.let_go_of_claims().await?;
        let Settings { max_finished, max_age, max_interrupted, max_interrupted_age, .. } = self.0.settings;
        for (phase, count, age) in [(2, max_finished, max_age), (1, max_interrupted, max_interrupted_age)] {
            let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
            let oldest = Timestamp::now().as_millis().saturating_sub(age);
            loop {
                let keep = Keep { phase, count: stored(count), oldest };
                match self.0.write(Write::Retain(keep)).await? {
                    Written::Gone(ids) if !ids.is_empty() => ids.iter().for_each(|id| self.0.topics.grown(id, None)),
                    _ => break,
                }
            }
        }
        Ok(())
    }
}

/// Somebody who follows a log.
struct Follow {
    store: SqliteTaskStore,
    owner: Owner,
    id: Arc<str>,
    /// The number of the last entry that was given out.
    after: u64,
    subscription: Subscription,
    entries: VecDeque<LogEntry>,
    /// False until the file was asked, which also says whether the owner may see it.
    has_read: bool,
}

impl Follow {
    async fn next(&mut self) -> Result<LogEntry, StoreError> {
        loop {
            if let Some(entry) = self.entries.pop_front() {
                self.after = entry.number();
                return Ok(entry);
            }
            let inner = &*self.store.0;
            let read = match self.subscription.growth() {
                Growth::Gone if self.has_read => return Err(StoreError::NotFound),
                Growth::Revision(revision) if self.has_read && revision <= self.after => {
                    self.subscription.changed().await;
                    continue;
                }
                // What this process wrote is at hand.
                _ if self.has_read => inner.topics.recent(&self.owner, &self.id, self.after, READ_AT_ONCE),
                _ => None,
            };
            self.entries = match read {
                Some(entries) => entries.into(),
                None => read::entries(&inner.readers, &self.owner, &self.id, self.after, READ_AT_ONCE).await?.into(),
            };
            // Only when nothing is left in the file is it enough to be told.
            self.has_read = self.has_read || self.entries.len() < READ_AT_ONCE;
        }
    }
}

impl fmt::Debug for SqliteTaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTaskStore").field("holder", &self.0.holder).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
