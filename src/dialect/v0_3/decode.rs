use bytes::Bytes;

use super::{
    V0_3, legacy,
    message::{Leniency, WireMessage},
    names,
};
use crate::{
    call::Call,
    dialect::read::{At, List, Struct, Text, Whole, object, read_members},
    error::{Error, ErrorKind},
    operation::{
        CancelTask, GetTask, Operation, OperationKind, OperationRequest, ProtocolVersion, PushConfigOf,
        SendConfiguration, SendMessage, SubscribeToTask,
    },
    types::{PushAuthentication, PushNotificationConfig},
};

object! {
    struct SendParams<'de> {
        message: WireMessage<'de> = "message",
        configuration: Configuration<'de> = "configuration",
        metadata: Struct = "metadata",
    }
}

object! {
    struct Configuration<'de> {
        accepted_output_modes: List<Text<'de>> = "acceptedOutputModes",
        // Rare and large: in a box it does not make every message heavier to move.
        push: Box<WirePush<'de>> = "pushNotificationConfig",
        history_length: Whole = "historyLength",
        blocking: bool = "blocking",
    }
}

object! {
    struct TaskParams<'de> {
        id: Text<'de> = "id",
        history_length: Whole = "historyLength",
        metadata: Struct = "metadata",
    }
}

object! {
    struct PushParams<'de> {
        task_id: Text<'de> = "taskId",
        push: WirePush<'de> = "pushNotificationConfig",
    }
}

object! {
    pub(in crate::dialect) struct WirePush<'de> {
        id: Text<'de> = "id",
        url: Text<'de> = "url",
        token: Text<'de> = "token",
        authentication: Authentication<'de> = "authentication",
    }
}

object! {
    struct Authentication<'de> {
        schemes: List<Text<'de>> = "schemes",
        credentials: Text<'de> = "credentials",
    }
}

object! {
    struct PushOfParams<'de> {
        id: Text<'de> = "id",
        config_id: Text<'de> = "pushNotificationConfigId",
    }
}

object! {
    struct NoParams<'de> {}
}

const ID: At<'static> = At::new("id");

static EMPTY: Bytes = Bytes::new();

pub(super) fn decode(dialect: &V0_3, call: &Call) -> Result<Operation, Error> {
    let leniency = Leniency {
        without_id: dialect.generated_message_ids,
        without_role: dialect.generated_message_ids,
        legacy_kind: false,
    };
    let request = if let Some(kind) = names::operation(call.method()) {
        request(kind, call, leniency)?
    } else if let Some(kind) = legacy::operation(call.method()).filter(|_| dialect.legacy_methods) {
        let leniency = Leniency { legacy_kind: true, ..leniency };
        let task = legacy::send(call, leniency)?;
        sending(kind, task.map_or_else(|| send(call, leniency), Ok)?)
    } else {
        return Err(ErrorKind::MethodNotFound.into());
    };
    Ok(Operation::new(ProtocolVersion::V0_3, call.binding(), request))
}

