use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::Response;
use pin_project_lite::pin_project;

use super::{EncodedStream, speaker::Speaker};
use crate::{
    encoded::Encoded,
    error::{BoxError, Error, find_error},
    operation::Outcome,
};

pin_project! {
    /// The answer of [`Version`](super::Version), in the dialect of the call.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F> {
        Accepted { #[pin] future: F, speaker: Speaker },
        Refused { error: Option<Error> },
    }
}

impl<F> ResponseFuture<F> {
    pub(super) fn accepted(future: F, speaker: Speaker) -> Self {
        Self { state: State::Accepted { future, speaker } }
    }

    pub(super) fn refused(error: Error) -> Self {
        Self { state: State::Refused { error: Some(error) } }
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<Outcome<T>>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Encoded<EncodedStream<T>>>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (future, speaker) = match self.project().state.project() {
            StateProjection::Accepted { future, speaker } => (future, speaker),
            StateProjection::Refused { error } => {
                // Whoever polls a future that is done gets an error rather than a panic.
                let error = error.take().unwrap_or_else(|| Error::internal("polled after completion"));
                return Poll::Ready(Err(error));
            }
        };
        let (head, outcome) = match ready!(future.poll(cx)) {
            Ok(response) => response.into_parts(),
            Err(error) => return Poll::Ready(Err(speaker.error(find_error(error.into())))),
        };
        let body = match outcome {
            Outcome::Answer(answer) => Encoded::Document(speaker.answer(&answer)?),
            Outcome::Stream(stream) => Encoded::Stream(EncodedStream::new(stream, speaker.clone())),
        };
        Poll::Ready(Ok(Response::from_parts(head, body)))
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
