//! What goes back: heads of results, and errors as `google.rpc.Status`.

use std::fmt::Write as _;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

use super::route::Resource;
use crate::{
    binding::{self, Escaped, retry_after},
    dialect,
    error::{Error, ErrorKind, RpcCode},
};

/// How answers look to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Version 0.3 leaves the form of errors open, so its servers differ: errors can be read in two ways.
    pub(super) is_0_3: bool,
    pub(super) media_type: &'static str,
}

/// The document of an error: a `google.rpc.Status` below `error` (spec 1.0 §11.6), and in version 0.3 the code and the
/// message of JSON-RPC beside it.
pub(super) fn error_document(form: Form, error: &Error) -> Bytes {
    document(form, error, error.kind().http_status(), error.kind().status_name())
}

fn document(form: Form, error: &Error, status: StatusCode, name: &str) -> Bytes {
    let made = if error.data().is_none() { dialect::error_details(error) } else { None };
    let details = error.data().or(made.as_ref()).map_or("[]", |details| details.get());
    // A dialect of somebody's own may have put anything there.
    let details = if details.starts_with('[') { details } else { "[]" };
    let mut text = String::with_capacity(256 + details.len());
    text.push('{');
    // Writing into a string cannot fail.
    if form.is_0_3 {
        let _ = write!(text, r#""code":{},"message":""#, error.code());
        let _ = write!(Escaped(&mut text), "{error}");
        text.push_str("\",");
    }
    let _ = write!(text, r#""error":{{"code":{},"status":"{name}","message":""#, status.as_u16());
    let _ = write!(Escaped(&mut text), "{error}");
    text.push_str("\",\"details\":");
    text.push_str(details);
    text.push_str("}}");
    text.into()
}

/// The answer that carries an error, with the status of its kind.
pub(super) fn error_response(form: Form, error: &Error) -> Response<Bytes> {
    respond(form, error, error.kind().http_status())
}

/// The answer that carries an error, with a status that HTTP has for it.
pub(super) fn respond(form: Form, error: &Error, status: StatusCode) -> Response<Bytes> {
    let name = if status == StatusCode::METHOD_NOT_ALLOWED {
        RpcCode::Unimplemented.name()
    } else {
        error.kind().status_name()
    };
    let mut response = binding::document_response(status, form.media_type, document(form, error, status, name));
    if let Some(after) = retry_after(error) {
        response.headers_mut().insert(header::RETRY_AFTER, after);
    }
    response.extensions_mut().insert(error.kind());
    response
}

/// The answer to a verb that the path has no use for.
pub(super) fn refuse_verb(form: Form, resource: Resource) -> Response<Bytes> {
    let error = Error::new(ErrorKind::MethodNotFound).with_detail(format!("here are only {}", resource.allow()));
    let mut response = respond(form, &error, StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(resource.allow()));
    response
}

/// The answer to who asks what verbs there are.
pub(super) fn options(resource: Resource) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(resource.allow()));
    response
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::types::Json;

    const NEW: Form = Form { is_0_3: false, media_type: "application/a2a+json" };
    const OLD: Form = Form { is_0_3: true, media_type: "application/json" };

    fn read(document: &Bytes) -> Value {
        serde_json::from_slice(document).unwrap()
    }

    #[test]
    fn f113_an_error_is_a_status_with_its_reason() {
        let error = Error::task_not_found("t\"9");
        let expected = json!({ "error": {
            "code": 404, "status": "NOT_FOUND", "message": "Task not found",
            "details": [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
                "domain": "a2a-protocol.org", "metadata": { "taskId": "t\"9" },
            }],
        }});
        assert_eq!(read(&error_document(NEW, &error)), expected);
        let mut both = expected;
        both["code"] = json!(-32001);
        both["message"] = json!("Task not found");
        assert_eq!(read(&error_document(OLD, &error)), both);
    }

    #[test]
    fn fields_that_are_wrong_are_named_and_other_data_is_left_out() {
        let error = Error::invalid_params("message.parts", "must not be empty");
        let document = read(&error_document(NEW, &error));
        assert_eq!(
            (&document["error"]["code"], &document["error"]["status"]),
            (&json!(400), &json!("INVALID_ARGUMENT"))
        );
        let violation = json!([{ "field": "message.parts", "description": "must not be empty" }]);
        assert_eq!(document["error"]["details"][0]["fieldViolations"], violation);
        let error = error.with_data(Json::parse(r#"{"a":1}"#).unwrap());
        assert_eq!(read(&error_document(NEW, &error))["error"]["details"], json!([]));
        let error = Error::internal("secret").with_data(Json::parse("[1]").unwrap());
        assert_eq!(read(&error_document(NEW, &error))["error"]["details"], json!([1]));
    }

    #[test]
    fn f113_every_kind_has_the_status_of_the_release_of_1_0_1() {
        for kind in ErrorKind::ALL {
            let response = error_response(NEW, &kind.into());
            assert_eq!(response.status(), kind.http_status());
            assert!(![409, 415, 422, 501, 502].contains(&response.status().as_u16()), "{kind:?}");
            assert_eq!(response.headers()["content-type"], "application/a2a+json");
            assert_eq!(response.extensions().get::<ErrorKind>(), Some(&kind));
            let document = read(response.body());
            assert_eq!(document["error"]["code"], response.status().as_u16());
            assert_eq!(document["error"]["status"], kind.status_name());
            let reason = document["error"]["details"][0]["reason"].as_str().map(str::to_owned);
            assert_eq!(reason.as_deref(), kind.reason(), "{kind:?}");
        }
    }

    #[test]
    fn retry_advice_is_a_header_too() {
        let error = Error::new(ErrorKind::Overloaded).with_retry_after(Duration::from_millis(1500));
        let response = error_response(NEW, &error);
        assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (503, &"2".parse().unwrap()));
        assert_eq!(read(response.body())["error"]["details"][0]["retryDelay"], "1.500000000s");
    }

    #[test]
    fn any_message_is_well_formed_json() {
        let message = "a \"b\" \\ \n\r\t\u{0}\u{7f}\u{85}\u{2028} 漢字 😀";
        for form in [NEW, OLD] {
            assert_eq!(read(&error_document(form, &Error::custom(7, message)))["error"]["message"], message);
        }
    }
}
