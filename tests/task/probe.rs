//! A store that fails, dawdles and counts, as a test wants it.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, LogEntry, MemoryTaskStore, Snapshot, StoreError, StoredPage, TaskStore},
    types::{Event, Task},
};

#[derive(Clone, Default)]
pub(crate) struct Probe {
    pub(crate) inner: MemoryTaskStore,
    pub(crate) plan: Arc<Plan>,
}

#[derive(Default)]
pub(crate) struct Plan {
    /// Nothing works.
    pub(crate) is_down: AtomicBool,
    /// So many appends fail from now on.
    pub(crate) failing_appends: AtomicUsize,
    /// How long everything takes.
    pub(crate) delay: Mutex<Duration>,
    /// How long the next get keeps what it has read to itself.
    pub(crate) late: Mutex<Duration>,
    /// How long it keeps to itself what came of the next append.
    pub(crate) silent: Mutex<Duration>,
    /// How many events each append had.
    pub(crate) batches: Mutex<Vec<usize>>,
    /// How many wait for a log to grow just now.
    pub(crate) waiting: AtomicUsize,
    /// Another one appends this before the next append.
    pub(crate) faster: Mutex<Option<Event>>,
}

impl Probe {
    async fn work(&self) -> Result<(), StoreError> {
        let delay = *self.plan.delay.lock().unwrap();
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if self.plan.is_down.load(SeqCst) { Err(StoreError::Unavailable("hunter2 is down".into())) } else { Ok(()) }
    }
}

impl TaskStore for Probe {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.work().await?;
        self.inner.create(owner, task).await
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        self.plan.batches.lock().unwrap().push(events.len());
        self.work().await?;
        if self.plan.failing_appends.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            return Err(StoreError::Unavailable("hunter2 is down".into()));
        }
        let faster = self.plan.faster.lock().unwrap().take();
        if let Some(event) = faster {
            self.inner.append(owner, id, expected, vec![event]).await?;
        }
        let appended = self.inner.append(owner, id, expected, events).await;
        let silent = std::mem::take(&mut *self.plan.silent.lock().unwrap());
        if !silent.is_zero() {
            tokio::time::sleep(silent).await;
        }
        appended
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        self.work().await?;
        let read = self.inner.get(owner, id).await;
        let late = std::mem::take(&mut *self.plan.late.lock().unwrap());
        if !late.is_zero() {
            tokio::time::sleep(late).await;
        }
        read
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.work().await?;
        self.inner.read(owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        struct Waits<'a>(&'a AtomicUsize);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        self.plan.waiting.fetch_add(1, SeqCst);
        let _waits = Waits(&self.plan.waiting);
        self.inner.grown(owner, id, after).await
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        self.work().await?;
        self.inner.list(owner, query).await
    }
}
