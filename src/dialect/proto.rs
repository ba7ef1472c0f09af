//! Writing ProtoJSON: what the protos of 0.3 and of 1.0 have in common, which is most of it.

use super::{v0_3::encode::is_final, v1_0::names};
use crate::{
    dialect::write::{Object, array},
    error::Error,
    operation::{Answer, ListTasksPage, StreamEvent, TaskView},
    types::{
        Artifact, Event, JsonObject, Message, Part, PushNotificationConfig, TaskArtifactUpdateEvent, TaskState,
        TaskStatus, TaskStatusUpdateEvent,
    },
};

/// What one version's proto has of its own.
pub(super) trait ProtoForm {
    /// The member of a message that holds its parts.
    const PARTS: &'static str;
    /// Whether a message tells which tasks it refers to.
    const REFERENCES: bool;
    /// Whether a status tells that it is the last one of its stream.
    const FINAL: bool;

    fn state(state: TaskState) -> &'static str;
    fn part(out: &mut Vec<u8>, part: &Part);
    fn tasks(out: &mut Vec<u8>, page: &ListTasksPage);
    fn push_config(out: &mut Vec<u8>, config: &PushNotificationConfig);
}

pub(super) fn answer<F: ProtoForm>(answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
    match answer {
        Answer::SentTask(view) => wrapped(out, "task", |out| task::<F>(out, view)),
        Answer::SentMessage(sent) => wrapped(out, "message", |out| message::<F>(out, sent)),
        Answer::Task(view) => task::<F>(out, view),
        Answer::Tasks(page) => F::tasks(out, page),
        Answer::PushConfig(config) => F::push_config(out, config),
        Answer::PushConfigs(configs) => {
            let mut object = Object::new(out);
            array(object.member("configs"), configs, F::push_config);
            object.text("nextPageToken", "");
            object.end();
        }
        Answer::PushConfigDeleted => out.extend_from_slice(b"{}"),
        Answer::ExtendedAgentCard(_) => return Err(Error::internal("cards are written elsewhere")),
    }
    Ok(())
}

pub(super) fn event<F: ProtoForm>(event: &StreamEvent, out: &mut Vec<u8>) {
    match event {
        StreamEvent::Logged(entry) | StreamEvent::Passed(entry) => match entry.event() {
            Event::Task(shared) => wrapped(out, "task", |out| task::<F>(out, &TaskView::new(shared.clone()))),
            Event::Message(shared) => wrapped(out, "message", |out| message::<F>(out, shared)),
            Event::StatusUpdate(update) => {
                wrapped(out, "statusUpdate", |out| status_update::<F>(out, update, is_final(event, update)))
            }
            Event::ArtifactUpdate(update) => wrapped(out, "artifactUpdate", |out| artifact_update::<F>(out, update)),
        },
        StreamEvent::Snapshot(view, _) => wrapped(out, "task", |out| task::<F>(out, view)),
        StreamEvent::Message(shared) => wrapped(out, "message", |out| message::<F>(out, shared)),
    }
}

/// The one member of a oneof.
fn wrapped(out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
    let mut object = Object::new(out);
    write(object.member(name));
    object.end();
}

pub(super) fn task<F: ProtoForm>(out: &mut Vec<u8>, view: &TaskView) {
    let task = view.task();
    let mut object = Object::new(out);
    object.text("id", &task.id);
    if !task.context_id.is_empty() {
        object.text("contextId", &task.context_id);
    }
    status::<F>(object.member("status"), &task.status);
    if let Some(artifacts) = view.artifacts().filter(|artifacts| !artifacts.is_empty()) {
        array(object.member("artifacts"), artifacts, |out, shared| artifact::<F>(out, shared));
    }
    let history = view.history();
    if !history.is_empty() {
        array(object.member("history"), history, |out, shared| message::<F>(out, shared));
    }
    object.some_json("metadata", task.metadata.as_ref().map(JsonObject::get));
    object.end();
}

fn status<F: ProtoForm>(out: &mut Vec<u8>, status: &TaskStatus) {
    let mut object = Object::new(out);
    object.word("state", F::state(status.state));
    // A message must have parts, so one without any is better left out.
    if let Some(shared) = status.message.as_ref().filter(|message| !message.parts.is_empty()) {
        message::<F>(object.member("message"), shared);
    }
    if let Some(timestamp) = status.timestamp {
        object.timestamp("timestamp", timestamp);
    }
    object.end();
}

fn status_update<F: ProtoForm>(out: &mut Vec<u8>, update: &TaskStatusUpdateEvent, is_final: bool) {
    let mut object = Object::new(out);
    object.text("taskId", &update.task_id);
    object.text("contextId", &update.context_id);
    status::<F>(object.member("status"), &update.status);
    if F::FINAL {
        object.flag("final", is_final);
    }
    object.some_json("metadata", update.metadata.as_ref().map(JsonObject::get));
    object.end();
}

fn artifact_update<F: ProtoForm>(out: &mut Vec<u8>, update: &TaskArtifactUpdateEvent) {
    let mut object = Object::new(out);
    object.text("taskId", &update.task_id);
    object.text("contextId", &update.context_id);
    artifact::<F>(object.member("artifact"), &update.artifact);
    if update.append {
        object.flag("append", true);
    }
    if update.last_chunk {
        object.flag("lastChunk", true);
    }
    object.some_json("metadata", update.metadata.as_ref().map(JsonObject::get));
    object.end();
}

fn artifact<F: ProtoForm>(out: &mut Vec<u8>, artifact: &Artifact) {
    let mut object = Object::new(out);
    object.text("artifactId", &artifact.artifact_id);
    object.some_text("name", artifact.name.as_deref());
    object.some_text("description", artifact.description.as_deref());
    array(object.member("parts"), &artifact.parts, F::part);
    object.some_json("metadata", artifact.metadata.as_ref().map(JsonObject::get));
    object.some_texts("extensions", &artifact.extensions);
    object.end();
}

fn message<F: ProtoForm>(out: &mut Vec<u8>, message: &Message) {
    let mut object = Object::new(out);
    object.text("messageId", &message.message_id);
    object.some_text("contextId", message.context_id.as_deref());
    object.some_text("taskId", message.task_id.as_deref());
    object.word("role", names::role(message.role));
    array(object.member(F::PARTS), &message.parts, F::part);
    object.some_json("metadata", message.metadata.as_ref().map(JsonObject::get));
    object.some_texts("extensions", &message.extensions);
    if F::REFERENCES {
        object.some_texts("referenceTaskIds", &message.reference_task_ids);
    }
    object.end();
}
