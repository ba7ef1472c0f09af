//! How a run tells whoever asked for it that it has begun, and that it is over.
//!
//! A pair of oneshot channels would do. This has its place in the context that both ends hold on to anyway, and is not
//! allocated for each message.

use std::{
    future::poll_fn,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use super::Snapshot;
use crate::{agent::TaskContext, error::Error, types::Message};

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

/// What is told of a run, and not heard yet.
#[derive(Debug, Default)]
pub(crate) struct Progress(Mutex<Told>);

#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) begun: Option<Result<Begun, Error>>,
    pub(super) settled: Option<Settled>,
    /// True if nothing more will be told, or nobody listens.
    pub(super) is_over: bool,
    waker: Option<Waker>,
}

/// The run's end. It is nothing without the run's context, and is to be [closed](Self::close) with it.
#[derive(Debug, Default)]
pub(super) struct Reporter {
    /// Told together with what comes next.
    begun: Option<Begun>,
    is_over: bool,
}

/// The other end.
#[derive(Debug)]
pub(super) struct Observer {
    context: TaskContext,
    is_over: bool,
}

impl Reporter {
    /// The run has begun. Most are over at once, so it is told only with what comes next, or at the end of
    /// [`tell`](Self::tell).
    pub(super) fn begins(&mut self, begun: Begun) {
        self.begun = Some(begun);
    }

    /// Tells how the run has begun, if that is not told yet.
    pub(super) fn tell(&mut self, context: &TaskContext) {
        if let Some(begun) = self.begun.take() {
            context.progress().tell(|told| told.begun = Some(Ok(begun)));
        }
    }

    /// The run is over before there was a task.
    pub(super) fn answer(&mut self, answer: Result<Begun, Error>, context: &TaskContext) {
        self.is_over = true;
        context.progress().tell(|told| {
            told.begun = Some(answer);
            told.is_over = true;
        });
    }

    /// Said once; what comes later is nobody's business.
    pub(super) fn settle(&mut self, settled: Settled, context: &TaskContext) {
        if mem::replace(&mut self.is_over, true) {
            return;
        }
        let begun = self.begun.take();
        context.progress().tell(|told| {
            if let Some(begun) = begun {
                told.begun = Some(Ok(begun));
            }
            told.settled = Some(settled);
            told.is_over = true;
        });
    }

    /// Nothing more will be told.
    pub(super) fn close(&mut self, context: &TaskContext) {
        if !mem::replace(&mut self.is_over, true) {
            self.tell(context);
            context.progress().tell(|told| told.is_over = true);
        }
    }
}

impl Observer {
    /// Of the run of this context.
    pub(super) fn new(context: TaskContext) -> Self {
        Self { context, is_over: false }
    }

    pub(super) fn context(&self) -> &TaskContext {
        &self.context
    }

    /// What has been told by now.
    pub(super) fn heard(&mut self) -> Told {
        let mut told = self.context.progress().lock();
        self.is_over = told.is_over;
        Told { begun: told.begun.take(), settled: told.settled.take(), is_over: told.is_over, waker: None }
    }

    /// How the run began; `None` if it was dropped before.
    pub(super) async fn begun(&mut self) -> Option<Result<Begun, Error>> {
        self.wait(|told| told.begun.take()).await
    }

    /// How the run ended; `None` if there is nothing to tell.
    pub(super) async fn settled(&mut self) -> Option<Settled> {
        self.wait(|told| told.settled.take()).await
    }

    async fn wait<T>(&mut self, mut take: impl FnMut(&mut Told) -> Option<T>) -> Option<T> {
        poll_fn(|cx| {
            let mut told = self.context.progress().lock();
            let found = take(&mut told);
            if found.is_some() || told.is_over {
                return Poll::Ready(found);
            }
            told.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

/// An agent may hold on to its context for longer than anybody is interested in what came of it.
impl Drop for Observer {
    fn drop(&mut self) {
        if !self.is_over {
            let left = mem::replace(&mut *self.context.progress().lock(), Told { is_over: true, ..Told::default() });
            drop(left);
        }
    }
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut Told)) {
        let mut told = self.lock();
        if told.is_over {
            return;
        }
        change(&mut told);
        let waker = told.waker.take();
        drop(told);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::types::{Task, TaskState};

    fn context() -> TaskContext {
        TaskContext::builder("t", "c").build()
    }

    fn progress(context: &TaskContext) -> (Reporter, Observer) {
        (Reporter::default(), Observer::new(context.clone()))
    }

    fn settled() -> Settled {
        Settled { snapshot: Snapshot::new(Arc::new(Task::new("t", "c", TaskState::Completed)), 1), failure: None }
    }

    #[test]
    fn what_is_told_is_heard_before_the_end() {
        let context = context();
        let (mut reporter, mut observer) = progress(&context);
        assert!(observer.heard().begun.is_none());
        assert!(observer.begun().now_or_never().is_none());
        reporter.begins(Begun::Task(None));
        assert!(observer.begun().now_or_never().is_none());
        reporter.tell(&context);
        assert!(matches!(observer.begun().now_or_never(), Some(Some(Ok(Begun::Task(None))))));
        assert!(observer.settled().now_or_never().is_none());
        reporter.settle(settled(), &context);
        assert!(matches!(observer.settled().now_or_never(), Some(Some(_))));
        assert!(matches!(observer.settled().now_or_never(), Some(None)));
    }

    #[test]
    fn a_run_that_is_over_at_once_tells_all_at_once() {
        let (first, second) = (context(), context());
        let (mut reporter, mut observer) = progress(&first);
        reporter.begins(Begun::Task(None));
        reporter.settle(settled(), &first);
        let told = observer.heard();
        assert!(matches!(told.begun, Some(Ok(Begun::Task(None)))) && told.settled.is_some() && told.is_over);
        let (mut reporter, mut observer) = progress(&second);
        reporter.answer(Ok(Begun::Message(Arc::new(Message::agent("hello")))), &second);
        let told = observer.heard();
        assert!(matches!(told.begun, Some(Ok(Begun::Message(_)))) && told.settled.is_none() && told.is_over);
    }

    #[test]
    fn a_run_that_is_closed_leaves_nobody_waiting() {
        let (first, second) = (context(), context());
        let (mut reporter, mut observer) = progress(&first);
        reporter.close(&first);
        assert!(matches!(observer.begun().now_or_never(), Some(None)));
        assert!(matches!(observer.settled().now_or_never(), Some(None)));
        assert!(observer.heard().is_over);
        let (mut reporter, mut observer) = progress(&second);
        reporter.begins(Begun::Task(None));
        reporter.close(&second);
        assert!(matches!(observer.begun().now_or_never(), Some(Some(Ok(_)))));
    }

    #[test]
    fn what_nobody_listens_to_is_not_kept() {
        let context = context();
        for told_before in [true, false] {
            let (reporter, observer) = progress(&context);
            let end = settled();
            let task = Arc::clone(&end.snapshot.task);
            let (mut reporter, mut observer) = (Some(reporter), Some(observer));
            let mut end = Some(end);
            if told_before {
                reporter.take().unwrap().settle(end.take().unwrap(), &context);
            }
            drop(observer.take());
            if let (Some(mut reporter), Some(end)) = (reporter, end) {
                reporter.settle(end, &context);
            }
            assert_eq!(Arc::strong_count(&task), 1);
            *context.progress().lock() = Told::default();
        }
    }
}
