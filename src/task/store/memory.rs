use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use futures_core::Stream;

use super::{
    Claim, ListQuery, Snapshot, StoreError, StoredPage, TaskStore,
    claims::Claims,
    index::{Catalog, Filed as _, Keep, Key},
    log::Log,
    record::{Follow, Record, RecordState, Waiter},
};
use crate::{
    owner::Owner,
    task::{LogEntry, fold},
    types::{Event, StateKind, Task, Timestamp},
};

/// Keeps tasks in memory: for development, tests, and servers that need no history across restarts.
///
/// Finished tasks are kept for 24 hours, and at most 100,000 of them; then the oldest go. Tasks that are not over
/// stay. Clones share the same tasks.
#[derive(Clone, Debug)]
pub struct MemoryTaskStore {
    catalog: Arc<RwLock<Catalog<Record>>>,
    claims: Arc<Mutex<Claims>>,
    max_finished: usize,
    max_age: Duration,
    max_interrupted: usize,
    max_interrupted_age: Duration,
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
            claims: Arc::default(),
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

    /// A task's record, which may be too old to be seen.
    fn find(&self, owner: &Owner, id: &str) -> Result<Arc<Record>, StoreError> {
        self.catalog().get(id).filter(|record| record.owner() == owner).ok_or(StoreError::NotFound)
    }

