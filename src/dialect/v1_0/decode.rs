use bytes::Bytes;

use super::{message::WireMessage, names};
use crate::{
    call::Call,
    dialect::read::{At, EnumValue, Int32, List, Struct, Text, id_of, object, read_members, read_rest},
    error::{Error, ErrorKind},
    operation::{
        CancelTask, GetTask, ListTasks, Operation, OperationKind, OperationRequest, ProtocolVersion, PushConfigOf,
        SendConfiguration, SendMessage, SubscribeToTask,
    },
    types::{PushAuthentication, PushNotificationConfig, TaskState, Timestamp},
};

object! {
    struct SendParams<'de> {
        tenant: Text<'de> = "tenant",
        message: WireMessage<'de> = "message",
        configuration: Configuration<'de> = "configuration",
        metadata: Struct = "metadata",
    }
}

object! {
    struct Configuration<'de> {
        accepted_output_modes: List<Text<'de>> = "acceptedOutputModes" | "accepted_output_modes",
        // Rare and large: in a box it does not make every message heavier to move.
        push: Box<PushParams<'de>> = "taskPushNotificationConfig" | "task_push_notification_config",
        history_length: Int32 = "historyLength" | "history_length",
        return_immediately: bool = "returnImmediately" | "return_immediately",
    }
}

object! {
    struct TaskParams<'de> {
        tenant: Text<'de> = "tenant",
        id: Text<'de> = "id",
        history_length: Int32 = "historyLength" | "history_length",
        metadata: Struct = "metadata",
    }
}

object! {
    pub(in crate::dialect) struct ListParams<'de> {
        tenant: Text<'de> = "tenant",
        context_id: Text<'de> = "contextId" | "context_id",
        status: EnumValue<'de> = "status",
        page_size: Int32 = "pageSize" | "page_size",
        page_token: Text<'de> = "pageToken" | "page_token",
        history_length: Int32 = "historyLength" | "history_length",
        status_timestamp_after: Text<'de> = "statusTimestampAfter" | "status_timestamp_after",
        include_artifacts: bool = "includeArtifacts" | "include_artifacts",
    }
}

object! {
    struct PushParams<'de> {
        tenant: Text<'de> = "tenant",
        id: Text<'de> = "id",
        task_id: Text<'de> = "taskId" | "task_id",
        url: Text<'de> = "url",
        token: Text<'de> = "token",
        authentication: Authentication<'de> = "authentication",
        nested: NestedPush<'de> = "pushNotificationConfig" | "push_notification_config",
    }
}

object! {
    struct NestedPush<'de> {
        id: Text<'de> = "id",
        url: Text<'de> = "url",
        token: Text<'de> = "token",
        authentication: Authentication<'de> = "authentication",
    }
}

object! {
    struct Authentication<'de> {
        scheme: Text<'de> = "scheme",
        schemes: List<Text<'de>> = "schemes",
        credentials: Text<'de> = "credentials",
    }
}

object! {
    struct PushOfParams<'de> {
        tenant: Text<'de> = "tenant",
        task_id: Text<'de> = "taskId" | "task_id",
        id: Text<'de> = "id",
        page_size: Int32 = "pageSize" | "page_size",
        page_token: Text<'de> = "pageToken" | "page_token",
    }
}

object! {
    struct TenantParams<'de> {
        tenant: Text<'de> = "tenant",
    }
}

const ID: At<'static> = At::new("id");
const TASK_ID: At<'static> = At::new("taskId");

