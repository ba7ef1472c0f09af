use super::{V0_3, message::WRAPPED, names};
use crate::{
    dialect::write::{Object, array, string},
    error::Error,
    operation::{Answer, StreamEvent, TaskView},
    types::{
        Artifact, Event, JsonObject, Message, Part, PartContent, PushNotificationConfig, TaskArtifactUpdateEvent,
        TaskState, TaskStatus, TaskStatusUpdateEvent,
    },
};

/// Writes what the options of a dialect say.
#[derive(Clone, Copy)]
pub(super) struct Encoder {
    file_with_keys: bool,
    artifact_index: bool,
}

impl Encoder {
    pub(super) const fn new(dialect: &V0_3) -> Self {
        Self { file_with_keys: dialect.file_with_keys, artifact_index: dialect.artifact_index }
    }

    pub(super) fn answer(self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        match answer {
            Answer::SentTask(view) | Answer::Task(view) => self.task(out, view),
            Answer::SentMessage(sent) => self.message(out, sent),
            Answer::PushConfig(config) => push_config(out, config),
            Answer::PushConfigs(configs) => array(out, configs, push_config),
            Answer::PushConfigDeleted => out.extend_from_slice(b"null"),
            Answer::Tasks(_) | Answer::ExtendedAgentCard(_) => {
                return Err(Error::internal("version 0.3 has no such result"));
            }
        }
        Ok(())
    }

    pub(super) fn event(self, event: &StreamEvent, out: &mut Vec<u8>) {
        match event {
            StreamEvent::Logged(entry) | StreamEvent::Passed(entry) => match entry.event() {
                Event::Task(shared) => self.task(out, &TaskView::new(shared.clone())),
                Event::Message(shared) => self.message(out, shared),
                Event::StatusUpdate(update) => self.status_update(out, update, is_final(event, update)),
                Event::ArtifactUpdate(update) => self.artifact_update(out, update),
            },
            StreamEvent::Snapshot(view, _) => self.task(out, view),
            StreamEvent::Message(shared) => self.message(out, shared),
        }
    }

    fn task(self, out: &mut Vec<u8>, view: &TaskView) {
        let task = view.task();
        let mut object = Object::new(out);
        object.word("kind", "task");
        object.text("id", &task.id);
        object.text("contextId", &task.context_id);
        self.status(object.member("status"), &task.status);
        if let Some(artifacts) = view.artifacts().filter(|artifacts| !artifacts.is_empty()) {
            array(object.member("artifacts"), artifacts, |out, shared| self.artifact(out, shared));
        }
        let history = view.history();
        if !history.is_empty() {
            array(object.member("history"), history, |out, shared| self.message(out, shared));
        }
        object.some_json("metadata", task.metadata.as_ref().map(JsonObject::get));
        object.end();
    }

    fn status(self, out: &mut Vec<u8>, status: &TaskStatus) {
        let mut object = Object::new(out);
        object.word("state", names::state(status.state));
        // A message without parts says nothing and is better left out.
        if let Some(shared) = status.message.as_ref().filter(|message| !message.parts.is_empty()) {
            self.message(object.member("message"), shared);
        }
        if let Some(timestamp) = status.timestamp {
            object.timestamp("timestamp", timestamp);
        }
        object.end();
    }

    fn status_update(self, out: &mut Vec<u8>, update: &TaskStatusUpdateEvent, is_final: bool) {
        let mut object = Object::new(out);
        object.word("kind", "status-update");
        object.text("taskId", &update.task_id);
        object.text("contextId", &update.context_id);
        self.status(object.member("status"), &update.status);
        object.flag("final", is_final);
        object.some_json("metadata", update.metadata.as_ref().map(JsonObject::get));
        object.end();
    }

    fn artifact_update(self, out: &mut Vec<u8>, update: &TaskArtifactUpdateEvent) {
        let mut object = Object::new(out);
        object.word("kind", "artifact-update");
        object.text("taskId", &update.task_id);
        object.text("contextId", &update.context_id);
        self.artifact(object.member("artifact"), &update.artifact);
        object.flag("append", update.append);
        object.flag("lastChunk", update.last_chunk);
        object.some_json("metadata", update.metadata.as_ref().map(JsonObject::get));
        object.end();
    }

