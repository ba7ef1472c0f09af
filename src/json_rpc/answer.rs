//! What goes back: heads of results, and whole error envelopes.

use std::fmt::Write as _;

use bytes::Bytes;
use http::{Response, StatusCode, header};

use crate::{
    binding::{self, Escaped, retry_after},
    error::Error,
    short::ShortText,
};

const VERSION_AND_ID: &str = r#"{"jsonrpc":"2.0","id":"#;
const RESULT: &str = r#","result":"#;
const ERROR: &str = r#","error":"#;

/// The id of a request that has none, or none that can be read.
pub(super) const NO_ID: &[u8] = b"null";

/// The id of a request, as it came. It is a copy, so that a long stream does not keep the whole request in memory.
#[derive(Clone)]
pub(super) struct Id(ShortText);

impl Id {
    pub(super) fn new(id: &[u8]) -> Self {
        Self(ShortText::new(id))
    }

    pub(super) fn text(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// What stands before each result of the request.
    pub(super) fn head(&self) -> Bytes {
        Bytes::from([VERSION_AND_ID.as_bytes(), self.text(), RESULT.as_bytes()].concat())
    }

    /// The envelope round one result.
    pub(super) fn enclose(&self, result: &[u8]) -> Bytes {
        Bytes::from([VERSION_AND_ID.as_bytes(), self.text(), RESULT.as_bytes(), result, b"}"].concat())
    }
}

/// The envelope of an error, written in one go.
pub(super) fn error_document(id: &[u8], error: &Error) -> Bytes {
    let data = error.data().map_or("", |data| data.get());
    let mut text = String::with_capacity(192 + id.len() + data.len());
    text.push_str(VERSION_AND_ID);
    text.push_str(std::str::from_utf8(id).unwrap_or("null"));
    text.push_str(ERROR);
    // Writing into a string cannot fail.
    let _ = write!(text, r#"{{"code":{},"message":""#, error.code());
    let _ = write!(Escaped(&mut text), "{error}");
    text.push('"');
    if !data.is_empty() {
        text.push_str(r#","data":"#);
        text.push_str(data);
    }
    text.push_str("}}");
    text.into()
}

/// The answer that carries an error, with HTTP 200: the protocol's errors are no errors of HTTP.
pub(super) fn error_response(id: &[u8], error: &Error) -> Response<Bytes> {
    let mut response = document_response(StatusCode::OK, error_document(id, error));
    if let Some(after) = retry_after(error) {
        response.headers_mut().insert(header::RETRY_AFTER, after);
    }
    response.extensions_mut().insert(error.kind());
    response
}

pub(super) fn document_response(status: StatusCode, document: Bytes) -> Response<Bytes> {
    binding::document_response(status, "application/json", document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Json;

    #[test]
    fn an_id_of_any_length_stays_as_it_came() {
        for length in 0..100 {
            let text = format!("\"{}\"", "x".repeat(length));
            let id = Id::new(text.as_bytes());
            assert_eq!(id.text(), text.as_bytes());
            assert_eq!(id.head(), format!(r#"{{"jsonrpc":"2.0","id":{text},"result":"#));
            assert_eq!(id.enclose(b"{}"), format!(r#"{{"jsonrpc":"2.0","id":{text},"result":{{}}}}"#));
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
}
