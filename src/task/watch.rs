//! What can end a run from outside: a cancel, and time.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::Instant;

use super::settings::Settings;
use crate::{
    agent::TaskContext,
    timer::{Timer, Wakes},
};

/// Watches a run. It is asked only while the agent is silent, so an agent that answers at once costs no timer.
pub(super) struct Watch {
    run_timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    grace: Duration,
    began: Instant,
    heard: Instant,
    has_spoken: bool,
    canceled_at: Option<Instant>,
    cancel: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    cancel_wakes: Wakes,
    timer: Option<Pin<Box<Timer>>>,
}

/// Why a run should not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// Somebody asked for a cancel; said once.
    Canceled,
    /// The agent has had its time to stop after a cancel.
    GraceOver,
    /// The agent has worked for too long.
    RunTimeout,
    /// The agent has been silent for too long.
    IdleTimeout,
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Canceled => "canceled",
            Self::GraceOver => "did not stop after a cancel",
            Self::RunTimeout => "the agent took too long",
            Self::IdleTimeout => "the agent was silent for too long",
        })
    }
}

impl Watch {
    pub(super) fn new(settings: &Settings, began: Instant) -> Self {
        Self {
            run_timeout: settings.run_timeout,
            idle_timeout: settings.idle_timeout,
            grace: settings.cancel_grace,
            began,
            heard: began,
            has_spoken: false,
            canceled_at: None,
            cancel: None,
            cancel_wakes: Wakes::default(),
            timer: None,
        }
    }

    /// The agent has said something, or may be silent for longer. The clock is read when it next falls silent.
    pub(super) fn heard(&mut self) {
        self.has_spoken = true;
    }

    pub(super) fn poll_alarm(&mut self, cx: &mut Context<'_>, context: &TaskContext) -> Poll<Alarm> {
        let mut now = None;
        if std::mem::take(&mut self.has_spoken) {
            self.heard = *now.insert(Instant::now());
        }
        // Whether there is a cancel is known without asking its future, which is needed to be woken by it.
        if self.canceled_at.is_none() && (context.is_canceled() || !self.cancel_wakes.whoever_asks(cx)) {
            let cancel = self.cancel.get_or_insert_with(|| Box::pin(context.cancellation().canceled_owned()));
            if cancel.as_mut().poll(cx).is_ready() {
                self.canceled_at = Some(Instant::now());
                self.cancel = None;
                return Poll::Ready(Alarm::Canceled);
            }
        }
        loop {
            let deadlines = [
                later(self.canceled_at, Some(self.grace), Alarm::GraceOver),
                later(Some(self.began), self.run_timeout, Alarm::RunTimeout),
                later(Some(self.heard), self.idle_timeout, Alarm::IdleTimeout),
            ];
            let Some((deadline, alarm)) = deadlines.into_iter().flatten().min_by_key(|(deadline, _)| *deadline) else {
                return Poll::Pending;
            };
            // The clock is read once for a silence, and again only when the timer has fired.
            if deadline <= now.take().unwrap_or_else(Instant::now) {
                return Poll::Ready(alarm);
            }
            let timer = self.timer.get_or_insert_with(|| Box::pin(Timer::default()));
            ready!(timer.as_mut().poll_until(deadline, cx));
        }
    }
}

/// A time beyond what the clock can count never comes.
fn later(from: Option<Instant>, wait: Option<Duration>, alarm: Alarm) -> Option<(Instant, Alarm)> {
    Some((from?.checked_add(wait?)?, alarm))
}