    fn artifact(self, out: &mut Vec<u8>, artifact: &Artifact) {
        let mut object = Object::new(out);
        object.text("artifactId", &artifact.artifact_id);
        object.some_text("name", artifact.name.as_deref());
        object.some_text("description", artifact.description.as_deref());
        array(object.member("parts"), &artifact.parts, |out, part| self.part(out, part));
        if self.artifact_index {
            object.number("index", 0);
        }
        object.some_texts("extensions", &artifact.extensions);
        object.some_json("metadata", artifact.metadata.as_ref().map(JsonObject::get));
        object.end();
    }

    fn message(self, out: &mut Vec<u8>, message: &Message) {
        let mut object = Object::new(out);
        object.word("kind", "message");
        object.text("messageId", &message.message_id);
        object.word("role", names::role(message.role));
        array(object.member("parts"), &message.parts, |out, part| self.part(out, part));
        object.some_text("contextId", message.context_id.as_deref());
        object.some_text("taskId", message.task_id.as_deref());
        object.some_texts("referenceTaskIds", &message.reference_task_ids);
        object.some_texts("extensions", &message.extensions);
        object.some_json("metadata", message.metadata.as_ref().map(JsonObject::get));
        object.end();
    }

    fn part(self, out: &mut Vec<u8>, part: &Part) {
        let mut object = Object::new(out);
        match &part.content {
            PartContent::Text(text) => {
                object.word("kind", "text");
                object.text("text", text);
            }
            PartContent::Raw(_) | PartContent::Url(_) => {
                object.word("kind", "file");
                self.file(object.member("file"), part);
            }
            PartContent::Data(data) => {
                object.word("kind", "data");
                if !data.is_object() {
                    let mut wrapped = Object::new(object.member("data"));
                    wrapped.json("value", data.get());
                    wrapped.end();
                    object.json("metadata", marked(part.metadata.as_ref()).get());
                    return object.end();
                }
                object.json("data", data.get());
            }
        }
        object.some_json("metadata", part.metadata.as_ref().map(JsonObject::get));
        object.end();
    }

    fn file(self, out: &mut Vec<u8>, part: &Part) {
        let (bytes_key, uri_key) =
            if self.file_with_keys { ("fileWithBytes", "fileWithUri") } else { ("bytes", "uri") };
        let mut object = Object::new(out);
        match &part.content {
            PartContent::Raw(bytes) => object.base64(bytes_key, bytes),
            PartContent::Url(url) => object.text(uri_key, url),
            PartContent::Text(_) | PartContent::Data(_) => {}
        }
        object.some_text("mimeType", part.media_type.as_deref());
        object.some_text("name", part.filename.as_deref());
        object.end();
    }
}

/// Whether this status is the last one of the stream that it is in.
pub(crate) fn is_final(event: &StreamEvent, update: &TaskStatusUpdateEvent) -> bool {
    let state = update.status.state;
    state.is_terminal() || (state == TaskState::InputRequired && !matches!(event, StreamEvent::Passed(_)))
}

/// Metadata that says that the data is wrapped.
pub(crate) fn marked(metadata: Option<&JsonObject>) -> JsonObject {
    let mark = JsonObject::from(serde_json::Map::from_iter([(WRAPPED.to_owned(), true.into())]));
    metadata.map_or_else(|| mark.clone(), |metadata| metadata.merged(&mark))
}

fn push_config(out: &mut Vec<u8>, config: &PushNotificationConfig) {
    let mut object = Object::new(out);
    object.text("taskId", config.task_id.as_deref().unwrap_or_default());
    webhook(object.member("pushNotificationConfig"), config);
    object.end();
}

/// A webhook without the task that it is for.
pub(in crate::dialect) fn webhook(out: &mut Vec<u8>, config: &PushNotificationConfig) {
    let mut inner = Object::new(out);
    inner.some_text("id", config.id.as_deref());
    inner.text("url", &config.url);
    inner.some_text("token", config.token.as_deref());
    if let Some(authentication) = &config.authentication {
        let mut object = Object::new(inner.member("authentication"));
        array(object.member("schemes"), &authentication.schemes, |out, scheme| string(out, scheme));
        object.some_text("credentials", authentication.credentials.as_deref());
        object.end();
    }
    inner.end();
}
