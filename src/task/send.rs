//! Sending a message: which task it belongs to, and its run.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, request::Parts};
use tokio::time::Instant;
use tower_service::Service;
use tracing::Instrument as _;
use uuid::Uuid;

use super::{
    EventStream, ReplyMode, Snapshot, StoreError, TaskStore,
    answer::{Pending, lost},
    error::{overloaded, store_error},
    progress::Observer,
    retry::{self, Held, Retry, answer_again},
    run::Run,
    runs::Refused,
    service::Shared,
    work::{Work, work},
};
use crate::{
    agent::{IntoReply, TaskContext},
    error::{BoxError, Error, ErrorKind},
    extension::ActivatedExtensions,
    operation::{Outcome, SendMessage},
    owner::Owner,
    types::{Message, StateKind, Task},
};

/// A message on its way.
pub(super) struct Sending {
    pub(super) head: Parts,
    pub(super) owner: Owner,
    pub(super) request: SendMessage,
    pub(super) streaming: bool,
}

impl Sending {
    /// True if nothing has to be looked up before the run can start.
    pub(super) fn is_fresh(&self) -> bool {
        let SendMessage { message, new_task_id, .. } = &self.request;
        let names = |id: &Option<Arc<str>>| id.as_ref().is_some_and(|id| !id.is_empty());
        !names(&message.task_id) && !names(new_task_id) && message.reference_task_ids.is_empty()
    }

    /// The task that it goes on with, or that its caller wants to begin under this id.
    pub(super) fn named_task(&self) -> Option<&Arc<str>> {
        let SendMessage { message, new_task_id, .. } = &self.request;
        message.task_id.as_ref().filter(|id| !id.is_empty()).or(new_task_id.as_ref().filter(|id| !id.is_empty()))
    }
}

/// A run that is ready to start, and the answer that will come of it.
pub(super) struct Prepared<T> {
    work: Work<T>,
    pending: Pending<T>,
}

/// Answers a message that continues a task or refers to some, or one that may have come before.
pub(super) async fn send_later<S, T>(
    shared: Shared<T>,
    inner: S,
    mut sending: Sending,
    retry: Option<Retry>,
) -> Result<Outcome<EventStream>, Error>
where
    S: Service<Request<Arc<Message>>> + Send + 'static,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: TaskStore,
{
    check_references(&sending.request.message, shared.settings.max_references)?;
    let before = task_of(&shared, &sending).await?;
    let claim = match retry {
        None => None,
        Some(retry) => {
            let (id, revision) = match &before {
                Some(before) => (Arc::clone(&before.task.id), before.revision),
                None => (sending.named_task().cloned().unwrap_or_else(|| fresh_id(&shared, "task")), 0),
            };
            match retry::claim(&shared, &sending, &retry, &id, revision).await? {
                Ok(held) => {
                    sending.request.new_task_id = Some(id);
                    Some(held)
                }
                Err((first, snapshot)) => return answer_again(shared, sending, retry, first, snapshot).await,
            }
        }
    };
    let mut prepared = Some(prepare_later(shared, inner, sending, before, claim).await?);
    let pending = poll_fn(|cx| Poll::Ready(prepared.take().map(|prepared| prepared.start(cx)))).await;
    match pending.ok_or_else(lost)?.now() {
        Ok(answer) => answer,
        Err(pending) => pending.later().await,
    }
}

/// Makes ready the run of a message whose task has been looked up.
async fn prepare_later<S, T>(
    shared: Shared<T>,
    inner: S,
    sending: Sending,
    before: Option<Snapshot>,
    claim: Option<Held>,
) -> Result<Prepared<T>, Error>
where
    S: Service<Request<Arc<Message>>> + Send + 'static,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: TaskStore,
{
    let message = &sending.request.message;
    if let Some(before) = &before {
        check_continues(message, &before.task)?;
    }
    let (id, owner) = (before.as_ref().map(|before| Arc::clone(&before.task.id)), sending.owner.clone());
    let referenced = referenced(&shared, &owner, message).await?;
    let prepared = prepare(shared.clone(), inner, sending, before, referenced, claim)?;
    if let (Some(id), Some(before)) = (id, &prepared.pending.before) {
        // Before the place was this message's own, another one may have been at work.
        let now = shared.store.get(&owner, &id).await.map_err(|error| store_error(error, &id))?;
        check_waits(&now.task)?;
        if now.revision != before.revision {
            return Err(store_error(StoreError::Conflict, &id));
        }
    }
    Ok(prepared)
}

