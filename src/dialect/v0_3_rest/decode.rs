use bytes::Bytes;

use super::{V0_3Rest, message::WireMessage, names};
use crate::{
    call::Call,
    dialect::{
        read::{At, Int32, List, Struct, Text, id_of, object, read_rest},
        v0_3::decode::WirePush,
        v1_0::decode::{ListParams, history_length, list},
    },
    error::{Error, ErrorKind},
    operation::{
        CancelTask, GetTask, Operation, OperationKind, OperationRequest, ProtocolVersion, PushConfigOf,
        SendConfiguration, SendMessage, SubscribeToTask,
    },
    types::PushNotificationConfig,
};

object! {
    struct SendParams<'de> {
        message: WireMessage<'de> = "message" | "request",
        configuration: Configuration<'de> = "configuration",
        metadata: Struct = "metadata",
    }
}

object! {
    struct Configuration<'de> {
        accepted_output_modes: List<Text<'de>> = "acceptedOutputModes" | "accepted_output_modes",
        push: Box<WirePush<'de>> = "pushNotification" | "push_notification" | "pushNotificationConfig",
        history_length: Int32 = "historyLength" | "history_length",
        blocking: bool = "blocking",
    }
}

object! {
    struct TaskParams<'de> {
        id: Text<'de> = "id",
        history_length: Int32 = "historyLength" | "history_length",
        metadata: Struct = "metadata",
    }
}

object! {
    struct PushOfParams<'de> {
        page_size: Int32 = "pageSize" | "page_size",
        page_token: Text<'de> = "pageToken" | "page_token",
    }
}

object! {
    struct CreateParams<'de> {
        config_id: Text<'de> = "configId" | "config_id",
        config: TaskConfig<'de> = "config",
        name: Text<'de> = "name",
        push: WirePush<'de> = "pushNotificationConfig" | "push_notification_config",
    }
}

object! {
    struct TaskConfig<'de> {
        name: Text<'de> = "name",
        push: WirePush<'de> = "pushNotificationConfig" | "push_notification_config",
    }
}

object! {
    struct BelowConfig<'de> {
        config: WirePush<'de> = "config",
    }
}

object! {
    struct NoParams<'de> {}
}

const ID: At<'static> = At::new("id");
const CONFIG_ID: At<'static> = At::new("configId");

static EMPTY: Bytes = Bytes::new();

pub(super) fn decode(dialect: &V0_3Rest, call: &Call) -> Result<Operation, Error> {
    let kind = names::operation(call.method()).ok_or(ErrorKind::MethodNotFound)?;
    let path = call.path();
    let request = match kind {
        OperationKind::SendMessage => OperationRequest::SendMessage(send(dialect, call)?),
        OperationKind::SendStreamingMessage => OperationRequest::SendStreamingMessage(send(dialect, call)?),
        OperationKind::GetTask => {
            let params: TaskParams<'_> = read_rest(call)?;
            let mut get = GetTask::new(id_of(path.task_id.as_ref(), params.id, &ID)?);
            get.history_length = history_length(params.history_length, &At::new("historyLength"))?;
            OperationRequest::GetTask(get)
        }
        OperationKind::ListTasks => {
            let params: ListParams<'_> = read_rest(call)?;
            OperationRequest::ListTasks(list(params, names::read_state)?)
        }
        OperationKind::CancelTask => {
            let params: TaskParams<'_> = read_rest(call)?;
            let mut cancel = CancelTask::new(id_of(path.task_id.as_ref(), params.id, &ID)?);
            cancel.metadata = params.metadata.map(|metadata| metadata.0);
            OperationRequest::CancelTask(cancel)
        }
        OperationKind::SubscribeToTask => {
            let params: TaskParams<'_> = read_rest(call)?;
            let id = id_of(path.task_id.as_ref(), params.id, &ID)?;
            OperationRequest::SubscribeToTask(SubscribeToTask::new(id))
        }
        OperationKind::CreatePushConfig => OperationRequest::CreatePushConfig(create(call)?),
        OperationKind::GetPushConfig => OperationRequest::GetPushConfig(push_of(call, true)?),
        OperationKind::ListPushConfigs => OperationRequest::ListPushConfigs(push_of(call, false)?),
        OperationKind::DeletePushConfig => OperationRequest::DeletePushConfig(push_of(call, true)?),
        OperationKind::GetExtendedAgentCard => {
            read_rest::<NoParams<'_>>(call)?;
            OperationRequest::GetExtendedAgentCard
        }
    };
    Ok(Operation::new(ProtocolVersion::V0_3, call.binding(), request).with_tenant(path.tenant.clone()))
}

