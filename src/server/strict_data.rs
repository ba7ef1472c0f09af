//! Data that must be an object, where the settings say so.

use std::task::{Context, Poll};

use http::Request;
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    error::BoxError,
    part::{ResponseFuture, check_data},
    types::Message,
};

/// It stands in front of the blob store, so that nothing is kept of what is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct StrictDataLayer(pub(super) bool);

impl<S> Layer<S> for StrictDataLayer {
    type Service = StrictData<S>;

    fn layer(&self, inner: S) -> Self::Service {
        StrictData { inner, strict: self.0 }
    }
}

#[derive(Clone, Debug)]
pub(super) struct StrictData<S> {
    inner: S,
    strict: bool,
}

impl<S> Service<Request<Message>> for StrictData<S>
where
    S: Service<Request<Message>>,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Message>) -> Self::Future {
        let checked = if self.strict { check_data(request.body()) } else { Ok(()) };
        match checked {
            Ok(()) => ResponseFuture::called(self.inner.call(request)),
            Err(error) => ResponseFuture::refused(error),
        }
    }
}
