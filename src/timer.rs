//! A timer for what is nearly always over before it fires.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use pin_project_lite::pin_project;
use tokio::{
    task::coop::has_budget_remaining,
    time::{Instant, Sleep},
};

pin_project! {
    /// A timer that is made when it is first waited for, and moved only when it fires or is wanted earlier.
    ///
    /// It is looked at each time that a stream falls silent, so it is left alone as long as it will wake who asks anyway.
    #[derive(Debug, Default)]
    pub(crate) struct Timer {
        #[pin]
        sleep: Option<Sleep>,
        wakes: Wakes,
    }
}

impl Timer {
    /// Ready at this moment, or later.
    pub(crate) fn poll_until(self: Pin<&mut Self>, moment: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        if this.sleep.is_none() {
            this.sleep.set(Some(tokio::time::sleep_until(moment)));
        }
        while let Some(mut sleep) = this.sleep.as_mut().as_pin_mut() {
            if sleep.deadline() > moment {
                sleep.as_mut().reset(moment);
                this.wakes.forget();
            }
            if this.wakes.whoever_asks(cx) && !sleep.is_elapsed() {
                return Poll::Pending;
            }
            ready!(sleep.as_mut().poll(cx));
            this.wakes.forget();
            if sleep.deadline() >= moment {
                break;
            }
            sleep.reset(moment);
        }
        Poll::Ready(())
    }
}

/// Whom something wakes that was polled before.
#[derive(Debug, Default)]
pub(crate) struct Wakes(Option<Waker>);

impl Wakes {
    /// True if it wakes the one who asks, so that it need not be polled again unless it is ready. Otherwise it has to be
    /// polled now.
    pub(crate) fn whoever_asks(&mut self, cx: &Context<'_>) -> bool {
        let same = self.0.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        if !same {
            // A task whose budget is spent is told to come back, and nothing notes whom to wake.
            self.0 = has_budget_remaining().then(|| cx.waker().clone());
        }
        same
    }

    /// It is not known to wake anybody.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin, time::Duration};

    use tokio_test::task::spawn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_fires_at_the_moment_that_was_last_asked_for() {
        let (start, mut timer) = (Instant::now(), pin!(Timer::default()));
        let after = |seconds| start + Duration::from_secs(seconds);
        for (earlier, moment) in [(None, 10), (Some(15), 20), (Some(40), 30), (Some(30), 30)] {
            if let Some(earlier) = earlier {
                let asked = spawn(poll_fn(|cx| timer.as_mut().poll_until(after(earlier), cx))).poll();
                assert_eq!(asked.is_ready(), after(earlier) <= Instant::now());
            }
            poll_fn(|cx| timer.as_mut().poll_until(after(moment), cx)).await;
            assert_eq!(Instant::now(), after(moment));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_wakes_who_asked_last() {
        let (moment, mut timer) = (Instant::now() + Duration::from_secs(1), pin!(Timer::default()));
        let mut ask = |task: &mut tokio_test::task::Spawn<()>| {
            task.enter(|cx, _| timer.as_mut().poll_until(moment, cx)).is_ready()
        };
        let (mut first, mut second) = (spawn(()), spawn(()));
        assert!(!ask(&mut first) && !ask(&mut first) && !ask(&mut second) && !ask(&mut second));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(second.is_woken() && !first.is_woken());
        assert!(ask(&mut second));
    }

    #[tokio::test(start_paused = true)]
    async fn a_spent_budget_loses_no_wake() {
        let (moment, mut timer) = (Instant::now() + Duration::from_secs(1), pin!(Timer::default()));
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            while polls == 1 && has_budget_remaining() {
                assert!(pin!(tokio::task::consume_budget()).poll(cx).is_ready());
            }
            timer.as_mut().poll_until(moment, cx)
        })
        .await;
        assert_eq!((polls, Instant::now()), (3, moment));
    }
}
