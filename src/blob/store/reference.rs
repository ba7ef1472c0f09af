use std::sync::Arc;

use super::BlobId;
use crate::{owner::Owner, types::Timestamp};

/// That a task refers to a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reference {
    /// The blob.
    pub blob: BlobId,
    /// The task.
    pub referrer: Referrer,
    /// Since when, by the clock of the store.
    pub since: Timestamp,
    /// How the store finds this note again, if not by what it says.
    pub key: Option<String>,
}

impl Reference {
    /// This task refers to this blob.
    #[must_use]
    pub const fn new(blob: BlobId, referrer: Referrer, since: Timestamp) -> Self {
        Self { blob, referrer, since, key: None }
    }

    /// With what the store finds the note by.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

/// A task that refers to blobs. It need not be there yet: files are stored before their task is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Referrer {
    /// Whose task it is.
    pub owner: Owner,
    /// Its id.
    pub task_id: Arc<str>,
}

impl Referrer {
    /// This task of this owner.
    pub fn new(owner: Owner, task_id: impl Into<Arc<str>>) -> Self {
        Self { owner, task_id: task_id.into() }
    }
}
