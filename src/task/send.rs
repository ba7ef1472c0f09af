//! Sending a message: which task it belongs to, its run, and the answer.

use std::{future::poll_fn, pin::Pin, sync::Arc, task::Poll};

use futures_util::{StreamExt as _, stream};
use http::{Request, request::Parts};
use tokio::time::{Instant, timeout_at};
use tower_service::Service;
use tracing::Instrument as _;
use uuid::Uuid;

use super::{
    EventStream, FirstEvent, ReplyMode, Snapshot, StoreError, TaskStore,
    error::store_error,
    progress::{Begun, Observer, Settled, progress},
    run::Run,
    runs::{Refused, RunHandle},
    service::Shared,
    stream::Cursor,
};
use crate::{
    agent::{Cancellation, IntoReply, TaskContext},
    error::{BoxError, Error, ErrorKind},
    extension::ActivatedExtensions,
    operation::{Answer, Outcome, SendMessage, StreamEvent, TaskView},
    owner::Owner,
    types::{Message, Part, Role, Task, TaskState},
};

/// A message on its way.
pub(super) struct Sending {
    pub(super) head: Parts,
    pub(super) owner: Owner,
    pub(super) request: SendMessage,
    pub(super) streaming: bool,
}

pub(super) async fn send<S, T>(shared: Shared<T>, inner: S, sending: Sending) -> Result<Outcome<EventStream>, Error>
where
    S: Service<Request<Arc<Message>>> + Send + 'static,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: TaskStore,
{
    let deadline = shared.settings.max_wait.and_then(|wait| Instant::now().checked_add(wait));
    let Sending { head, owner, request, streaming } = sending;
    let SendMessage { mut message, configuration, metadata, new_task_id } = request;
    let new_task_id = new_task_id.filter(|id| !id.is_empty());
    check_references(&message, shared.settings.max_references)?;
    let before = task_of(&shared, &owner, &message, new_task_id.as_deref()).await?;
    let (task_id, context_id) = match &before {
        Some(before) => (Arc::clone(&before.task.id), Arc::clone(&before.task.context_id)),
        None => fresh_ids(&shared, new_task_id, message.context_id.take()),
    };
    message.task_id = Some(Arc::clone(&task_id));
    message.context_id = Some(Arc::clone(&context_id));

    let cancellation = Cancellation::new();
    let handle = RunHandle { cancellation: cancellation.clone(), streaming };
    let slot = shared.runs.begin(&task_id, handle, shared.settings.max_runs).map_err(|refused| match refused {
        Refused::Busy => busy(&task_id),
        Refused::Full => Error::new(ErrorKind::Overloaded).with_retry_after(std::time::Duration::from_secs(1)),
    })?;
    if let Some(before) = &before {
        // Before the place was this message's own, another one may have been at work.
        let now = task_of(&shared, &owner, &message, None).await?;
        if now.is_none_or(|now| now.revision != before.revision) {
            return Err(store_error(StoreError::Conflict, &task_id));
        }
    }
    let context = TaskContext::builder(Arc::clone(&task_id), Arc::clone(&context_id))
        .owner(owner.clone())
        .prior_task(before.as_ref().map(|before| Arc::clone(&before.task)))
        .referenced_tasks(referenced(&shared, &owner, &message).await?)
        .extensions(head.extensions.get::<ActivatedExtensions>().cloned().unwrap_or_default())
        .accepted_output_modes(configuration.accepted_output_modes)
        .metadata(metadata)
        .cancellation(cancellation.clone())
        .build();
    let message = Arc::new(message);
    let mut agent_request = Request::from_parts(head, Arc::clone(&message));
    agent_request.extensions_mut().insert(context.clone());

    let (reporter, mut observer) = progress();
    let waits = streaming || !configuration.return_immediately;
    let undecided = shared.settings.reply == ReplyMode::Auto && before.is_none() && waits;
    let run = Run {
        shared: shared.clone(),
        owner: owner.clone(),
        task_id: Arc::clone(&task_id),
        context_id,
        message,
        context,
        shows_beginning: streaming && (before.is_some() || configuration.history_length.is_some()),
        undecided,
        decide_by: if undecided && !streaming { deadline } else { None },
        before: before.clone(),
        cancellation,
        slot,
        reporter,
    };
    start(Box::pin(run.drive(inner, agent_request))).await;

    if streaming {
        let reading = Reading { shared, owner, task_id, history_length: configuration.history_length };
        let begun = match observer.try_begun() {
            // The agent may take its time to decide; the stream is open meanwhile.
            None if undecided => return Ok(Outcome::Stream(reading.stream_later(observer))),
            None => observer.begun().await,
            Some(begun) => begun,
        };
        return Ok(Outcome::Stream(reading.stream(begun.ok_or_else(lost)??)));
    }
    match observer.begun().await.ok_or_else(lost)?? {
        Begun::Message(message) => Ok(Answer::SentMessage(message).into()),
        Begun::Task(_) => {
            let settled = if configuration.return_immediately { None } else { wait(&mut observer, deadline).await };
            let (snapshot, failure) = match settled {
                Some(Settled { snapshot, failure }) => (snapshot, failure),
                None => {
                    let snapshot = shared.store.get(&owner, &task_id).await;
                    (snapshot.map_err(|error| store_error(error, &task_id))?, None)
                }
            };
            if shared.settings.reply == ReplyMode::Message {
                return failure.map_or_else(
                    || Ok(Answer::SentMessage(Arc::new(as_message(&snapshot.task, before.as_ref()))).into()),
                    Err,
                );
            }
            Ok(Answer::SentTask(TaskView::new(snapshot.task).with_history_length(configuration.history_length)).into())
        }
    }
}

