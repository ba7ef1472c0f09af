//! The second half of a run: there is a task, and the agent's words go into its log.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use futures_util::future::Either;
use tokio::time::{Instant, timeout_at};

use super::{
    Snapshot, StoreError, TaskStore,
    narrator::Flow,
    progress::Settled,
    runs::RunSlot,
    service::Shared,
    voice::{About, Voice, log_failure},
    work::{AtWork, BATCH, Next, wind_down},
};
use crate::{
    error::Error,
    types::{Event, Message, Role, StateKind, TaskState, TaskStatus, TaskStatusUpdateEvent},
};

/// How long a run tries to note its failure before its caller is told that the store does not answer: as long as somebody
/// waits who has nothing else to look at. It goes on trying after that.
const TOLD_AFTER: Duration = Duration::from_secs(3);
/// How long it waits before the first try; each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// How long it waits at most between two tries: a store that comes back has better things to do. A lease is enough where
/// that is shorter, as within that time others would end the task.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A run whose task there is.
pub(super) struct Telling<T> {
    pub(super) shared: Shared<T>,
    pub(super) slot: RunSlot,
    pub(super) voice: Voice,
    /// True if the log says that the task waits for something.
    pub(super) interrupted: bool,
}

impl<T: TaskStore> Telling<T> {
    pub(super) async fn tell(mut self, mut work: AtWork<'_, T>, mut batch: Vec<Event>) {
        loop {
            if batch.is_empty() && self.voice.flow != Flow::Ends && !self.is_stopped() {
                let next = poll_fn(|cx| match std::mem::take(&mut self.voice.silent) {
                    true => Poll::Pending,
                    false => work.as_mut().poll_next(cx, self.slot.context()),
                })
                .await;
                let (voice, about) = self.voice();
                voice.hear(next, work.as_mut(), &mut batch, about);
            }
            poll_fn(|cx| {
                let (voice, about) = self.voice();
                voice.gather(work.as_mut(), &mut batch, about, cx);
                Poll::Ready(())
            })
            .await;
            if self.shared.runs.are_handed_over() {
                // Whoever goes on with the task begins with what is written.
                self.slot.falls_silent();
                poll_fn(|cx| wind_down(work.as_mut(), cx, self.slot.context())).await;
                return;
            }
            if self.is_stopped() {
                let failed = self.close_log(batch).await;
                let context = self.slot.context().clone();
                // The agent has its grace to put things away, whether the store is there or not.
                let wound_down = async {
                    poll_fn(|cx| wind_down(work.as_mut(), cx, &context)).await;
                    work.as_mut().close();
                };
                match failed {
                    None => wound_down.await,
                    Some(error) => {
                        tokio::join!(self.last_words(error), wound_down);
                    }
                }
                return;
            }
            let full = batch.len() >= BATCH;
            if !batch.is_empty() && !self.append(work.as_mut(), &mut batch).await {
                return;
            }
            if self.voice.flow == Flow::Ends && batch.is_empty() {
                return;
            }
            if full {
                // An agent that is never silent has no leave to go on for ever.
                let alarm = poll_fn(|cx| Poll::Ready(work.as_mut().poll_alarm(cx, self.slot.context()))).await;
                if let (Poll::Ready(alarm), Flow::Goes) = (alarm, self.voice.flow) {
                    let (voice, about) = self.voice();
                    voice.hear(Next::Alarm(alarm), work.as_mut(), &mut batch, about);
                }
                tokio::task::yield_now().await;
            }
        }
    }

    /// The agent's words, and what they depend on.
    pub(super) fn voice(&mut self) -> (&mut Voice, About<'_>) {
        (&mut self.voice, About { settings: &self.shared.settings, context: self.slot.context() })
    }

    fn is_stopped(&self) -> bool {
        self.voice.is_stopped(&self.shared.settings)
    }

    /// Appends the batch. While the store writes, the next batch gathers in its place. False if the run is over.
    async fn append(&mut self, mut work: AtWork<'_, T>, batch: &mut Vec<Event>) -> bool {
        let ends = self.voice.flow == Flow::Ends;
        if ends && !self.interrupted {
            // Before the caller can see that the task waits for it, so that its next message finds the place free.
            // Until then the state of the task keeps other messages out.
            self.slot.leave();
        }
        let result = {
            let Self { shared, slot, voice, .. } = &mut *self;
            let (context, revision) = (slot.context(), voice.revision);
            let about = About { settings: &shared.settings, context };
            let (store, owner, task_id) = (&shared.store, context.owner(), context.task_id());
            // A single event leaves the list, and its room, to those that come next.
            let mut write = pin!(match if batch.len() == 1 { batch.pop() } else { None } {
                Some(event) => Either::Left(store.append_one(owner, task_id, revision, event)),
                None => {
                    // An agent with that much to say has more.
                    let next = Vec::with_capacity(if batch.len() >= BATCH { BATCH } else { 0 });
                    Either::Right(store.append(owner, task_id, revision, std::mem::replace(batch, next)))
                }
            });
            // What is gathered meanwhile counts from here on, so the limit on events is a batch or two late at worst.
            let mut waited = false;
            poll_fn(|cx| match write.as_mut().poll(cx) {
                Poll::Pending => {
                    waited = true;
                    voice.gather(work.as_mut(), batch, about, cx);
                    Poll::Pending
                }
                ready => {
                    voice.silent &= !waited;
                    ready
                }
            })
            .await
        };
        match result {
            Ok(snapshot) => {
                self.written(snapshot, ends);
                true
            }
            // A cancel was faster, or the task is gone: there is nobody to tell anything.
            Err(StoreError::Terminal | StoreError::Conflict | StoreError::NotFound | StoreError::BadToken) => {
                self.slot.falls_silent();
                self.slot.context().cancellation().cancel();
                poll_fn(|cx| wind_down(work.as_mut(), cx, self.slot.context())).await;
                false
            }
            Err(error @ StoreError::Unavailable(_)) => {
                self.slot.context().cancellation().cancel();
                work.close();
                self.last_words(error).await;
                false
            }
        }
    }

