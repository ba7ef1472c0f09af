use bytes::Bytes;

use super::{
    super::{
        convert::{filled, optional, read, read_object, read_role, shared},
        proto::v0_3 as wire,
        wire::{Nested, check_elements},
    },
    Files, name,
};
use crate::{
    call::Binding,
    dialect::{At, unwrap_data},
    error::{Error, ErrorKind},
    operation::{
        CancelTask, GetTask, Operation, OperationKind, OperationRequest, ProtocolVersion, PushConfigOf,
        SendConfiguration, SendMessage, SubscribeToTask,
    },
    types::{InlineBytes, Message, Part, PushAuthentication, PushNotificationConfig},
};

const NAME: At<'static> = At::new("name");
const PARENT: At<'static> = At::new("parent");

/// The numbers of a send's message and configuration, and of the webhook in that, whose authentication has schemes.
const NESTED: [Nested; 2] = [Nested(1, &[]), Nested(2, &[Nested(2, &AUTHENTICATION)])];
/// The number of a webhook's authentication.
const AUTHENTICATION: [Nested; 1] = [Nested(4, &[])];
/// The numbers of the webhook to create.
const NESTED_WEBHOOK: [Nested; 1] = [Nested(3, &[Nested(2, &AUTHENTICATION)])];

/// Reads the message of a request for this operation.
pub(in crate::grpc) fn decode(kind: OperationKind, message: Bytes, files: Files) -> Result<Operation, Error> {
    let request = match kind {
        OperationKind::SendMessage | OperationKind::SendStreamingMessage => {
            check_elements(&message, &NESTED)?;
            let send = send(read(message)?, files)?;
            let streaming = kind == OperationKind::SendStreamingMessage;
            if streaming { OperationRequest::SendStreamingMessage(send) } else { OperationRequest::SendMessage(send) }
        }
        OperationKind::GetTask => {
            let request: wire::GetTaskRequest = read(message)?;
            let mut get = GetTask::new(name::read_task(&request.name, &NAME)?);
            get.history_length = history_length(request.history_length, &At::new("history_length"))?;
            OperationRequest::GetTask(get)
        }
        OperationKind::CancelTask => {
            let request: wire::CancelTaskRequest = read(message)?;
            OperationRequest::CancelTask(CancelTask::new(name::read_task(&request.name, &NAME)?))
        }
        OperationKind::SubscribeToTask => {
            let request: wire::TaskSubscriptionRequest = read(message)?;
            OperationRequest::SubscribeToTask(SubscribeToTask::new(name::read_task(&request.name, &NAME)?))
        }
        OperationKind::CreatePushConfig => {
            check_elements(&message, &NESTED_WEBHOOK)?;
            OperationRequest::CreatePushConfig(create(read(message)?)?)
        }
        OperationKind::GetPushConfig => {
            let request: wire::GetTaskPushNotificationConfigRequest = read(message)?;
            OperationRequest::GetPushConfig(push_of(&request.name)?)
        }
        OperationKind::DeletePushConfig => {
            let request: wire::DeleteTaskPushNotificationConfigRequest = read(message)?;
            OperationRequest::DeletePushConfig(push_of(&request.name)?)
        }
        OperationKind::ListPushConfigs => {
            let request: wire::ListTaskPushNotificationConfigRequest = read(message)?;
            let mut of = PushConfigOf::new(name::read_parent(&request.parent, &PARENT)?);
            of.page_size = Some(At::new("page_size").count(request.page_size)?).filter(|size| *size > 0);
            of.page_token = optional(request.page_token);
            OperationRequest::ListPushConfigs(of)
        }
        OperationKind::GetExtendedAgentCard => {
            let wire::GetAgentCardRequest {} = read(message)?;
            OperationRequest::GetExtendedAgentCard
        }
        OperationKind::ListTasks => return Err(ErrorKind::MethodNotFound.into()),
    };
    Ok(Operation::new(ProtocolVersion::V0_3, Binding::Grpc, request))
}

