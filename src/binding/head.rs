use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use crate::error::{Error, ErrorKind};

pub(crate) fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// `application/json`, or the media type that 1.0 made for the REST binding and clients of both bindings send to each.
pub(crate) fn is_json(value: &HeaderValue) -> bool {
    let Ok(value) = value.to_str() else { return false };
    let essence = value.split(';').next().unwrap_or_default().trim();
    ["application/json", "application/a2a+json"].iter().any(|known| essence.eq_ignore_ascii_case(known))
}

pub(crate) fn is_plain(headers: &HeaderMap) -> bool {
    headers.get_all(header::CONTENT_ENCODING).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// The answer to a body that is compressed, as a binding makes one of a status and an error.
pub(crate) fn refuse_encoding(respond: impl FnOnce(StatusCode, &Error) -> Response<Bytes>) -> Response<Bytes> {
    let error = Error::new(ErrorKind::ContentTypeNotSupported).with_detail("send it without Content-Encoding");
    let mut response = respond(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error);
    response.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    response
}
