//! Runs that were lost with their process, and are begun again.

use std::sync::Arc;

use http::Request;
use tokio::time::Instant;
use tower_service::Service;
use tracing::Instrument as _;

use super::{LogEntry, LostRun, Snapshot, StoreError, TaskStore, fold, run::Run, service::Shared, work::work};
use crate::{
    agent::{IntoReply, TaskContext},
    error::BoxError,
    types::{Event, Message, Role, Task, TaskState, TaskStatus},
};

/// What came of a lost run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rerun {
    /// It runs again, here or elsewhere, or will be looked at later.
    Settled,
    /// It has been begun as often as it may be.
    GivenUp,
}

/// The last turn of a task, as its log tells it.
#[derive(Debug)]
struct Turn {
    /// The task before the message; `None` if the message began it.
    before: Option<Task>,
    /// The task when the agent was to begin.
    begun: Task,
    message: Arc<Message>,
    /// How often it was begun again.
    reruns: u32,
}

/// Takes the task over and gives its last message to the agent once more. Of many processes that try, one succeeds: what
/// it appends first is the task as it was when the turn began, and whoever reads the log goes on from there.
pub(super) async fn rerun<S, T>(shared: &Shared<T>, inner: S, lost: &LostRun) -> Result<Rerun, StoreError>
where
    S: Service<Request<Arc<Message>>> + Send + 'static,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: TaskStore,
{
    let LostRun { owner, snapshot } = lost;
    let task_id = Arc::clone(&snapshot.task.id);
    let log = shared.store.read(owner, &task_id, 0, usize::MAX).await?;
    let Some(turn) = last_turn(&log).filter(|turn| turn.reruns < shared.settings.rerun_lost) else {
        return Ok(Rerun::GivenUp);
    };
    let prior = turn.before.map(Arc::new);
    let context = TaskContext::builder(Arc::clone(&task_id), Arc::clone(&snapshot.task.context_id))
        .owner(owner.clone())
        .prior_task(prior.clone())
        .build();
    // With as many runs as there may be, somebody else takes it, or this process later.
    let Ok(mut slot) = shared.runs.begin(&context, false, shared.settings.max_runs) else { return Ok(Rerun::Settled) };
    let again = vec![Event::Task(Arc::new(turn.begun))];
    let begun = match shared.store.append(owner, &task_id, snapshot.revision, again).await {
        Ok(begun) => begun,
        Err(error @ StoreError::Unavailable(_)) => return Err(error),
        Err(_) => return Ok(Rerun::Settled),
    };
    tracing::warn!(task_id = &*task_id, "the run of a task is begun again, its process is gone");
    let before = prior.map(|task| Snapshot::new(task, begun.revision));
    let mut request = Request::new(Arc::clone(&turn.message));
    request.extensions_mut().insert(context);
    request.extensions_mut().insert(owner.clone());
    // Nobody waits for it here.
    slot.falls_silent();
    let run = Run {
        shared: shared.clone(),
        message: turn.message,
        began: Instant::now(),
        before,
        begun: Some(begun),
        shows_beginning: false,
        undecided: false,
        patient: false,
        decide_by: None,
        timer: None,
        called: false,
        slot,
        claim: None,
    };
    let mut work = work(run, inner, request);
    if let Some(run) = work.as_mut().take_run() {
        tokio::spawn(run.drive(work).in_current_span());
    }
    Ok(Rerun::Settled)
}

/// Folds the log up to the last message of the caller's. What came behind it is what is to be said again.
fn last_turn(log: &[LogEntry]) -> Option<Turn> {
    let is_turn = |event: &Event| matches!(event, Event::Message(message) if message.role == Role::User);
    let at = log.iter().rposition(|entry| is_turn(entry.event())).unwrap_or(0);
    let reruns = log[at..].iter().skip(1).filter(|entry| matches!(entry.event(), Event::Task(_))).count();
    let reruns = u32::try_from(reruns).unwrap_or(u32::MAX);
    let Event::Task(first) = log.first()?.event() else { return None };
    let mut task = Task::clone(first);
    for entry in log.get(1..at).unwrap_or_default() {
        fold(&mut task, entry.event()).ok()?;
    }
    let Some(Event::Message(message)) = log.get(at).map(LogEntry::event).filter(|_| at > 0) else {
        let message = Arc::clone(task.history.last()?);
        task.status = TaskStatus::new(TaskState::Submitted);
        return Some(Turn { before: None, begun: task, message, reruns });
    };
    let before = task.clone();
    fold(&mut task, &Event::Message(Arc::clone(message))).ok()?;
    task.status = TaskStatus::new(TaskState::Working);
    Some(Turn { before: Some(before), begun: task, message: Arc::clone(message), reruns })
}