/// Takes the task's place among the runs, and makes all that its run needs.
pub(super) fn prepare<S, T>(
    shared: Shared<T>,
    inner: S,
    sending: Sending,
    before: Option<Snapshot>,
    referenced: Vec<Arc<Task>>,
    claim: Option<Held>,
) -> Result<Prepared<T>, Error>
where
    S: Service<Request<Arc<Message>>> + Send + 'static,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: TaskStore,
{
    let Sending { head, owner, request, streaming } = sending;
    let SendMessage { mut message, configuration, metadata, new_task_id } = request;
    let is_named = before.is_some() || new_task_id.as_ref().is_some_and(|id| !id.is_empty());
    let began = Instant::now();
    let deadline = shared.settings.max_wait.and_then(|wait| began.checked_add(wait));
    let (task_id, context_id) = match &before {
        Some(before) => (Arc::clone(&before.task.id), Arc::clone(&before.task.context_id)),
        None => fresh_ids(&shared, new_task_id.filter(|id| !id.is_empty()), message.context_id.clone()),
    };
    let placed = Arc::make_mut(&mut message);
    placed.task_id = Some(Arc::clone(&task_id));
    placed.context_id = Some(Arc::clone(&context_id));

    let context = TaskContext::builder(task_id, context_id)
        .owner(owner)
        .prior_task(before.as_ref().map(|before| Arc::clone(&before.task)))
        .referenced_tasks(referenced)
        .extensions(head.extensions.get::<ActivatedExtensions>().cloned().unwrap_or_default())
        .accepted_output_modes(configuration.accepted_output_modes)
        .metadata(metadata)
        .build();
    let limit = shared.settings.max_runs;
    let slot = match is_named {
        true => shared.runs.begin(&context, streaming, limit),
        // Most are over before anybody can know of them.
        false => shared.runs.begin_unlisted(&context, streaming, limit),
    };
    let slot = slot.map_err(|refused| match refused {
        Refused::Busy => busy(context.task_id()),
        Refused::Full => overloaded(),
    })?;
    let observer = Observer::new(context.clone());
    let mut agent_request = Request::from_parts(head, Arc::clone(&message));
    agent_request.extensions_mut().insert(context);

    let waits = streaming || !configuration.return_immediately;
    let undecided = shared.settings.reply == ReplyMode::Auto && before.is_none();
    let history_length = configuration.history_length;
    let run = Run {
        shared: shared.clone(),
        message,
        began,
        shows_beginning: streaming && (before.is_some() || history_length.is_some()),
        undecided,
        patient: waits,
        decide_by: if undecided && waits && !streaming { deadline } else { None },
        timer: None,
        called: false,
        before: before.clone(),
        begun: None,
        slot,
        claim,
    };
    Ok(Prepared {
        work: work(run, inner, agent_request),
        pending: Pending {
            shared,
            before,
            observer,
            deadline,
            history_length,
            streaming,
            waits,
            undecided,
            begun: false,
        },
    })
}

impl<T: TaskStore> Prepared<T> {
    /// Gives the run its first turn on the spot, which is all that an agent with a ready answer needs; a run that has to
    /// wait goes on by itself, so that a caller that leaves changes nothing.
    pub(super) fn start(mut self, cx: &mut Context<'_>) -> Pending<T> {
        if let Some(run) = self.work.as_mut().take_run()
            && let Some(mut rest) = run.begin(self.work, cx)
            && rest.as_mut().poll(cx).is_pending()
        {
            tokio::spawn(rest.in_current_span());
        }
        self.pending
    }
}

/// The task that a message continues, if there is one.
async fn task_of<T: TaskStore>(shared: &Shared<T>, sending: &Sending) -> Result<Option<Snapshot>, Error> {
    let Some(id) = sending.named_task() else { return Ok(None) };
    let must_be = sending.request.message.task_id.as_ref().is_some_and(|id| !id.is_empty());
    match shared.store.get(&sending.owner, id).await {
        Ok(snapshot) => Ok(Some(snapshot)),
        Err(StoreError::NotFound) if !must_be => Ok(None),
        Err(error) => Err(store_error(error, id)),
    }
}

/// A message goes on with a task in the task's own conversation, when it is its turn.
fn check_continues(message: &Message, task: &Task) -> Result<(), Error> {
    if message.context_id.as_ref().is_some_and(|context| !context.is_empty() && *context != task.context_id) {
        return Err(Error::invalid_params("message.contextId", "is not the context of the task"));
    }
    check_waits(task)
}

/// Only a task that waits for its caller takes a message.
fn check_waits(task: &Task) -> Result<(), Error> {
    match task.status.state.kind() {
        StateKind::Interrupted => Ok(()),
        StateKind::Terminal => Err(store_error(StoreError::Terminal, &task.id)),
        StateKind::Active => Err(busy(&task.id)),
    }
}

fn busy(task_id: &str) -> Error {
    Error::new(ErrorKind::UnsupportedOperation)
        .with_detail("the agent is still at work on the task")
        .with_info("taskId", task_id)
}

fn fresh_ids<T>(shared: &Shared<T>, task_id: Option<Arc<str>>, context_id: Option<Arc<str>>) -> (Arc<str>, Arc<str>) {
    let task_id = task_id.unwrap_or_else(|| fresh_id(shared, "task"));
    let context_id = context_id.filter(|id| !id.is_empty()).unwrap_or_else(|| {
        if shared.settings.context_is_task { Arc::clone(&task_id) } else { fresh_id(shared, "ctx") }
    });
    (task_id, context_id)
}

fn fresh_id<T>(shared: &Shared<T>, name: &str) -> Arc<str> {
    let mut buffer = Uuid::encode_buffer();
    let id = Uuid::new_v4();
    if shared.settings.named_ids {
        Arc::from(format!("{name}-{}", id.simple()))
    } else {
        Arc::from(&*id.hyphenated().encode_lower(&mut buffer))
    }
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
