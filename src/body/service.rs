use std::{
    fmt, mem,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use super::{AnyHead, BodyLayer, Gate, ResponseFuture};
use crate::{encoded::Encoded, error::BoxError};

/// Collects the body of each request. See the [module documentation](super).
#[derive(Clone)]
pub struct Body<S, G = AnyHead> {
    inner: S,
    config: BodyLayer<G>,
}

impl<S, G> Body<S, G> {
    /// Wraps a service of whole bodies.
    pub fn new(inner: S, config: BodyLayer<G>) -> Self {
        Self { inner, config }
    }
}

impl<S, G, B, T> Service<Request<B>> for Body<S, G>
where
    S: Service<Request<Bytes>, Response = Response<Encoded<T>>> + Clone,
    G: Gate + Clone,
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = ResponseFuture<S, B, G, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The body is awaited before the inner call, so the clone that is ready goes along.
        let clone = self.inner.clone();
        let ready = mem::replace(&mut self.inner, clone);
        ResponseFuture::new(ready, request, &self.config)
    }
}

impl<S: fmt::Debug, G: fmt::Debug> fmt::Debug for Body<S, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("inner", &self.inner).field("config", &self.config).finish()
    }
}
