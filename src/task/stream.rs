use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;

use super::{CloseOn, FirstEvent, LogEntry, StoreError, TaskStore, error::store_error};
use crate::{
    error::Error,
    operation::StreamEvent,
    owner::Owner,
    types::{Event, Role, TaskState, TaskStatusUpdateEvent},
};

/// How many entries are read from the log at once: enough to make one write of a burst, few enough to hold for every
/// slow reader.
const BATCH: usize = 64;

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
        let state = Reader { cursor: self, entries: VecDeque::new(), ended: false };
        EventStream::new(futures_util::stream::unfold(state, |mut reader| async move {
            let item = reader.next().await?;
            Some((item, reader))
        }))
    }
}

#[derive(Debug)]
struct Reader<T> {
    cursor: Cursor<T>,
    entries: VecDeque<LogEntry>,
    ended: bool,
}

impl<T: TaskStore> Reader<T> {
    async fn next(&mut self) -> Option<Result<StreamEvent, Error>> {
        if let Some(head) = self.cursor.head.take() {
            return Some(Ok(head));
        }
        while !self.ended {
            let Some(entry) = self.entries.pop_front() else {
                match self.fill(true).await {
                    Ok(()) => continue,
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(store_error(error, &self.cursor.task_id)));
                    }
                }
            };
            self.cursor.after = entry.number();
            if let Some(state) = entry.event().state() {
                let is_new = entry.number() > self.cursor.opened_at;
                self.ended = state.is_terminal() || (is_new && self.closes(state) && self.is_last().await);
            }
            if let Some(event) = self.shown(entry) {
                return Some(Ok(event));
            }
        }
        None
    }

    /// Reads the entries that follow, and waits for some if there are none.
    async fn fill(&mut self, wait: bool) -> Result<(), StoreError> {
        let Cursor { store, owner, task_id, after, .. } = &self.cursor;
        loop {
            let entries = store.read(owner, task_id, *after, BATCH).await?;
            if !entries.is_empty() || !wait {
                self.entries = entries.into();
                return Ok(());
            }
            store.grown(owner, task_id, *after).await?;
        }
    }

    fn closes(&self, state: TaskState) -> bool {
        match self.cursor.close_on {
            CloseOn::InputRequired => state == TaskState::InputRequired,
            CloseOn::Interrupted => state.is_interrupted(),
            CloseOn::Terminal => false,
        }
    }

    /// A reader that is late does not stop at an interruption that is over.
    async fn is_last(&mut self) -> bool {
        self.entries.is_empty() && self.fill(false).await.is_ok() && self.entries.is_empty()
    }

    fn shown(&self, entry: LogEntry) -> Option<StreamEvent> {
        match entry.event() {
            // The caller knows what it said.
            Event::Message(message) if message.role == Role::User => None,
            Event::Task(task) if self.cursor.first_event == FirstEvent::StatusOnly => {
                let ids = (Arc::clone(&task.id), Arc::clone(&task.context_id));
                let update = TaskStatusUpdateEvent::new(ids.0, ids.1, task.status.clone());
                Some(StreamEvent::Logged(LogEntry::new(entry.number(), Event::StatusUpdate(update))))
            }
            _ => Some(StreamEvent::Logged(entry)),
        }
    }
}