fn send(request: wire::SendMessageRequest, files: Files) -> Result<SendMessage, Error> {
    let at = At::new("request");
    let mut send = SendMessage::new(read_message(at.required(request.request)?, files, &at)?);
    send.metadata = read_object(request.metadata, &At::new("metadata"))?;
    // Not to say that one waits is to say that one does not.
    let configuration = request.configuration.unwrap_or_default();
    let at = At::new("configuration");
    let push_at = at.field("push_notification");
    send.configuration = SendConfiguration {
        accepted_output_modes: configuration.accepted_output_modes,
        push: configuration.push_notification.map(|wire| push(wire, &push_at)).transpose()?,
        history_length: history_length(configuration.history_length, &at.field("history_length"))?,
        return_immediately: !configuration.blocking,
    };
    Ok(send)
}

/// Nothing and 0 are one and the same here, and mean all of it.
fn history_length(length: i32, at: &At<'_>) -> Result<Option<u32>, Error> {
    Ok(Some(at.count(length)?).filter(|length| *length > 0))
}

fn read_message(message: wire::Message, files: Files, at: &At<'_>) -> Result<Message, Error> {
    let parts_at = at.field("content");
    if message.content.is_empty() {
        return Err(parts_at.invalid("must not be empty"));
    }
    let parts = message.content.into_iter().enumerate();
    Ok(Message {
        message_id: filled(message.message_id, &at.field("message_id"))?,
        role: read_role(message.role, &at.field("role"))?,
        parts: parts.map(|(index, part)| read_part(part, files, &parts_at.index(index))).collect::<Result<_, _>>()?,
        context_id: shared(message.context_id),
        task_id: shared(message.task_id),
        reference_task_ids: message.reference_task_ids,
        extensions: message.extensions,
        metadata: read_object(message.metadata, &at.field("metadata"))?,
    })
}

fn read_part(part: wire::Part, files: Files, at: &At<'_>) -> Result<Part, Error> {
    use wire::part::Part as Content;

    let mut read = match part.part {
        Some(Content::Text(text)) => Part::text(text),
        Some(Content::File(file)) => read_file(file, files, &at.field("file"))?,
        Some(Content::Data(wire::DataPart { data })) => {
            let at = at.field("data");
            let at = at.field("data");
            Part::data(at.required(data)?.read(&at)?.as_json().clone())
        }
        None => return Err(at.invalid("must have one of text, file and data")),
    };
    read.metadata = read_object(part.metadata, &at.field("metadata"))?;
    unwrap_data(&mut read);
    Ok(read)
}

fn read_file(file: wire::FilePart, files: Files, at: &At<'_>) -> Result<Part, Error> {
    use wire::file_part::File;

    let mut read = match file.file {
        Some(File::FileWithUri(uri)) => Part::url(filled(uri, &at.field("file_with_uri"))?),
        Some(File::FileWithBytes(bytes)) => Part::raw(match files {
            Files::Bytes => InlineBytes::new(bytes),
            Files::Base64 => InlineBytes::checked_base64(bytes)
                .ok_or_else(|| at.field("file_with_bytes").invalid("must be base64"))?,
        }),
        None => return Err(at.invalid("must have one of file_with_uri and file_with_bytes")),
    };
    read.media_type = optional(file.mime_type);
    read.filename = optional(file.name);
    Ok(read)
}

fn create(request: wire::CreateTaskPushNotificationConfigRequest) -> Result<Box<PushNotificationConfig>, Error> {
    let task_id = name::read_parent(&request.parent, &PARENT)?;
    let at = At::new("config");
    let config = at.required(request.config)?;
    let at = at.field("push_notification_config");
    let mut config = push(at.required(config.push_notification_config)?, &at)?;
    config.id = config.id.or(optional(request.config_id));
    config.task_id = Some(task_id.to_owned());
    Ok(config)
}

fn push(wire: wire::PushNotificationConfig, at: &At<'_>) -> Result<Box<PushNotificationConfig>, Error> {
    let mut config = Box::new(PushNotificationConfig::new(filled(wire.url, &at.field("url"))?));
    config.id = optional(wire.id);
    config.token = optional(wire.token);
    config.authentication = wire.authentication.map(|wire| {
        let mut authentication = PushAuthentication::new(wire.schemes);
        authentication.credentials = optional(wire.credentials);
        authentication
    });
    Ok(config)
}

fn push_of(name: &str) -> Result<PushConfigOf, Error> {
    let (task_id, id) = name::read_config(name, &NAME)?;
    let mut of = PushConfigOf::new(task_id);
    of.config_id = Some(id.to_owned());
    Ok(of)
}
