use bytes::Bytes;

use super::super::{
    convert::{filled, optional, read, read_object, read_role, read_state, read_timestamp, shared},
    proto::v1_0 as wire,
    wire::{Nested, check_elements},
};
use crate::{
    call::Binding,
    dialect::At,
    error::Error,
    operation::{
        CancelTask, GetTask, ListTasks, Operation, OperationKind, OperationRequest, ProtocolVersion, PushConfigOf,
        SendConfiguration, SendMessage, SubscribeToTask,
    },
    types::{InlineBytes, Message, Part, PartContent, PushAuthentication, PushNotificationConfig},
};

const ID: At<'static> = At::new("id");
const TASK_ID: At<'static> = At::new("task_id");

/// The numbers of a send's message and configuration.
const NESTED: [Nested; 2] = [Nested(2, &[]), Nested(3, &[])];

/// Reads the message of a request for this operation.
pub(in crate::grpc) fn decode(kind: OperationKind, message: Bytes) -> Result<Operation, Error> {
    let (request, tenant) = match kind {
        OperationKind::SendMessage | OperationKind::SendStreamingMessage => {
            check_elements(&message, &NESTED)?;
            let request: wire::SendMessageRequest = read(message)?;
            let tenant = shared(request.tenant.clone());
            let send = send(request)?;
            let streaming = kind == OperationKind::SendStreamingMessage;
            let request =
                if streaming { OperationRequest::SendStreamingMessage } else { OperationRequest::SendMessage };
            return Ok(operation(request(send)).with_tenant(tenant));
        }
        OperationKind::GetTask => {
            let request: wire::GetTaskRequest = read(message)?;
            let mut get = GetTask::new(filled(request.id, &ID)?);
            get.history_length = count(request.history_length, &At::new("history_length"))?;
            (OperationRequest::GetTask(get), request.tenant)
        }
        OperationKind::ListTasks => {
            let mut request: wire::ListTasksRequest = read(message)?;
            let tenant = std::mem::take(&mut request.tenant);
            (OperationRequest::ListTasks(list(request)?), tenant)
        }
        OperationKind::CancelTask => {
            let request: wire::CancelTaskRequest = read(message)?;
            let mut cancel = CancelTask::new(filled(request.id, &ID)?);
            cancel.metadata = read_object(request.metadata, &At::new("metadata"))?;
            (OperationRequest::CancelTask(cancel), request.tenant)
        }
        OperationKind::SubscribeToTask => {
            let request: wire::SubscribeToTaskRequest = read(message)?;
            (OperationRequest::SubscribeToTask(SubscribeToTask::new(filled(request.id, &ID)?)), request.tenant)
        }
        OperationKind::CreatePushConfig => {
            let mut request: wire::TaskPushNotificationConfig = read(message)?;
            let tenant = std::mem::take(&mut request.tenant);
            let config = push(request, None)?;
            TASK_ID.required(config.task_id.as_ref())?;
            (OperationRequest::CreatePushConfig(config), tenant)
        }
        OperationKind::GetPushConfig => {
            let request: wire::GetTaskPushNotificationConfigRequest = read(message)?;
            (OperationRequest::GetPushConfig(push_of(request.task_id, request.id)?), request.tenant)
        }
        OperationKind::DeletePushConfig => {
            let request: wire::DeleteTaskPushNotificationConfigRequest = read(message)?;
            (OperationRequest::DeletePushConfig(push_of(request.task_id, request.id)?), request.tenant)
        }
        OperationKind::ListPushConfigs => {
            let request: wire::ListTaskPushNotificationConfigsRequest = read(message)?;
            let mut of = PushConfigOf::new(filled(request.task_id, &TASK_ID)?);
            of.page_size = Some(At::new("page_size").count(request.page_size)?).filter(|size| *size > 0);
            of.page_token = optional(request.page_token);
            (OperationRequest::ListPushConfigs(of), request.tenant)
        }
        OperationKind::GetExtendedAgentCard => {
            let request: wire::GetExtendedAgentCardRequest = read(message)?;
            (OperationRequest::GetExtendedAgentCard, request.tenant)
        }
    };
    Ok(operation(request).with_tenant(shared(tenant)))
}

fn operation(request: OperationRequest) -> Operation {
    Operation::new(ProtocolVersion::V1_0, Binding::Grpc, request)
}

