//! One task in memory, and those who follow its log.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use super::{
    READ_AT_ONCE, Snapshot, StoreError,
    index::{Filed, Key},
    log::Log,
    waiters::Waiters,
};
use crate::{
    owner::Owner,
    task::{FoldError, LogEntry, fold},
    types::{Event, Task},
};

/// One task and its log.
#[derive(Debug)]
pub(super) struct Record {
    id: Arc<str>,
    context_id: Arc<str>,
    owner: Owner,
    state: Mutex<RecordState>,
}

impl Filed for Record {
    fn id(&self) -> &str {
        &self.id
    }

    fn owner(&self) -> &Owner {
        &self.owner
    }

    fn context_id(&self) -> &Arc<str> {
        &self.context_id
    }
}

#[derive(Debug)]
pub(super) struct RecordState {
    pub(super) task: Arc<Task>,
    log: Log,
    pub(super) key: Key,
    waiters: Waiters,
    /// How many follow the log, whether they wait or not.
    followers: usize,
    /// True if there may be texts of events that were made for followers.
    has_texts: bool,
    /// True once the store has let go of it.
    gone: bool,
}

impl Record {
    pub(super) fn new(owner: Owner, task: Arc<Task>, log: Log, key: Key) -> Self {
        let (id, context_id) = (Arc::clone(&task.id), Arc::clone(&task.context_id));
        let waiters = Waiters::default();
        let state = RecordState { task, log, key, waiters, followers: 0, has_texts: false, gone: false };
        Self { id, context_id, owner, state: Mutex::new(state) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, RecordState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who wait that the log has grown. They are woken outside of the lock, a few at a time.
    pub(super) fn wake<'a>(&'a self, mut state: MutexGuard<'a, RecordState>) {
        let mut from = 0;
        while let Some(few) = state.waiters.take(&mut from) {
            let is_all = from >= state.waiters.len();
            drop(state);
            for waker in few.into_iter().flatten() {
                waker.wake();
            }
            // Who comes to wait meanwhile has seen what there is.
            if is_all {
                return;
            }
            state = self.lock();
        }
    }

    /// The store has let go of it: whoever waits is told.
    pub(super) fn let_go(&self) {
        let mut state = self.lock();
        state.gone = true;
        self.wake(state);
    }
}

impl RecordState {
    pub(super) fn revision(&self) -> u64 {
        self.log.revision()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(&self.task), self.revision())
    }

    /// Whoever follows a task that is over gets there soon, and nobody may begin to: with the last follower go the texts
    /// that were kept for all, a third of what the log takes.
    pub(super) fn forget_texts(&mut self) {
        if self.has_texts && self.followers == 0 && self.task.status.state.is_terminal() {
            self.has_texts = false;
            self.log.forget_texts();
        }
    }

    /// The entries behind this number.
    pub(super) fn entries(&mut self, after: u64) -> impl Iterator<Item = LogEntry> + '_ {
        self.log.entries(after, &self.task)
    }

    /// Appends what there is.
    ///
    /// # Errors
    /// If one of the events cannot follow, and then some of those before it have been folded in.
    pub(super) fn append(&mut self, events: impl AsRef<[Event]> + IntoIterator<Item = Event>) -> Result<(), FoldError> {
        self.log.before(events.as_ref(), &self.task);
        let task = Arc::make_mut(&mut self.task);
        events.as_ref().iter().try_for_each(|event| fold(task, event))?;
        self.log.extend(events);
        Ok(())
    }
}

/// Somebody who waits for a log to grow. It holds on to the record, so that it need not look for it again.
#[derive(Debug)]
pub(super) struct Waiter {
    record: Arc<Record>,
    place: Option<usize>,
}

impl Waiter {
    pub(super) const fn new(record: Arc<Record>) -> Self {
        Self { record, place: None }
    }

    /// Ready when there is an entry behind this number. Looking and waiting are one step under the lock, so that
    /// nothing is missed between them.
    pub(super) fn poll_grown(
        &mut self,
        after: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<MutexGuard<'_, RecordState>, StoreError>> {
        let mut state = self.record.lock();
        if state.gone {
            return Poll::Ready(Err(StoreError::NotFound));
        }
        if state.revision() > after {
            return Poll::Ready(Ok(state));
        }
        let old = state.waiters.wait(&mut self.place, cx.waker());
        drop(state);
        drop(old);
        Poll::Pending
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let waker = self.record.lock().waiters.leave(place);
            drop(waker);
        }
    }
}

/// The entries of a log, one after the other.
pub(super) struct Follow {
    waiter: Option<Waiter>,
    /// Why there is nothing to follow.
    error: Option<StoreError>,
    /// The number of the last entry that was given out.
    after: u64,
    /// What was read with it.
    entries: VecDeque<LogEntry>,
}

impl Follow {
    pub(super) fn new(record: Result<Arc<Record>, StoreError>, after: u64) -> Self {
        let (waiter, error) = match record {
            Ok(record) => {
                let mut state = record.lock();
                state.followers += 1;
                state.has_texts |= state.followers > 1;
                drop(state);
                (Some(Waiter::new(record)), None)
            }
            Err(error) => (None, Some(error)),
        };
        Self { waiter, error, after, entries: VecDeque::new() }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<LogEntry, StoreError>>> {
        let Some(waiter) = &mut self.waiter else { return Poll::Ready(self.error.take().map(Err)) };
        let error = match ready!(waiter.poll_grown(self.after, cx)) {
            Ok(mut state) => {
                let alone = state.followers == 1;
                // Mostly there is a single one, which needs no room.
                let mut entries = state.entries(self.after).take(READ_AT_ONCE).map(|entry| entry.read_alone(alone));
                let first = entries.next();
                self.entries.extend(entries);
                return Poll::Ready(first.map(Ok));
            }
            Err(error) => error,
        };
        self.leave();
        Poll::Ready(Some(Err(error)))
    }

    fn leave(&mut self) {
        self.entries.clear();
        if let Some(waiter) = self.waiter.take() {
            let mut state = waiter.record.lock();
            state.followers -= 1;
            state.forget_texts();
        }
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Stream for Follow {
    type Item = Result<LogEntry, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = match self.entries.pop_front() {
            Some(entry) => Some(Ok(entry)),
            None => ready!(self.poll_read(cx)),
        };
        if let Some(Ok(entry)) = &item {
            self.after = entry.number();
        }
        Poll::Ready(item)
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow").field("after", &self.after).finish_non_exhaustive()
    }
}
