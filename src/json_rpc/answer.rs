//! What goes back: heads of results, and whole error envelopes.

use std::fmt::{self, Write as _};

use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Response, StatusCode, header};

use crate::error::{Error, ErrorKind};

const VERSION_AND_ID: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
const RESULT: &[u8] = br#","result":"#;
const ERROR: &[u8] = br#","error":"#;

/// The id of a request that has none, or none that can be read.
pub(super) const NO_ID: &[u8] = b"null";

/// What stands before each result of one request. It holds a copy of the id, so that a long stream does not keep the
/// whole request in memory.
#[derive(Clone, Debug)]
pub(super) struct Head(Bytes);

impl Head {
    pub(super) fn new(id: &[u8]) -> Self {
        Self(Bytes::from([VERSION_AND_ID, id, RESULT].concat()))
    }

    /// The text before the result.
    pub(super) fn text(&self) -> &Bytes {
        &self.0
    }

    /// The id as it came.
    pub(super) fn id(&self) -> &[u8] {
        &self.0[VERSION_AND_ID.len()..self.0.len() - RESULT.len()]
    }

    /// The envelope round one result.
    pub(super) fn enclose(&self, result: &[u8]) -> Bytes {
        let mut document = BytesMut::with_capacity(self.0.len() + result.len() + 1);
        document.extend_from_slice(&self.0);
        document.extend_from_slice(result);
        document.extend_from_slice(b"}");
        document.freeze()
    }
}

/// The envelope of an error.
pub(super) fn error_document(id: &[u8], error: &Error) -> Bytes {
    let message = error.message();
    let data = error.data().map_or("", |data| data.get());
    let mut text = String::with_capacity(96 + id.len() + message.len() + data.len());
    // Writing into a string cannot fail.
    let _ = write!(text, r#"{{"code":{},"message":{}"#, error.code(), JsonText(&message));
    if !data.is_empty() {
        let _ = write!(text, r#","data":{data}"#);
    }
    text.push_str("}}");
    Bytes::from([VERSION_AND_ID, id, ERROR, text.as_bytes()].concat())
}

/// The answer that carries an error, with HTTP 200: the protocol's errors are no errors of HTTP.
pub(super) fn error_response(id: &[u8], error: &Error) -> Response<Bytes> {
    let mut response = document_response(StatusCode::OK, error_document(id, error));
    if let Some(after) = error.retry_after() {
        let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response.extensions_mut().insert(error.kind());
    response
}

pub(super) fn document_response(status: StatusCode, document: Bytes) -> Response<Bytes> {
    let mut response = Response::new(document);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Tells the log what callers are not told.
pub(super) fn log(error: &Error) {
    if matches!(error.kind(), ErrorKind::Internal | ErrorKind::InvalidAgentResponse) {
        tracing::error!(error = %Causes(error), "a call failed inside");
    }
}

/// An error and what led to it, on one line.
struct Causes<'a>(&'a (dyn std::error::Error + 'static));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// A text as a JSON string.
struct JsonText<'a>(&'a str);

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::types::Json;

    #[test]
    fn the_head_knows_its_id() {
        for id in ["1", "\"a\"", "123456789012345678901234567890", "\"\""] {
            let head = Head::new(id.as_bytes());
            assert_eq!(head.id(), id.as_bytes());
            assert_eq!(head.enclose(b"{}"), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }

    #[test]
    fn any_message_is_well_formed_json() {
        let message = "a \"b\" \\ \n\r\t\u{0}\u{7f}\u{85}\u{2028} 漢字 😀";
        let error = Error::custom(7, message).with_data(Json::parse("[1]").unwrap());
        let document = error_document(NO_ID, &error);
        let read: serde_json::Value = serde_json::from_slice(&document).unwrap();
        let expected = serde_json::json!({
            "jsonrpc": "2.0", "id": null, "error": { "code": 7, "message": message, "data": [1] },
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn a_broken_second_counts_whole() {
        let retry = |after| {
            let error = Error::new(ErrorKind::Overloaded).with_retry_after(after);
            error_response(NO_ID, &error).headers()[header::RETRY_AFTER].clone()
        };
        assert_eq!(retry(Duration::from_secs(3)), "3");
        assert_eq!(retry(Duration::from_millis(3001)), "4");
    }

    #[test]
    fn f06_the_log_has_the_causes() {
        let inner = std::io::Error::other("disk on fire");
        assert_eq!(Causes(&Error::internal(inner)).to_string(), "Internal error: disk on fire");
    }
}
