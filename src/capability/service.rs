use std::task::{Context, Poll};

use http::{Request, Response};
use tower_service::Service;

use super::{CapabilityLayer, ResponseFuture};
use crate::{
    error::{BoxError, Error, find_error},
    operation::{Operation, Outcome},
};

/// Refuses what the agent does not offer. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Capability<S> {
    inner: S,
    offered: CapabilityLayer,
}

impl<S> Capability<S> {
    /// Lets through to this service what the layer offers.
    pub fn new(inner: S, offered: CapabilityLayer) -> Self {
        Self { inner, offered }
    }
}

impl<S, T> Service<Request<Operation>> for Capability<S>
where
    S: Service<Request<Operation>, Response = Response<Outcome<T>>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<Outcome<T>>;
    type Error = Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| find_error(error.into()))
    }

    fn call(&mut self, request: Request<Operation>) -> Self::Future {
        match self.offered.verdict(request.body()) {
            Some(verdict) => ResponseFuture::known(verdict),
            None => ResponseFuture::inner(self.inner.call(request)),
        }
    }
}
