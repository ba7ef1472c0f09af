use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::{Response, header};

use super::{ResponseBody, call::Refusal};

/// The answer to come of [`Grpc`](super::Grpc).
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture<T>(State<T>);

enum State<T> {
    Refused(Option<Refusal>),
    CarriedOut(Pin<Box<dyn Future<Output = Answer<T>> + Send>>),
}

type Answer<T> = Result<Response<ResponseBody<T>>, Refusal>;

impl<T> ResponseFuture<T> {
    pub(super) fn new(future: impl Future<Output = Answer<T>> + Send + 'static) -> Self {
        Self(State::CarriedOut(Box::pin(future)))
    }

    pub(super) fn refused(refusal: Refusal) -> Self {
        Self(State::Refused(Some(refusal)))
    }
}

impl<T> Future for ResponseFuture<T> {
    type Output = Result<Response<ResponseBody<T>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match &mut self.0 {
            State::Refused(refusal) => match refusal.take() {
                Some(refusal) => Err(refusal),
                None => return Poll::Pending,
            },
            State::CarriedOut(future) => std::task::ready!(future.as_mut().poll(cx)),
        };
        Poll::Ready(Ok(answer.unwrap_or_else(Refusal::into_response)))
    }
}

impl Refusal {
    fn into_response<T>(self) -> Response<ResponseBody<T>> {
        match self {
            Self::Grpc(status) => status.into_http(),
            Self::Http(status) => {
                let mut response = Response::new(ResponseBody::default());
                *response.status_mut() = status;
                if status == http::StatusCode::METHOD_NOT_ALLOWED {
                    response.headers_mut().insert(header::ALLOW, http::HeaderValue::from_static("POST"));
                }
                response
            }
        }
    }
}

impl<T> fmt::Debug for ResponseFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}