fn request(kind: OperationKind, call: &Call, leniency: Leniency) -> Result<OperationRequest, Error> {
    Ok(match kind {
        OperationKind::SendMessage | OperationKind::SendStreamingMessage => sending(kind, send(call, leniency)?),
        OperationKind::GetTask => {
            let params: TaskParams<'_> = read_members(call)?;
            let mut get = GetTask::new(ID.filled(params.id)?.to_arc());
            get.history_length = history_length(params.history_length, &At::new("historyLength"))?;
            OperationRequest::GetTask(get)
        }
        OperationKind::CancelTask => {
            let params: TaskParams<'_> = read_members(call)?;
            let mut cancel = CancelTask::new(ID.filled(params.id)?.to_arc());
            cancel.metadata = params.metadata.map(|metadata| metadata.0);
            OperationRequest::CancelTask(cancel)
        }
        OperationKind::SubscribeToTask => {
            let params: TaskParams<'_> = read_members(call)?;
            OperationRequest::SubscribeToTask(SubscribeToTask::new(ID.filled(params.id)?.to_arc()))
        }
        OperationKind::CreatePushConfig => {
            let params: PushParams<'_> = read_members(call)?;
            let task_id = At::new("taskId").filled(params.task_id)?.into_string();
            let at = At::new("pushNotificationConfig");
            let mut config = at.required(params.push)?.into_config(&at)?;
            config.task_id = Some(task_id);
            OperationRequest::CreatePushConfig(config)
        }
        OperationKind::GetPushConfig => OperationRequest::GetPushConfig(push_of(read_members(call)?, false)?),
        OperationKind::ListPushConfigs => {
            let mut of = push_of(read_members(call)?, false)?;
            of.config_id = None;
            OperationRequest::ListPushConfigs(of)
        }
        OperationKind::DeletePushConfig => OperationRequest::DeletePushConfig(push_of(read_members(call)?, true)?),
        OperationKind::GetExtendedAgentCard => {
            call.params().map(|_| read_members::<NoParams<'_>>(call)).transpose()?;
            OperationRequest::GetExtendedAgentCard
        }
        OperationKind::ListTasks => return Err(ErrorKind::MethodNotFound.into()),
    })
}

fn sending(kind: OperationKind, send: SendMessage) -> OperationRequest {
    if kind.is_streaming() { OperationRequest::SendStreamingMessage(send) } else { OperationRequest::SendMessage(send) }
}

fn send(call: &Call, leniency: Leniency) -> Result<SendMessage, Error> {
    let params: SendParams<'_> = read_members(call)?;
    let at = At::new("message");
    let body = call.params().unwrap_or(&EMPTY);
    let mut send = SendMessage::new(at.required(params.message)?.into_message(body, leniency, &at)?);
    send.metadata = params.metadata.map(|metadata| metadata.0);
    if let Some(wire) = params.configuration {
        let at = At::new("configuration");
        let push_at = at.field("pushNotificationConfig");
        send.configuration = SendConfiguration {
            accepted_output_modes: wire.accepted_output_modes.map_or_else(Vec::new, List::into_strings),
            push: wire.push.map(|push| push.into_config(&push_at)).transpose()?,
            history_length: history_length(wire.history_length, &at.field("historyLength"))?,
            // Nothing is said about the default; those who say nothing are used to waiting.
            return_immediately: wire.blocking == Some(false),
        };
    }
    Ok(send)
}

pub(super) fn history_length(length: Option<Whole>, at: &At<'_>) -> Result<Option<u32>, Error> {
    length.map(|length| at.count(length.0)).transpose()
}

fn push_of(params: PushOfParams<'_>, with_config: bool) -> Result<PushConfigOf, Error> {
    let mut of = PushConfigOf::new(ID.filled(params.id)?.to_arc());
    if with_config {
        At::new("pushNotificationConfigId").filled(params.config_id.clone())?;
    }
    of.config_id = params.config_id.filter(|id| !id.is_empty()).map(Text::into_string);
    Ok(of)
}

impl WirePush<'_> {
    pub(in crate::dialect) fn into_config(self, at: &At<'_>) -> Result<Box<PushNotificationConfig>, Error> {
        let mut config = Box::new(PushNotificationConfig::new(at.field("url").filled(self.url)?.into_string()));
        config.id = self.id.filter(|id| !id.is_empty()).map(Text::into_string);
        config.token = self.token.filter(|token| !token.is_empty()).map(Text::into_string);
        config.authentication = self.authentication.map(|wire| {
            let mut authentication = PushAuthentication::new(wire.schemes.map_or_else(Vec::new, List::into_strings));
            authentication.credentials = wire.credentials.filter(|text| !text.is_empty()).map(Text::into_string);
            authentication
        });
        Ok(config)
    }
}
