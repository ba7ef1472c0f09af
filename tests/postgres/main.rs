//! The store in Postgres, through its public side, on a real server: [`database`] says which.

mod contract;
mod database;
mod loss;
mod proxy;
mod replicas;
mod retries;
mod tables;

use std::sync::Arc;

use a2a_layers::{
    owner::Owner,
    task::{PostgresTaskStore, PostgresTaskStoreBuilder, TaskStore},
    types::{Artifact, Event, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent},
};
use sqlx::{Connection as _, Executor as _, PgConnection};

/// A schema of its own, which goes with the test.
pub(crate) struct Schema {
    pub(crate) url: String,
    pub(crate) name: String,
}

impl Schema {
    /// `None`, and a word about it, if there is no Postgres to be had.
    pub(crate) fn new(what: &str) -> Option<Self> {
        Some(Self { url: database::url(what)?, name: database::schema() })
    }

    pub(crate) fn builder(&self) -> PostgresTaskStoreBuilder {
        PostgresTaskStore::builder(&*self.url).schema(&*self.name)
    }

    pub(crate) async fn open(&self) -> PostgresTaskStore {
        self.builder().open().await.unwrap()
    }

    /// A connection past the store, to the same tables.
    pub(crate) async fn connect(&self) -> PgConnection {
        let mut connection = PgConnection::connect(&self.url).await.unwrap();
        connection.execute(&*format!("SET search_path TO {}", self.name)).await.unwrap();
        connection
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let (url, name) = (std::mem::take(&mut self.url), std::mem::take(&mut self.name));
        // The test's own runtime may be at its end.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut connection = PgConnection::connect(&url).await?;
                connection.execute(&*format!("DROP SCHEMA IF EXISTS {name} CASCADE")).await.map(drop)
            })
        });
        let _: Result<sqlx::Result<()>, _> = dropping.join();
    }
}

pub(crate) fn ann() -> Owner {
    Owner::new("ann")
}

pub(crate) fn task(id: &str) -> Arc<Task> {
    Arc::new(Task::new(id, "c", TaskState::Submitted))
}

pub(crate) async fn made(store: &PostgresTaskStore, id: &str) {
    store.create(&ann(), task(id)).await.unwrap();
}

pub(crate) fn word(text: &str) -> Event {
    let mut update =
        TaskArtifactUpdateEvent::new("t".into(), "c".into(), Artifact::new("artifact-1", vec![Part::text(text)]));
    update.append = true;
    Event::ArtifactUpdate(update)
}

pub(crate) fn status(state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent::new("t".into(), "c".into(), TaskStatus::new(state)))
}
