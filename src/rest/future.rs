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
    answer::{Form, error_response},
    stream::Events,
};
use crate::{
    binding::log,
    encoded::Encoded,
    error::{BoxError, find_error},
};

pin_project! {
    /// The answer to come of [`Rest`](super::Rest).
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
        Calling { #[pin] future: F, form: Form },
    }
}

impl<F> ResponseFuture<F> {
    pub(super) fn refused(response: Response<Bytes>) -> Self {
        Self { state: State::Refused { response: Some(response) } }
    }

    pub(super) fn calling(future: F, form: Form) -> Self {
        Self { state: State::Calling { future, form } }
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<Encoded<T>>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Encoded<Events<T>>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = match self.project().state.project() {
            // As with any future, polling on after the answer is the caller's mistake.
            StateProj::Refused { response } => response.take().expect("polled after completion").map(Encoded::Document),
            StateProj::Calling { future, form } => match ready!(future.poll(cx)) {
                Ok(response) => labelled(response, *form),
                Err(error) => {
                    let error = find_error(error.into());
                    log(&error);
                    error_response(*form, &error).map(Encoded::Document)
                }
            },
        };
        Poll::Ready(Ok(response))
    }
}

fn labelled<T>(mut response: Response<Encoded<T>>, form: Form) -> Response<Encoded<Events<T>>> {
    if let Encoded::Document(_) = response.body() {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(form.media_type));
    }
    response.map(|encoded| encoded.map_stream(|stream| Events::new(stream, form)))
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
