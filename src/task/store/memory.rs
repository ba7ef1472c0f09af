use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

use super::{
    ListQuery, Snapshot, StoreError, StoredPage, TaskStore,
    index::{Catalog, Keep, Key},
};
use crate::{
    owner::Owner,
    task::{LogEntry, fold},
    types::{Event, Task, Timestamp},
};

/// Keeps tasks in memory: for development, tests, and servers that need no history across restarts.
///
/// Finished tasks are kept for 24 hours, and at most 100,000 of them; then the oldest go. Tasks that are not over
/// stay. Clones share the same tasks.
#[derive(Clone, Debug)]
pub struct MemoryTaskStore {
    catalog: Arc<RwLock<Catalog<Record>>>,
    max_finished: usize,
    max_age: Duration,
    max_interrupted: usize,
    max_interrupted_age: Duration,
}

/// One task and its log.
#[derive(Debug)]
pub(super) struct Record {
    owner: Owner,
    state: Mutex<RecordState>,
    grown: Notify,
    gone: AtomicBool,
}

#[derive(Debug)]
struct RecordState {
    task: Arc<Task>,
    log: Vec<LogEntry>,
    key: Key,
}

impl MemoryTaskStore {
    /// How many finished tasks are kept unless [set otherwise](Self::max_finished).
    pub const DEFAULT_MAX_FINISHED: usize = 100_000;
    /// How long finished tasks are kept unless [set otherwise](Self::max_age).
    pub const DEFAULT_MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);
    /// How many tasks wait for their callers unless [set otherwise](Self::max_interrupted).
    pub const DEFAULT_MAX_INTERRUPTED: usize = 100_000;
    /// How long a task waits for its caller unless [set otherwise](Self::max_interrupted_age).
    pub const DEFAULT_MAX_INTERRUPTED_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self {
            catalog: Arc::default(),
            max_finished: Self::DEFAULT_MAX_FINISHED,
            max_age: Self::DEFAULT_MAX_AGE,
            max_interrupted: Self::DEFAULT_MAX_INTERRUPTED,
            max_interrupted_age: Self::DEFAULT_MAX_INTERRUPTED_AGE,
        }
    }

    /// How many finished tasks are kept. Default: 100,000, a few hundred megabytes of ordinary answers.
    ///
    /// Keep more than there are streams open: one that is still behind when its task goes ends with an error.
    #[must_use]
    pub fn max_finished(mut self, tasks: usize) -> Self {
        self.max_finished = tasks;
        self
    }

    /// How long finished tasks are kept. Default: 24 hours, so that a caller can come back the next morning.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// How many tasks may wait for their callers, as input-required or auth-required; the one that has waited longest
    /// makes room for one more. Default: 100,000, as for finished ones: most questions are never answered.
    #[must_use]
    pub fn max_interrupted(mut self, tasks: usize) -> Self {
        self.max_interrupted = tasks;
        self
    }

    /// How long a task may wait for its caller. Default: 7 days, so that a question may lie over a holiday.
    #[must_use]
    pub fn max_interrupted_age(mut self, age: Duration) -> Self {
        self.max_interrupted_age = age;
        self
    }

    /// How many tasks there are, of all owners.
    #[must_use]
    pub fn len(&self) -> usize {
        self.catalog().len()
    }

    /// True if there are no tasks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn catalog(&self) -> RwLockReadGuard<'_, Catalog<Record>> {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn catalog_mut(&self) -> RwLockWriteGuard<'_, Catalog<Record>> {
        self.catalog.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, owner: &Owner, id: &str) -> Result<Arc<Record>, StoreError> {
        let record = self.catalog().get(id).filter(|record| record.owner == *owner);
        let record = record.ok_or(StoreError::NotFound)?;
        if self.is_expired(&record.lock().task) { Err(StoreError::NotFound) } else { Ok(record) }
    }

    fn is_expired(&self, task: &Task) -> bool {
        let state = task.status.state;
        let age = match state.is_terminal() {
            true => self.max_age,
            false if state.is_interrupted() => self.max_interrupted_age,
            false => return false,
        };
        status_time(task).as_millis() < before_now(age)
    }

    /// Notes that a task moved, and lets go of those that are too many or too old.
    fn reindex(&self, owner: &Owner, task: &Task, old: Key, new: Key) {
        let mut catalog = self.catalog_mut();
        catalog.reposition(owner, task, old, new);
        self.retain(catalog);
    }

    /// Lets go of tasks at rest that are too many or too old, and tells those who wait for them.
    fn retain(&self, mut catalog: RwLockWriteGuard<'_, Catalog<Record>>) {
        let finished = Keep { count: self.max_finished, oldest: before_now(self.max_age) };
        let interrupted = Keep { count: self.max_interrupted, oldest: before_now(self.max_interrupted_age) };
        let dropped = catalog.retain(finished, interrupted);
        drop(catalog);
        for record in dropped {
            record.gone.store(true, Ordering::Release);
            record.grown.notify_waiters();
        }
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Record {
    fn lock(&self) -> MutexGuard<'_, RecordState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordState {
    fn revision(&self) -> u64 {
        self.log.len() as u64
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(&self.task), self.revision())
    }
}

