//! Messages that come again: they are answered with the task of the first one.

use std::{fmt, sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use tokio::{
    runtime::Handle,
    time::{Instant, sleep, timeout_at},
};

use super::{
    Claim, EventStream, Snapshot, StoreError, TaskStore,
    answer::{Reading, sent},
    error::store_error,
    fingerprint::fingerprint,
    progress::{Begun, Settled},
    send::Sending,
    service::Shared,
    subscribe::{from_start, resume, stated, task_at},
};
use crate::{
    error::{Error, ErrorKind},
    operation::{Outcome, ProtocolVersion},
    owner::Owner,
    types::{Event, Role, StateKind},
};

/// How long the id of a message may be. Ids are UUIDs as a rule; each is an entry of an index for as long as the window.
const MAX_ID: usize = 1_024;
/// How long to wait, at first and at most, before looking again whether there is a task yet: agents decide at once, or take
/// the time of a model.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// How long to wait, at first and at most, before a claim is given up again that could not be.
const RELEASE_AGAIN: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(30));

/// What there is to know about a message, beside itself, where one that comes again is recognised.
pub(super) struct Retry {
    pub(super) window: Duration,
    pub(super) version: ProtocolVersion,
    pub(super) tenant: Option<Arc<str>>,
}

/// A message's claim. It is given up when this is dropped, unless the message is in its task's log after all: who writes
/// does not always know whether it has.
pub(super) struct Held(Option<Box<dyn FnOnce() + Send>>);

impl Held {
    fn new<T: TaskStore>(store: T, owner: Owner, claim: Claim, message_id: String, window: Duration) -> Self {
        Self(Some(Box::new(move || {
            // Without a runtime the process is about to end, and its claims with its lease.
            let Ok(runtime) = Handle::try_current() else { return };
            runtime.spawn(async move {
                let (begun, (mut wait, longest)) = (Instant::now(), RELEASE_AGAIN);
                while let Err(error) = give_up(&store, &owner, &claim, &message_id).await {
                    if begun.elapsed() > window {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(task_id = &*claim.task_id, error, "the claim of a message was not given up");
                        return;
                    }
                    sleep(wait).await;
                    wait = (wait * 2).min(longest);
                }
            });
        })))
    }

    /// The message is written, and the claim good.
    pub(super) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            release();
        }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held")
    }
}

async fn give_up<T: TaskStore>(store: &T, owner: &Owner, claim: &Claim, message_id: &str) -> Result<(), StoreError> {
    if is_written(store, owner, claim, message_id).await? { Ok(()) } else { store.release(owner, claim).await }
}

/// Whether it was this message that the task of a claim went on with. It may have been another one, sent at the same time,
/// or a cancel: then this one was refused, and never will be written behind that revision.
async fn is_written<T: TaskStore>(
    store: &T,
    owner: &Owner,
    claim: &Claim,
    message_id: &str,
) -> Result<bool, StoreError> {
    let next = match store.read(owner, &claim.task_id, claim.revision, 1).await {
        Err(StoreError::NotFound) => return Ok(false),
        next => next?,
    };
    let message = match next.first().map(super::LogEntry::event) {
        Some(Event::Task(task)) => task.history.last(),
        Some(Event::Message(message)) => Some(message),
        _ => None,
    };
    Ok(message.is_some_and(|message| message.role == Role::User && message.message_id == message_id))
}

/// Claims the message, which begins or goes on with this task. If it is one that was sent before, this waits until that one
/// has its task, and gives it.
pub(super) async fn claim<T: TaskStore>(
    shared: &Shared<T>,
    sending: &Sending,
    retry: &Retry,
    task_id: &Arc<str>,
    revision: u64,
) -> Result<Result<Held, (Claim, Snapshot)>, Error> {
    if !shared.store.takes_claims() {
        return Err(Error::internal("a retry window is set over a task store that takes no claims"));
    }
    let message = &sending.request.message;
    if message.message_id.len() > MAX_ID {
        return Err(Error::invalid_params("message.messageId", format!("must be {MAX_ID} bytes long at most")));
    }
    // Ids are any text; the others come first, with their lengths, so that no two keys are alike.
    let (scope, tenant) = (&shared.settings.retry_scope, retry.tenant.as_deref().unwrap_or_default());
    let key = format!("{} {scope} {} {tenant} {}", scope.len(), tenant.len(), message.message_id);
    let claim = Claim::new(key, fingerprint(message), Arc::clone(task_id)).behind(revision);
    let failed = |error| store_error(error, task_id);
    let deadline = deadline(shared);
    let (mut wait, longest) = LOOK_AGAIN;
    loop {
        let id = message.message_id.clone();
        let claiming = take(shared.store.clone(), sending.owner.clone(), claim.clone(), id, retry.window);
        // A caller that leaves in the middle of it leaves no claim behind: what nobody waits for any more is dropped.
        let first = match tokio::spawn(claiming).await.map_err(Error::internal)?.map_err(failed)? {
            Ok(held) => return Ok(Ok(held)),
            Err(first) => first,
        };
        match shared.store.get(&sending.owner, &first.task_id).await {
            Ok(snapshot) if snapshot.revision > first.revision => {
                if is_written(&shared.store, &sending.owner, &first, &message.message_id).await.map_err(failed)? {
                    check_same(sending, &claim, &first)?;
                    check_context(sending, &snapshot)?;
                    return Ok(Err((first, snapshot)));
                }
                shared.store.release(&sending.owner, &first).await.map_err(failed)?;
                continue;
            }
            // The first one is still with the agent, which may refuse it.
            Ok(_) | Err(StoreError::NotFound) => check_same(sending, &claim, &first)?,
            Err(error) => return Err(failed(error)),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::new(ErrorKind::Unavailable)
                .with_detail("the same message was sent before, and it is not known yet what comes of it")
                .with_retry_after(Duration::from_secs(1)));
        }
        sleep(wait).await;
        wait = (wait * 2).min(longest);
    }
}

