//! How events are written down.

use std::{borrow::Cow, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    StoredError,
    form::{StoredArtifact, StoredMessage, StoredStatus, StoredTask, arc, is_false},
};
use crate::types::{Artifact, Event, JsonObject, Part, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};

pub(super) struct Ids {
    pub(super) task_id: Arc<str>,
    pub(super) context_id: Arc<str>,
}

impl Ids {
    fn task(&self, own: Option<Cow<'_, str>>) -> Arc<str> {
        own.map_or_else(|| Arc::clone(&self.task_id), arc)
    }

    fn context(&self, own: Option<Cow<'_, str>>) -> Arc<str> {
        own.map_or_else(|| Arc::clone(&self.context_id), arc)
    }
}

/// Nothing, if it is what is known anyway.
fn other<'a>(id: &'a str, known: &str) -> Option<Cow<'a, str>> {
    (id != known).then_some(Cow::Borrowed(id))
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StoredEvent<'a> {
    #[serde(borrow)]
    Task(StoredTask<'a>),
    #[serde(borrow)]
    Message(StoredMessage<'a>),
    #[serde(borrow)]
    Status(StoredStatusUpdate<'a>),
    #[serde(borrow)]
    Artifact(StoredArtifactUpdate<'a>),
    /// As many events as there are deltas.
    #[serde(borrow)]
    Texts(StoredTexts<'a>),
}

impl<'a> StoredEvent<'a> {
    pub(super) fn of(task_id: &str, context_id: &str, event: &'a Event) -> Self {
        match event {
            Event::Task(task) => Self::Task(StoredTask::of(task)),
            Event::Message(message) => Self::Message(StoredMessage::of(message)),
            Event::StatusUpdate(update) => Self::Status(StoredStatusUpdate {
                task_id: other(&update.task_id, task_id),
                context_id: other(&update.context_id, context_id),
                status: StoredStatus::of(&update.status),
                metadata: update.metadata.clone(),
            }),
            Event::ArtifactUpdate(update) => Self::Artifact(StoredArtifactUpdate {
                task_id: other(&update.task_id, task_id),
                context_id: other(&update.context_id, context_id),
                artifact: StoredArtifact::of(&update.artifact),
                append: update.append,
                last_chunk: update.last_chunk,
                metadata: update.metadata.clone(),
            }),
        }
    }

    pub(super) fn read(self, ids: &Ids, events: &mut Vec<Event>) -> Result<(), StoredError> {
        events.push(match self {
            Self::Task(task) => Event::Task(Arc::new(task.into_task()?)),
            Self::Message(message) => Event::Message(Arc::new(message.into_message())),
            Self::Status(update) => Event::StatusUpdate(TaskStatusUpdateEvent {
                task_id: ids.task(update.task_id),
                context_id: ids.context(update.context_id),
                status: update.status.into_status()?,
                metadata: update.metadata,
            }),
            Self::Artifact(update) => Event::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: ids.task(update.task_id),
                context_id: ids.context(update.context_id),
                artifact: Arc::new(update.artifact.into_artifact()),
                append: update.append,
                last_chunk: update.last_chunk,
                metadata: update.metadata,
            }),
            Self::Texts(StoredTexts { id, deltas }) => {
                let id = arc(id);
                events.extend(deltas.into_iter().map(|delta| {
                    let artifact = Artifact::new(Arc::clone(&id), Part::text(delta));
                    let ids = (Arc::clone(&ids.task_id), Arc::clone(&ids.context_id));
                    let mut update = TaskArtifactUpdateEvent::new(ids.0, ids.1, artifact);
                    update.append = true;
                    Event::ArtifactUpdate(update)
                }));
                return Ok(());
            }
        });
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredTexts<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) deltas: Vec<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredStatusUpdate<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    task_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    context_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    status: StoredStatus<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<JsonObject>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredArtifactUpdate<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    task_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    context_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    artifact: StoredArtifact<'a>,
    #[serde(default, skip_serializing_if = "is_false")]
    append: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    last_chunk: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<JsonObject>,
}
