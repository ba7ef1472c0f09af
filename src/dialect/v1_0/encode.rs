use super::names;
use crate::{
    dialect::write::{Object, array},
    error::Error,
    operation::{Answer, StreamEvent, TaskView},
    types::{
        Artifact, Event, JsonObject, Message, Part, PartContent, PushNotificationConfig, TaskArtifactUpdateEvent,
        TaskStatus, TaskStatusUpdateEvent,
    },
};

pub(super) fn answer(answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
    match answer {
        Answer::SentTask(view) => wrapped(out, "task", |out| task(out, view)),
        Answer::SentMessage(sent) => wrapped(out, "message", |out| message(out, sent)),
        Answer::Task(view) => task(out, view),
        Answer::Tasks(page) => {
            let mut object = Object::new(out);
            array(object.member("tasks"), &page.tasks, task);
            object.text("nextPageToken", &page.next_page_token);
            object.number("pageSize", page.page_size.into());
            object.number("totalSize", page.total_size);
            object.end();
        }
        Answer::PushConfig(config) => push_config(out, config),
        Answer::PushConfigs(configs) => {
            let mut object = Object::new(out);
            array(object.member("configs"), configs, push_config);
            object.text("nextPageToken", "");
            object.end();
        }
        Answer::PushConfigDeleted => out.extend_from_slice(b"{}"),
        Answer::ExtendedAgentCard(_) => return Err(Error::internal("cards are written elsewhere")),
    }
    Ok(())
}

pub(super) fn event(event: &StreamEvent, out: &mut Vec<u8>) {
    match event {
        StreamEvent::Logged(entry) => match entry.event() {
            Event::Task(shared) => wrapped(out, "task", |out| task(out, &TaskView::new(shared.clone()))),
            Event::Message(shared) => wrapped(out, "message", |out| message(out, shared)),
            Event::StatusUpdate(update) => wrapped(out, "statusUpdate", |out| status_update(out, update)),
            Event::ArtifactUpdate(update) => wrapped(out, "artifactUpdate", |out| artifact_update(out, update)),
        },
        StreamEvent::Snapshot(view, _) => wrapped(out, "task", |out| task(out, view)),
        StreamEvent::Message(shared) => wrapped(out, "message", |out| message(out, shared)),
    }
}

/// The one member of a oneof.
fn wrapped(out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
    let mut object = Object::new(out);
    write(object.member(name));
    object.end();
}

fn task(out: &mut Vec<u8>, view: &TaskView) {
    let task = view.task();
    let mut object = Object::new(out);
    object.text("id", &task.id);
    if !task.context_id.is_empty() {
        object.text("contextId", &task.context_id);
    }
    status(object.member("status"), &task.status);
    if let Some(artifacts) = view.artifacts().filter(|artifacts| !artifacts.is_empty()) {
        array(object.member("artifacts"), artifacts, |out, shared| artifact(out, shared));
    }
    let history = view.history();
    if !history.is_empty() {
        array(object.member("history"), history, |out, shared| message(out, shared));
    }
    object.some_json("metadata", task.metadata.as_ref().map(JsonObject::get));
    object.end();
}

fn status(out: &mut Vec<u8>, status: &TaskStatus) {
    let mut object = Object::new(out);
    object.word("state", names::state(status.state));
    // A message must have parts, so one without any is better left out.
    if let Some(shared) = status.message.as_ref().filter(|message| !message.parts.is_empty()) {
        message(object.member("message"), shared);
    }
    if let Some(timestamp) = status.timestamp {
        object.plain("timestamp", timestamp);
    }
    object.end();
}

fn status_update(out: &mut Vec<u8>, update: &TaskStatusUpdateEvent) {
    let mut object = Object::new(out);
    object.text("taskId", &update.task_id);
    object.text("contextId", &update.context_id);
    status(object.member("status"), &update.status);
    object.some_json("metadata", update.metadata.as_ref().map(JsonObject::get));
    object.end();
}

fn artifact_update(out: &mut Vec<u8>, update: &TaskArtifactUpdateEvent) {
    let mut object = Object::new(out);
    object.text("taskId", &update.task_id);
    object.text("contextId", &update.context_id);
    artifact(object.member("artifact"), &update.artifact);
    if update.append {
        object.flag("append", true);
    }
    if update.last_chunk {
        object.flag("lastChunk", true);
    }
    object.some_json("metadata", update.metadata.as_ref().map(JsonObject::get));
    object.end();
}

fn artifact(out: &mut Vec<u8>, artifact: &Artifact) {
    let mut object = Object::new(out);
    object.text("artifactId", &artifact.artifact_id);
    object.some_text("name", artifact.name.as_deref());
    object.some_text("description", artifact.description.as_deref());
    array(object.member("parts"), &artifact.parts, part);
    object.some_json("metadata", artifact.metadata.as_ref().map(JsonObject::get));
    object.some_texts("extensions", &artifact.extensions);
    object.end();
}

fn message(out: &mut Vec<u8>, message: &Message) {
    let mut object = Object::new(out);
    object.text("messageId", &message.message_id);
    object.some_text("contextId", message.context_id.as_deref());
    object.some_text("taskId", message.task_id.as_deref());
    object.word("role", names::role(message.role));
    array(object.member("parts"), &message.parts, part);
    object.some_json("metadata", message.metadata.as_ref().map(JsonObject::get));
    object.some_texts("extensions", &message.extensions);
    object.some_texts("referenceTaskIds", &message.reference_task_ids);
    object.end();
}

fn part(out: &mut Vec<u8>, part: &Part) {
    let mut object = Object::new(out);
    match &part.content {
        PartContent::Text(text) => object.text("text", text),
        PartContent::Raw(bytes) => object.base64("raw", bytes),
        PartContent::Url(url) => object.text("url", url),
        PartContent::Data(data) => object.json("data", data.get()),
    }
    object.some_json("metadata", part.metadata.as_ref().map(JsonObject::get));
    object.some_text("filename", part.filename.as_deref());
    object.some_text("mediaType", part.media_type.as_deref());
    object.end();
}

fn push_config(out: &mut Vec<u8>, config: &PushNotificationConfig) {
    let mut object = Object::new(out);
    object.some_text("id", config.id.as_deref());
    object.some_text("taskId", config.task_id.as_deref());
    object.text("url", &config.url);
    object.some_text("token", config.token.as_deref());
    if let Some(authentication) = &config.authentication {
        let mut object = Object::new(object.member("authentication"));
        object.text("scheme", authentication.schemes.first().map_or("", String::as_str));
        object.some_text("credentials", authentication.credentials.as_deref());
        object.end();
    }
    object.end();
}
