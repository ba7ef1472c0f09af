use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use pin_project_lite::pin_project;

use super::ServeBlobsBody;

type Reading = Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + Send>>;

/// The answer of a [`BlobService`](super::BlobService).
#[must_use = "futures do nothing unless polled"]
pub struct BlobFuture(State);

enum State {
    Reading(Reading),
    Ready(Option<Response<Full<Bytes>>>),
}

impl BlobFuture {
    pub(super) const fn reading(reading: Reading) -> Self {
        Self(State::Reading(reading))
    }

    pub(super) const fn ready(response: Response<Full<Bytes>>) -> Self {
        Self(State::Ready(Some(response)))
    }
}

impl Future for BlobFuture {
    type Output = Result<Response<Full<Bytes>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Reading(reading) => reading.as_mut().poll(cx).map(Ok),
            // Polled again after it was ready, it never is again.
            State::Ready(response) => response.take().map_or(Poll::Pending, |response| Poll::Ready(Ok(response))),
        }
    }
}

impl fmt::Debug for BlobFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobFuture").finish_non_exhaustive()
    }
}

pin_project! {
    /// The answer of [`ServeBlobs`](super::ServeBlobs).
    #[must_use = "futures do nothing unless polled"]
    pub struct ServeBlobsFuture<F> {
        #[pin]
        form: Form<F>,
    }
}

pin_project! {
    #[project = FormProj]
    enum Form<F> {
        Blob { #[pin] future: BlobFuture },
        Inner { #[pin] future: F },
    }
}

impl<F> ServeBlobsFuture<F> {
    pub(super) const fn blob(future: BlobFuture) -> Self {
        Self { form: Form::Blob { future } }
    }

    pub(super) const fn inner(future: F) -> Self {
        Self { form: Form::Inner { future } }
    }
}

impl<F, B, E> Future for ServeBlobsFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<ServeBlobsBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().form.project() {
            FormProj::Blob { future } => {
                let response = match ready!(future.poll(cx)) {
                    Ok(response) => response,
                    Err(never) => match never {},
                };
                Poll::Ready(Ok(response.map(ServeBlobsBody::file)))
            }
            FormProj::Inner { future } => {
                Poll::Ready(ready!(future.poll(cx)).map(|response| response.map(ServeBlobsBody::inner)))
            }
        }
    }
}

impl<F> fmt::Debug for ServeBlobsFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServeBlobsFuture").finish_non_exhaustive()
    }
}
