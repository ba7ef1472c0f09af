use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Uri, header};

use crate::{
    error::{Error, ErrorKind},
    percent,
};

const JSON: &str = "application/json";
const VERSION: HeaderName = HeaderName::from_static("a2a-version");
const VERSION_PARAMETER: &str = "A2A-Version";

pub(crate) fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// `application/json`, or the media type that 1.0 made for the REST binding and clients of both bindings send to each.
pub(crate) fn is_json(value: &HeaderValue) -> bool {
    // Nearly everybody writes just that.
    if value.as_bytes() == JSON.as_bytes() {
        return true;
    }
    let Ok(value) = value.to_str() else { return false };
    let essence = value.split(';').next().unwrap_or_default().trim();
    [JSON, "application/a2a+json"].iter().any(|known| essence.eq_ignore_ascii_case(known))
}

pub(crate) fn is_plain(headers: &HeaderMap) -> bool {
    headers.get_all(header::CONTENT_ENCODING).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// What a caller says about the version, in the header or, without one, in the query; `None` if that is nothing.
pub(crate) fn stated_version<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<Cow<'a, str>> {
    version_of_header(headers).or_else(|| version_of_query(uri.query()?))
}

/// What the header says about the version. Lines that contradict each other are the list that HTTP makes of them, and a
/// list is no version.
pub(crate) fn version_of_header(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let lines = headers.get_all(VERSION).iter();
    let mut lines =
        lines.map(|line| String::from_utf8_lossy(line.as_bytes().trim_ascii())).filter(|text| !text.is_empty());
    let first = lines.next()?;
    match lines.find(|other| *other != first) {
        Some(other) => Some(format!("{first}, {other}").into()),
        None => Some(first),
    }
}

fn version_of_query(query: &str) -> Option<Cow<'_, str>> {
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    // What cannot be decoded is no version, and is refused as such.
    let decoded = |text| percent::decode(text).unwrap_or(Cow::Borrowed(text));
    let (_, value) = pairs.find(|(name, _)| decoded(name).eq_ignore_ascii_case(VERSION_PARAMETER))?;
    Some(decoded(value)).filter(|value| !value.is_empty())
}

/// The answer to a body that is compressed, as a binding makes one of a status and an error.
pub(crate) fn refuse_encoding(respond: impl FnOnce(StatusCode, &Error) -> Response<Bytes>) -> Response<Bytes> {
    let error = Error::new(ErrorKind::ContentTypeNotSupported).with_detail("send it without Content-Encoding");
    let mut response = respond(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error);
    response.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    response
}
