//! A task store of one's own: what stands for Redis or a database. It outlives the mounts that use it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, LogEntry, Snapshot, StoreError, StoredPage, TaskStore, fold},
    types::{Event, Task},
};
use tokio::sync::Notify;

#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Inner>);

#[derive(Default)]
struct Inner {
    logs: Mutex<BTreeMap<(Owner, String), Vec<LogEntry>>>,
    grown: Notify,
    writes: AtomicUsize,
}

impl Ledger {
    /// How often something was written.
    pub(crate) fn writes(&self) -> usize {
        self.0.writes.load(Ordering::Relaxed)
    }

    /// How many tasks there are.
    pub(crate) fn tasks(&self) -> usize {
        self.0.logs.lock().unwrap().len()
    }

    fn log(&self, owner: &Owner, id: &str) -> Result<Vec<LogEntry>, StoreError> {
        let logs = self.0.logs.lock().unwrap();
        logs.get(&(owner.clone(), id.to_owned())).cloned().ok_or(StoreError::NotFound)
    }

    fn wrote(&self) {
        self.0.writes.fetch_add(1, Ordering::Relaxed);
        self.0.grown.notify_waiters();
    }
}

/// The task is nothing but its log.
fn folded(log: &[LogEntry]) -> Result<Snapshot, StoreError> {
    let Some(Event::Task(first)) = log.first().map(LogEntry::event) else { return Err(StoreError::NotFound) };
    let mut task = Task::clone(first);
    for entry in &log[1..] {
        fold(&mut task, entry.event()).map_err(|_| StoreError::Terminal)?;
    }
    Ok(Snapshot::new(Arc::new(task), log.len() as u64))
}

impl TaskStore for Ledger {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        let log = vec![LogEntry::new(1, Event::Task(Arc::clone(&task)))];
        if self.0.logs.lock().unwrap().insert((owner.clone(), task.id.to_string()), log).is_some() {
            return Err(StoreError::Conflict);
        }
        self.wrote();
        Ok(Snapshot::new(task, 1))
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        let snapshot = {
            let mut logs = self.0.logs.lock().unwrap();
            let log = logs.get_mut(&(owner.clone(), id.to_owned())).ok_or(StoreError::NotFound)?;
            if folded(log)?.task.status.state.is_terminal() {
                return Err(StoreError::Terminal);
            }
            if log.len() as u64 != expected {
                return Err(StoreError::Conflict);
            }
            let mut longer = log.clone();
            for event in events {
                longer.push(LogEntry::new(longer.len() as u64 + 1, event));
            }
            let snapshot = folded(&longer)?;
            *log = longer;
            snapshot
        };
        self.wrote();
        Ok(snapshot)
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        folded(&self.log(owner, id)?)
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let log = self.log(owner, id)?;
        Ok(log.into_iter().filter(|entry| entry.number() > after).take(limit).collect())
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        loop {
            let notified = self.0.grown.notified();
            if self.log(owner, id)?.len() as u64 > after {
                return Ok(());
            }
            notified.await;
        }
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        let logs = self.0.logs.lock().unwrap();
        let own = logs.iter().filter(|((of, _), _)| of == owner);
        let tasks = own.map(|(_, log)| Ok(folded(log)?.task)).collect::<Result<Vec<_>, StoreError>>()?;
        let size = tasks.len() as u64;
        Ok(StoredPage::new(tasks.into_iter().take(query.page_size).collect(), size))
    }
}