/// The task that a message continues, if it may.
async fn task_of<T: TaskStore>(
    shared: &Shared<T>,
    owner: &Owner,
    message: &Message,
    new_task_id: Option<&str>,
) -> Result<Option<Snapshot>, Error> {
    let named = message.task_id.as_deref().filter(|id| !id.is_empty());
    let Some(id) = named.or(new_task_id) else { return Ok(None) };
    let snapshot = match shared.store.get(owner, id).await {
        Ok(snapshot) => snapshot,
        Err(StoreError::NotFound) if named.is_none() => return Ok(None),
        Err(error) => return Err(store_error(error, id)),
    };
    let task = &snapshot.task;
    if message.context_id.as_ref().is_some_and(|context| !context.is_empty() && *context != task.context_id) {
        return Err(Error::invalid_params("message.contextId", "is not the context of the task"));
    }
    if task.status.state.is_terminal() {
        return Err(store_error(StoreError::Terminal, id));
    }
    if !task.status.state.is_interrupted() {
        return Err(busy(id));
    }
    Ok(Some(snapshot))
}

fn busy(task_id: &str) -> Error {
    Error::new(ErrorKind::UnsupportedOperation)
        .with_detail("the agent is still at work on the task")
        .with_info("taskId", task_id)
}

fn lost() -> Error {
    Error::internal("the run ended before it began")
}

fn fresh_ids<T>(shared: &Shared<T>, task_id: Option<Arc<str>>, context_id: Option<Arc<str>>) -> (Arc<str>, Arc<str>) {
    let fresh = |name: &str| -> Arc<str> {
        let mut buffer = Uuid::encode_buffer();
        let id = Uuid::new_v4();
        if shared.settings.named_ids {
            Arc::from(format!("{name}-{}", id.simple()))
        } else {
            Arc::from(&*id.hyphenated().encode_lower(&mut buffer))
        }
    };
    let task_id = task_id.unwrap_or_else(|| fresh("task"));
    let context_id = context_id
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| if shared.settings.context_is_task { Arc::clone(&task_id) } else { fresh("ctx") });
    (task_id, context_id)
}

/// Every reference is a look-up in the store, so there must not be too many.
fn check_references(message: &Message, limit: usize) -> Result<(), Error> {
    if message.reference_task_ids.len() <= limit {
        return Ok(());
    }
    Err(Error::invalid_params("message.referenceTaskIds", format!("must be {limit} at most")))
}

/// The tasks that the message refers to. Those of others look like those that do not exist: they are left out.
async fn referenced<T: TaskStore>(
    shared: &Shared<T>,
    owner: &Owner,
    message: &Message,
) -> Result<Vec<Arc<Task>>, Error> {
    let mut tasks = Vec::new();
    for id in &message.reference_task_ids {
        match shared.store.get(owner, id).await {
            Ok(snapshot) => tasks.push(snapshot.task),
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(store_error(error, id)),
        }
    }
    Ok(tasks)
}

/// Gives a run its first turn on the spot, which is all that an agent with a ready answer needs; a run that has to wait
/// goes on by itself, so that a caller that leaves changes nothing.
async fn start(mut run: Pin<Box<dyn Future<Output = ()> + Send>>) {
    let first_turn = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await;
    if first_turn.is_pending() {
        tokio::spawn(run.in_current_span());
    }
}

async fn wait(observer: &mut Observer, deadline: Option<Instant>) -> Option<Settled> {
    match deadline {
        Some(deadline) => timeout_at(deadline, observer.settled()).await.ok()?,
        None => observer.settled().await,
    }
}

/// Whose task a stream shows, and how much of its history.
struct Reading<T> {
    shared: Shared<T>,
    owner: Owner,
    task_id: Arc<str>,
    history_length: Option<u32>,
}

impl<T: TaskStore> Reading<T> {
    fn stream(self, begun: Begun) -> EventStream {
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
        Cursor { store: shared.store, owner, task_id, after, opened_at: after, head, close_on, first_event }
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
