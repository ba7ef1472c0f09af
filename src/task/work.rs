//! An agent at work, and what comes next: its next step, or an alarm.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::Request;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::{
    run::Run,
    source::{Source, Step},
    watch::{Alarm, Watch},
};
use crate::{
    agent::{IntoReply, TaskContext},
    error::BoxError,
    types::Message,
};

/// How many events are appended at once at most. A run yields to others after that many.
pub(super) const BATCH: usize = 64;

/// What comes next in a run.
#[expect(
    clippy::large_enum_variant,
    reason = "it is moved a few times and never kept; a box would be asked for with each word"
)]
pub(super) enum Next {
    Step(Step),
    Alarm(Alarm),
}

/// An agent on one message, with what watches over it, whatever its type. It is in a box from the beginning, so that a run
/// can begin without one: a run that is over with the agent's first word needs no other.
pub(super) type Work<T> = Pin<Box<dyn Working<T> + Send>>;

/// [`Work`], borrowed.
pub(super) type AtWork<'a, T> = Pin<&'a mut (dyn Working<T> + Send)>;

pub(super) trait Working<T> {
    /// The run that the work is for, which waits here until it begins.
    fn take_run(self: Pin<&mut Self>) -> Option<Run<T>>;

    /// The agent goes first; only while it is silent is the watch asked.
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>, context: &TaskContext) -> Poll<Next>;

    fn poll_alarm(self: Pin<&mut Self>, cx: &mut Context<'_>, context: &TaskContext) -> Poll<Alarm>;

    /// The agent may be silent for longer.
    fn heard(self: Pin<&mut Self>);

    /// True if the agent was not ready yet, so that it knows nothing of the message.
    fn is_waiting(&self) -> bool;

    /// Drops the agent.
    fn close(self: Pin<&mut Self>);
}

pin_project! {
    struct Watched<S, F, T> {
        #[pin]
        source: Source<S, F>,
        watch: Watch,
        run: Option<Run<T>>,
    }
}

pub(super) fn work<S, T>(run: Run<T>, inner: S, request: Request<Arc<Message>>) -> Work<T>
where
    S: Service<Request<Arc<Message>>> + Send + 'static,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: Send + Sync + 'static,
{
    let watch = Watch::new(&run.shared.settings, run.began);
    Box::pin(Watched { source: Source::new(inner, request), watch, run: Some(run) })
}

impl<S, T> Working<T> for Watched<S, S::Future, T>
where
    S: Service<Request<Arc<Message>>>,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
{
    fn take_run(self: Pin<&mut Self>) -> Option<Run<T>> {
        self.project().run.take()
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>, context: &TaskContext) -> Poll<Next> {
        let mut this = self.project();
        match this.source.as_mut().poll_step(cx) {
            Poll::Ready(step) => {
                this.watch.heard();
                Poll::Ready(Next::Step(step))
            }
            Poll::Pending => this.watch.poll_alarm(cx, context).map(|alarm| {
                // Who has not begun needs no time to stop.
                let is_waiting = this.source.is_waiting();
                Next::Alarm(if alarm == Alarm::Canceled && is_waiting { Alarm::GraceOver } else { alarm })
            }),
        }
    }

    fn poll_alarm(self: Pin<&mut Self>, cx: &mut Context<'_>, context: &TaskContext) -> Poll<Alarm> {
        self.project().watch.poll_alarm(cx, context)
    }

    fn heard(self: Pin<&mut Self>) {
        self.project().watch.heard();
    }

    fn is_waiting(&self) -> bool {
        self.source.is_waiting()
    }

    fn close(self: Pin<&mut Self>) {
        self.project().source.close();
    }
}

/// Lets a canceled agent go on until it ends or its grace is over; what it says is dropped.
pub(super) fn wind_down<T>(mut work: AtWork<'_, T>, cx: &mut Context<'_>, context: &TaskContext) -> Poll<()> {
    if work.is_waiting() {
        return Poll::Ready(());
    }
    for _ in 0..BATCH {
        match work.as_mut().poll_next(cx, context) {
            Poll::Ready(Next::Step(Step::Called | Step::Update(_)) | Next::Alarm(Alarm::Canceled)) => {}
            Poll::Ready(_) => return Poll::Ready(()),
            Poll::Pending => return Poll::Pending,
        }
    }
    match work.poll_alarm(cx, context) {
        Poll::Ready(Alarm::Canceled) | Poll::Pending => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        Poll::Ready(_) => Poll::Ready(()),
    }
}