fn send(dialect: &V0_3Rest, call: &Call) -> Result<SendMessage, Error> {
    let params: SendParams<'_> = read_rest(call)?;
    let at = At::new("message");
    let body = call.params().unwrap_or(&EMPTY);
    let message = at.required(params.message)?.into_message(body, dialect.generated_message_ids, &at)?;
    let mut send = SendMessage::new(message);
    send.metadata = params.metadata.map(|metadata| metadata.0);
    if let Some(wire) = params.configuration {
        let at = At::new("configuration");
        let push_at = at.field("pushNotification");
        send.configuration = SendConfiguration {
            accepted_output_modes: wire.accepted_output_modes.map_or_else(Vec::new, List::into_strings),
            push: wire.push.map(|push| push.into_config(&push_at)).transpose()?,
            history_length: history_length(wire.history_length, &at.field("historyLength"))?,
            return_immediately: !wire.blocking.unwrap_or_default(),
        };
    }
    Ok(send)
}

/// A webhook, in any of the four forms in which clients send one.
fn create(call: &Call) -> Result<Box<PushNotificationConfig>, Error> {
    let params: CreateParams<'_> = read_rest(call)?;
    let (config_at, push_at) = (At::new("config"), At::new("pushNotificationConfig"));
    let nested_at = config_at.field("pushNotificationConfig");
    let (push, name, at) = match (params.config, params.push) {
        (Some(TaskConfig { push: Some(push), name, .. }), _) => (push, name, &nested_at),
        // Bare, so it is what was just skipped: it is read once more, as what it is.
        (Some(_), _) => (read_rest::<BelowConfig<'_>>(call)?.config.unwrap_or_default(), None, &config_at),
        (None, Some(push)) => (push, params.name, &push_at),
        (None, None) => (read_rest::<WirePush<'_>>(call)?, None, &push_at),
    };
    let mut config = push.into_config(at)?;
    let path = call.path();
    config.task_id = Some(id_of(path.task_id.as_ref(), None, &ID)?.to_string());
    let beside = params.config_id.filter(|id| !id.is_empty()).map(Text::into_string);
    let in_name = || {
        let (_, id) = name.as_ref()?.split_once("/pushNotificationConfigs/")?;
        Some(id.to_owned()).filter(|id| !id.is_empty())
    };
    config.id = path.config_id.as_deref().map(str::to_owned).or(beside).or(config.id).or_else(in_name);
    Ok(config)
}

fn push_of(call: &Call, with_config: bool) -> Result<PushConfigOf, Error> {
    let path = call.path();
    let params: PushOfParams<'_> = read_rest(call)?;
    let mut of = PushConfigOf::new(id_of(path.task_id.as_ref(), None, &ID)?);
    if with_config {
        of.config_id = Some(id_of(path.config_id.as_ref(), None, &CONFIG_ID)?.to_string());
        return Ok(of);
    }
    let size = params.page_size.map(|size| At::new("pageSize").count(size.0)).transpose()?;
    of.page_size = size.filter(|size| *size > 0);
    of.page_token = params.page_token.filter(|token| !token.is_empty()).map(Text::into_string);
    Ok(of)
}