/// The moment so long ago, in milliseconds since the epoch.
fn before_now(age: Duration) -> i64 {
    Timestamp::now().as_millis().saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

fn status_time(task: &Task) -> Timestamp {
    task.status.timestamp.unwrap_or(Timestamp::from_millis(0))
}

impl TaskStore for MemoryTaskStore {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        let mut catalog = self.catalog_mut();
        let key = catalog.next_key(status_time(&task));
        let log = vec![LogEntry::new(1, Event::Task(Arc::clone(&task)))];
        let snapshot = Snapshot::new(Arc::clone(&task), 1);
        let record = Arc::new(Record {
            owner: owner.clone(),
            state: Mutex::new(RecordState { task: Arc::clone(&task), log, key }),
            grown: Notify::new(),
            gone: AtomicBool::new(false),
        });
        if !catalog.insert(owner, &task, key, record) {
            return Err(StoreError::Conflict);
        }
        if task.status.state.is_terminal() {
            self.retain(catalog);
        }
        Ok(snapshot)
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        let record = self.record(owner, id)?;
        let mut state = record.lock();
        if state.task.status.state.is_terminal() {
            return Err(StoreError::Terminal);
        }
        if state.revision() != expected {
            return Err(StoreError::Conflict);
        }
        let ends = events.iter().position(|event| event.state().is_some_and(|state| state.is_terminal()));
        if ends.is_some_and(|at| at + 1 < events.len()) {
            return Err(StoreError::Terminal);
        }
        let moved = events.iter().any(|event| event.state().is_some());
        // Nothing below can fail half way: the batch holds nothing behind a terminal state.
        let task = Arc::make_mut(&mut state.task);
        for event in &events {
            fold(task, event).map_err(|_| StoreError::Terminal)?;
        }
        let mut number = expected;
        state.log.extend(events.into_iter().map(|event| {
            number += 1;
            LogEntry::new(number, event)
        }));
        if moved {
            let (old, new) = (state.key, state.key.at(status_time(&state.task)));
            state.key = new;
            self.reindex(owner, &state.task, old, new);
        }
        let snapshot = state.snapshot();
        drop(state);
        record.grown.notify_waiters();
        Ok(snapshot)
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        Ok(self.record(owner, id)?.lock().snapshot())
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let record = self.record(owner, id)?;
        let state = record.lock();
        let from = usize::try_from(after).unwrap_or(usize::MAX).min(state.log.len());
        let to = from.saturating_add(limit).min(state.log.len());
        Ok(state.log[from..to].to_vec())
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        let record = self.record(owner, id)?;
        loop {
            let mut grown = std::pin::pin!(record.grown.notified());
            // From here on nothing is missed: what grows after this wakes us, what grew before it is seen below.
            grown.as_mut().enable();
            if record.gone.load(Ordering::Acquire) {
                return Err(StoreError::NotFound);
            }
            if record.lock().revision() > after {
                return Ok(());
            }
            grown.await;
        }
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        let before = match &query.page_token {
            Some(token) => Some(Key::from_token(token).ok_or(StoreError::BadToken)?),
            None => None,
        };
        self.retain(self.catalog_mut());
        let found = self.catalog().list(owner, query, before);
        // The task is read outside the catalog's lock, so that a long page holds nobody up; one that has moved on
        // meanwhile is left out.
        let tasks = found.records.iter().map(|record| Arc::clone(&record.lock().task));
        let tasks = tasks.filter(|task| query.status.is_none_or(|state| task.status.state == state)).collect();
        Ok(StoredPage { tasks, next_page_token: found.next.map(Key::to_token), total_size: found.total })
    }
}