pub(super) fn decode(call: &Call) -> Result<Operation, Error> {
    let kind = names::operation(call.method()).ok_or(ErrorKind::MethodNotFound)?;
    let path = call.path();
    let (request, tenant) = match kind {
        OperationKind::SendMessage | OperationKind::SendStreamingMessage => {
            let params: SendParams<'_> = read_rest(call)?;
            let tenant = params.tenant.clone();
            let send = send(params, call.params().unwrap_or(&Bytes::new()))?;
            let streaming = kind == OperationKind::SendStreamingMessage;
            let request =
                if streaming { OperationRequest::SendStreamingMessage } else { OperationRequest::SendMessage };
            (request(send), tenant)
        }
        OperationKind::GetTask => {
            let params: TaskParams<'_> = read_rest(call)?;
            let mut get = GetTask::new(id_of(path.task_id.as_ref(), params.id, &ID)?);
            get.history_length = history_length(params.history_length, &At::new("historyLength"))?;
            (OperationRequest::GetTask(get), params.tenant)
        }
        OperationKind::CancelTask => {
            let params: TaskParams<'_> = read_rest(call)?;
            let mut cancel = CancelTask::new(id_of(path.task_id.as_ref(), params.id, &ID)?);
            cancel.metadata = params.metadata.map(|metadata| metadata.0);
            (OperationRequest::CancelTask(cancel), params.tenant)
        }
        OperationKind::SubscribeToTask => {
            let params: TaskParams<'_> = read_rest(call)?;
            let subscribe = SubscribeToTask::new(id_of(path.task_id.as_ref(), params.id, &ID)?);
            (OperationRequest::SubscribeToTask(subscribe), params.tenant)
        }
        OperationKind::ListTasks => {
            // Everything about a list may be left out, and so may all of it.
            let params: ListParams<'_> =
                call.params().map_or_else(|| Ok(ListParams::default()), |_| read_rest(call))?;
            let tenant = params.tenant.clone();
            (OperationRequest::ListTasks(list(params, names::read_state)?), tenant)
        }
        OperationKind::CreatePushConfig => {
            let params: PushParams<'_> = read_rest(call)?;
            let tenant = params.tenant.clone();
            let task_id = id_of(path.task_id.as_ref(), params.task_id.clone(), &TASK_ID)?;
            let mut config = push(params, None)?;
            config.task_id = Some(task_id.to_string());
            (OperationRequest::CreatePushConfig(config), tenant)
        }
        OperationKind::GetPushConfig | OperationKind::DeletePushConfig => {
            let params: PushOfParams<'_> = read_rest(call)?;
            let mut of = PushConfigOf::new(id_of(path.task_id.as_ref(), params.task_id, &TASK_ID)?);
            of.config_id = Some(id_of(path.config_id.as_ref(), params.id, &ID)?.to_string());
            let get = kind == OperationKind::GetPushConfig;
            let request = if get { OperationRequest::GetPushConfig } else { OperationRequest::DeletePushConfig };
            (request(of), params.tenant)
        }
        OperationKind::ListPushConfigs => {
            let params: PushOfParams<'_> = read_rest(call)?;
            let mut of = PushConfigOf::new(id_of(path.task_id.as_ref(), params.task_id, &TASK_ID)?);
            // Unlike that of ListTasks, this size is 0 where it is not set (`int32`, not `optional int32`).
            let size = params.page_size.map(|size| At::new("pageSize").count(size.0)).transpose()?;
            of.page_size = size.filter(|size| *size > 0);
            of.page_token = params.page_token.filter(|token| !token.is_empty()).map(Text::into_string);
            (OperationRequest::ListPushConfigs(of), params.tenant)
        }
        OperationKind::GetExtendedAgentCard => {
            let params = call.params().map(|_| read_members::<TenantParams<'_>>(call)).transpose()?;
            (OperationRequest::GetExtendedAgentCard, params.and_then(|params| params.tenant))
        }
    };
    let stated = || tenant.filter(|tenant| !tenant.is_empty()).map(|tenant| tenant.to_arc());
    let tenant = path.tenant.clone().or_else(stated);
    Ok(Operation::new(ProtocolVersion::V1_0, call.binding(), request).with_tenant(tenant))
}

fn send(params: SendParams<'_>, body: &Bytes) -> Result<SendMessage, Error> {
    let at = At::new("message");
    let mut send = SendMessage::new(at.required(params.message)?.into_message(body, &at)?);
    send.metadata = params.metadata.map(|metadata| metadata.0);
    if let Some(wire) = params.configuration {
        let at = At::new("configuration");
        let push_at = at.field("taskPushNotificationConfig");
        send.configuration = SendConfiguration {
            accepted_output_modes: wire.accepted_output_modes.map_or_else(Vec::new, List::into_strings),
            push: wire.push.map(|wire| push(*wire, Some(&push_at))).transpose()?,
            history_length: history_length(wire.history_length, &at.field("historyLength"))?,
            return_immediately: wire.return_immediately.unwrap_or_default(),
        };
    }
    Ok(send)
}

/// Reads the state to filter by; `None` filters nothing.
type ReadState = fn(&EnumValue<'_>, &At<'_>) -> Result<Option<TaskState>, Error>;

pub(in crate::dialect) fn list(params: ListParams<'_>, read_state: ReadState) -> Result<ListTasks, Error> {
    let page_size = params.page_size.map(|Int32(size)| {
        let size = u32::try_from(size).ok().filter(|size| (1..=ListTasks::MAX_PAGE_SIZE).contains(size));
        size.ok_or_else(|| At::new("pageSize").invalid("must be from 1 to 100"))
    });
    let after = params.status_timestamp_after.map(|text| {
        let at = At::new("statusTimestampAfter");
        Timestamp::parse(&text).ok_or_else(|| at.invalid("must be a timestamp, such as 2026-01-01T00:00:00Z"))
    });
    let status = params.status.map(|status| read_state(&status, &At::new("status"))).transpose()?;
    Ok(ListTasks {
        context_id: params.context_id.filter(|id| !id.is_empty()).map(|id| id.to_arc()),
        status: status.flatten(),
        page_size: page_size.transpose()?,
        page_token: params.page_token.filter(|token| !token.is_empty()).map(Text::into_string),
        history_length: history_length(params.history_length, &At::new("historyLength"))?,
        status_timestamp_after: after.transpose()?,
        include_artifacts: params.include_artifacts.unwrap_or_default(),
    })
}

pub(in crate::dialect) fn history_length(length: Option<Int32>, at: &At<'_>) -> Result<Option<u32>, Error> {
    length.map(|length| at.count(length.0)).transpose()
}

/// A webhook, flat as in 1.0 or nested as in 0.3.
fn push(wire: PushParams<'_>, at: Option<&At<'_>>) -> Result<Box<PushNotificationConfig>, Error> {
    let field = |name| at.map_or_else(|| At::new(name), |at| at.field(name));
    let nested_at = field("pushNotificationConfig");
    let (url_at, nested) = match wire.nested {
        Some(nested) if wire.url.is_none() => (nested_at.field("url"), nested),
        _ => {
            let flat = NestedPush {
                id: wire.id,
                url: wire.url,
                token: wire.token,
                authentication: wire.authentication,
                ..NestedPush::default()
            };
            (field("url"), flat)
        }
    };
    let mut config = Box::new(PushNotificationConfig::new(url_at.filled(nested.url)?.into_string()));
    config.id = nested.id.filter(|id| !id.is_empty()).map(Text::into_string);
    config.task_id = wire.task_id.filter(|id| !id.is_empty()).map(Text::into_string);
    config.token = nested.token.filter(|token| !token.is_empty()).map(Text::into_string);
    config.authentication = nested.authentication.map(|wire| {
        let mut schemes = wire.schemes.map_or_else(Vec::new, List::into_strings);
        schemes.extend(wire.scheme.filter(|scheme| !scheme.is_empty()).map(Text::into_string));
        let mut authentication = PushAuthentication::new(schemes);
        authentication.credentials = wire.credentials.filter(|text| !text.is_empty()).map(Text::into_string);
        authentication
    });
    Ok(config)
}
