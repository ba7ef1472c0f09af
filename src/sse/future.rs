use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{HeaderName, HeaderValue, Response, header};
use pin_project_lite::pin_project;

use super::{ResponseBody, SseLayer};
use crate::encoded::Encoded;

pin_project! {
    /// The answer to come of [`Sse`](super::Sse).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        future: F,
        config: SseLayer,
    }
}

impl<F> ResponseFuture<F> {
    pub(super) fn new(future: F, config: SseLayer) -> Self {
        Self { future, config }
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<Encoded<T>>, E>>,
{
    type Output = Result<Response<ResponseBody<T>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (mut parts, encoded) = ready!(this.future.poll(cx))?.into_parts();
        let body = match encoded {
            Encoded::Document(document) => ResponseBody::document(document),
            Encoded::Stream(stream) => {
                let headers = &mut parts.headers;
                headers.remove(header::CONTENT_LENGTH);
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
                headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
                // nginx and its kin hold answers back until they fill a buffer, unless told.
                headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
                ResponseBody::stream(stream, *this.config)
            }
        };
        Poll::Ready(Ok(Response::from_parts(parts, body)))
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
