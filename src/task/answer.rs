//! The answer to a message: what comes of its run, as a message, a task or a stream.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use super::{
    EventStream, FirstEvent, ReplyMode, Snapshot, TaskStore,
    error::store_error,
    progress::{Begun, Observer, Settled},
    service::Shared,
    settings::Settings,
    stream::Cursor,
};
use crate::{
    error::Error,
    operation::{Answer, Outcome, StreamEvent, TaskView},
    owner::Owner,
    types::{Message, Part, Role, Task, TaskState},
};

/// An answer that a run has to bring about.
pub(super) struct Pending<T> {
    pub(super) shared: Shared<T>,
    pub(super) before: Option<Snapshot>,
    pub(super) observer: Observer,
    pub(super) deadline: Option<Instant>,
    pub(super) history_length: Option<u32>,
    pub(super) streaming: bool,
    pub(super) waits: bool,
    pub(super) undecided: bool,
    /// True once it was told how the run began.
    pub(super) begun: bool,
}

impl<T: TaskStore> Pending<T> {
    /// The answer, if it is there already.
    pub(super) fn now(mut self) -> Result<Result<Outcome<EventStream>, Error>, Self> {
        let told = self.observer.heard();
        let begun = match told.begun {
            // The agent may take its time to decide; the stream is open meanwhile.
            None if !told.is_over && self.undecided && self.streaming => {
                let (observer, reading) = self.into_reading();
                return Ok(Ok(Outcome::Stream(reading.stream_later(observer))));
            }
            None if !told.is_over => return Err(self),
            begun => begun.unwrap_or_else(|| Err(lost())),
        };
        self.begun = true;
        match (begun, told.settled) {
            (Err(error), _) => Ok(Err(error)),
            (Ok(begun), _) if self.streaming => Ok(Ok(Outcome::Stream(self.into_reading().1.stream(begun)))),
            (Ok(Begun::Message(message)), _) => Ok(Ok(Answer::SentMessage(message).into())),
            (Ok(Begun::Task(_)), Some(settled)) if self.waits => Ok(self.answer(settled)),
            (Ok(Begun::Task(_)), _) => Err(self),
        }
    }

    /// The answer, when it is there.
    pub(super) async fn later(mut self) -> Result<Outcome<EventStream>, Error> {
        if !self.begun {
            match self.observer.begun().await.unwrap_or_else(|| Err(lost()))? {
                begun if self.streaming => return Ok(Outcome::Stream(self.into_reading().1.stream(begun))),
                Begun::Message(message) => return Ok(Answer::SentMessage(message).into()),
                Begun::Task(_) => {}
            }
        }
        let settled = if self.waits { wait(&mut self.observer, self.deadline).await } else { None };
        let settled = match settled {
            Some(settled) => settled,
            None => {
                let context = self.observer.context();
                let snapshot = self.shared.store.get(context.owner(), context.task_id()).await;
                Settled { snapshot: snapshot.map_err(|error| store_error(error, context.task_id()))?, failure: None }
            }
        };
        self.answer(settled)
    }

    fn answer(&self, settled: Settled) -> Result<Outcome<EventStream>, Error> {
        sent(&self.shared.settings, settled, self.before.as_ref(), self.history_length)
    }

    fn into_reading(self) -> (Observer, Reading<T>) {
        let Self { shared, history_length, observer, .. } = self;
        let (owner, task_id) = (observer.context().owner().clone(), Arc::clone(observer.context().task_id()));
        (observer, Reading { shared, owner, task_id, history_length })
    }
}

/// What a send is answered with whose task has come to rest, and was as it was before.
pub(super) fn sent(
    settings: &Settings,
    settled: Settled,
    before: Option<&Snapshot>,
    history_length: Option<u32>,
) -> Result<Outcome<EventStream>, Error> {
    let Settled { snapshot, failure } = settled;
    if settings.reply == ReplyMode::Message {
        return failure
            .map_or_else(|| Ok(Answer::SentMessage(Arc::new(as_message(&snapshot.task, before))).into()), Err);
    }
    Ok(Answer::SentTask(TaskView::new(snapshot.task).with_history_length(history_length)).into())
}

pub(super) fn lost() -> Error {
    Error::internal("the run ended before it began")
}

async fn wait(observer: &mut Observer, deadline: Option<Instant>) -> Option<Settled> {
    match deadline {
        Some(deadline) => timeout_at(deadline, observer.settled()).await.ok()?,
        None => observer.settled().await,
    }
}

/// Whose task a stream shows, and how much of its history.
pub(super) struct Reading<T> {
    pub(super) shared: Shared<T>,
    pub(super) owner: Owner,
    pub(super) task_id: Arc<str>,
    pub(super) history_length: Option<u32>,
}

impl<T: TaskStore> Reading<T> {
    pub(super) fn stream(self, begun: Begun) -> EventStream {
        let Self { shared, owner, task_id, history_length } = self;
        let beginning = match begun {
            Begun::Message(message) => {
                return EventStream::new(stream::iter([Ok(StreamEvent::Message(message))]));
            }
            Begun::Task(beginning) => beginning,
        };
        let (close_on, first_event) = (shared.settings.close_on, shared.settings.first_event);
        let (after, head) = match beginning {
            Some(snapshot) if first_event == FirstEvent::StatusOnly => (snapshot.revision - 1, None),
            Some(Snapshot { task, revision }) => {
                let view = TaskView::new(task).with_history_length(history_length);
                (revision, Some(StreamEvent::Snapshot(view, revision)))
            }
            None => (0, None),
        };
        Cursor { store: shared.store.clone(), owner, task_id, after, opened_at: after, head, close_on, first_event }
            .into_stream()
    }

    /// A stream that is open before it is known what it will show.
    fn stream_later(self, mut observer: Observer) -> EventStream {
        EventStream::new(
            stream::once(async move {
                match observer.begun().await.unwrap_or_else(|| Err(lost())) {
                    Ok(begun) => self.stream(begun),
                    Err(error) => EventStream::new(stream::iter([Err(error)])),
                }
            })
            .flatten(),
        )
    }
}

/// A task's new results as one message: files first, then what else the agent said, and last what it says of
/// a state that is not the end of good work: a question, a reason.
fn as_message(task: &Task, before: Option<&Snapshot>) -> Message {
    let old = before.map_or(0, |before| before.task.artifacts.len());
    let parts = || task.artifacts.iter().skip(old).flat_map(|artifact| &artifact.parts);
    let files = parts().filter(|part| part.is_file());
    let mut all: Vec<Part> = files.chain(parts().filter(|part| !part.is_file())).cloned().collect();
    if let Some(message) = &task.status.message
        && (all.is_empty() || task.status.state != TaskState::Completed)
    {
        all.extend(message.parts.iter().cloned());
    }
    if all.is_empty() {
        all.push(Part::text(""));
    }
    Message::new(Role::Agent, all).with_task_id(Arc::clone(&task.id)).with_context_id(Arc::clone(&task.context_id))
}
