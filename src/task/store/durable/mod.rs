//! What every store does that keeps tasks in a database, above the database itself.
//!
//! What a database has to do is a [`Backend`]: to find rows, and, as the [`Commit`] behind its [`Writer`], to write what has
//! gathered. All else is here once: what is written when, what is kept at hand, who is told.

mod backend;
mod beats;
mod claims;
mod follow;
mod public;
mod topics;
mod whole;
mod writer;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_core::Stream;
use futures_util::stream;
use tokio::sync::broadcast;

#[cfg(feature = "postgres")]
pub(super) use self::writer::{Answer, WriteError};
pub(super) use self::{
    backend::{Backend, LostRow, Part, Row, Stored, number, owner_text, read_owner, state_number, stored, unavailable},
    claims::ClaimWrite,
    public::durable_store,
    topics::Topics,
    writer::{Append, Asked, Commit, Create, End, Keep, Renewal, Standing, Write, Writer, Written},
};
use self::{beats::Beats, follow::Follow, topics::Growth};
use super::{Claim, ListQuery, LostRun, Snapshot, StoreError, StoredPage, TaskStore, end_by_appending, index::Key};
use crate::{
    owner::Owner,
    task::{
        LogEntry, fold,
        stored::{read_events, write_events, write_task},
    },
    types::{Event, StateKind, Task, TaskStatus, TaskStatusUpdateEvent, Timestamp},
};

/// How many ids of tasks that ended elsewhere may lie unheard.
const UNHEARD: usize = 4_096;
/// How much text a log may have behind its snapshot at least, in bytes. Beyond it a snapshot is written when as much has
/// come as it is long itself, so that however long a task gets, its snapshots cost no more than its log.
const UNFOLDED: usize = 16 << 10;
/// How many tasks at work are kept ready, as their next event is sure to come. More are read again each time.
const READY: usize = 100_000;

/// What is kept for how long.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) lease: Duration,
    pub(super) max_finished: u64,
    pub(super) max_age: Duration,
    pub(super) max_interrupted: u64,
    pub(super) max_interrupted_age: Duration,
}

/// A store over some database. Clones share everything.
pub(super) struct Durable<B>(Arc<Inner<B>>);

/// What clones share; whoever watches the database for the store holds on to it weakly.
pub(super) struct Inner<B> {
    pub(super) backend: B,
    pub(super) writer: Writer,
    pub(super) topics: Topics,
    limits: Limits,
    ended: broadcast::Sender<Arc<str>>,
    beats: Mutex<Beats>,
    ready: Mutex<HashMap<Arc<str>, Ready>>,
}

/// A task at work as this process wrote it last. Whether it still stands so, the next write finds out.
struct Ready {
    owner: Owner,
    seq: i64,
    revision: u64,
    task: Arc<Task>,
    /// The lengths of the last snapshot and of what was appended since.
    snapshot: usize,
    unfolded: usize,
    /// Whether this holder is known to hold it.
    is_held: bool,
}

impl<B> Durable<B> {
    pub(super) fn new(backend: B, writer: Writer, topics: Topics, limits: Limits) -> Self {
        Self(Arc::new(Inner {
            backend,
            writer,
            topics,
            limits,
            ended: broadcast::Sender::new(UNHEARD),
            beats: Mutex::default(),
            ready: Mutex::default(),
        }))
    }

    pub(super) fn inner(&self) -> &Arc<Inner<B>> {
        &self.0
    }

    #[cfg(all(test, feature = "sqlite"))]
    pub(super) fn limits(&self) -> Limits {
        self.0.limits.clone()
    }
}

impl<B> Inner<B> {
    /// True if somebody wants to know what ends elsewhere.
    pub(super) fn hears_of_ends(&self) -> bool {
        self.ended.receiver_count() > 0
    }

    /// These tasks of this holder were ended by another one.
    pub(super) async fn have_ended(&self, ids: Vec<String>) {
        for id in &ids {
            // Nobody listens any more: then nobody has a run to stop.
            let _ = self.ended.send(Arc::from(&**id));
        }
        if !ids.is_empty() {
            // If it fails they are told again.
            let _ = self.writer.write(Write::Heard(ids)).await;
        }
    }

