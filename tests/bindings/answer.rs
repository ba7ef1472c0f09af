//! Answers: each way's form of a task, a message or an event, as version 1.0 has it in JSON. What is empty or false is
//! left out, and a member that nobody knows is a failure.

use a2a_layers::operation::OperationKind;
use serde_json::{Map, Value, json};

use crate::way::Way;

/// The result of an operation.
pub(crate) fn result(way: Way, op: OperationKind, value: &Value) -> Value {
    match op {
        OperationKind::SendMessage | OperationKind::SendStreamingMessage | OperationKind::SubscribeToTask => {
            event(way, value)
        }
        OperationKind::GetTask | OperationKind::CancelTask => json!({ "task": task(way, value) }),
        OperationKind::ListTasks => list(way, value),
        OperationKind::GetExtendedAgentCard => json!({ "card": card(value) }),
        _ => json!({ "push": value }),
    }
}

/// What a send is answered with, or a stream brings.
fn event(way: Way, value: &Value) -> Value {
    if way.is_old() && !way.is_old_proto() {
        return match value["kind"].as_str() {
            Some("task") => json!({ "task": task(way, value) }),
            Some("message") => json!({ "message": message(way, value) }),
            Some("status-update") => json!({ "statusUpdate": status_update(way, value) }),
            Some("artifact-update") => json!({ "artifactUpdate": artifact_update(way, value) }),
            _ => panic!("of no kind: {value}"),
        };
    }
    let members = value.as_object().expect("an object");
    let (name, inner) = members.iter().next().expect("one member");
    assert_eq!(members.len(), 1, "{value}");
    let inner = match &**name {
        "task" => task(way, inner),
        "message" => message(way, inner),
        "statusUpdate" => status_update(way, inner),
        "artifactUpdate" => artifact_update(way, inner),
        _ => panic!("of no kind: {value}"),
    };
    json!({ name: inner })
}

