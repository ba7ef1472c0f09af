//! The one layer of the ready-made stack that is there in three forms.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::Request;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    agent::{IntoReply, Reply},
    blob::{BlobLayer, BlobStore, Blobs, NoBlobStore},
    error::BoxError,
    types::Message,
};

/// What happens to inline files.
#[derive(Clone, Debug)]
pub(super) enum FileLayer<St> {
    /// They go as they are.
    Inline,
    /// Answers with one fail.
    Refused,
    /// They go into a store.
    Stored(BlobLayer<St>),
}

#[derive(Clone, Debug)]
pub(super) enum Files<S, St> {
    Inline(S),
    Refused(Blobs<S, NoBlobStore>),
    Stored(Blobs<S, St>),
}

impl<S, St: Clone> Layer<S> for FileLayer<St> {
    type Service = Files<S, St>;

    fn layer(&self, inner: S) -> Self::Service {
        match self {
            Self::Inline => Files::Inline(inner),
            Self::Refused => Files::Refused(BlobLayer::required().layer(inner)),
            Self::Stored(layer) => Files::Stored(layer.layer(inner)),
        }
    }
}

impl<S, St> Service<Request<Arc<Message>>> for Files<S, St>
where
    S: Service<Request<Arc<Message>>> + Clone,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    St: BlobStore,
{
    type Response = Reply;
    type Error = BoxError;
    type Future = FilesFuture<
        S::Future,
        <Blobs<S, NoBlobStore> as Service<Request<Arc<Message>>>>::Future,
        <Blobs<S, St> as Service<Request<Arc<Message>>>>::Future,
    >;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match self {
            Self::Inline(inner) => inner.poll_ready(cx).map_err(Into::into),
            Self::Refused(inner) => inner.poll_ready(cx),
            Self::Stored(inner) => inner.poll_ready(cx),
        }
    }

    fn call(&mut self, request: Request<Arc<Message>>) -> Self::Future {
        match self {
            Self::Inline(inner) => FilesFuture::Inline { future: inner.call(request) },
            Self::Refused(inner) => FilesFuture::Refused { future: inner.call(request) },
            Self::Stored(inner) => FilesFuture::Stored { future: inner.call(request) },
        }
    }
}

pin_project! {
    #[project = FilesProjection]
    pub(super) enum FilesFuture<I, R, F> {
        Inline { #[pin] future: I },
        Refused { #[pin] future: R },
        Stored { #[pin] future: F },
    }
}

impl<I, R, F, A, E> Future for FilesFuture<I, R, F>
where
    I: Future<Output = Result<A, E>>,
    A: IntoReply,
    E: Into<BoxError>,
    R: Future<Output = Result<Reply, BoxError>>,
    F: Future<Output = Result<Reply, BoxError>>,
{
    type Output = Result<Reply, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            FilesProjection::Inline { future } => {
                Poll::Ready(ready!(future.poll(cx)).map(IntoReply::into_reply).map_err(Into::into))
            }
            FilesProjection::Refused { future } => future.poll(cx),
            FilesProjection::Stored { future } => future.poll(cx),
        }
    }
}