    fn look_into<'a>(&self, record: &'a Record) -> Result<MutexGuard<'a, RecordState>, StoreError> {
        let state = record.lock();
        if self.is_expired(&state.task) { Err(StoreError::NotFound) } else { Ok(state) }
    }

    fn record(&self, owner: &Owner, id: &str) -> Result<Arc<Record>, StoreError> {
        let record = self.find(owner, id)?;
        drop(self.look_into(&record)?);
        Ok(record)
    }

    fn is_expired(&self, task: &Task) -> bool {
        let state = task.status.state;
        let age = match state.is_terminal() {
            true => self.max_age,
            false if state.is_interrupted() => self.max_interrupted_age,
            false => return false,
        };
        status_time(task).as_millis() < before(Timestamp::now(), age)
    }

    /// Lets go of tasks at rest that are too many or too old. Those who wait for them have to be told, which takes the
    /// locks of their records.
    #[must_use]
    fn retain(&self, catalog: &mut Catalog<Record>) -> Vec<Arc<Record>> {
        let now = Timestamp::now();
        let finished = Keep { count: self.max_finished, oldest: before(now, self.max_age) };
        let interrupted = Keep { count: self.max_interrupted, oldest: before(now, self.max_interrupted_age) };
        catalog.retain(finished, interrupted)
    }

    /// Appends what there is, if it may be appended.
    fn push(
        &self,
        owner: &Owner,
        id: &str,
        expected: u64,
        events: impl AsRef<[Event]> + IntoIterator<Item = Event>,
    ) -> Result<Snapshot, StoreError> {
        let record = self.find(owner, id)?;
        let mut state = self.look_into(&record)?;
        if state.task.status.state.is_terminal() {
            return Err(StoreError::Terminal);
        }
        if state.revision() != expected {
            return Err(StoreError::Conflict);
        }
        let all = events.as_ref();
        let ends = all.iter().position(|event| event.state().is_some_and(|state| state.is_terminal()));
        if ends.is_some_and(|at| at + 1 < all.len()) {
            return Err(StoreError::Terminal);
        }
        let moved = all.iter().any(|event| event.state().is_some());
        // This cannot fail half way: the batch holds nothing behind a terminal state.
        state.append(events).map_err(|_| StoreError::Terminal)?;
        let mut dropped = Vec::new();
        if moved {
            let (old, new) = (state.key, state.key.at(status_time(&state.task)));
            state.key = new;
            let mut catalog = self.catalog_mut();
            catalog.reposition(&record, &state.task, old, new);
            dropped = self.retain(&mut catalog);
        }
        state.forget_texts();
        let snapshot = state.snapshot();
        record.wake(state);
        self.tell(&dropped);
        Ok(snapshot)
    }

    /// Tells those who wait for tasks that these are gone, and lets go of what was claimed for them.
    fn tell(&self, dropped: &[Arc<Record>]) {
        if dropped.is_empty() {
            return;
        }
        for record in dropped {
            record.let_go();
        }
        let mut claims = self.claims();
        if !claims.is_empty() {
            dropped.iter().for_each(|record| claims.forget(record.id()));
        }
    }

    fn claims(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

/// The moment so long before another one, in milliseconds since the epoch.
fn before(now: Timestamp, age: Duration) -> i64 {
    now.as_millis().saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

fn status_time(task: &Task) -> Timestamp {
    task.status.timestamp.unwrap_or(Timestamp::from_millis(0))
}

impl TaskStore for MemoryTaskStore {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.create_with(owner, task, &mut Vec::new()).await
    }

    async fn create_with(
        &self,
        owner: &Owner,
        task: Arc<Task>,
        events: &mut Vec<Event>,
    ) -> Result<Snapshot, StoreError> {
        let mut log = Log::of(&task, events);
        let mut task = task;
        if !events.is_empty() {
            let task = Arc::make_mut(&mut task);
            events.iter().try_for_each(|event| fold(task, event)).map_err(|_| StoreError::Terminal)?;
            log.extend(std::mem::take(events));
        }
        let snapshot = Snapshot::new(Arc::clone(&task), log.revision());
        let mut catalog = self.catalog_mut();
        let key = catalog.next_key(status_time(&task));
        let record = Arc::new(Record::new(owner.clone(), Arc::clone(&task), log, key));
        if !catalog.insert(&task, key, record) {
            return Err(StoreError::Conflict);
        }
        if task.status.state.kind() != StateKind::Active {
            let dropped = self.retain(&mut catalog);
            drop(catalog);
            self.tell(&dropped);
        }
        Ok(snapshot)
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        self.push(owner, id, expected, events)
    }

    async fn append_one(&self, owner: &Owner, id: &str, expected: u64, event: Event) -> Result<Snapshot, StoreError> {
        self.push(owner, id, expected, [event])
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        let record = self.find(owner, id)?;
        let state = self.look_into(&record)?;
        Ok(state.snapshot())
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let record = self.find(owner, id)?;
        let mut state = self.look_into(&record)?;
        Ok(state.entries(after).take(limit).collect())
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        let mut waiter = Waiter::new(self.record(owner, id)?);
        poll_fn(|cx| waiter.poll_grown(after, cx).map_ok(drop)).await
    }

    fn follow(
        self,
        owner: Owner,
        id: Arc<str>,
        after: u64,
    ) -> impl Stream<Item = Result<LogEntry, StoreError>> + Send + 'static {
        Follow::new(self.record(&owner, &id), after)
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        let before = match &query.page_token {
            Some(token) => Some(Key::from_token(token).ok_or(StoreError::BadToken)?),
            None => None,
        };
        let dropped = self.retain(&mut self.catalog_mut());
        self.tell(&dropped);
        let found = self.catalog().list(owner, query, before);
        // The task is read outside the catalog's lock, so that a long page holds nobody up; one that has moved on
        // meanwhile is left out.
        let tasks = found.records.iter().map(|record| Arc::clone(&record.lock().task));
        let tasks = tasks.filter(|task| query.status.is_none_or(|state| task.status.state == state)).collect();
        Ok(StoredPage { tasks, next_page_token: found.next.map(Key::to_token), total_size: found.total })
    }

    fn takes_claims(&self) -> bool {
        true
    }

    async fn claim(&self, owner: &Owner, claim: &Claim, window: Duration) -> Result<Option<Claim>, StoreError> {
        let Some(first) = self.claims().claim(owner, claim, window) else { return Ok(None) };
        if matches!(self.record(owner, &first.task_id), Err(StoreError::NotFound)) {
            // A task that is too old to be seen, but still there, has its claims still: both go now.
            let dropped = self.retain(&mut self.catalog_mut());
            self.tell(&dropped);
        }
        Ok(self.claims().claim(owner, claim, window))
    }

    async fn release(&self, owner: &Owner, claim: &Claim) -> Result<(), StoreError> {
        self.claims().release(owner, claim);
        Ok(())
    }
}
