use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use pin_project_lite::pin_project;

use super::{
    answer::{Id, error_response},
    stream::Envelopes,
};
use crate::{
    binding::log,
    encoded::Encoded,
    error::{BoxError, find_error},
};

pin_project! {
    /// The answer to come of [`JsonRpc`](super::JsonRpc).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F> {
        Refused { response: Option<Response<Bytes>> },
        Calling { #[pin] future: F, id: Id, bare: bool },
    }
}

impl<F> ResponseFuture<F> {
    pub(super) fn refused(response: Response<Bytes>) -> Self {
        Self { state: State::Refused { response: Some(response) } }
    }

    pub(super) fn calling(future: F, id: Id, bare: bool) -> Self {
        Self { state: State::Calling { future, id, bare } }
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<Encoded<T>>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Encoded<Envelopes<T>>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = match self.project().state.project() {
            // As with any future, polling on after the answer is the caller's mistake.
            StateProj::Refused { response } => response.take().expect("polled after completion").map(Encoded::Document),
            StateProj::Calling { future, id, bare } => match ready!(future.poll(cx)) {
                Ok(response) => enclose(response, id, *bare),
                Err(error) => {
                    let error = find_error(error.into());
                    log(&error);
                    error_response(id.text(), &error).map(Encoded::Document)
                }
            },
        };
        Poll::Ready(Ok(response))
    }
}

fn enclose<T>(response: Response<Encoded<T>>, id: &Id, bare: bool) -> Response<Encoded<Envelopes<T>>> {
    let (mut parts, encoded) = response.into_parts();
    // With the envelope on, a length that was right for the result is wrong.
    parts.headers.remove(header::CONTENT_LENGTH);
    let encoded = match encoded {
        Encoded::Document(result) => {
            parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Encoded::Document(id.enclose(&result))
        }
        Encoded::Stream(stream) => Encoded::Stream(Envelopes::new(stream, id.clone(), bare)),
    };
    Response::from_parts(parts, encoded)
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
