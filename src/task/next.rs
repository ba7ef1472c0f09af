//! What comes next in a run: the agent's next step, or an alarm.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::Request;
use tower_service::Service;

use super::{
    source::{Source, Step},
    watch::{Alarm, Watch},
};
use crate::{agent::IntoReply, error::BoxError, types::Message};

/// How many events are appended at once at most. A run yields to others after that many.
pub(super) const BATCH: usize = 64;

/// What comes next in a run.
pub(super) enum Next {
    Step(Step),
    Alarm(Alarm),
}

/// The agent goes first; only while it is silent is the watch asked.
pub(super) fn poll_next<S>(
    mut source: Pin<&mut Source<S, S::Future>>,
    mut watch: Pin<&mut Watch>,
    cx: &mut Context<'_>,
) -> Poll<Next>
where
    S: Service<Request<Arc<Message>>>,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
{
    match source.as_mut().poll_step(cx) {
        Poll::Ready(step) => {
            watch.heard();
            Poll::Ready(Next::Step(step))
        }
        Poll::Pending => watch.as_mut().poll_alarm(cx).map(|alarm| {
            // Who has not begun needs no time to stop.
            Next::Alarm(if alarm == Alarm::Canceled && source.is_waiting() { Alarm::GraceOver } else { alarm })
        }),
    }
}

/// Lets a canceled agent go on until it ends or its grace is over; what it says is dropped.
pub(super) fn wind_down<S>(
    mut source: Pin<&mut Source<S, S::Future>>,
    mut watch: Pin<&mut Watch>,
    cx: &mut Context<'_>,
) -> Poll<()>
where
    S: Service<Request<Arc<Message>>>,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
{
    if source.is_waiting() {
        return Poll::Ready(());
    }
    for _ in 0..BATCH {
        match poll_next(source.as_mut(), watch.as_mut(), cx) {
            Poll::Ready(Next::Step(Step::Called | Step::Update(_)) | Next::Alarm(Alarm::Canceled)) => {}
            Poll::Ready(_) => return Poll::Ready(()),
            Poll::Pending => return Poll::Pending,
        }
    }
    match watch.poll_alarm(cx) {
        Poll::Ready(Alarm::Canceled) | Poll::Pending => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        Poll::Ready(_) => Poll::Ready(()),
    }
}
