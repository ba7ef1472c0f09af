use std::{
    convert::Infallible,
    fmt,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use super::{
    JsonRpcLayer, ResponseFuture,
    answer::error_response,
    envelope::{self, Envelope},
    stream::Envelopes,
};
use crate::{binding::Readiness, body::Gate as _, call::Call, encoded::Encoded, error::BoxError};

/// JSON-RPC 2.0 around a service of calls. See the [module documentation](super).
pub struct JsonRpc<S> {
    inner: S,
    config: JsonRpcLayer,
    readiness: Readiness,
}

impl<S> JsonRpc<S> {
    /// Wraps a service of calls.
    pub fn new(inner: S, config: JsonRpcLayer) -> Self {
        Self { inner, config, readiness: Readiness::default() }
    }
}

impl<S: Clone> Clone for JsonRpc<S> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.config.clone())
    }
}

impl<S, T> Service<Request<Bytes>> for JsonRpc<S>
where
    S: Service<Request<Call>, Response = Response<Encoded<T>>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<Encoded<Envelopes<T>>>;
    type Error = Infallible;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.readiness.poll(&mut self.inner, cx).map(Ok)
    }

    fn call(&mut self, request: Request<Bytes>) -> ResponseFuture<S::Future> {
        let (parts, body) = request.into_parts();
        // A gate has looked already, if there is one.
        match self.config.endpoint.refuse_head(&parts) {
            Some(response) => ResponseFuture::refused(response),
            None => call(&mut self.inner, &self.config, &self.readiness, Request::from_parts(parts, body)),
        }
    }
}

/// Carries a request out with a service that is ready. Its head has been looked at.
pub(crate) fn call<S, T>(
    inner: &mut S,
    config: &JsonRpcLayer,
    readiness: &Readiness,
    request: Request<Bytes>,
) -> ResponseFuture<S::Future>
where
    S: Service<Request<Call>, Response = Response<Encoded<T>>>,
{
    let (parts, body) = request.into_parts();
    match envelope::read(body) {
        Err(refusal) => ResponseFuture::refused(error_response(refusal.id.text(), &refusal.error)),
        Ok(Envelope { id, call }) => match readiness.failure() {
            Some(error) => ResponseFuture::refused(error_response(id.text(), error)),
            None => {
                let future = inner.call(Request::from_parts(parts, call));
                ResponseFuture::calling(future, id, config.bare_stream_items)
            }
        },
    }
}

impl<S: fmt::Debug> fmt::Debug for JsonRpc<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonRpc").field("inner", &self.inner).field("config", &self.config).finish_non_exhaustive()
    }
}
