use std::sync::Arc;

use super::{Artifact, JsonObject, Message, Task, TaskState, TaskStatus};

/// Something that happened, as a stream tells it (spec 1.0 §4.2, `StreamResponse`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A task as it stands.
    Task(Arc<Task>),
    /// A message: the agent's whole answer where there is no task, or, in a task's log, a turn of the caller.
    Message(Arc<Message>),
    /// The task's state changed.
    StatusUpdate(TaskStatusUpdateEvent),
    /// A result, or a piece of one.
    ArtifactUpdate(TaskArtifactUpdateEvent),
}

/// A change of a task's state (spec 1.0 §4.2.1).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskStatusUpdateEvent {
    /// The task.
    pub task_id: Arc<str>,
    /// Its conversation.
    pub context_id: Arc<str>,
    /// Where it stands now.
    pub status: TaskStatus,
    /// Anything else the agent wants to say about it.
    pub metadata: Option<JsonObject>,
}

/// A result of a task, or a piece of one (spec 1.0 §4.2.2).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskArtifactUpdateEvent {
    /// The task.
    pub task_id: Arc<str>,
    /// Its conversation.
    pub context_id: Arc<str>,
    /// The result, or the parts to add to it.
    pub artifact: Arc<Artifact>,
    /// True if the parts are added to the artifact of the same id, false if they replace it.
    pub append: bool,
    /// True if nothing more will be added to this artifact.
    pub last_chunk: bool,
    /// Anything else the agent wants to say about it.
    pub metadata: Option<JsonObject>,
}

impl TaskStatusUpdateEvent {
    /// This task now stands so.
    #[must_use]
    pub fn new(task_id: Arc<str>, context_id: Arc<str>, status: TaskStatus) -> Self {
        Self { task_id, context_id, status, metadata: None }
    }
}

impl TaskArtifactUpdateEvent {
    /// This task now has this result.
    #[must_use]
    pub fn new(task_id: Arc<str>, context_id: Arc<str>, artifact: impl Into<Arc<Artifact>>) -> Self {
        let artifact = artifact.into();
        Self { task_id, context_id, artifact, append: false, last_chunk: false, metadata: None }
    }
}

impl Event {
    /// The state that it brings the task to; `None` where it changes no state.
    #[must_use]
    pub fn state(&self) -> Option<TaskState> {
        match self {
            Self::Task(task) => Some(task.status.state),
            Self::StatusUpdate(update) => Some(update.status.state),
            Self::Message(_) | Self::ArtifactUpdate(_) => None,
        }
    }
}
