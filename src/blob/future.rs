use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::Request;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::{
    BlobStore,
    outbound::{Outbound, Prepared, Storing},
};
use crate::{
    agent::{IntoReply, Reply},
    error::{BoxError, Error},
    types::Message,
};

type StoringRequest = Pin<Box<dyn Future<Output = Result<Request<Arc<Message>>, Error>> + Send>>;

pin_project! {
    /// The answer of [`Blobs`](super::Blobs): stores what came in, asks the agent, and stores what it answers.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S, St>
    where
        S: Service<Request<Arc<Message>>>,
    {
        #[pin]
        state: State<S, S::Future>,
        // Taken once the agent has answered.
        out: Option<Outbound<St>>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, F> {
        Storing { request: StoringRequest, inner: S },
        Called { #[pin] future: F },
        Answering { reply: Storing<Reply> },
        Over { error: Option<Error> },
    }
}

impl<S, St> ResponseFuture<S, St>
where
    S: Service<Request<Arc<Message>>>,
{
    pub(super) const fn storing(request: StoringRequest, inner: S, out: Outbound<St>) -> Self {
        Self { state: State::Storing { request, inner }, out: Some(out) }
    }

    pub(super) const fn called(future: S::Future, out: Outbound<St>) -> Self {
        Self { state: State::Called { future }, out: Some(out) }
    }

    pub(super) const fn refused(error: Error) -> Self {
        Self { state: State::Over { error: Some(error) }, out: None }
    }
}

impl<S, St> Future for ResponseFuture<S, St>
where
    S: Service<Request<Arc<Message>>>,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    St: BlobStore,
{
    type Output = Result<Reply, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let next = match this.state.as_mut().project() {
                StateProj::Storing { request, inner } => match ready!(request.as_mut().poll(cx)) {
                    Ok(request) => State::Called { future: inner.call(request) },
                    Err(error) => State::Over { error: Some(error) },
                },
                StateProj::Called { future } => {
                    let reply = ready!(future.poll(cx)).map_err(Into::into)?.into_reply();
                    match this.out.take().map(|out| out.prepare(reply)) {
                        Some(Prepared::Ready(reply)) => return Poll::Ready(Ok(reply)),
                        Some(Prepared::Storing(reply)) => State::Answering { reply },
                        None => State::Over { error: None },
                    }
                }
                StateProj::Answering { reply } => return reply.as_mut().poll(cx),
                // Polled again after it was ready, it never is again.
                StateProj::Over { error } => {
                    return error.take().map_or(Poll::Pending, |error| Poll::Ready(Err(error.into())));
                }
            };
            this.state.set(next);
        }
    }
}

impl<S, St> fmt::Debug for ResponseFuture<S, St>
where
    S: Service<Request<Arc<Message>>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
