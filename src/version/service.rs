use std::{
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use tower_service::Service;

use super::{EncodedStream, ResponseFuture, negotiate::Offer};
use crate::{
    call::Call,
    encoded::Encoded,
    error::{BoxError, Error, find_error},
    operation::{Operation, Outcome},
};

/// Makes operations out of calls; see the [module docs](super).
#[derive(Clone, Debug)]
pub struct Version<S> {
    inner: S,
    offer: Arc<Offer>,
}

impl<S> Version<S> {
    pub(super) fn new(inner: S, offer: Arc<Offer>) -> Self {
        Self { inner, offer }
    }
}

impl<S, T> Service<Request<Call>> for Version<S>
where
    S: Service<Request<Operation>, Response = Response<Outcome<T>>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<Encoded<EncodedStream<T>>>;
    type Error = Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| find_error(error.into()))
    }

    fn call(&mut self, request: Request<Call>) -> Self::Future {
        let speaker = match self.offer.choose(&request) {
            Ok(speaker) => speaker,
            Err(error) => return ResponseFuture::refused(error),
        };
        let (head, call) = request.into_parts();
        match speaker.dialect().decode(&call) {
            Ok(operation) => {
                let future = self.inner.call(Request::from_parts(head, operation));
                ResponseFuture::accepted(future, speaker.clone())
            }
            Err(error) => ResponseFuture::refused(speaker.error(self.offer.explain(error, speaker, &call))),
        }
    }
}
