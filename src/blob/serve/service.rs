use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower_service::Service;

use super::{
    BlobFuture, ServeBlobsBody, ServeBlobsFuture,
    respond::{asked, empty, respond},
};
use crate::blob::BlobStore;

/// Serves the files of a store over HTTP, each at its id: a leaf service, to be mounted where the store's URLs lead.
///
/// GET and HEAD are answered, with `Content-Type` and download name as they were given, as an attachment that a
/// browser neither sniffs nor runs. Other methods are answered with 405, and whatever is no id of a blob with 404.
///
/// ```
/// use a2a_layers::blob::{BlobService, BlobStore, File, MemoryBlobStore};
/// use http::Request;
/// use tower::ServiceExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), a2a_layers::error::BoxError> {
/// let store = MemoryBlobStore::new("/blobs");
/// let url = store.put(File::new("hi").with_media_type("text/plain")).await?;
///
/// let service = BlobService::new(store).prefix("/blobs");
/// let answer = service.oneshot(Request::get(url).body(())?).await?;
/// assert_eq!(answer.headers()["content-type"], "text/plain");
/// assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BlobService<St> {
    store: St,
    prefix: Prefix,
}

impl<St> BlobService<St> {
    /// Serves the files of this store at `/{id}`.
    pub fn new(store: St) -> Self {
        Self { store, prefix: Prefix::new("") }
    }

    /// Serves them at `{prefix}/{id}` instead, for routers that leave the path as it is.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = Prefix::new(prefix);
        self
    }
}

impl<St: BlobStore, B> Service<Request<B>> for BlobService<St> {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BlobFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, req: Request<B>) -> Self::Future {
        match asked(&req, self.prefix.rest(req.uri().path()).unwrap_or_default()) {
            Ok(asked) => BlobFuture::reading(Box::pin(respond(self.store.clone(), asked))),
            Err(status) => BlobFuture::ready(empty(status)),
        }
    }
}

/// Serves the files of a store below one path, and passes all other requests on. See [`ServeBlobsLayer`].
///
/// [`ServeBlobsLayer`]: super::ServeBlobsLayer
#[derive(Clone, Debug)]
pub struct ServeBlobs<S, St> {
    inner: S,
    blobs: BlobService<St>,
}

impl<S, St> ServeBlobs<S, St> {
    /// Serves the files below this path, such as `/blobs`.
    pub fn new(inner: S, prefix: &str, store: St) -> Self {
        Self { inner, blobs: BlobService::new(store).prefix(prefix) }
    }

    pub(super) const fn with_blobs(inner: S, blobs: BlobService<St>) -> Self {
        Self { inner, blobs }
    }
}

impl<S, St, ReqBody, ResBody> Service<Request<ReqBody>> for ServeBlobs<S, St>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
    St: BlobStore,
{
    type Response = Response<ServeBlobsBody<ResBody>>;
    type Error = S::Error;
    type Future = ServeBlobsFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, req: Request<ReqBody>) -> Self::Future {
        if self.blobs.prefix.rest(req.uri().path()).is_some() {
            ServeBlobsFuture::blob(self.blobs.call(req))
        } else {
            ServeBlobsFuture::inner(self.inner.call(req))
        }
    }
}

/// A path without a slash at its end.
#[derive(Clone, Debug)]
struct Prefix(Arc<str>);

impl Prefix {
    fn new(path: &str) -> Self {
        let path = path.trim_matches('/');
        Self(if path.is_empty() { "".into() } else { format!("/{path}").into() })
    }

    /// What stands behind the prefix and a slash; `None` if the path is not below it.
    fn rest<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&*self.0)?.strip_prefix('/')
    }
}
