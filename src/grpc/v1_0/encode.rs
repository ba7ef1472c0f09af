use super::super::{
    convert::{object, role, state, text_of, timestamp, write},
    proto::{Value, v1_0 as wire},
};
use crate::{
    error::Error,
    operation::{Answer, ListTasksPage, StreamEvent, TaskView},
    types::{
        Artifact, Event, Message, Part, PartContent, PushNotificationConfig, TaskArtifactUpdateEvent, TaskStatus,
        TaskStatusUpdateEvent,
    },
};

/// The message that answers a request.
pub(in crate::grpc) fn answer(answer: &Answer) -> Result<Vec<u8>, Error> {
    use wire::send_message_response::Payload;

    let sent = |payload| write(&wire::SendMessageResponse { payload: Some(payload) });
    Ok(match answer {
        Answer::SentTask(view) => sent(Payload::Task(task(view)?)),
        Answer::SentMessage(sent_message) => sent(Payload::Message(message(sent_message)?)),
        Answer::Task(view) => write(&task(view)?),
        Answer::Tasks(page) => write(&tasks(page)?),
        Answer::PushConfig(config) => write(&push_config(config)),
        Answer::PushConfigs(configs) => write(&wire::ListTaskPushNotificationConfigsResponse {
            configs: configs.iter().map(push_config).collect(),
            next_page_token: String::new(),
        }),
        Answer::PushConfigDeleted => Vec::new(),
        Answer::ExtendedAgentCard(card) => write(&super::card::card(card)?),
    })
}

/// One message of a stream.
pub(in crate::grpc) fn event(event: &StreamEvent) -> Result<Vec<u8>, Error> {
    use wire::stream_response::Payload;

    let payload = match event {
        StreamEvent::Logged(entry) | StreamEvent::Passed(entry) => match entry.event() {
            Event::Task(shared) => Payload::Task(task(&TaskView::new(shared.clone()))?),
            Event::Message(shared) => Payload::Message(message(shared)?),
            Event::StatusUpdate(update) => Payload::StatusUpdate(status_update(update)?),
            Event::ArtifactUpdate(update) => Payload::ArtifactUpdate(artifact_update(update)?),
        },
        StreamEvent::Snapshot(view, _) => Payload::Task(task(view)?),
        StreamEvent::Message(shared) => Payload::Message(message(shared)?),
    };
    Ok(write(&wire::StreamResponse { payload: Some(payload) }))
}

fn tasks(page: &ListTasksPage) -> Result<wire::ListTasksResponse, Error> {
    Ok(wire::ListTasksResponse {
        tasks: page.tasks.iter().map(task).collect::<Result<_, _>>()?,
        next_page_token: page.next_page_token.clone(),
        page_size: i32::try_from(page.page_size).unwrap_or(i32::MAX),
        total_size: i32::try_from(page.total_size).unwrap_or(i32::MAX),
    })
}

fn task(view: &TaskView) -> Result<wire::Task, Error> {
    let task = view.task();
    let artifacts = view.artifacts().unwrap_or_default();
    Ok(wire::Task {
        id: task.id.to_string(),
        context_id: task.context_id.to_string(),
        status: Some(status(&task.status)?),
        artifacts: artifacts.iter().map(|shared| artifact(shared)).collect::<Result<_, _>>()?,
        history: view.history().iter().map(|shared| message(shared)).collect::<Result<_, _>>()?,
        metadata: object(task.metadata.as_ref())?,
    })
}

fn status(status: &TaskStatus) -> Result<wire::TaskStatus, Error> {
    // A message must have parts, so one without any is better left out.
    let said = status.message.as_ref().filter(|message| !message.parts.is_empty());
    Ok(wire::TaskStatus {
        state: state(status.state),
        message: said.map(|shared| message(shared)).transpose()?,
        timestamp: status.timestamp.map(timestamp),
    })
}

fn status_update(update: &TaskStatusUpdateEvent) -> Result<wire::TaskStatusUpdateEvent, Error> {
    Ok(wire::TaskStatusUpdateEvent {
        task_id: update.task_id.to_string(),
        context_id: update.context_id.to_string(),
        status: Some(status(&update.status)?),
        metadata: object(update.metadata.as_ref())?,
    })
}

fn artifact_update(update: &TaskArtifactUpdateEvent) -> Result<wire::TaskArtifactUpdateEvent, Error> {
    Ok(wire::TaskArtifactUpdateEvent {
        task_id: update.task_id.to_string(),
        context_id: update.context_id.to_string(),
        artifact: Some(artifact(&update.artifact)?),
        append: update.append,
        last_chunk: update.last_chunk,
        metadata: object(update.metadata.as_ref())?,
    })
}

fn artifact(artifact: &Artifact) -> Result<wire::Artifact, Error> {
    Ok(wire::Artifact {
        artifact_id: artifact.artifact_id.to_string(),
        name: text_of(artifact.name.as_deref()),
        description: text_of(artifact.description.as_deref()),
        parts: artifact.parts.iter().map(part).collect::<Result<_, _>>()?,
        metadata: object(artifact.metadata.as_ref())?,
        extensions: artifact.extensions.clone(),
    })
}

fn message(message: &Message) -> Result<wire::Message, Error> {
    Ok(wire::Message {
        message_id: message.message_id.clone(),
        context_id: text_of(message.context_id.as_deref()),
        task_id: text_of(message.task_id.as_deref()),
        role: role(message.role),
        parts: message.parts.iter().map(part).collect::<Result<_, _>>()?,
        metadata: object(message.metadata.as_ref())?,
        extensions: message.extensions.clone(),
        reference_task_ids: message.reference_task_ids.clone(),
    })
}

fn part(part: &Part) -> Result<wire::Part, Error> {
    use wire::part::Content;

    let content = match &part.content {
        PartContent::Text(text) => Content::Text(text.clone()),
        PartContent::Raw(bytes) => Content::Raw(bytes.decode().unwrap_or_default()),
        PartContent::Url(url) => Content::Url(url.clone()),
        PartContent::Data(data) => Content::Data(Value::from_json(data).map_err(Error::internal)?),
    };
    Ok(wire::Part {
        content: Some(content),
        metadata: object(part.metadata.as_ref())?,
        filename: text_of(part.filename.as_deref()),
        media_type: text_of(part.media_type.as_deref()),
    })
}

fn push_config(config: &PushNotificationConfig) -> wire::TaskPushNotificationConfig {
    wire::TaskPushNotificationConfig {
        tenant: String::new(),
        id: text_of(config.id.as_deref()),
        task_id: text_of(config.task_id.as_deref()),
        url: config.url.clone(),
        token: text_of(config.token.as_deref()),
        authentication: config.authentication.as_ref().map(|authentication| wire::AuthenticationInfo {
            scheme: text_of(authentication.schemes.first().map(String::as_str)),
            credentials: text_of(authentication.credentials.as_deref()),
        }),
    }
}
