use std::{
    convert::Infallible,
    fmt,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use super::{
    JsonRpcLayer, ResponseFuture,
    answer::{Id, error_response, log},
    envelope::{self, Envelope},
    stream::Envelopes,
};
use crate::{
    body::Gate as _,
    call::Call,
    encoded::Encoded,
    error::{BoxError, Error, find_error},
};

/// JSON-RPC 2.0 around a service of calls. See the [module documentation](super).
pub struct JsonRpc<S> {
    inner: S,
    config: JsonRpcLayer,
    // A failed service is never called again; its error answers every call of this clone.
    failed: Option<Error>,
}

impl<S> JsonRpc<S> {
    /// Wraps a service of calls.
    pub fn new(inner: S, config: JsonRpcLayer) -> Self {
        Self { inner, config, failed: None }
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
        if self.failed.is_none()
            && let Err(error) = ready!(self.inner.poll_ready(cx))
        {
            let error = find_error(error.into());
            log(&error);
            self.failed = Some(error);
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> ResponseFuture<S::Future> {
        let (parts, body) = request.into_parts();
        if let Some(response) = self.config.endpoint.refuse_head(&parts) {
            return ResponseFuture::refused(response);
        }
        match envelope::read(&body) {
            Err(refusal) => ResponseFuture::refused(error_response(&refusal.id, &refusal.error)),
            Ok(Envelope { id, call }) => match &self.failed {
                Some(error) => ResponseFuture::refused(error_response(&id, error)),
                None => {
                    let future = self.inner.call(Request::from_parts(parts, call));
                    ResponseFuture::calling(future, Id::new(&id), self.config.bare_stream_items)
                }
            },
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for JsonRpc<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonRpc").field("inner", &self.inner).field("config", &self.config).finish_non_exhaustive()
    }
}
