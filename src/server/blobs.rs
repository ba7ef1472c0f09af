//! The store's files on the mount's own port, where there is a store.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::blob::{BlobStore, ServeBlobs, ServeBlobsBody, ServeBlobsFuture, ServeBlobsLayer};

#[derive(Clone, Debug)]
pub(super) struct MaybeServeBlobsLayer<St>(Option<ServeBlobsLayer<St>>);

impl<St> MaybeServeBlobsLayer<St> {
    pub(super) fn new(serve: Option<(String, St)>) -> Self {
        Self(serve.map(|(path, store)| ServeBlobsLayer::new(&path, store)))
    }
}

impl<S, St: Clone> Layer<S> for MaybeServeBlobsLayer<St> {
    type Service = MaybeServeBlobs<S, St>;

    fn layer(&self, inner: S) -> Self::Service {
        match &self.0 {
            Some(layer) => MaybeServeBlobs::Serves(layer.layer(inner)),
            None => MaybeServeBlobs::Plain(inner),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum MaybeServeBlobs<S, St> {
    Plain(S),
    Serves(ServeBlobs<S, St>),
}

impl<S, St, B, R> Service<Request<B>> for MaybeServeBlobs<S, St>
where
    S: Service<Request<B>, Response = Response<R>>,
    St: BlobStore,
{
    type Response = Response<ServeBlobsBody<R>>;
    type Error = S::Error;
    type Future = MaybeServeBlobsFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        match self {
            Self::Plain(inner) => inner.poll_ready(cx),
            Self::Serves(inner) => Service::<Request<B>>::poll_ready(inner, cx),
        }
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match self {
            Self::Plain(inner) => MaybeServeBlobsFuture::Plain { future: inner.call(request) },
            Self::Serves(inner) => MaybeServeBlobsFuture::Serves { future: inner.call(request) },
        }
    }
}

pin_project! {
    #[project = MaybeServeBlobsProjection]
    pub(super) enum MaybeServeBlobsFuture<F> {
        Plain { #[pin] future: F },
        Serves { #[pin] future: ServeBlobsFuture<F> },
    }
}

impl<F, R, E> Future for MaybeServeBlobsFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<ServeBlobsBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            MaybeServeBlobsProjection::Plain { future } => {
                Poll::Ready(ready!(future.poll(cx)).map(|response| response.map(ServeBlobsBody::inner)))
            }
            MaybeServeBlobsProjection::Serves { future } => future.poll(cx),
        }
    }
}
