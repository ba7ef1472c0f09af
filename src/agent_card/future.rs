use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use pin_project_lite::pin_project;

use super::ResponseBody;

pin_project! {
    /// Response future of [`ServeAgentCard`](super::ServeAgentCard).
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
        Card { response: Option<Response<Full<Bytes>>> },
        Inner { #[pin] future: F },
    }
}

impl<F> ResponseFuture<F> {
    pub(crate) const fn card(response: Response<Full<Bytes>>) -> Self {
        Self { kind: Kind::Card { response: Some(response) } }
    }

    pub(crate) const fn inner(future: F) -> Self {
        Self { kind: Kind::Inner { future } }
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<ResponseBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProj::Card { response } => match response.take() {
                Some(response) => Poll::Ready(Ok(response.map(ResponseBody::card))),
                None => Poll::Pending,
            },
            KindProj::Inner { future } => Poll::Ready(Ok(ready!(future.poll(cx))?.map(ResponseBody::inner))),
        }
    }
}
