//! What the checks are made of.

use std::{future::Future, sync::Arc, time::Duration};

use crate::{
    owner::Owner,
    task::{Snapshot, StoreError, TaskStore},
    types::{
        Artifact, Event, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
        Timestamp,
    },
};

/// How long something may take that should happen soon.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn ann() -> Owner {
    Owner::new("ann")
}

pub(super) fn status(id: &str, state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent::new(id.into(), "c".into(), TaskStatus::new(state)))
}

pub(super) fn said(text: &str) -> Event {
    Event::Message(Arc::new(Message::agent(text)))
}

pub(super) fn word(id: &str, text: &str) -> Event {
    let artifact = Artifact::new("artifact-1", vec![Part::text(text)]);
    let mut update = TaskArtifactUpdateEvent::new(id.into(), "c".into(), artifact);
    update.append = true;
    Event::ArtifactUpdate(update)
}

/// A task whose status is of this moment, in milliseconds since the epoch.
pub(super) fn task_at(id: &str, context_id: &str, state: TaskState, millis: i64) -> Task {
    let mut task = Task::new(id, context_id, state);
    task.status.timestamp = Some(Timestamp::from_millis(millis));
    task
}

pub(super) async fn made<T: TaskStore>(store: &T, owner: &Owner, id: &str) -> Snapshot {
    let task = Arc::new(Task::new(id, "c", TaskState::Submitted));
    let made = store.create(owner, Arc::clone(&task)).await.expect("a task can be made");
    assert_eq!((made.revision, &made.task), (1, &task), "a task that was made is at its first event");
    made
}

pub(super) async fn appended<T: TaskStore>(store: &T, id: &str, expected: u64, events: Vec<Event>) -> Snapshot {
    let revision = expected + events.len() as u64;
    let snapshot = store.append(&ann(), id, expected, events).await.expect("events can be appended");
    assert_eq!(snapshot.revision, revision, "a revision is the number of the last event");
    snapshot
}

pub(super) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}"))
}

/// The word for an error, so that it can be compared.
pub(super) fn word_of<T>(result: Result<T, StoreError>) -> &'static str {
    match result {
        Ok(_) => "done",
        Err(StoreError::NotFound) => "not found",
        Err(StoreError::Conflict) => "conflict",
        Err(StoreError::Terminal) => "terminal",
        Err(StoreError::BadToken) => "bad token",
        Err(StoreError::Unavailable(_)) => "unavailable",
    }
}
