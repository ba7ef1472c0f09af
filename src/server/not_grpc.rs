//! The answer to calls of gRPC where none is served.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Version, header};
use http_body_util::Full;

const GRPC: &[u8] = b"application/grpc";

/// True if a request has the media type of gRPC, or one that begins like it, which is then told no in gRPC's own words.
pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    let begins = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.as_bytes().get(..GRPC.len()));
    begins.is_some_and(|begins| begins.eq_ignore_ascii_case(GRPC))
}

/// A client of gRPC makes no sense of an answer in another binding's form, and says so in words that help nobody.
pub(super) fn refuse<B>(request: &Request<B>) -> Option<Response<Full<Bytes>>> {
    // gRPC comes over HTTP/2 alone, and most requests do not.
    if request.version() != Version::HTTP_2 || !is_grpc(request.headers()) {
        return None;
    }
    let mut response = Response::new(Full::default());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert("grpc-status", HeaderValue::from_static("12"));
    headers.insert("grpc-message", HeaderValue::from_static("the agent is not served over gRPC"));
    Some(response)
}