/// Takes an object apart: each member is read, or left out if it says nothing, or unknown.
fn object(value: &Value, mut read: impl FnMut(&str, &Value) -> Option<(&'static str, Value)>) -> Value {
    let mut members = Map::new();
    for (name, inner) in value.as_object().unwrap_or_else(|| panic!("no object: {value}")) {
        let (name, inner) = read(name, inner).unwrap_or_else(|| panic!("an unknown member {name} in {value}"));
        let says_nothing = match &inner {
            Value::Null | Value::Bool(false) => name != "data",
            Value::String(text) => text.is_empty() && name != "text",
            Value::Array(elements) => elements.is_empty() && name != "data",
            _ => false,
        };
        if !says_nothing {
            members.insert(name.to_owned(), inner);
        }
    }
    members.into()
}

fn all(value: &Value, read: impl Fn(&Value) -> Value) -> Value {
    value.as_array().expect("an array").iter().map(read).collect()
}

/// A member that is the same in every form.
fn plain(name: &str, value: &Value) -> Option<(&'static str, Value)> {
    const NAMES: [&str; 18] = [
        "id",
        "contextId",
        "taskId",
        "metadata",
        "artifactId",
        "name",
        "description",
        "extensions",
        "append",
        "lastChunk",
        "messageId",
        "referenceTaskIds",
        "timestamp",
        "text",
        "filename",
        "mediaType",
        "url",
        "raw",
    ];
    NAMES.into_iter().find(|known| *known == name).map(|name| (name, value.clone()))
}

/// What the JSON of 0.3 says of its kind says nothing more.
fn kind(way: Way, name: &str) -> Option<(&'static str, Value)> {
    (name == "kind" && way.is_old() && !way.is_old_proto()).then_some(("kind", Value::Null))
}

fn task(way: Way, value: &Value) -> Value {
    object(value, |name, inner| match name {
        "status" => Some(("status", status(way, inner))),
        "artifacts" => Some(("artifacts", all(inner, |one| artifact(way, one)))),
        "history" => Some(("history", all(inner, |one| message(way, one)))),
        "id" | "contextId" | "metadata" => plain(name, inner),
        _ => kind(way, name),
    })
}

fn status(way: Way, value: &Value) -> Value {
    object(value, |name, inner| match name {
        "state" => Some(("state", state(way, inner.as_str().expect("a state")).into())),
        "message" => Some(("message", message(way, inner))),
        "timestamp" => plain(name, inner),
        _ => None,
    })
}

/// The name of 1.0.
fn state(way: Way, name: &str) -> String {
    let name = match name {
        "TASK_STATE_CANCELLED" if way.is_old() => "TASK_STATE_CANCELED".to_owned(),
        _ if way.is_old() && !way.is_old_proto() => format!("TASK_STATE_{}", name.to_uppercase().replace('-', "_")),
        _ => name.to_owned(),
    };
    assert!(name.starts_with("TASK_STATE_"), "{name}");
    name
}

fn status_update(way: Way, value: &Value) -> Value {
    let mut is_final = Value::Null;
    let update = object(value, |name, inner| match name {
        "status" => Some(("status", status(way, inner))),
        "final" if way.is_old() => {
            is_final = inner.clone();
            Some(("final", Value::Null))
        }
        "taskId" | "contextId" | "metadata" => plain(name, inner),
        _ => kind(way, name),
    });
    if way.is_old() {
        const LAST: [&str; 5] = ["COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED"];
        let state = update["status"]["state"].as_str().expect("a state");
        let last = LAST.iter().any(|last| state == format!("TASK_STATE_{last}"));
        assert_eq!(is_final.as_bool().unwrap_or_default(), last, "{value}");
    }
    update
}

fn artifact_update(way: Way, value: &Value) -> Value {
    object(value, |name, inner| match name {
        "artifact" => Some(("artifact", artifact(way, inner))),
        "taskId" | "contextId" | "metadata" | "append" | "lastChunk" => plain(name, inner),
        _ => kind(way, name),
    })
}

fn artifact(way: Way, value: &Value) -> Value {
    object(value, |name, inner| match name {
        "parts" => Some(("parts", all(inner, |one| part(way, one)))),
        "artifactId" | "name" | "description" | "metadata" | "extensions" => plain(name, inner),
        _ => None,
    })
}

fn message(way: Way, value: &Value) -> Value {
    let parts = if way.is_old_proto() { "content" } else { "parts" };
    object(value, |name, inner| match name {
        "role" => {
            let user = inner == "ROLE_USER" || inner == "user";
            Some(("role", if user { "ROLE_USER" } else { "ROLE_AGENT" }.into()))
        }
        _ if name == parts => Some(("parts", all(inner, |one| part(way, one)))),
        "messageId" | "contextId" | "taskId" | "metadata" | "extensions" | "referenceTaskIds" => plain(name, inner),
        _ => kind(way, name),
    })
}

fn part(way: Way, value: &Value) -> Value {
    if !way.is_old() {
        return object(value, |name, inner| match name {
            "data" => Some(("data", inner.clone())),
            "text" | "raw" | "url" | "metadata" | "filename" | "mediaType" => plain(name, inner),
            _ => None,
        });
    }
    let mut file = Map::new();
    let mut read = object(value, |name, inner| match name {
        "file" => {
            file = flat(inner);
            Some(("file", Value::Null))
        }
        "data" if way.is_old_proto() => Some(("data", inner["data"].clone())),
        "data" => Some(("data", inner.clone())),
        "text" | "metadata" => plain(name, inner),
        _ => kind(way, name),
    });
    let members = read.as_object_mut().expect("an object");
    members.extend(file);
    // Data that is no object is in one that says so.
    let marked = members.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = marked.filter(|metadata| metadata.get("data_part_compat") == Some(&true.into())) {
        metadata.remove("data_part_compat");
        if metadata.is_empty() {
            members.remove("metadata");
        }
        members["data"] = members["data"]["value"].take();
    }
    read
}

fn flat(file: &Value) -> Map<String, Value> {
    let flat = object(file, |name, inner| match name {
        "bytes" | "fileWithBytes" => Some(("raw", inner.clone())),
        "uri" | "fileWithUri" => Some(("url", inner.clone())),
        "mimeType" => Some(("mediaType", inner.clone())),
        "name" => Some(("filename", inner.clone())),
        _ => None,
    });
    match flat {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn list(way: Way, value: &Value) -> Value {
    // The prose of 0.3 says an array, and nothing around it.
    let tasks = if way.is_old() { value } else { &value["tasks"] };
    let mut list = json!({ "tasks": tasks.as_array().map_or(json!([]), |tasks| tasks.iter().map(|one| task(way, one)).collect()) });
    for name in ["nextPageToken", "pageSize", "totalSize"] {
        if let Some(member) = value.get(name).filter(|member| **member != "" && **member != 0) {
            list[name] = member.clone();
        }
    }
    list
}

/// What a card says in every version; what it says of bindings is looked at elsewhere.
fn card(value: &Value) -> Value {
    let mut card = json!({ "streaming": value["capabilities"]["streaming"] });
    for name in ["name", "description", "version", "skills", "defaultInputModes", "defaultOutputModes"] {
        if let Some(member) = value.get(name) {
            card[name] = member.clone();
        }
    }
    let flag = value.get("supportsAuthenticatedExtendedCard").unwrap_or(&value["capabilities"]["extendedAgentCard"]);
    card["extended"] = flag.clone();
    card
}