async fn take<T: TaskStore>(
    store: T,
    owner: Owner,
    claim: Claim,
    message_id: String,
    window: Duration,
) -> Result<Result<Held, Claim>, StoreError> {
    Ok(match store.claim(&owner, &claim, window).await? {
        None => Ok(Held::new(store, owner, claim, message_id, window)),
        Some(first) => Err(first),
    })
}

fn deadline<T>(shared: &Shared<T>) -> Option<Instant> {
    shared.settings.max_wait.and_then(|wait| Instant::now().checked_add(wait))
}

/// A caller that has used an id for two messages must not take the answer to one for that to the other.
fn check_same(sending: &Sending, claim: &Claim, first: &Claim) -> Result<(), Error> {
    // By the first answer a caller may have learned the task's id, and name it now.
    let is_same_task = match sending.named_task() {
        Some(id) => *id == first.task_id,
        None => first.revision == 0,
    };
    if claim.fingerprint == first.fingerprint && is_same_task { Ok(()) } else { Err(other_message()) }
}

fn check_context(sending: &Sending, snapshot: &Snapshot) -> Result<(), Error> {
    let named = sending.request.message.context_id.as_ref().filter(|id| !id.is_empty());
    if named.is_none_or(|id| *id == snapshot.task.context_id) { Ok(()) } else { Err(other_message()) }
}

fn other_message() -> Error {
    Error::invalid_params("message.messageId", "is that of another message that was sent before")
}

/// The answer to a message that came again.
pub(super) async fn answer_again<T: TaskStore>(
    shared: Shared<T>,
    sending: Sending,
    retry: Retry,
    first: Claim,
    snapshot: Snapshot,
) -> Result<Outcome<EventStream>, Error> {
    let Sending { head, owner, request, streaming } = sending;
    let history_length = request.configuration.history_length;
    let (store, task_id) = (shared.store.clone(), Arc::clone(&first.task_id));
    if streaming {
        let beginning = match stated(&head.headers, &head.uri)? {
            Some(stated) => {
                let from_start = from_start(&shared.settings, retry.version);
                return resume(&shared, owner, snapshot, Some(stated), from_start, true).await;
            }
            None if first.revision == 0 && history_length.is_none() => None,
            None => {
                let revision = first.revision + beginning_of(&shared, &owner, &first).await?;
                let task = task_at(&store, &owner, &task_id, revision).await?;
                Some(Snapshot::new(Arc::new(task), revision))
            }
        };
        let reading = Reading { shared, owner, task_id, history_length };
        return Ok(Outcome::Stream(reading.stream(Begun::Task(beginning))));
    }
    let settled = async {
        // What came of the first one is in the log, whatever has happened since.
        let mut log = std::pin::pin!(store.clone().follow(owner.clone(), Arc::clone(&task_id), first.revision));
        while let Some(entry) = log.next().await {
            let state = entry?.event().state();
            if state.is_some_and(|state| state.kind() != StateKind::Active) {
                break;
            }
        }
        store.get(&owner, &task_id).await
    };
    let failed = |error| store_error(error, &task_id);
    let waits = !request.configuration.return_immediately && snapshot.task.status.state.kind() == StateKind::Active;
    let snapshot = if !waits {
        snapshot
    } else if let Some(deadline) = deadline(&shared) {
        match timeout_at(deadline, settled).await {
            Ok(settled) => settled.map_err(failed)?,
            Err(_) => store.get(&owner, &task_id).await.map_err(failed)?,
        }
    } else {
        settled.await.map_err(failed)?
    };
    let before = if first.revision > 0 {
        let task = task_at(&store, &owner, &task_id, first.revision).await?;
        Some(Snapshot::new(Arc::new(task), first.revision))
    } else {
        None
    };
    sent(&shared.settings, Settled { snapshot, failure: None }, before.as_ref(), history_length)
}

/// How many events the first message began with: those that its own stream shows as the task it begins with.
async fn beginning_of<T: TaskStore>(shared: &Shared<T>, owner: &Owner, first: &Claim) -> Result<u64, Error> {
    if first.revision == 0 {
        return Ok(1);
    }
    let entries = shared.store.read(owner, &first.task_id, first.revision, 2).await;
    let entries = entries.map_err(|error| store_error(error, &first.task_id))?;
    let events: Vec<_> = entries.iter().map(super::LogEntry::event).collect();
    Ok(match events.as_slice() {
        [Event::Message(message), more @ ..] if message.role == Role::User => {
            let works =
                matches!(more, [Event::StatusUpdate(update)] if update.status.state.kind() == StateKind::Active);
            1 + u64::from(works)
        }
        // A cancel came between.
        _ => 0,
    })
}
