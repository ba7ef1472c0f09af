use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header, request::Parts};

use super::answer::{NO_ID, document_response, error_document, error_response};
use crate::{
    binding::{is_json, is_plain, refuse_encoding, without_slash},
    body::Gate,
    error::{Error, ErrorKind},
};

/// What a request must look like from outside, before its body counts: path, verb, media type, encoding.
///
/// [`JsonRpcLayer::endpoint`](super::JsonRpcLayer::endpoint) hands it out, and [`BodyLayer`](crate::body::BodyLayer)
/// takes it as its [`Gate`], so that what is refused anyway is refused before its body is read.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    path: Option<Arc<str>>,
    aliases: Vec<Arc<str>>,
}

impl Endpoint {
    /// An endpoint at every path.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves this path alone, with and without a slash at its end; others are answered with 404. Default: every path.
    ///
    /// What counts is the path as it arrives here, so a router that cuts off a prefix changes it.
    #[must_use]
    pub fn path(mut self, path: impl AsRef<str>) -> Self {
        self.path = Some(Arc::from(without_slash(path.as_ref())));
        self
    }

    /// Serves one more path beside the one that is [set](Self::path); where none is set, every path is served anyway.
    #[must_use]
    pub fn alias(mut self, path: impl AsRef<str>) -> Self {
        self.aliases.push(Arc::from(without_slash(path.as_ref())));
        self
    }

    /// True if requests to this path are its own.
    pub(super) fn serves(&self, path: &str) -> bool {
        let path = without_slash(path);
        self.path.as_deref().is_none_or(|own| own == path || self.aliases.iter().any(|alias| **alias == *path))
    }
}

impl Gate for Endpoint {
    fn refuse_head(&self, head: &Parts) -> Option<Response<Bytes>> {
        if !self.serves(head.uri.path()) {
            return Some(refusal(head, StatusCode::NOT_FOUND, "there is nothing at this path"));
        }
        if head.method != Method::POST {
            let mut response = refusal(head, StatusCode::METHOD_NOT_ALLOWED, "only POST is served");
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return Some(response);
        }
        if !head.headers.get(header::CONTENT_TYPE).is_some_and(is_json) {
            let error = Error::new(ErrorKind::ContentTypeNotSupported).with_detail("send application/json");
            return Some(error_response(NO_ID, &error));
        }
        if !is_plain(&head.headers) {
            return Some(refuse_encoding(|status, error| document_response(status, error_document(NO_ID, error))));
        }
        None
    }

    fn refuse_body(&self, _: &Parts, error: &Error) -> Response<Bytes> {
        refuse_body(error)
    }
}

/// The answer to a body that could not be read: here HTTP itself failed, so the status says so.
pub(crate) fn refuse_body(error: &Error) -> Response<Bytes> {
    let mut response = document_response(error.kind().http_status(), error_document(NO_ID, error));
    response.extensions_mut().insert(error.kind());
    response
}

fn refusal(head: &Parts, status: StatusCode, detail: &'static str) -> Response<Bytes> {
    if head.method == Method::HEAD {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = status;
        return response;
    }
    let error = Error::new(ErrorKind::InvalidRequest).with_detail(detail);
    document_response(status, error_document(NO_ID, &error))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn admitted(endpoint: &Endpoint, path: &str, media_type: &str) -> bool {
        let request = Request::post(path).header("content-type", media_type).body(()).unwrap();
        endpoint.refuse_head(&request.into_parts().0).is_none()
    }

    #[test]
    fn a_path_is_served_with_and_without_a_slash() {
        for path in ["/a2a", "/a2a/"] {
            let endpoint = Endpoint::new().path(path);
            assert!(admitted(&endpoint, "/a2a", "application/json"));
            assert!(admitted(&endpoint, "/a2a/?after=1", "application/json"));
            assert!(!admitted(&endpoint, "/a2a/b", "application/json"));
            assert!(!admitted(&endpoint, "/a2a//", "application/json"));
            assert!(!admitted(&endpoint, "/", "application/json"));
        }
        assert!(admitted(&Endpoint::new().path("/"), "/", "application/json"));
        assert!(admitted(&Endpoint::new(), "/anything", "application/json"));
    }

    #[test]
    fn c06_aliases_are_served_too() {
        let endpoint = Endpoint::new().path("/").alias("/a2a/").alias("/rpc");
        for path in ["/", "/a2a", "/a2a/", "/rpc", "/rpc/"] {
            assert!(admitted(&endpoint, path, "application/json"), "{path}");
        }
        assert!(!admitted(&endpoint, "/other", "application/json"));
        assert!(admitted(&Endpoint::new().alias("/a2a"), "/other", "application/json"), "nothing is set");
    }

    #[test]
    fn parameters_and_case_of_a_media_type_do_not_count() {
        let endpoint = Endpoint::new();
        for media_type in ["Application/JSON; charset=utf-8", " application/json ;x", "application/a2a+json"] {
            assert!(admitted(&endpoint, "/", media_type), "{media_type}");
        }
        for media_type in ["text/json", "application/json5", "application", "", "application/json, text/plain"] {
            assert!(!admitted(&endpoint, "/", media_type), "{media_type}");
        }
    }
}
