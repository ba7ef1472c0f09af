use std::sync::Arc;

/// A message that is on its way to a task, as [`TaskStore::claim`](super::TaskStore::claim) notes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// What the message is known by among those of its owner: made of its id, the agent and the tenant. At most a few
    /// kilobytes.
    pub key: Arc<str>,
    /// What the message says, as a number: one that comes again says the same.
    pub fingerprint: u64,
    /// The task that it begins or goes on with.
    pub task_id: Arc<str>,
    /// The task's revision before the message; 0 if the message begins the task.
    pub revision: u64,
}

impl Claim {
    /// A message of this key that begins this task.
    pub fn new(key: impl Into<Arc<str>>, fingerprint: u64, task_id: impl Into<Arc<str>>) -> Self {
        Self { key: key.into(), fingerprint, task_id: task_id.into(), revision: 0 }
    }

    /// As a further turn of the task, behind this revision.
    #[must_use]
    pub fn behind(mut self, revision: u64) -> Self {
        self.revision = revision;
        self
    }
}
