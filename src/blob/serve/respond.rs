use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;

use super::headers::{content_disposition, content_type};
use crate::blob::{BlobId, BlobStore, File};

/// What a request asks of a file.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    id: BlobId,
    head_only: bool,
    if_none_match: Option<HeaderValue>,
}

/// Reads a request whose path below the prefix is this one; a status where no file is asked for.
pub(super) fn asked<B>(req: &Request<B>, rest: &str) -> Result<Asked, StatusCode> {
    let id = BlobId::parse(rest).ok_or(StatusCode::NOT_FOUND)?;
    if !matches!(*req.method(), Method::GET | Method::HEAD) {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let if_none_match = req.headers().get(header::IF_NONE_MATCH).cloned();
    Ok(Asked { id, head_only: req.method() == Method::HEAD, if_none_match })
}

pub(super) async fn respond<St: BlobStore>(store: St, asked: Asked) -> Response<Full<Bytes>> {
    match store.get(asked.id).await {
        Ok(Some(file)) => answer(&asked, file),
        Ok(None) => empty(StatusCode::NOT_FOUND),
        Err(error) => {
            tracing::error!(id = %asked.id, error = &*error as &dyn std::error::Error, "a blob cannot be read");
            empty(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

fn answer(asked: &Asked, file: File) -> Response<Full<Bytes>> {
    let etag = format!("\"{}\"", asked.id);
    if asked.if_none_match.as_ref().is_some_and(|wanted| matches(wanted, &etag)) {
        let mut unchanged = empty(StatusCode::NOT_MODIFIED);
        caching(unchanged.headers_mut(), &etag);
        return unchanged;
    }
    let length = file.bytes.len();
    let mut response = Response::new(Full::new(if asked.head_only { Bytes::new() } else { file.bytes }));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type(file.media_type.as_deref()));
    headers.insert(header::CONTENT_LENGTH, length.into());
    if let Ok(disposition) = HeaderValue::try_from(content_disposition(file.filename.as_deref())) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    // Whoever sent the file chose its type: a browser must neither guess another nor run anything in it.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    caching(headers, &etag);
    response
}

/// An id is never used for other bytes, and a shared cache must not hand out what somebody may not see any more.
fn caching(headers: &mut HeaderMap, etag: &str) {
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, etag);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
}

fn matches(wanted: &HeaderValue, etag: &str) -> bool {
    let Ok(wanted) = wanted.to_str() else { return false };
    wanted.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == etag)
}

pub(super) fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}
