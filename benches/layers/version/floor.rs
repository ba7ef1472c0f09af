//! The same texts read and written by `serde_json` alone: into structs that borrow what they can, out of structs that
//! are there already.

#![expect(dead_code, reason = "reading alone is the floor; nobody looks at what was read")]

use std::borrow::Cow;

use a2a_layers::operation::ProtocolVersion;
use serde::{Deserialize, Serialize};

use crate::data::{CONTEXT, ID, text};

#[derive(Deserialize)]
pub(crate) struct Send<'a> {
    #[serde(borrow)]
    pub(crate) message: MessageIn<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageIn<'a> {
    pub(crate) kind: Option<&'a str>,
    pub(crate) message_id: &'a str,
    pub(crate) role: &'a str,
    #[serde(borrow)]
    pub(crate) parts: Vec<PartIn<'a>>,
    pub(crate) task_id: Option<&'a str>,
    pub(crate) context_id: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartIn<'a> {
    pub(crate) kind: Option<&'a str>,
    #[serde(borrow)]
    pub(crate) text: Option<Cow<'a, str>>,
    pub(crate) raw: Option<&'a str>,
    #[serde(borrow)]
    pub(crate) file: Option<FileIn<'a>>,
    pub(crate) filename: Option<&'a str>,
    pub(crate) media_type: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileIn<'a> {
    pub(crate) bytes: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) mime_type: Option<&'a str>,
}

/// The same with everything copied out of the request, as whatever outlives it must be.
#[derive(Deserialize)]
pub(crate) struct OwnedSend {
    pub(crate) message: OwnedMessageIn,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnedMessageIn {
    pub(crate) kind: Option<String>,
    pub(crate) message_id: String,
    pub(crate) role: String,
    pub(crate) parts: Vec<OwnedPartIn>,
}

#[derive(Deserialize)]
pub(crate) struct OwnedPartIn {
    pub(crate) kind: Option<String>,
    pub(crate) text: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ById<'a> {
    pub(crate) id: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Wrapped<T> {
    #[serde(rename = "message", skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<T>,
    #[serde(rename = "artifactUpdate", skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_update: Option<T>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    message_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    role: &'static str,
    parts: Vec<PartOut>,
}

#[derive(Serialize)]
struct PartOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactOut {
    artifact_id: &'static str,
    parts: Vec<PartOut>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    id: String,
    context_id: String,
    status: StatusOut,
    artifacts: Vec<ArtifactOut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<MessageOut>,
}

#[derive(Serialize)]
struct StatusOut {
    state: &'static str,
    timestamp: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdateOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    task_id: String,
    context_id: String,
    artifact: ArtifactOut,
    append: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageOut {
    pub(crate) tasks: Vec<TaskOut>,
    pub(crate) next_page_token: String,
    pub(crate) page_size: u32,
    pub(crate) total_size: u64,
}

fn of_0_3(version: ProtocolVersion, kind: &'static str) -> Option<&'static str> {
    (version == ProtocolVersion::V0_3).then_some(kind)
}

fn part(version: ProtocolVersion, bytes: usize) -> PartOut {
    PartOut { kind: of_0_3(version, "text"), text: text(bytes) }
}

pub(crate) fn message(version: ProtocolVersion, bytes: usize, of_task: bool) -> MessageOut {
    MessageOut {
        kind: of_0_3(version, "message"),
        message_id: ID.into(),
        context_id: of_task.then(|| CONTEXT.into()),
        task_id: of_task.then(|| ID.into()),
        role: if version == ProtocolVersion::V1_0 { "ROLE_AGENT" } else { "agent" },
        parts: vec![part(version, bytes)],
    }
}

pub(crate) fn task(version: ProtocolVersion, messages: usize) -> TaskOut {
    TaskOut {
        kind: of_0_3(version, "task"),
        id: ID.into(),
        context_id: CONTEXT.into(),
        status: StatusOut {
            state: if version == ProtocolVersion::V1_0 { "TASK_STATE_COMPLETED" } else { "completed" },
            timestamp: "2026-01-01T00:00:00.123Z",
        },
        artifacts: vec![ArtifactOut { artifact_id: "answer", parts: vec![part(version, 200)] }],
        history: (0..messages).map(|_| message(version, 200, true)).collect(),
    }
}

pub(crate) fn chunk(version: ProtocolVersion) -> UpdateOut {
    UpdateOut {
        kind: of_0_3(version, "artifact-update"),
        task_id: ID.into(),
        context_id: CONTEXT.into(),
        artifact: ArtifactOut { artifact_id: "answer", parts: vec![part(version, 60)] },
        append: true,
    }
}
