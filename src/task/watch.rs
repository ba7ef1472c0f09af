//! What can end a run from outside: a cancel, and time.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};

use super::settings::Settings;
use crate::agent::Cancellation;

pin_project! {
    /// Watches a run. It is asked only while the agent is silent, so an agent that answers at once costs no timer.
    pub(super) struct Watch {
        cancellation: Cancellation,
        run_timeout: Option<Duration>,
        idle_timeout: Option<Duration>,
        grace: Duration,
        began: Instant,
        heard: Instant,
        has_spoken: bool,
        canceled_at: Option<Instant>,
        cancel: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
        #[pin]
        sleep: Option<Sleep>,
    }
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
    pub(super) fn new(cancellation: Cancellation, settings: &Settings, began: Instant) -> Self {
        Self {
            cancellation,
            run_timeout: settings.run_timeout,
            idle_timeout: settings.idle_timeout,
            grace: settings.cancel_grace,
            began,
            heard: began,
            has_spoken: false,
            canceled_at: None,
            cancel: None,
            sleep: None,
        }
    }

    /// The agent has said something, or may be silent for longer. The clock is read when it next falls silent.
    pub(super) fn heard(self: Pin<&mut Self>) {
        *self.project().has_spoken = true;
    }

    pub(super) fn poll_alarm(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Alarm> {
        let this = self.as_mut().project();
        let mut now = None;
        if std::mem::take(this.has_spoken) {
            *this.heard = *now.insert(Instant::now());
        }
        if this.canceled_at.is_none() {
            let cancel = this.cancel.get_or_insert_with(|| Box::pin(this.cancellation.canceled_owned()));
            if cancel.as_mut().poll(cx).is_ready() {
                *this.canceled_at = Some(Instant::now());
                *this.cancel = None;
                return Poll::Ready(Alarm::Canceled);
            }
        }
        loop {
            let this = self.as_mut().project();
            let deadlines = [
                later(*this.canceled_at, Some(*this.grace), Alarm::GraceOver),
                later(Some(*this.began), *this.run_timeout, Alarm::RunTimeout),
                later(Some(*this.heard), *this.idle_timeout, Alarm::IdleTimeout),
            ];
            let Some((deadline, alarm)) = deadlines.into_iter().flatten().min_by_key(|(deadline, _)| *deadline) else {
                return Poll::Pending;
            };
            // The clock is read once for a silence, and again only when the timer has fired.
            if deadline <= now.take().unwrap_or_else(Instant::now) {
                return Poll::Ready(alarm);
            }
            let mut sleep = this.sleep;
            match sleep.as_mut().as_pin_mut() {
                // A timer that is due earlier than needed is left alone and looked at again when it fires.
                Some(mut armed) => {
                    if armed.deadline() > deadline || armed.is_elapsed() {
                        armed.as_mut().reset(deadline);
                    }
                    if armed.poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                None => sleep.set(Some(tokio::time::sleep_until(deadline))),
            }
        }
    }
}

/// A time beyond what the clock can count never comes.
fn later(from: Option<Instant>, wait: Option<Duration>, alarm: Alarm) -> Option<(Instant, Alarm)> {
    Some((from?.checked_add(wait?)?, alarm))
}
