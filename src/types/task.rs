use std::sync::Arc;

use super::{Artifact, Few, History, JsonObject, Message, TaskState, Timestamp};

/// A unit of work (spec 1.0 §4.1.1).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Made by the server.
    pub id: Arc<str>,
    /// The conversation it belongs to.
    pub context_id: Arc<str>,
    /// Where it stands.
    pub status: TaskStatus,
    /// Its results so far.
    pub artifacts: Few<Arc<Artifact>>,
    /// What was said, oldest first.
    pub history: History,
    /// Anything else the agent wants to say about it.
    pub metadata: Option<JsonObject>,
}

/// Where a [`Task`] stands (spec 1.0 §4.1.2).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskStatus {
    /// The state.
    pub state: TaskState,
    /// What the agent says about it: a question, a reason.
    pub message: Option<Arc<Message>>,
    /// Since when.
    pub timestamp: Option<Timestamp>,
}

impl Task {
    /// A task in this state, as of now, without messages or results.
    pub fn new(id: impl Into<Arc<str>>, context_id: impl Into<Arc<str>>, state: TaskState) -> Self {
        Self {
            id: id.into(),
            context_id: context_id.into(),
            status: TaskStatus::new(state),
            artifacts: Few::new(),
            history: History::new(),
            metadata: None,
        }
    }
}

impl TaskStatus {
    /// This state, as of now.
    #[must_use]
    pub fn new(state: TaskState) -> Self {
        Self { state, message: None, timestamp: Some(Timestamp::now()) }
    }

    /// With something the agent says about it.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Arc<Message>>) -> Self {
        self.message = Some(message.into());
        self
    }
}
