use std::task::{Context, Poll};

use http::{Request, Response};
use tower_service::Service;

use super::{ResponseBody, ResponseFuture, SseLayer};
use crate::encoded::Encoded;

/// Writes streams as server-sent events. See the [module documentation](super).
#[derive(Clone, Copy, Debug)]
pub struct Sse<S> {
    inner: S,
    config: SseLayer,
}

impl<S> Sse<S> {
    /// Wraps a service that answers with documents and streams.
    pub fn new(inner: S, config: SseLayer) -> Self {
        Self { inner, config }
    }
}

impl<S, B, T> Service<Request<B>> for Sse<S>
where
    S: Service<Request<B>, Response = Response<Encoded<T>>>,
{
    type Response = Response<ResponseBody<T>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ResponseFuture::new(self.inner.call(request), self.config)
    }
}
