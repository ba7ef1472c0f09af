//! A store in memory whose clones are processes: each holds a lease, and each can die.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use a2a_layers::{
    error::BoxError,
    owner::Owner,
    task::{ListQuery, LogEntry, LostRun, MemoryTaskStore, Snapshot, StoreError, StoredPage, TaskStore},
    types::{Event, StateKind, Task},
};
use futures_util::{Stream, stream};
use tokio::{sync::broadcast, time::Instant};

pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// What one process has of it.
#[derive(Clone)]
pub(crate) struct Leased {
    shared: Arc<Shared>,
    holder: u64,
    pub(crate) is_dead: Arc<AtomicBool>,
    /// Neither gets nor releases are answered.
    pub(crate) hangs: Arc<AtomicBool>,
    /// The so-manyth append from now on fails; 0 for none.
    pub(crate) failing_append: Arc<AtomicU64>,
    /// It never gets done with letting go.
    pub(crate) retains: Arc<AtomicBool>,
}

struct Shared {
    tasks: MemoryTaskStore,
    /// Who holds which active task of whom.
    held: Mutex<HashMap<String, (Owner, u64)>>,
    renewed: Mutex<HashMap<u64, Instant>>,
    ended: broadcast::Sender<(u64, Arc<str>)>,
    holders: AtomicU64,
}

impl Leased {
    pub(crate) fn new() -> Self {
        let shared = Shared {
            tasks: MemoryTaskStore::new(),
            held: Mutex::default(),
            renewed: Mutex::default(),
            ended: broadcast::channel(1_000).0,
            holders: AtomicU64::new(0),
        };
        Self::holder(Arc::new(shared), 0)
    }

    /// Another process.
    pub(crate) fn other(&self) -> Self {
        Self::holder(Arc::clone(&self.shared), 1 + self.shared.holders.fetch_add(1, SeqCst))
    }

    /// A lease begins with its holder.
    fn holder(shared: Arc<Shared>, holder: u64) -> Self {
        shared.renewed.lock().unwrap().insert(holder, Instant::now());
        Self {
            shared,
            holder,
            is_dead: Arc::default(),
            hangs: Arc::default(),
            retains: Arc::default(),
            failing_append: Arc::default(),
        }
    }

    fn alive(&self) -> Result<(), StoreError> {
        if self.is_dead.load(SeqCst) { Err(StoreError::Unavailable(BoxError::from("dead"))) } else { Ok(()) }
    }

    async fn answers(&self) -> Result<(), StoreError> {
        if self.hangs.load(SeqCst) {
            std::future::pending::<()>().await;
        }
        self.alive()
    }

    fn note(&self, owner: &Owner, snapshot: &Snapshot) {
        let mut held = self.shared.held.lock().unwrap();
        let task = &snapshot.task;
        let before = match task.status.state.kind() {
            StateKind::Active => held.insert(task.id.to_string(), (owner.clone(), self.holder)),
            _ => held.remove(&*task.id),
        };
        if let Some((_, holder)) = before.filter(|(_, holder)| *holder != self.holder)
            && task.status.state.is_terminal()
        {
            let _ = self.shared.ended.send((holder, Arc::clone(&task.id)));
        }
    }
}

impl TaskStore for Leased {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.alive()?;
        let snapshot = self.shared.tasks.create(owner, task).await?;
        self.note(owner, &snapshot);
        Ok(snapshot)
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        self.alive()?;
        if self.failing_append.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) == Ok(1) {
            return Err(StoreError::Unavailable(BoxError::from("away")));
        }
        let snapshot = self.shared.tasks.append(owner, id, expected, events).await?;
        self.note(owner, &snapshot);
        Ok(snapshot)
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        self.answers().await?;
        self.shared.tasks.get(owner, id).await
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.alive()?;
        self.shared.tasks.read(owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        self.alive()?;
        self.shared.tasks.grown(owner, id, after).await
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        self.alive()?;
        self.shared.tasks.list(owner, query).await
    }

    fn lease(&self) -> Option<Duration> {
        Some(LEASE)
    }

    async fn renew_lease(&self) -> Result<(), StoreError> {
        self.alive()?;
        self.shared.renewed.lock().unwrap().insert(self.holder, Instant::now());
        Ok(())
    }

    async fn release_lease(&self) -> Result<(), StoreError> {
        self.answers().await?;
        self.shared.renewed.lock().unwrap().remove(&self.holder);
        Ok(())
    }

    async fn lost_runs(&self, limit: usize) -> Result<Vec<LostRun>, StoreError> {
        self.alive()?;
        let held = self.shared.held.lock().unwrap().clone();
        let renewed = self.shared.renewed.lock().unwrap().clone();
        let is_lost = |holder| renewed.get(&holder).is_none_or(|at| at.elapsed() >= LEASE);
        let lost = held.into_iter().filter(|(_, (_, holder))| *holder != self.holder && is_lost(*holder));
        let mut runs = Vec::new();
        for (id, (owner, _)) in lost.take(limit) {
            let snapshot = self.shared.tasks.get(&owner, &id).await?;
            runs.push(LostRun::new(owner, snapshot));
        }
        Ok(runs)
    }

    async fn retain(&self) -> Result<(), StoreError> {
        if self.retains.load(SeqCst) {
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    fn ended_elsewhere(&self) -> impl Stream<Item = Arc<str>> + Send + 'static {
        let (ended, own) = (self.shared.ended.subscribe(), self.holder);
        stream::unfold(ended, move |mut ended| async move {
            loop {
                let (holder, id) = ended.recv().await.ok()?;
                if holder == own {
                    return Some((id, ended));
                }
            }
        })
    }
}
