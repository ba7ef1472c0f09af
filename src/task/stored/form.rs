//! How tasks and what they are made of are written down.

use std::{borrow::Cow, sync::Arc};

use serde::{Deserialize, Serialize};

use super::StoredError;
use crate::types::{
    Artifact, InlineBytes, Json, JsonObject, Message, Part, PartContent, Role, Task, TaskState, TaskStatus, Timestamp,
};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredTask<'a> {
    /// The number of the form, where it is not 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    v: Option<u32>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    context_id: Cow<'a, str>,
    #[serde(borrow)]
    status: StoredStatus<'a>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<StoredArtifact<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    history: Vec<StoredMessage<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<JsonObject>,
}

impl<'a> StoredTask<'a> {
    pub(super) fn of(task: &'a Task) -> Self {
        Self {
            v: None,
            id: Cow::Borrowed(&task.id),
            context_id: Cow::Borrowed(&task.context_id),
            status: StoredStatus::of(&task.status),
            artifacts: task.artifacts.iter().map(|artifact| StoredArtifact::of(artifact)).collect(),
            history: task.history.iter().map(|message| StoredMessage::of(message)).collect(),
            metadata: task.metadata.clone(),
        }
    }

    pub(super) fn into_task(self) -> Result<Task, StoredError> {
        if self.v.is_some_and(|form| form != 1) {
            return Err(StoredError(Cow::Borrowed("it is of a later form")));
        }
        Ok(Task {
            id: arc(self.id),
            context_id: arc(self.context_id),
            status: self.status.into_status()?,
            artifacts: self.artifacts.into_iter().map(|artifact| Arc::new(artifact.into_artifact())).collect(),
            history: self.history.into_iter().map(|message| Arc::new(message.into_message())).collect(),
            metadata: self.metadata,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredStatus<'a> {
    #[serde(borrow)]
    state: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    message: Option<StoredMessage<'a>>,
    /// Milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
}

impl<'a> StoredStatus<'a> {
    pub(super) fn of(status: &'a TaskStatus) -> Self {
        Self {
            state: Cow::Borrowed(state_name(status.state)),
            message: status.message.as_ref().map(|message| StoredMessage::of(message)),
            at: status.timestamp.map(Timestamp::as_millis),
        }
    }

    pub(super) fn into_status(self) -> Result<TaskStatus, StoredError> {
        let states = TaskState::ALL.into_iter().chain([TaskState::Unspecified]);
        let state = states.into_iter().find(|state| state_name(*state) == self.state);
        Ok(TaskStatus {
            state: state.ok_or(StoredError(Cow::Borrowed("there is no such state")))?,
            message: self.message.map(|message| Arc::new(message.into_message())),
            timestamp: self.at.map(Timestamp::from_millis),
        })
    }
}

/// What is written down must not change when words for people do.
const fn state_name(state: TaskState) -> &'static str {
    match state {
        TaskState::Unspecified => "unspecified",
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired => "input-required",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "auth-required",
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredArtifact<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<StoredPart<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<JsonObject>,
}

impl<'a> StoredArtifact<'a> {
    pub(super) fn of(artifact: &'a Artifact) -> Self {
        Self {
            id: Cow::Borrowed(&artifact.artifact_id),
            name: artifact.name.as_deref().map(Cow::Borrowed),
            description: artifact.description.as_deref().map(Cow::Borrowed),
            parts: artifact.parts.iter().map(StoredPart::of).collect(),
            extensions: borrowed(&artifact.extensions),
            metadata: artifact.metadata.clone(),
        }
    }

    pub(super) fn into_artifact(self) -> Artifact {
        Artifact {
            artifact_id: arc(self.id),
            name: self.name.map(Cow::into_owned),
            description: self.description.map(Cow::into_owned),
            parts: self.parts.into_iter().map(StoredPart::into_part).collect(),
            extensions: owned(self.extensions),
            metadata: self.metadata,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredMessage<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    /// True if the agent said it.
    #[serde(default, skip_serializing_if = "is_false")]
    agent: bool,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<StoredPart<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    context_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    task_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    references: Vec<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<JsonObject>,
}

impl<'a> StoredMessage<'a> {
    pub(super) fn of(message: &'a Message) -> Self {
        Self {
            id: Cow::Borrowed(&message.message_id),
            agent: message.role == Role::Agent,
            parts: message.parts.iter().map(StoredPart::of).collect(),
            context_id: message.context_id.as_deref().map(Cow::Borrowed),
            task_id: message.task_id.as_deref().map(Cow::Borrowed),
            references: borrowed(&message.reference_task_ids),
            extensions: borrowed(&message.extensions),
            metadata: message.metadata.clone(),
        }
    }

    pub(super) fn into_message(self) -> Message {
        Message {
            message_id: self.id.into_owned(),
            role: if self.agent { Role::Agent } else { Role::User },
            parts: self.parts.into_iter().map(StoredPart::into_part).collect(),
            context_id: self.context_id.map(arc),
            task_id: self.task_id.map(arc),
            reference_task_ids: owned(self.references),
            extensions: owned(self.extensions),
            metadata: self.metadata,
        }
    }
}

/// One of the four contents is there. As members beside the others, because most parts say nothing but their text.
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredPart<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    /// In base64.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    raw: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    url: Option<Cow<'a, str>>,
    /// `null` is a value like any other.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    data: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<JsonObject>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    filename: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    media_type: Option<Cow<'a, str>>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

impl<'a> StoredPart<'a> {
    pub(super) fn of(part: &'a Part) -> Self {
        let mut stored = Self {
            metadata: part.metadata.clone(),
            filename: part.filename.as_deref().map(Cow::Borrowed),
            media_type: part.media_type.as_deref().map(Cow::Borrowed),
            ..Self::default()
        };
        match &part.content {
            PartContent::Text(text) => stored.text = Some(Cow::Borrowed(text)),
            PartContent::Raw(bytes) => stored.raw = Some(Cow::Owned(bytes.to_base64())),
            PartContent::Url(url) => stored.url = Some(Cow::Borrowed(url)),
            PartContent::Data(data) => stored.data = Some(data.clone()),
        }
        stored
    }

    pub(super) fn into_part(self) -> Part {
        let content = match (self.text, self.raw, self.url, self.data) {
            (_, Some(raw), ..) => PartContent::Raw(InlineBytes::from_base64(raw.into_owned())),
            (_, _, Some(url), _) => PartContent::Url(url.into_owned()),
            (.., Some(data)) => PartContent::Data(data),
            (text, ..) => PartContent::Text(text.unwrap_or_default().into_owned()),
        };
        Part {
            content,
            metadata: self.metadata,
            filename: self.filename.map(Cow::into_owned),
            media_type: self.media_type.map(Cow::into_owned),
        }
    }
}

fn borrowed(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(|text| Cow::Borrowed(&**text)).collect()
}

fn owned(texts: Vec<Cow<'_, str>>) -> Vec<String> {
    texts.into_iter().map(Cow::into_owned).collect()
}

pub(super) fn arc(text: Cow<'_, str>) -> Arc<str> {
    Arc::from(&*text)
}

pub(super) fn is_false(flag: &bool) -> bool {
    !flag
}
