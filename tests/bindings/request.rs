//! Requests: written once, in the JSON of version 1.0, and turned into what each way wants.

use a2a_layers::{call::Binding, operation::OperationKind};
use serde_json::{Map, Value, json};

use crate::way::Way;

/// One request, whatever the way.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) op: OperationKind,
    /// As version 1.0 has them over JSON-RPC.
    pub(crate) params: Value,
    /// Headers, which gRPC calls metadata.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Whose request it is; each way has owners of its own.
    pub(crate) owner: &'static str,
}

/// The method of 0.3 (spec 0.3 §3.5.6).
pub(crate) fn old_method(op: OperationKind) -> &'static str {
    match op {
        OperationKind::SendMessage => "message/send",
        OperationKind::SendStreamingMessage => "message/stream",
        OperationKind::GetTask => "tasks/get",
        OperationKind::CancelTask => "tasks/cancel",
        OperationKind::SubscribeToTask => "tasks/resubscribe",
        OperationKind::CreatePushConfig => "tasks/pushNotificationConfig/set",
        OperationKind::GetPushConfig => "tasks/pushNotificationConfig/get",
        OperationKind::ListPushConfigs => "tasks/pushNotificationConfig/list",
        OperationKind::DeletePushConfig => "tasks/pushNotificationConfig/delete",
        OperationKind::GetExtendedAgentCard => "agent/getAuthenticatedExtendedCard",
        _ => "tasks/list",
    }
}

/// The parameters, or the message of gRPC in its JSON, as a way wants them.
pub(crate) fn params(way: Way, ask: &Ask) -> Value {
    let params = ask.params.clone();
    if !way.is_old() {
        return params;
    }
    let id = |member: &str| ask.params[member].as_str().unwrap_or_default().to_owned();
    let by_name = way.binding == Binding::Grpc;
    match ask.op {
        OperationKind::SendMessage | OperationKind::SendStreamingMessage => send(way, params),
        OperationKind::GetTask if by_name => renamed(params, "id", "name", |id| format!("tasks/{id}")),
        OperationKind::CancelTask | OperationKind::SubscribeToTask if by_name => {
            json!({ "name": format!("tasks/{}", id("id")) })
        }
        OperationKind::CreatePushConfig => {
            let webhook = json!({ "url": id("url") });
            match way.binding {
                Binding::JsonRpc => json!({ "taskId": id("taskId"), "pushNotificationConfig": webhook }),
                Binding::HttpJson => json!({ "config": { "pushNotificationConfig": webhook } }),
                _ => {
                    json!({ "parent": format!("tasks/{}", id("taskId")), "config": { "pushNotificationConfig": webhook } })
                }
            }
        }
        OperationKind::GetPushConfig | OperationKind::DeletePushConfig if by_name => {
            json!({ "name": format!("tasks/{}/pushNotificationConfigs/{}", id("taskId"), id("id")) })
        }
        OperationKind::GetPushConfig | OperationKind::DeletePushConfig if way.binding == Binding::JsonRpc => {
            json!({ "id": id("taskId"), "pushNotificationConfigId": id("id") })
        }
        OperationKind::ListPushConfigs if by_name => json!({ "parent": format!("tasks/{}", id("taskId")) }),
        OperationKind::ListPushConfigs if way.binding == Binding::JsonRpc => json!({ "id": id("taskId") }),
        _ => params,
    }
}

/// With another name for a member, and another value.
fn renamed(mut object: Value, from: &str, to: &str, change: impl FnOnce(&str) -> String) -> Value {
    if let Some(value) = object.as_object_mut().and_then(|object| object.remove(from)) {
        object[to] = change(value.as_str().unwrap_or_default()).into();
    }
    object
}

fn send(way: Way, mut params: Value) -> Value {
    if let Some(message) = params.get_mut("message") {
        old_message(way, message);
    }
    if let Some(configuration) = params.get_mut("configuration").and_then(Value::as_object_mut) {
        if let Some(at_once) = configuration.remove("returnImmediately") {
            configuration.insert("blocking".into(), (at_once == false).into());
        }
        if let Some(push) = configuration.remove("taskPushNotificationConfig") {
            let name = if way.is_old_proto() { "pushNotification" } else { "pushNotificationConfig" };
            configuration.insert(name.into(), push);
        }
    }
    params
}

fn old_message(way: Way, message: &mut Value) {
    let Some(message) = message.as_object_mut() else { return };
    if let Some(mut parts) = message.remove("parts") {
        parts.as_array_mut().into_iter().flatten().for_each(|part| *part = old_part(way, part));
        message.insert(if way.is_old_proto() { "content" } else { "parts" }.into(), parts);
    }
    if way.is_old_proto() {
        // Its proto has none.
        message.remove("referenceTaskIds");
        return;
    }
    if let Some(role) = message.get_mut("role") {
        *role = if *role == "ROLE_USER" { "user" } else { "agent" }.into();
    }
    message.insert("kind".into(), "message".into());
}

fn old_part(way: Way, part: &Value) -> Value {
    let mut old = Map::new();
    let mut kind = |kind: &str| {
        if !way.is_old_proto() {
            old.insert("kind".into(), kind.into());
        }
    };
    let keys = if way.is_old_proto() { ("fileWithBytes", "fileWithUri") } else { ("bytes", "uri") };
    let (member, value) = if let Some(text) = part.get("text") {
        kind("text");
        ("text", text.clone())
    } else if let Some(data) = part.get("data") {
        kind("data");
        let wrapped = if data.is_object() { data.clone() } else { json!({ "value": data }) };
        if !data.is_object() {
            old.insert("metadata".into(), json!({ "data_part_compat": true }));
        }
        ("data", if way.is_old_proto() { json!({ "data": wrapped }) } else { wrapped })
    } else {
        kind("file");
        let mut file = json!({});
        for (from, to) in [("raw", keys.0), ("url", keys.1), ("mediaType", "mimeType"), ("filename", "name")] {
            if let Some(value) = part.get(from) {
                file[to] = value.clone();
            }
        }
        ("file", file)
    };
    old.insert(member.into(), value);
    if let Some(metadata) = part.get("metadata") {
        old.insert("metadata".into(), metadata.clone());
    }
    old.into()
}
