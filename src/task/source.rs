//! What an agent does, one step at a time.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    vec,
};

use http::Request;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::{
    agent::{IntoReply, Reply, ReplyForm, Update, Updates},
    error::{BoxError, Error, find_error},
    types::Message,
};

pin_project! {
    /// An agent on one message: waiting until it is ready, being called, answering.
    #[project = SourceProjection]
    #[project_replace = SourceReplaced]
    pub(super) enum Source<S, F> {
        Waiting { inner: S, request: Request<Arc<Message>> },
        Calling { #[pin] future: F },
        One { update: Option<Update> },
        Few { updates: vec::IntoIter<Update> },
        Many { updates: Updates },
        Ended,
    }
}

/// One step of an agent.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is moved a few times and never kept; a box would be asked for with each word"
)]
pub(super) enum Step {
    /// It was ready and has the message.
    Called,
    /// It says something.
    Update(Update),
    /// It has said all.
    End,
    /// It failed, or panicked.
    Failed(Error),
}

impl<S, F> Source<S, F> {
    pub(super) fn new(inner: S, request: Request<Arc<Message>>) -> Self {
        Self::Waiting { inner, request }
    }

    /// True if the agent was not ready yet, so that it knows nothing of the message.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting { .. })
    }

    /// Drops the agent. If it panics at that, this is as little a matter of the caller's as any other panic of it.
    pub(super) fn close(mut self: Pin<&mut Self>) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.set(Self::Ended)));
    }
}

impl<S> Source<S, S::Future>
where
    S: Service<Request<Arc<Message>>>,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
{
    /// The next step. A panic of the agent is a step like any other.
    pub(super) fn poll_step(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Step> {
        match catch_unwind(AssertUnwindSafe(|| self.as_mut().poll_agent(cx))) {
            Ok(step) => step,
            Err(panic) => {
                // What panicked once may do so again when it is dropped.
                self.close();
                Poll::Ready(Step::Failed(Error::internal(Panicked::new(&*panic))))
            }
        }
    }

    fn poll_agent(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Step> {
        let step = match self.as_mut().project() {
            SourceProjection::Waiting { inner, .. } => match ready!(inner.poll_ready(cx)) {
                Ok(()) => {
                    if let SourceReplaced::Waiting { mut inner, request } = self.as_mut().project_replace(Self::Ended) {
                        let future = inner.call(request);
                        self.set(Self::Calling { future });
                    }
                    return Poll::Ready(Step::Called);
                }
                Err(error) => Step::Failed(find_error(error.into())),
            },
            SourceProjection::Calling { future } => match ready!(future.poll(cx)) {
                Ok(answer) => {
                    let Reply(form) = answer.into_reply();
                    self.set(match form {
                        ReplyForm::One(update) => Self::One { update: Some(update) },
                        ReplyForm::Updates(updates) => Self::Few { updates: updates.into_iter() },
                        ReplyForm::Stream(updates) => Self::Many { updates },
                    });
                    return self.poll_agent(cx);
                }
                Err(error) => Step::Failed(find_error(error.into())),
            },
            SourceProjection::One { update } => match update.take() {
                Some(update) => return Poll::Ready(Step::Update(update)),
                None => Step::End,
            },
            SourceProjection::Few { updates } => match updates.next() {
                Some(update) => return Poll::Ready(Step::Update(update)),
                None => Step::End,
            },
            SourceProjection::Many { updates } => match ready!(updates.as_mut().poll_next(cx)) {
                Some(Ok(update)) => return Poll::Ready(Step::Update(update)),
                Some(Err(error)) => Step::Failed(find_error(error)),
                None => Step::End,
            },
            SourceProjection::Ended => Step::End,
        };
        self.set(Self::Ended);
        Poll::Ready(step)
    }
}

/// What an agent said as it panicked, for the log.
#[derive(Debug)]
struct Panicked(String);

impl Panicked {
    fn new(panic: &(dyn Any + Send)) -> Self {
        let words =
            panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self(words.unwrap_or("without a word").to_owned())
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the agent panicked: {}", self.0)
    }
}

impl std::error::Error for Panicked {}