    fn lock_ready(&self) -> MutexGuard<'_, HashMap<Arc<str>, Ready>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_ready(&self, owner: &Owner, id: &str) -> Option<Ready> {
        let mut ready = self.lock_ready();
        if ready.get(id)?.owner == *owner { ready.remove(id) } else { None }
    }

    fn keep_ready(&self, id: &Arc<str>, task: Ready) {
        let mut ready = self.lock_ready();
        if ready.len() < READY {
            ready.insert(Arc::clone(id), task);
        }
    }

    /// The task as this process knows it, if that is its revision.
    fn known(&self, owner: &Owner, id: &str, revision: u64) -> Option<Arc<Task>> {
        let ready = self.lock_ready();
        let ready = ready.get(id).filter(|ready| ready.owner == *owner && ready.revision == revision)?;
        Some(Arc::clone(&ready.task))
    }
}

impl<B: Backend> Inner<B> {
    async fn row(&self, owner: &Owner, id: &str) -> Result<Row, StoreError> {
        self.backend.row(owner, id).await?.ok_or(StoreError::NotFound)
    }

    /// A task as it stands, and of which revision its kept snapshot is.
    async fn task(&self, owner: &Owner, id: &str) -> Result<(Row, u64, Task), StoreError> {
        let stored = self.backend.task(owner, id).await?.ok_or(StoreError::NotFound)?;
        let (row, folded) = (stored.row, stored.folded);
        let task = whole::one(&self.backend, stored).await?.ok_or(StoreError::NotFound)?;
        Ok((row, folded, task))
    }

    async fn entries(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let mut entries = Vec::new();
        self.backend
            .log(owner, id, after, limit, |first, context, text| {
                let events = read_events(id, context, text).map_err(unavailable)?;
                let events = (first..).zip(events).filter(|(number, _)| *number > after);
                entries.extend(events.take(limit - entries.len()).map(|(number, event)| LogEntry::new(number, event)));
                Ok(entries.len() < limit)
            })
            .await?;
        if entries.is_empty() {
            self.row(owner, id).await?;
        }
        Ok(entries)
    }

    async fn read_ready(&self, owner: &Owner, id: &str) -> Result<(Ready, bool), StoreError> {
        let (row, folded, task) = self.task(owner, id).await?;
        // How long the log behind a snapshot is, nobody has counted; it is at most as long as it may be.
        let unfolded = if folded == row.revision { 0 } else { UNFOLDED };
        let ready = Ready {
            owner: owner.clone(),
            seq: row.seq,
            revision: row.revision,
            task: Arc::new(task),
            snapshot: 0,
            unfolded,
            is_held: false,
        };
        Ok((ready, row.is_over))
    }

    /// Why an append that looked right was not taken.
    async fn reason(&self, owner: &Owner, id: &str) -> StoreError {
        match self.row(owner, id).await {
            Ok(row) if row.is_over => StoreError::Terminal,
            Ok(_) => StoreError::Conflict,
            Err(error) => error,
        }
    }
}

fn standing(status: &TaskStatus) -> Standing {
    let phase = match status.state.kind() {
        StateKind::Active => 0,
        StateKind::Interrupted => 1,
        StateKind::Terminal => 2,
    };
    let moment = status.timestamp.map_or(0, Timestamp::as_millis);
    Standing { state: state_number(status.state), phase, moment }
}

