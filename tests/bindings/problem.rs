//! Errors: a kind, its words, and its details, whatever says them.

use a2a_layers::{call::Binding, error::ErrorKind};
use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::way::Way;

/// What each binding says of a kind (spec 1.0.1 §5.4; what it leaves open is the crate's choice): the code of JSON-RPC,
/// the status of HTTP, the code of gRPC.
const CODES: [(ErrorKind, i64, u16, Code); 13] = [
    (ErrorKind::InvalidRequest, -32600, 400, Code::InvalidArgument),
    (ErrorKind::PayloadTooLarge, -32600, 413, Code::ResourceExhausted),
    (ErrorKind::MethodNotFound, -32601, 404, Code::Unimplemented),
    (ErrorKind::InvalidParams, -32602, 400, Code::InvalidArgument),
    (ErrorKind::TaskNotFound, -32001, 404, Code::NotFound),
    (ErrorKind::TaskNotCancelable, -32002, 400, Code::FailedPrecondition),
    (ErrorKind::PushNotificationNotSupported, -32003, 400, Code::FailedPrecondition),
    (ErrorKind::UnsupportedOperation, -32004, 400, Code::FailedPrecondition),
    (ErrorKind::ContentTypeNotSupported, -32005, 400, Code::InvalidArgument),
    (ErrorKind::ExtendedAgentCardNotConfigured, -32007, 400, Code::FailedPrecondition),
    (ErrorKind::ExtensionSupportRequired, -32008, 400, Code::FailedPrecondition),
    (ErrorKind::VersionNotSupported, -32009, 400, Code::FailedPrecondition),
    (ErrorKind::Overloaded, -32603, 503, Code::Unavailable),
];

/// The row of the kind whose words a message begins with.
fn row(message: &str) -> (ErrorKind, i64, u16, Code) {
    let row = CODES.into_iter().find(|(kind, ..)| message.starts_with(kind.message()));
    row.unwrap_or_else(|| panic!("words of no kind: {message}"))
}

/// An error of JSON-RPC or HTTP+JSON, if the document is one.
pub(crate) fn of_document(way: Way, status: u16, document: &Value) -> Option<Value> {
    let error = document.get("error")?;
    let message = error["message"].as_str().expect("words");
    let (kind, code, http, _) = row(message);
    let details = if way.binding == Binding::JsonRpc { &error["data"] } else { &error["details"] };
    if way.binding == Binding::JsonRpc {
        assert_eq!(error["code"], code, "{document}");
        assert!(status == 200 || status == http, "{status}: {document}");
    } else {
        assert_eq!((status, &error["code"]), (http, &json!(http)), "{document}");
        assert_eq!(way.is_old().then_some(code), document["code"].as_i64(), "{document}");
    }
    let detail = |name: &str| {
        let kind = format!("type.googleapis.com/google.rpc.{name}");
        details.as_array().into_iter().flatten().find(|detail| detail["@type"] == *kind)
    };
    let info = detail("ErrorInfo").map(|info| (info["reason"].clone(), info["metadata"].clone()));
    let violations = detail("BadRequest").and_then(|bad| bad["fieldViolations"].as_array().cloned());
    Some(problem(way, kind, message, info, violations.unwrap_or_default()))
}

/// An error of gRPC.
pub(crate) fn of_status(way: Way, status: &Status) -> Value {
    let (kind, _, _, code) = row(status.message());
    assert_eq!(status.code(), code, "{status:?}");
    let details = status.get_error_details();
    let info = details.error_info().map(|info| (json!(info.reason), json!(info.metadata)));
    let violations = details.bad_request().map(|bad| &*bad.field_violations).unwrap_or_default();
    let violations = violations.iter().map(|one| json!({ "field": one.field, "description": one.description }));
    problem(way, kind, status.message(), info, violations.collect())
}

fn problem(way: Way, kind: ErrorKind, message: &str, info: Option<(Value, Value)>, violations: Vec<Value>) -> Value {
    let silent = way.is_old() && way.binding == Binding::JsonRpc;
    let mut problem = json!({ "kind": format!("{kind:?}") });
    if !silent {
        assert_eq!(info.as_ref().and_then(|(reason, _)| reason.as_str()), kind.reason(), "{message}");
        if let Some((_, metadata)) = info.filter(|(_, metadata)| *metadata != json!({}) && !metadata.is_null()) {
            problem["metadata"] = metadata;
        }
    }
    if kind == ErrorKind::InvalidParams {
        // The words name the field as well, so that the two can be held against each other.
        let words = message.split_once(": ").map(|(_, words)| words).unwrap_or_default();
        if !silent {
            let first = &violations[0];
            let text = |name: &str| first[name].as_str().unwrap_or_default().to_owned();
            assert_eq!(words, format!("{} {}", text("field"), text("description")));
        }
        let (field, description) = words.split_once(' ').expect("a field and what is wrong with it");
        problem["fields"] = json!([{ "field": canonical_field(way, field), "description": description }]);
    } else {
        problem["message"] = message.into();
    }
    json!({ "error": problem })
}

/// A field as version 1.0 has it in JSON.
fn canonical_field(way: Way, field: &str) -> String {
    let mut canonical = String::new();
    let mut upper = false;
    for letter in field.chars() {
        match letter {
            '_' => upper = true,
            _ if upper => {
                canonical.extend(letter.to_uppercase());
                upper = false;
            }
            _ => canonical.push(letter),
        }
    }
    if way.is_old_proto() {
        canonical = canonical.replace("content", "parts");
        if way.binding == Binding::Grpc {
            canonical = match &*canonical {
                "name" => "id".to_owned(),
                "request" => "message".to_owned(),
                other => other.replace("request.", "message."),
            };
        }
    }
    canonical
}
