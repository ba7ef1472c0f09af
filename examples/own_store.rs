//! A task store of one's own: whatever happens to a task is written to an audit log, before the caller hears of it.
//!
//! ```text
//! cargo run --example own_store -- 127.0.0.1:8000
//! ```
//!
//! This one leaves the keeping to another store, one in memory. One that keeps tasks itself, in a database for instance,
//! implements the same six methods; the documentation of `TaskStore` says what they have to promise, and which more there
//! are for tasks that outlive the process. `testing::conformance` (feature `testing`) checks it all.

use std::{convert::Infallible, env, sync::Arc};

use a2a_layers::{
    error::BoxError,
    owner::Owner,
    part::Input,
    server::{Mount, serve},
    task::{ListQuery, LogEntry, MemoryTaskStore, Snapshot, StoreError, StoredPage, TaskStore},
    types::{Event, Task},
};
use http::Request;
use tokio::net::TcpListener;
use tower::service_fn;

#[derive(Clone)]
struct Audited<T>(T);

impl<T: TaskStore> TaskStore for Audited<T> {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        let snapshot = self.0.create(owner, task).await?;
        audit(&snapshot, 1);
        Ok(snapshot)
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        let count = events.len();
        let snapshot = self.0.append(owner, id, expected, events).await?;
        audit(&snapshot, count);
        Ok(snapshot)
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        self.0.get(owner, id).await
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.0.read(owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        self.0.grown(owner, id, after).await
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        self.0.list(owner, query).await
    }
}

fn audit(after: &Snapshot, count: usize) {
    let Snapshot { task, revision, .. } = after;
    println!("audit: task {} has {count} more events, {revision} in all, and is {:?}", task.id, task.status.state);
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);

    let agent = service_fn(|request: Request<Input>| async move {
        Ok::<_, Infallible>(format!("on record: {}", request.body().text()))
    });
    let service = Mount::new("audited", agent).task_store(Audited(MemoryTaskStore::new())).url(&url).build()?;

    println!("Serving on {url}");
    serve(listener, service).await?;
    Ok(())
}