impl<B: Backend> TaskStore for Durable<B> {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.create_with(owner, task, &mut Vec::new()).await
    }

    async fn create_with(
        &self,
        owner: &Owner,
        mut task: Arc<Task>,
        events: &mut Vec<Event>,
    ) -> Result<Snapshot, StoreError> {
        let log: Vec<_> = std::iter::once(Event::Task(Arc::clone(&task))).chain(events.drain(..)).collect();
        if log.len() > 1 {
            let whole = Arc::make_mut(&mut task);
            for event in &log[1..] {
                fold(whole, event).map_err(|_| StoreError::Terminal)?;
            }
        }
        let (text, revision) = (write_events(&task.id, &task.context_id, &log), log.len() as u64);
        let is_active = task.status.state.kind() == StateKind::Active;
        let unfolded = text.len();
        let create = Create {
            id: Arc::clone(&task.id),
            owner: owner_text(owner).into_owned(),
            context: Arc::clone(&task.context_id),
            standing: standing(&task.status),
            revision: stored(revision),
            events: text,
            // What is alone in its log need not be written twice.
            snapshot: (!is_active && revision > 1).then(|| write_task(&task)),
        };
        let Written::Done(seq) = self.0.writer.write(Write::Create(create)).await? else {
            return Err(StoreError::Conflict);
        };
        if is_active {
            let (owner, kept) = (owner.clone(), Arc::clone(&task));
            let ready = Ready { owner, seq, revision, task: kept, snapshot: 0, unfolded, is_held: true };
            self.0.keep_ready(&task.id, ready);
        }
        Ok(Snapshot::new(task, revision))
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        let inner = &*self.0;
        let mut ready = match inner.take_ready(owner, id).filter(|ready| ready.revision == expected) {
            Some(ready) => ready,
            None => match inner.read_ready(owner, id).await? {
                (_, true) => return Err(StoreError::Terminal),
                (ready, _) if ready.revision != expected => return Err(StoreError::Conflict),
                (ready, _) => ready,
            },
        };
        if events.is_empty() {
            return Ok(Snapshot::new(ready.task, expected));
        }
        let task = Arc::make_mut(&mut ready.task);
        let state_before = state_number(task.status.state);
        for event in &events {
            fold(task, event).map_err(|_| StoreError::Terminal)?;
        }
        let text = write_events(&task.id, &task.context_id, &events);
        let moves = events.iter().any(|event| event.state().is_some()) || !ready.is_held;
        let at_rest = task.status.state.kind() != StateKind::Active;
        ready.unfolded += text.len();
        let snapshot = (at_rest || ready.unfolded > ready.snapshot.max(UNFOLDED)).then(|| write_task(task));
        if let Some(snapshot) = &snapshot {
            (ready.snapshot, ready.unfolded) = (snapshot.len(), 0);
        }
        let revision = expected + events.len() as u64;
        let append = Append {
            id: Arc::clone(&task.id),
            seq: ready.seq,
            expected: stored(expected),
            revision: stored(revision),
            events: text,
            state_before,
            moves: moves.then(|| standing(&task.status)),
            snapshot,
        };
        let Written::Done(_) = inner.writer.write(Write::Append(append)).await? else {
            return Err(inner.reason(owner, id).await);
        };
        let entries = (expected + 1..).zip(events).map(|(number, event)| LogEntry::new(number, event));
        inner.topics.appended(owner, id, entries);
        let task = Arc::clone(&ready.task);
        if !at_rest {
            (ready.revision, ready.is_held) = (revision, true);
            inner.keep_ready(&task.id, ready);
        }
        Ok(Snapshot::new(task, revision))
    }

    async fn end(&self, owner: &Owner, id: &str, update: TaskStatusUpdateEvent) -> Result<Snapshot, StoreError> {
        let inner = &*self.0;
        if !update.status.state.is_terminal() {
            return end_by_appending(self, owner, id, update).await;
        }
        let (standing, seq) = (standing(&update.status), inner.row(owner, id).await?.seq);
        let (task_id, context_id) = (Arc::clone(&update.task_id), Arc::clone(&update.context_id));
        let event = Event::StatusUpdate(update);
        let events = write_events(&task_id, &context_id, std::slice::from_ref(&event));
        let end = End { id: task_id, seq, events, standing };
        let Written::Done(revision) = inner.writer.write(Write::End(end)).await? else {
            return Err(inner.reason(owner, id).await);
        };
        inner.topics.appended(owner, id, std::iter::once(LogEntry::new(number(revision), event)));
        self.get(owner, id).await
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        let inner = &*self.0;
        let is_known = inner.lock_ready().contains_key(id);
        if is_known {
            let row = inner.row(owner, id).await?;
            if let Some(task) = inner.known(owner, id, row.revision) {
                return Ok(Snapshot::new(task, row.revision));
            }
        }
        let (row, _, task) = inner.task(owner, id).await?;
        Ok(Snapshot::new(Arc::new(task), row.revision))
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.0.entries(owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        let mut subscription = self.0.topics.subscribe(owner, &Arc::from(id));
        if self.0.row(owner, id).await?.revision > after {
            return Ok(());
        }
        loop {
            match subscription.growth() {
                Growth::Gone => return Err(StoreError::NotFound),
                Growth::Revision(revision) if revision > after => return Ok(()),
                Growth::Revision(_) => subscription.changed().await,
            }
        }
    }

    fn follow(
        self,
        owner: Owner,
        id: Arc<str>,
        after: u64,
    ) -> impl Stream<Item = Result<LogEntry, StoreError>> + Send + 'static {
        Follow::new(self.0, owner, id, after).entries()
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        let before = match &query.page_token {
            Some(token) => Some(Key::from_token(token).ok_or(StoreError::BadToken)?),
            None => None,
        };
        let (mut found, total_size) = self.0.backend.list(owner, query, before).await?;
        let has_more = found.len() > query.page_size;
        found.truncate(query.page_size);
        let last = found.last().map(|last| Key { millis: last.moment, sequence: number(last.row.seq) });
        let next = last.filter(|_| has_more);
        // What went away meanwhile is left out.
        let tasks = whole::all(&self.0.backend, found).await?.into_iter().flatten().map(Arc::new).collect();
        Ok(StoredPage { tasks, next_page_token: next.map(Key::to_token), total_size })
    }

    fn lease(&self) -> Option<Duration> {
        Some(self.0.limits.lease)
    }

    async fn renew_lease(&self) -> Result<(), StoreError> {
        self.0.writer.write(Write::Beat).await.map(drop)
    }

    async fn release_lease(&self) -> Result<(), StoreError> {
        self.0.writer.write(Write::Release).await.map(drop)
    }

    async fn lost_runs(&self, limit: usize) -> Result<Vec<LostRun>, StoreError> {
        let inner = &*self.0;
        let beats = inner.backend.others().await?;
        let gone = {
            let mut seen = inner.beats.lock().unwrap_or_else(PoisonError::into_inner);
            seen.look(&beats, inner.limits.lease)
        };
        for (holder, beat) in gone {
            inner.writer.write(Write::Bury { holder, beat }).await?;
        }
        let mut runs = Vec::new();
        for LostRow { owner, id, revision } in inner.backend.lost(limit).await? {
            match self.get(&owner, &id).await {
                Ok(snapshot) if snapshot.revision == revision => runs.push(LostRun::new(owner, snapshot)),
                // Somebody goes on with it, or it is over.
                Ok(_) | Err(StoreError::NotFound) => {}
                // It must not keep the others from being seen to.
                Err(error) if whole::is_unreadable(&error) => {
                    let cause = std::error::Error::source(&error);
                    tracing::error!(task_id = id, cause, "the task of a lost run cannot be read");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    fn ended_elsewhere(&self) -> impl Stream<Item = Arc<str>> + Send + 'static {
        stream::unfold(self.0.ended.subscribe(), |mut ended| async move {
            loop {
                match ended.recv().await {
                    Ok(id) => return Some((id, ended)),
                    // Their runs find out when they next write.
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        })
    }

    fn takes_claims(&self) -> bool {
        true
    }

    async fn claim(&self, owner: &Owner, claim: &Claim, window: Duration) -> Result<Option<Claim>, StoreError> {
        self.0.claim(owner, claim, window).await
    }

    async fn release(&self, owner: &Owner, claim: &Claim) -> Result<(), StoreError> {
        self.0.release(owner, claim).await
    }

    async fn retain(&self) -> Result<(), StoreError> {
        self.0.let_go_of_claims().await?;
        let Limits { max_finished, max_age, max_interrupted, max_interrupted_age, .. } = self.0.limits;
        for (phase, count, age) in [(2, max_finished, max_age), (1, max_interrupted, max_interrupted_age)] {
            let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
            let oldest = Timestamp::now().as_millis().saturating_sub(age);
            loop {
                let keep = Keep { phase, count: stored(count), oldest };
                match self.0.writer.write(Write::Retain(keep)).await? {
                    Written::Gone(ids) if !ids.is_empty() => ids.iter().for_each(|id| self.0.topics.grown(id, None)),
                    _ => break,
                }
            }
        }
        Ok(())
    }
}

impl<B> Clone for Durable<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B> fmt::Debug for Durable<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}
