use serde_json::Value;

/// The task in an answer to a send or a get, or in an event.
pub(crate) fn task(envelope: &Value) -> &Value {
    let result = &envelope["result"];
    if result["task"].is_object() { &result["task"] } else { result }
}

/// The state that an answer or an event tells, in the words of 0.3; empty if it tells none.
pub(crate) fn state(envelope: &Value) -> String {
    let result = task(envelope);
    let update = &envelope["result"]["statusUpdate"];
    let status = if update.is_object() { &update["status"] } else { &result["status"] };
    let name = status["state"].as_str().unwrap_or_default();
    name.trim_start_matches("TASK_STATE_").to_ascii_lowercase().replace('_', "-")
}

/// The code of an answer; 0 if it is no error.
pub(crate) fn error_code(envelope: &Value) -> i64 {
    if envelope["error"].is_object() { envelope["error"]["code"].as_i64().expect("a code") } else { 0 }
}

pub(crate) fn error_text(envelope: &Value) -> &str {
    envelope["error"]["message"].as_str().unwrap_or_default()
}
