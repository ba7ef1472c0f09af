//! Giving up on clients that do not come to the point.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use super::requests::Turns;

/// How long the next request's head may take. hyper could watch over it too, with a timer for every request; this one is
/// set once and looked at when it fires, so that a request costs a glance at the clock.
pub(super) struct HeadTimeout {
    timeout: Duration,
    turns: Turns,
    /// Writes that wait for the client: one that still takes an answer, in which the service has no more part, need not ask
    /// for anything yet.
    stalls: Turns,
    seen: (usize, usize),
    /// Since when the client has the turn that was seen.
    since: Instant,
    timer: Pin<Box<Sleep>>,
    is_set: bool,
}

/// Beyond it nobody waits: about what tokio's clock makes of a moment that is too far away.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 86_400);

impl HeadTimeout {
    pub(super) fn new(timeout: Duration, turns: Turns, stalls: Turns) -> Self {
        let (timeout, since) = (timeout.min(LONGEST), Instant::now());
        let timer = Box::pin(sleep_until(since + timeout));
        Self { timeout, seen: (turns.current(), stalls.current()), turns, stalls, since, timer, is_set: false }
    }

    /// Ready when the client has had its turn for too long. To be asked after each poll of the connection.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (turn, stall) = (self.turns.current(), self.stalls.current());
        if (turn, stall) != self.seen {
            self.seen = (turn, stall);
            if Turns::is_clients(turn) {
                self.since = Instant::now();
            }
        }
        // Once it was polled, the timer wakes the task by itself.
        while !self.is_set || self.timer.is_elapsed() {
            if self.is_set {
                let now = Instant::now();
                let is_due = Turns::is_clients(turn) && Turns::is_clients(stall);
                let since = if is_due { self.since } else { now };
                let due = since + self.timeout;
                if due <= now {
                    return Poll::Ready(());
                }
                self.timer.as_mut().reset(due);
            }
            self.is_set = true;
            let _ = self.timer.as_mut().poll(cx);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::sleep;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn waits(timeout: &mut HeadTimeout) -> u64 {
        let begun = Instant::now();
        poll_fn(|cx| timeout.poll(cx)).await;
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_so_long_for_its_first_head_and_for_each_further_one() {
        let turns = Turns::default();
        let mut timeout = HeadTimeout::new(TIMEOUT, turns.clone(), Turns::default());
        assert_eq!(waits(&mut timeout).await, 30);

        let mut timeout = HeadTimeout::new(TIMEOUT, turns.clone(), Turns::default());
        for _ in 0..3 {
            assert!(tokio::time::timeout(Duration::from_secs(29), waits(&mut timeout)).await.is_err());
            drop(turns.begin());
        }
        assert_eq!(waits(&mut timeout).await, 30);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_may_take_as_long_as_it_likes_and_does_not_count() {
        let turns = Turns::default();
        let mut timeout = HeadTimeout::new(TIMEOUT, turns.clone(), Turns::default());
        let turn = turns.begin();
        assert!(tokio::time::timeout(100 * TIMEOUT, waits(&mut timeout)).await.is_err());
        sleep(TIMEOUT / 2).await;
        drop(turn);
        assert_eq!(waits(&mut timeout).await, 30);
    }

    #[tokio::test(start_paused = true)]
    async fn nor_does_the_time_in_which_a_client_still_takes_one() {
        let (turns, stalls) = (Turns::default(), Turns::default());
        let mut timeout = HeadTimeout::new(TIMEOUT, turns.clone(), stalls.clone());
        drop(turns.begin());
        for _ in 0..3 {
            let stall = stalls.begin();
            assert!(tokio::time::timeout(TIMEOUT * 5 / 2, waits(&mut timeout)).await.is_err());
            drop(stall);
            assert!(tokio::time::timeout(TIMEOUT / 2, waits(&mut timeout)).await.is_err());
        }
        drop(stalls.begin());
        assert_eq!(waits(&mut timeout).await, 30);
    }
}
