use super::{
    super::{
        convert::{object, role, state, text_of, timestamp, write},
        proto::{Struct, v0_3 as wire},
    },
    Files, name,
};
use crate::{
    dialect::{is_final, marked},
    error::Error,
    operation::{Answer, StreamEvent, TaskView},
    types::{
        Artifact, Event, Json, Message, Part, PartContent, PushNotificationConfig, TaskArtifactUpdateEvent, TaskStatus,
        TaskStatusUpdateEvent,
    },
};

/// The message that answers a request.
pub(in crate::grpc) fn answer(answer: &Answer, files: Files) -> Result<Vec<u8>, Error> {
    use wire::send_message_response::Payload;

    let sent = |payload| write(&wire::SendMessageResponse { payload: Some(payload) });
    Ok(match answer {
        Answer::SentTask(view) => sent(Payload::Task(task(view, files)?)),
        Answer::SentMessage(sent_message) => sent(Payload::Msg(message(sent_message, files)?)),
        Answer::Task(view) => write(&task(view, files)?),
        Answer::PushConfig(config) => write(&push_config(config)),
        Answer::PushConfigs(configs) => write(&wire::ListTaskPushNotificationConfigResponse {
            configs: configs.iter().map(push_config).collect(),
            next_page_token: String::new(),
        }),
        Answer::PushConfigDeleted => Vec::new(),
        Answer::ExtendedAgentCard(card) => write(&super::card::card(card)?),
        Answer::Tasks(_) => return Err(Error::internal("version 0.3 has no such result")),
    })
}

/// One message of a stream.
pub(in crate::grpc) fn event(event: &StreamEvent, files: Files) -> Result<Vec<u8>, Error> {
    use wire::stream_response::Payload;

    let payload = match event {
        StreamEvent::Logged(entry) | StreamEvent::Passed(entry) => match entry.event() {
            Event::Task(shared) => Payload::Task(task(&TaskView::new(shared.clone()), files)?),
            Event::Message(shared) => Payload::Msg(message(shared, files)?),
            Event::StatusUpdate(update) => {
                Payload::StatusUpdate(status_update(update, is_final(event, update), files)?)
            }
            Event::ArtifactUpdate(update) => Payload::ArtifactUpdate(artifact_update(update, files)?),
        },
        StreamEvent::Snapshot(view, _) => Payload::Task(task(view, files)?),
        StreamEvent::Message(shared) => Payload::Msg(message(shared, files)?),
    };
    Ok(write(&wire::StreamResponse { payload: Some(payload) }))
}

fn task(view: &TaskView, files: Files) -> Result<wire::Task, Error> {
    let task = view.task();
    let artifacts = view.artifacts().unwrap_or_default();
    Ok(wire::Task {
        id: task.id.to_string(),
        context_id: task.context_id.to_string(),
        status: Some(status(&task.status, files)?),
        artifacts: artifacts.iter().map(|shared| artifact(shared, files)).collect::<Result<_, _>>()?,
        history: view.history().iter().map(|shared| message(shared, files)).collect::<Result<_, _>>()?,
        metadata: object(task.metadata.as_ref())?,
    })
}

fn status(status: &TaskStatus, files: Files) -> Result<wire::TaskStatus, Error> {
    // A message without parts says nothing and is better left out.
    let said = status.message.as_ref().filter(|message| !message.parts.is_empty());
    Ok(wire::TaskStatus {
        state: state(status.state),
        update: said.map(|shared| message(shared, files)).transpose()?,
        timestamp: status.timestamp.map(timestamp),
    })
}

fn status_update(
    update: &TaskStatusUpdateEvent,
    is_final: bool,
    files: Files,
) -> Result<wire::TaskStatusUpdateEvent, Error> {
    Ok(wire::TaskStatusUpdateEvent {
        task_id: update.task_id.to_string(),
        context_id: update.context_id.to_string(),
        status: Some(status(&update.status, files)?),
        r#final: is_final,
        metadata: object(update.metadata.as_ref())?,
    })
}

fn artifact_update(update: &TaskArtifactUpdateEvent, files: Files) -> Result<wire::TaskArtifactUpdateEvent, Error> {
    Ok(wire::TaskArtifactUpdateEvent {
        task_id: update.task_id.to_string(),
        context_id: update.context_id.to_string(),
        artifact: Some(artifact(&update.artifact, files)?),
        append: update.append,
        last_chunk: update.last_chunk,
        metadata: object(update.metadata.as_ref())?,
    })
}

fn artifact(artifact: &Artifact, files: Files) -> Result<wire::Artifact, Error> {
    Ok(wire::Artifact {
        artifact_id: artifact.artifact_id.to_string(),
        name: text_of(artifact.name.as_deref()),
        description: text_of(artifact.description.as_deref()),
        parts: artifact.parts.iter().map(|one| part(one, files)).collect::<Result<_, _>>()?,
        metadata: object(artifact.metadata.as_ref())?,
        extensions: artifact.extensions.clone(),
    })
}

fn message(message: &Message, files: Files) -> Result<wire::Message, Error> {
    Ok(wire::Message {
        message_id: message.message_id.clone(),
        context_id: text_of(message.context_id.as_deref()),
        task_id: text_of(message.task_id.as_deref()),
        role: role(message.role),
        content: message.parts.iter().map(|one| part(one, files)).collect::<Result<_, _>>()?,
        metadata: object(message.metadata.as_ref())?,
        extensions: message.extensions.clone(),
        reference_task_ids: message.reference_task_ids.clone(),
    })
}

fn part(part: &Part, files: Files) -> Result<wire::Part, Error> {
    use wire::{file_part::File, part::Part as Content};

    let file = |file| {
        Content::File(wire::FilePart {
            file: Some(file),
            mime_type: text_of(part.media_type.as_deref()),
            name: text_of(part.filename.as_deref()),
        })
    };
    let mut metadata = object(part.metadata.as_ref())?;
    let content = match &part.content {
        PartContent::Text(text) => Content::Text(text.clone()),
        PartContent::Raw(bytes) => file(File::FileWithBytes(match files {
            Files::Bytes => bytes.decode().unwrap_or_default(),
            Files::Base64 => bytes.to_base64().into(),
        })),
        PartContent::Url(url) => file(File::FileWithUri(url.clone())),
        PartContent::Data(json) => {
            let wrapped = match json.clone().into_object() {
                Ok(object) => object,
                // As this version's JSON has it too.
                Err(_) => {
                    metadata = object(Some(&marked(part.metadata.as_ref())))?;
                    let members = std::collections::BTreeMap::from([("value", json)]);
                    let wrapped = Json::from_serialize(&members).map_err(Error::internal)?;
                    wrapped.into_object().map_err(Error::internal)?
                }
            };
            Content::Data(wire::DataPart { data: Some(Struct::from_json(&wrapped).map_err(Error::internal)?) })
        }
    };
    Ok(wire::Part { part: Some(content), metadata })
}

fn push_config(config: &PushNotificationConfig) -> wire::TaskPushNotificationConfig {
    let task_id = config.task_id.as_deref().unwrap_or_default();
    let name = config.id.as_deref().map_or_else(|| name::task(task_id), |id| name::config(task_id, id));
    wire::TaskPushNotificationConfig {
        name,
        push_notification_config: Some(wire::PushNotificationConfig {
            id: text_of(config.id.as_deref()),
            url: config.url.clone(),
            token: text_of(config.token.as_deref()),
            authentication: config.authentication.as_ref().map(|authentication| wire::AuthenticationInfo {
                schemes: authentication.schemes.clone(),
                credentials: text_of(authentication.credentials.as_deref()),
            }),
        }),
    }
}