    /// The log is as long as this, with the last words in it if the run has ended.
    pub(super) fn written(&mut self, snapshot: Snapshot, ends: bool) {
        self.voice.revision = snapshot.revision;
        self.interrupted = snapshot.task.status.state.is_interrupted();
        if snapshot.task.status.state.kind() != StateKind::Active {
            let failure = if ends { self.voice.failure.take() } else { None };
            self.settle(snapshot, failure);
        }
    }

    /// Ends the log after a cancel. Whoever canceled has done so already, unless it was the agent itself, or the run
    /// was so busy that a cancel could not get in between. Gives back why the store could not do it.
    async fn close_log(&mut self, mut batch: Vec<Event>) -> Option<StoreError> {
        self.voice.narrator.stops(&mut batch);
        let context = self.slot.context();
        match self.shared.store.append(context.owner(), context.task_id(), self.voice.revision, batch).await {
            Ok(snapshot) => self.settle(snapshot, None),
            Err(error @ StoreError::Unavailable(_)) => return Some(error),
            Err(_) => self.slot.falls_silent(),
        }
        None
    }

    fn settle(&mut self, snapshot: Snapshot, failure: Option<Error>) {
        self.slot.settle(Settled { snapshot, failure });
    }

    /// The store has lost what the agent said. The task must not stay at work for ever, so this tries to fail it until
    /// it can. There are no more that wait so than there were runs when the store went down: without it none begins.
    pub(super) async fn last_words(&mut self, error: StoreError) {
        let error = Error::internal(error);
        log_failure(self.slot.context().task_id(), &error);
        let longest = self.shared.store.lease().unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
        let (told_by, mut wait) = (Instant::now() + TOLD_AFTER, FIRST_WAIT);
        loop {
            tokio::time::sleep(wait.min(longest)).await;
            wait = (wait * 2).min(longest);
            if self.shared.runs.are_handed_over() {
                return;
            }
            let noted = {
                let mut noting = pin!(self.note_failure(&error));
                match timeout_at(told_by, noting.as_mut()).await {
                    Ok(noted) => noted,
                    Err(_) => {
                        self.slot.falls_silent();
                        noting.await
                    }
                }
            };
            match noted {
                Ok(Some(snapshot)) => return self.settle(snapshot, Some(error)),
                Ok(None) | Err(StoreError::NotFound) => return,
                // It may not answer for long, or say at once that it cannot.
                Err(_) if Instant::now() >= told_by => self.slot.falls_silent(),
                Err(_) => {}
            }
        }
    }

    /// Fails the task, unless it is over, or another process goes on with it.
    fn note_failure(&self, error: &Error) -> impl Future<Output = Result<Option<Snapshot>, StoreError>> + use<T> {
        let (shared, context) = (self.shared.clone(), self.slot.context().clone());
        let mut status = TaskStatus::new(TaskState::Failed);
        status.message = Some(Arc::new(Message::agent(error.message().into_owned())));
        let (task_id, context_id) = (Arc::clone(context.task_id()), Arc::clone(context.context_id()));
        let update = TaskStatusUpdateEvent::new(task_id, context_id, status);
        let known = self.voice.revision;
        async move {
            let (store, owner, task_id) = (&shared.store, context.owner(), context.task_id());
            let Snapshot { task, revision } = store.get(owner, task_id).await?;
            if task.status.state.is_terminal() {
                return Ok(None);
            }
            drop(task);
            // What was written last may be there all the same; but with a turn somebody else begins, or begins again.
            let is_turn = |event: &Event| match event {
                Event::Task(_) => true,
                Event::Message(message) => message.role == Role::User,
                _ => false,
            };
            if revision > known {
                let limit = usize::try_from(revision - known).unwrap_or(usize::MAX);
                let since = store.read(owner, task_id, known, limit).await?;
                if since.iter().any(|entry| is_turn(entry.event())) {
                    return Ok(None);
                }
            }
            store.append(owner, task_id, revision, vec![Event::StatusUpdate(update)]).await.map(Some)
        }
    }
}
