//! How a run tells whoever asked for it that it has begun, and that it is over.
//!
//! A pair of oneshot channels would do; this is one allocation instead of two, on the way of every message.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use super::Snapshot;
use crate::{error::Error, types::Message};

/// How a run began.
#[derive(Debug)]
pub(super) enum Begun {
    /// With a task, as of its beginning where a run was asked to show that.
    Task(Option<Snapshot>),
    /// There is no task: this is the whole answer.
    Message(Arc<Message>),
}

/// A task that is over or interrupted.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) snapshot: Snapshot,
    /// Why it failed, where the agent did not say so itself.
    pub(super) failure: Option<Error>,
}

/// The run's end.
#[derive(Debug)]
pub(super) struct Reporter(Arc<Mutex<Progress>>);

/// The other end.
#[derive(Debug)]
pub(super) struct Observer(Arc<Mutex<Progress>>);

#[derive(Debug, Default)]
struct Progress {
    begun: Option<Result<Begun, Error>>,
    settled: Option<Settled>,
    /// True if nothing more will be told.
    closed: bool,
    waker: Option<Waker>,
}

pub(super) fn progress() -> (Reporter, Observer) {
    let progress = Arc::new(Mutex::new(Progress::default()));
    (Reporter(Arc::clone(&progress)), Observer(progress))
}

impl Reporter {
    pub(super) fn begin(&self, begun: Result<Begun, Error>) {
        tell(&self.0, |progress| progress.begun = Some(begun));
    }

    /// Said once; what comes later is nobody's business.
    pub(super) fn settle(self, settled: Settled) {
        tell(&self.0, |progress| progress.settled = Some(settled));
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        tell(&self.0, |progress| progress.closed = true);
    }
}

impl Observer {
    /// How the run began, if that is known by now.
    pub(super) fn try_begun(&mut self) -> Option<Option<Result<Begun, Error>>> {
        let mut progress = lock(&self.0);
        match progress.begun.take() {
            Some(begun) => Some(Some(begun)),
            None => progress.closed.then_some(None),
        }
    }

    /// How the run ended, if that is known by now.
    pub(super) fn try_settled(&mut self) -> Option<Settled> {
        lock(&self.0).settled.take()
    }

    /// How the run began; `None` if it was dropped before.
    pub(super) async fn begun(&mut self) -> Option<Result<Begun, Error>> {
        self.wait(|progress| progress.begun.take()).await
    }

    /// How the run ended; `None` if there is nothing to tell.
    pub(super) async fn settled(&mut self) -> Option<Settled> {
        self.wait(|progress| progress.settled.take()).await
    }

    async fn wait<T>(&mut self, mut take: impl FnMut(&mut Progress) -> Option<T>) -> Option<T> {
        poll_fn(|cx| {
            let mut progress = lock(&self.0);
            let told = take(&mut progress);
            if told.is_some() || progress.closed {
                return Poll::Ready(told);
            }
            progress.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tell(progress: &Mutex<Progress>, change: impl FnOnce(&mut Progress)) {
    let mut progress = lock(progress);
    change(&mut progress);
    let waker = progress.waker.take();
    drop(progress);
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::types::{Task, TaskState};

    #[test]
    fn what_is_told_is_heard_before_the_end() {
        let (reporter, mut observer) = progress();
        assert!(observer.try_begun().is_none());
        assert!(observer.begun().now_or_never().is_none());
        reporter.begin(Ok(Begun::Task(None)));
        let snapshot = Snapshot::new(Arc::new(Task::new("t", "c", TaskState::Completed)), 1);
        reporter.settle(Settled { snapshot, failure: None });
        assert!(matches!(observer.begun().now_or_never(), Some(Some(Ok(Begun::Task(None))))));
        assert!(matches!(observer.settled().now_or_never(), Some(Some(_))));
        assert!(matches!(observer.settled().now_or_never(), Some(None)));
    }

    #[test]
    fn a_run_that_is_dropped_leaves_nobody_waiting() {
        let (reporter, mut observer) = progress();
        drop(reporter);
        assert!(matches!(observer.try_begun(), Some(None)));
        assert!(matches!(observer.begun().now_or_never(), Some(None)));
        assert!(matches!(observer.settled().now_or_never(), Some(None)));
    }
}
