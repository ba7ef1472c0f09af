use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::Response;
use pin_project_lite::pin_project;

use crate::{
    error::{BoxError, Error, find_error},
    operation::{Answer, Outcome},
};

pin_project! {
    /// Response future of [`Capability`](super::Capability).
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
        Known { verdict: Option<Result<Answer, Error>> },
        Inner { #[pin] future: F },
    }
}

impl<F> ResponseFuture<F> {
    pub(super) const fn known(verdict: Result<Answer, Error>) -> Self {
        Self { kind: Kind::Known { verdict: Some(verdict) } }
    }

    pub(super) const fn inner(future: F) -> Self {
        Self { kind: Kind::Inner { future } }
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<Outcome<T>>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Outcome<T>>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProj::Known { verdict } => match verdict.take() {
                Some(verdict) => Poll::Ready(verdict.map(|answer| Response::new(Outcome::Answer(answer)))),
                None => Poll::Pending,
            },
            KindProj::Inner { future } => future.poll(cx).map_err(|error| find_error(error.into())),
        }
    }
}
