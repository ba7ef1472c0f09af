use crate::{
    dialect::{
        escape_line_breaks,
        write::{Object, array},
    },
    error::Error,
    types::Json,
};

/// The details of spec 1.0 §9.5: an array of objects that each say what they are.
pub(crate) fn error_data(error: &Error) -> Option<Json> {
    let mut out = Vec::new();
    let mut separator = b'[';
    let mut next = |out: &mut Vec<u8>| out.push(std::mem::replace(&mut separator, b','));
    if let Some(reason) = error.kind().reason() {
        next(&mut out);
        let mut object = detail(&mut out, "ErrorInfo");
        object.word("reason", reason);
        object.word("domain", "a2a-protocol.org");
        let mut metadata = Object::new(object.member("metadata"));
        for (name, value) in error.info() {
            metadata.text(name, value);
        }
        metadata.end();
        object.end();
    }
    if !error.violations().is_empty() {
        next(&mut out);
        let mut object = detail(&mut out, "BadRequest");
        array(object.member("fieldViolations"), error.violations(), |out, violation| {
            let mut object = Object::new(out);
            object.text("field", &violation.field);
            object.text("description", &violation.description);
            object.end();
        });
        object.end();
    }
    if let Some(after) = error.retry_after() {
        next(&mut out);
        let mut object = detail(&mut out, "RetryInfo");
        let (seconds, nanos) = (after.as_secs(), after.subsec_nanos());
        if nanos == 0 {
            object.plain("retryDelay", format_args!("{seconds}s"));
        } else {
            object.plain("retryDelay", format_args!("{seconds}.{nanos:09}s"));
        }
        object.end();
    }
    if out.is_empty() {
        return None;
    }
    out.push(b']');
    escape_line_breaks(&mut out, 0);
    Json::parse(std::str::from_utf8(&out).ok()?).ok()
}

fn detail<'a>(out: &'a mut Vec<u8>, kind: &str) -> Object<'a> {
    let mut object = Object::new(out);
    object.plain("@type", format_args!("type.googleapis.com/google.rpc.{kind}"));
    object
}
