use std::task::{Context, Poll};

use http::{Request, Response};
use tower_service::Service;

use super::{MediaTypeLayer, ResponseFuture};
use crate::{
    error::{BoxError, Error, find_error},
    operation::Operation,
};

/// Refuses parts of media types that the agent does not take. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct MediaType<S> {
    inner: S,
    taken: MediaTypeLayer,
}

impl<S> MediaType<S> {
    /// Lets through to this service what the layer takes.
    pub fn new(inner: S, taken: MediaTypeLayer) -> Self {
        Self { inner, taken }
    }
}

impl<S, T> Service<Request<Operation>> for MediaType<S>
where
    S: Service<Request<Operation>, Response = Response<T>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<T>;
    type Error = Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| find_error(error.into()))
    }

    fn call(&mut self, request: Request<Operation>) -> Self::Future {
        match self.taken.check(request.body().request()) {
            Err(error) => ResponseFuture::refused(error),
            Ok(()) => ResponseFuture::inner(self.inner.call(request)),
        }
    }
}