fn send(request: wire::SendMessageRequest) -> Result<SendMessage, Error> {
    let at = At::new("message");
    let mut send = SendMessage::new(read_message(at.required(request.message)?, &at)?);
    send.metadata = read_object(request.metadata, &At::new("metadata"))?;
    if let Some(configuration) = request.configuration {
        let at = At::new("configuration");
        let push_at = at.field("task_push_notification_config");
        send.configuration = SendConfiguration {
            accepted_output_modes: configuration.accepted_output_modes,
            push: configuration.task_push_notification_config.map(|wire| push(wire, Some(&push_at))).transpose()?,
            history_length: count(configuration.history_length, &at.field("history_length"))?,
            return_immediately: configuration.return_immediately,
        };
    }
    Ok(send)
}

fn read_message(message: wire::Message, at: &At<'_>) -> Result<Message, Error> {
    let parts_at = at.field("parts");
    if message.parts.is_empty() {
        return Err(parts_at.invalid("must not be empty"));
    }
    let parts = message.parts.into_iter().enumerate();
    Ok(Message {
        message_id: filled(message.message_id, &at.field("message_id"))?,
        role: read_role(message.role, &at.field("role"))?,
        parts: parts.map(|(index, part)| read_part(part, &parts_at.index(index))).collect::<Result<_, _>>()?,
        context_id: shared(message.context_id),
        task_id: shared(message.task_id),
        reference_task_ids: message.reference_task_ids,
        extensions: message.extensions,
        metadata: read_object(message.metadata, &at.field("metadata"))?,
    })
}

fn read_part(part: wire::Part, at: &At<'_>) -> Result<Part, Error> {
    use wire::part::Content;

    let content = match part.content {
        Some(Content::Text(text)) => PartContent::Text(text),
        Some(Content::Raw(bytes)) => PartContent::Raw(InlineBytes::new(bytes)),
        Some(Content::Url(url)) => PartContent::Url(filled(url, &at.field("url"))?),
        Some(Content::Data(data)) => PartContent::Data(data.read(&at.field("data"))?),
        None => return Err(at.invalid("must have one of text, raw, url and data")),
    };
    let mut read = Part::new(content);
    read.metadata = read_object(part.metadata, &at.field("metadata"))?;
    read.filename = optional(part.filename);
    read.media_type = optional(part.media_type);
    Ok(read)
}

fn list(request: wire::ListTasksRequest) -> Result<ListTasks, Error> {
    let page_size = request.page_size.map(|size| {
        let size = u32::try_from(size).ok().filter(|size| (1..=ListTasks::MAX_PAGE_SIZE).contains(size));
        size.ok_or_else(|| At::new("page_size").invalid("must be from 1 to 100"))
    });
    let after = request.status_timestamp_after.map(|time| read_timestamp(time, &At::new("status_timestamp_after")));
    Ok(ListTasks {
        context_id: shared(request.context_id),
        status: read_state(request.status, &At::new("status"))?,
        page_size: page_size.transpose()?,
        page_token: optional(request.page_token),
        history_length: count(request.history_length, &At::new("history_length"))?,
        status_timestamp_after: after.transpose()?,
        include_artifacts: request.include_artifacts.unwrap_or_default(),
    })
}

fn push(wire: wire::TaskPushNotificationConfig, at: Option<&At<'_>>) -> Result<Box<PushNotificationConfig>, Error> {
    let url_at = at.map_or(At::new("url"), |at| at.field("url"));
    let mut config = Box::new(PushNotificationConfig::new(filled(wire.url, &url_at)?));
    config.id = optional(wire.id);
    config.task_id = optional(wire.task_id);
    config.token = optional(wire.token);
    config.authentication = wire.authentication.map(|wire| {
        let mut authentication = PushAuthentication::new(optional(wire.scheme).into_iter().collect());
        authentication.credentials = optional(wire.credentials);
        authentication
    });
    Ok(config)
}

fn push_of(task_id: String, id: String) -> Result<PushConfigOf, Error> {
    let mut of = PushConfigOf::new(filled(task_id, &TASK_ID)?);
    of.config_id = Some(filled(id, &ID)?);
    Ok(of)
}

fn count(number: Option<i32>, at: &At<'_>) -> Result<Option<u32>, Error> {
    number.map(|number| at.count(number)).transpose()
}
