//! Where a way may differ, and why: the only place where it may.

use a2a_layers::call::Binding;
use serde_json::{Map, Value, json};

use crate::{way::Way, wire::Version};

/// One difference.
pub(crate) struct Exception {
    pub(crate) of: fn(Way) -> bool,
    /// The scenarios; none at all are all of them.
    pub(crate) scenarios: &'static [&'static str],
    pub(crate) why: &'static str,
    pub(crate) change: Change,
}

pub(crate) enum Change {
    /// It is not played over this way.
    Absent,
    /// What the first way answers has to be changed like this.
    Edit(fn(Way, &mut [Value])),
}

pub(crate) const EXCEPTIONS: &[Exception] = &[
    Exception {
        of: |way| way.is_old() && way.binding == Binding::JsonRpc,
        scenarios: &[],
        why: "errors of 0.3 have no details over JSON-RPC: their schema leaves the form of `data` open",
        change: Change::Edit(|_, answers| {
            for answer in answers {
                errors(answer, |error| drop(error.remove("metadata")));
            }
        }),
    },
    Exception {
        of: |way| way.is_old() && way.binding != Binding::HttpJson,
        scenarios: &LISTS,
        why: "0.3 has no lists over JSON-RPC and gRPC (0.3 §3.5.6, and its proto)",
        change: Change::Absent,
    },
    Exception {
        of: |way| way.is_old(),
        scenarios: &["lists in pages"],
        why: "a list of 0.3 over HTTP+JSON is an array, in which there is no room for the token of the next page",
        change: Change::Absent,
    },
    Exception {
        of: |way| way.is_old(),
        scenarios: &LISTS,
        why: "nor is there for the size of a page and of the whole",
        change: Change::Edit(|_, answers| {
            for answer in answers.iter_mut().filter_map(Value::as_object_mut) {
                answer.retain(|name, _| !["pageSize", "totalSize"].contains(&&**name));
            }
        }),
    },
    Exception {
        of: |way| way.is_old() && way.binding == Binding::Grpc,
        scenarios: &["an answer without history", "a task without history"],
        why: "a length of 0 and none are the same in the proto of 0.3, and mean all of it",
        change: Change::Edit(|_, answers| {
            let message = json!({
                "contextId": "id 0", "messageId": "m-1", "parts": [{ "text": "done" }], "role": "ROLE_USER", "taskId": "id 1",
            });
            answers.iter_mut().for_each(|answer| answer["task"]["history"] = json!([message]));
        }),
    },
    Exception {
        of: Way::is_old_proto,
        scenarios: &["a send that does not say whether it waits"],
        why: "`blocking` is a plain bool in the proto of 0.3, so that nothing said is false",
        change: Change::Absent,
    },
    Exception {
        of: Way::is_old_proto,
        scenarios: &["a task that is referred to"],
        why: "the proto of 0.3 has no references",
        change: Change::Edit(|_, answers| {
            each(answers, &|object| drop(object.remove("referenceTaskIds")));
            each(answers, &|object| {
                if let Some(referenced) = object.get_mut("referenced") {
                    *referenced = json!([]);
                }
            });
        }),
    },
    Exception {
        of: |way| way.is_old(),
        scenarios: &["a name and a type for text"],
        why: "text has neither in 0.3",
        change: Change::Edit(|_, answers| {
            each(answers, &|object| object.retain(|name, _| !["filename", "mediaType"].contains(&&**name)));
        }),
    },
    Exception {
        of: |way| way.is_old() && way.binding == Binding::Grpc,
        scenarios: &["a subscription to what is over"],
        why: "the proto of 0.3 says that it is answered with the task",
        change: Change::Edit(|_, answers| answers[1] = json!({ "events": [answers[0]] })),
    },
    Exception {
        of: |way| way.is_old(),
        scenarios: &["a subscription without a cursor"],
        why: "it begins with the task as it is in 1.0 (§3.1.6), and with the first event in 0.3, where nothing says so",
        change: Change::Edit(|_, answers| {
            let events = answers[1]["events"].as_array_mut().expect("events");
            let (ids, waiting) = (events[0]["task"].clone(), events[0]["task"]["status"].take());
            let update = |status: &Value| json!({ "statusUpdate": { "taskId": ids["id"], "contextId": ids["contextId"], "status": status } });
            let working = json!({ "state": "TASK_STATE_WORKING", "timestamp": "a time" });
            events[0]["task"]["status"] = json!({ "state": "TASK_STATE_SUBMITTED", "timestamp": "a time" });
            events.splice(1..1, [update(&working), update(&waiting)]);
        }),
    },
    Exception {
        of: |way| way.is_old(),
        scenarios: &["a subscription from an event on"],
        why: "a stream begins with the task in 1.0 (§3.1.6), and with what was missed in 0.3",
        change: Change::Edit(|_, answers| {
            answers[1]["events"].as_array_mut().expect("events").remove(0);
        }),
    },
    Exception {
        of: |way| way.is_old(),
        scenarios: &["an extended card that is not offered"],
        why: "0.3 has one error for a card that is not offered and one that is not set (0.3 §8.2)",
        change: Change::Edit(|_, answers| {
            let message = "Authenticated Extended Card is not configured";
            answers[0] = json!({ "error": { "kind": "ExtendedAgentCardNotConfigured", "message": message } });
        }),
    },
    Exception {
        of: |way| way.binding == Binding::Grpc,
        scenarios: &["no id", "no role"],
        why: "protobuf does not tell what is not there from what is empty",
        change: Change::Edit(|_, answers| {
            for answer in answers {
                errors(answer, |error| {
                    let field = &mut error["fields"][0];
                    let of_role = field["field"] == "message.role";
                    let words = if of_role { "must be ROLE_USER or ROLE_AGENT" } else { "must not be empty" };
                    field["description"] = words.into();
                });
            }
        }),
    },
    Exception {
        of: |way| way.binding == Binding::HttpJson,
        scenarios: &["an id that is empty"],
        why: "the id is a segment of the path, and there is nothing at a path without it",
        change: Change::Edit(|_, answers| {
            let message = "Method not found: there is nothing at this path";
            answers[0] = json!({ "error": { "kind": "MethodNotFound", "message": message } });
        }),
    },
    Exception {
        of: |way| way.is_old() && way.binding == Binding::Grpc,
        scenarios: &["an id that is empty"],
        why: "the id is a part of a name there",
        change: Change::Edit(|_, answers| {
            errors(&mut answers[0], |error| error["fields"][0]["description"] = "must be tasks/{id}".into());
        }),
    },
    Exception {
        of: |way| way.binding == Binding::Grpc || way == OLD_REST,
        scenarios: &["a version that there is not"],
        why: "the path says the version, and the words say that the two do not go together",
        change: Change::Edit(|way, answers| {
            let kind = if way == OLD_REST { "path" } else { "package" };
            let version = if way.is_old() { "0.3" } else { "1.0" };
            let words = format!("this is a {kind} of {version}, and A2A-Version says otherwise");
            let message = format!("This protocol version is not supported: {words}");
            errors(&mut answers[0], |error| error["message"] = message.into());
        }),
    },
];

const LISTS: [&str; 5] = [
    "a list of nothing",
    "a list of everything",
    "lists that are filtered",
    "lists in pages",
    "pages that there are none of",
];

const OLD_REST: Way = Way { binding: Binding::HttpJson, version: Version::Old };

/// Changes the error of an answer, if it is one.
fn errors(answer: &mut Value, change: impl FnOnce(&mut Map<String, Value>)) {
    if let Some(error) = answer.get_mut("error").and_then(Value::as_object_mut) {
        change(error);
    }
}

/// Changes every object in the answers.
fn each(answers: &mut [Value], change: &dyn Fn(&mut Map<String, Value>)) {
    for answer in answers {
        match answer {
            Value::Object(members) => {
                change(members);
                members.values_mut().for_each(|inner| each(std::slice::from_mut(inner), change));
            }
            Value::Array(elements) => each(elements, change),
            _ => {}
        }
    }
}
