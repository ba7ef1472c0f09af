use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::Response;
use pin_project_lite::pin_project;

use crate::error::{BoxError, Error, find_error};

pin_project! {
    /// Response future of [`MediaType`](super::MediaType).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProj]
    #[derive(Debug)]
    enum Kind<F> {
        Refused { error: Option<Error> },
        Inner { #[pin] future: F },
    }
}

impl<F> ResponseFuture<F> {
    pub(super) const fn refused(error: Error) -> Self {
        Self { kind: Kind::Refused { error: Some(error) } }
    }

    pub(super) const fn inner(future: F) -> Self {
        Self { kind: Kind::Inner { future } }
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<T>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<T>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProj::Refused { error } => error.take().map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
            KindProj::Inner { future } => future.poll(cx).map_err(|error| find_error(error.into())),
        }
    }
}
