use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::{CloseOn, FirstEvent, LogEntry, StoreError, TaskStore, error::store_error};
use crate::{
    error::Error,
    operation::StreamEvent,
    owner::Owner,
    types::{Event, Role, TaskState, TaskStatusUpdateEvent},
};

/// What happens to a task, read from its log. It ends when the task does, or at an interrupted state that
/// [closes](CloseOn) streams.
#[must_use = "streams do nothing unless polled"]
pub struct EventStream(Pin<Box<dyn Stream<Item = Result<StreamEvent, Error>> + Send>>);

impl EventStream {
    /// A stream of one's own making, for those who answer operations without this layer.
    pub fn new(events: impl Stream<Item = Result<StreamEvent, Error>> + Send + 'static) -> Self {
        Self(Box::pin(events))
    }
}

impl Stream for EventStream {
    type Item = Result<StreamEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}

/// A place in a log, from which a stream reads on.
#[derive(Debug)]
pub(super) struct Cursor<T> {
    pub(super) store: T,
    pub(super) owner: Owner,
    pub(super) task_id: Arc<str>,
    /// The number of the last entry that the reader has.
    pub(super) after: u64,
    /// The number of the last entry when the stream was opened: what happened before ends no stream.
    pub(super) opened_at: u64,
    /// What to say before the log's own entries.
    pub(super) head: Option<StreamEvent>,
    pub(super) close_on: CloseOn,
    pub(super) first_event: FirstEvent,
}

impl<T: TaskStore> Cursor<T> {
    pub(super) fn into_stream(self) -> EventStream {
        let Self { store, owner, task_id, .. } = &self;
        let entries = store.clone().follow(owner.clone(), Arc::clone(task_id), self.after);
        EventStream::new(Reader { entries, cursor: self, asking: None, ended: false })
    }
}

/// An interruption that would end the stream if it is the last word, and the question whether it is.
type Asking = (LogEntry, Pin<Box<dyn Future<Output = bool> + Send>>);

pin_project! {
    struct Reader<T, F> {
        cursor: Cursor<T>,
        #[pin]
        entries: F,
        asking: Option<Asking>,
        ended: bool,
    }
}

impl<T, F> Stream for Reader<T, F>
where
    T: TaskStore,
    F: Stream<Item = Result<LogEntry, StoreError>>,
{
    type Item = Result<StreamEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        if let Some(head) = this.cursor.head.take() {
            return Poll::Ready(Some(Ok(head)));
        }
        while !*this.ended {
            let entry = if let Some((_, is_last)) = this.asking {
                *this.ended = ready!(is_last.as_mut().poll(cx));
                let Some((entry, _)) = this.asking.take() else { continue };
                entry
            } else {
                let entry = match ready!(this.entries.as_mut().poll_next(cx)) {
                    Some(Ok(entry)) => entry,
                    Some(Err(error)) => {
                        *this.ended = true;
                        return Poll::Ready(Some(Err(store_error(error, &this.cursor.task_id))));
                    }
                    None => break,
                };
                this.cursor.after = entry.number();
                match entry.event().state() {
                    Some(state) if state.is_terminal() => *this.ended = true,
                    Some(state) if this.cursor.closes(state) => {
                        *this.asking = Some((entry, this.cursor.is_last()));
                        continue;
                    }
                    _ => {}
                }
                entry
            };
            if let Some(event) = this.cursor.shown(entry, *this.ended) {
                return Poll::Ready(Some(Ok(event)));
            }
        }
        *this.ended = true;
        Poll::Ready(None)
    }
}

impl<T: TaskStore> Cursor<T> {
    /// True if this state, which is that of the entry just read, ends the stream unless there is more.
    fn closes(&self, state: TaskState) -> bool {
        self.after > self.opened_at
            && match self.close_on {
                CloseOn::InputRequired => state == TaskState::InputRequired,
                CloseOn::Interrupted => state.is_interrupted(),
                CloseOn::Terminal => false,
            }
    }

    /// A reader that is late does not stop at an interruption that is over.
    fn is_last(&self) -> Pin<Box<dyn Future<Output = bool> + Send>> {
        let (store, owner, id, after) = (self.store.clone(), self.owner.clone(), Arc::clone(&self.task_id), self.after);
        Box::pin(async move { store.read(&owner, &id, after, 1).await.is_ok_and(|more| more.is_empty()) })
    }

    fn shown(&self, entry: LogEntry, ends: bool) -> Option<StreamEvent> {
        match entry.event() {
            // The caller knows what it said.
            Event::Message(message) if message.role == Role::User => None,
            Event::Task(task) if self.first_event == FirstEvent::StatusOnly => {
                let ids = (Arc::clone(&task.id), Arc::clone(&task.context_id));
                let update = TaskStatusUpdateEvent::new(ids.0, ids.1, task.status.clone());
                Some(StreamEvent::Logged(LogEntry::new(entry.number(), Event::StatusUpdate(update))))
            }
            Event::StatusUpdate(update) if !ends && update.status.state.is_interrupted() => {
                Some(StreamEvent::Passed(entry))
            }
            _ => Some(StreamEvent::Logged(entry)),
        }
    }
}
