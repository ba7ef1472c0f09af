mod claim;
mod claims;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod durable;
mod index;
mod log;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
#[cfg(feature = "sqlite")]
mod sqlite;
mod waiters;

use std::{
    collections::VecDeque,
    fmt,
    future::{Future, ready},
    sync::Arc,
    time::Duration,
};

use futures_core::Stream;
use futures_util::stream;

#[cfg(feature = "postgres")]
pub use self::postgres::{PostgresTaskStore, PostgresTaskStoreBuilder};
#[cfg(feature = "sqlite")]
pub use self::sqlite::{SqliteTaskStore, SqliteTaskStoreBuilder};
pub use self::{claim::Claim, memory::MemoryTaskStore};

use super::LogEntry;
use crate::{
    error::BoxError,
    owner::Owner,
    types::{Event, Task, TaskState, TaskStatusUpdateEvent, Timestamp},
};

/// How many entries a reader takes from a log at once: enough to make one write of a burst, few enough to hold for every
/// slow reader.
const READ_AT_ONCE: usize = 64;

/// How often it is tried to end a task that others append to.
const ENDS: u32 = 16;

/// Where tasks live: for each an append-only log of events, and beside it the task that the log folds into.
///
/// A caller sees its own tasks only: every call names an [`Owner`], and the tasks of others do not exist for it.
///
/// What an implementation must keep to:
///
/// - The numbers of a log begin at 1 and have no gaps. A task's revision is the number of its last event.
/// - [`append`](Self::append) is a compare-and-append: it succeeds only if the revision is the expected one, and then
///   appends all of the events or none. Of two that expect the same revision, one succeeds.
/// - After a terminal state nothing is appended ([`fold`](super::fold) refuses it).
/// - What a call has acknowledged, every later call sees, in every process that shares the tasks.
///
/// The suite `testing::conformance` (feature `testing`) checks all of this on a store of one's own.
///
/// # Leases
///
/// Where tasks outlive the process that works on them, somebody has to notice that it is gone. A store that keeps
/// tasks so says for how long a [`lease`](Self::lease) lasts; each value that was made apart from the others (not a
/// clone of one) is a **holder** of one lease, which begins when it is made. Whatever a [`create`](Self::create) or an [`append`](Self::append)
/// leaves [active](crate::types::StateKind::Active) is held by the value that wrote it, as part of that same write: there is
/// nothing to take or to give back for each run, and one renewal serves all of them. The layer renews the lease three
/// times before it would run out, and ends what others have [lost](Self::lost_runs). Stores whose tasks end with the
/// process leave these methods out, and so cost nothing for it; one that wraps another has to pass them on.
///
/// # Claims
///
/// With a [retry window](super::TaskLayer::retry_window) a message that comes again is answered with the task of the first
/// one. An agent hears a message before there is a task, since it may refuse it, or change it, or answer without a task;
/// so the task cannot be what tells a second one that there is a first. It is a [claim](Self::claim), which the layer makes
/// before anything else, and [gives up](Self::release) if the message comes to nothing, or as soon as it finds that it was
/// another message that the task went on with.
///
/// - Of two claims of one key and owner within the window, one succeeds, in whatever processes they are made; the other
///   gets the one that did.
/// - A claim is **good** once the task is there at a later revision than the claim says. A good claim stays until the window
///   is over, the task goes away, or it is released.
/// - One that is not good yet goes when it is released, and when its holder gives its [lease](Self#leases) up or loses it.
pub trait TaskStore: Clone + Send + Sync + 'static {
    /// Makes a task; the first event of its log is the task as given.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if there is a task of this id, whoever owns it.
    fn create(&self, owner: &Owner, task: Arc<Task>) -> impl Future<Output = Result<Snapshot, StoreError>> + Send;

    /// Makes a task whose log goes on with these events, as nearly all do whose agent answers at once. It is for stores that
    /// can do both as one: they take the events out of the list and write all or nothing. What is left in the list is
    /// appended afterwards; as this comes, it is a [`create`](Self::create) that leaves all.
    ///
    /// # Errors
    /// As for [`create`](Self::create), and [`StoreError::Terminal`] if an event follows the end.
    fn create_with(
        &self,
        owner: &Owner,
        task: Arc<Task>,
        events: &mut Vec<Event>,
    ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
        let _ = events;
        self.create(owner, task)
    }

    /// Appends events to a task's log if its revision is the expected one.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if the revision is another, [`StoreError::Terminal`] if the task is over,
    /// [`StoreError::NotFound`] if the owner has no such task.
    fn append(
        &self,
        owner: &Owner,
        id: &str,
        expected: u64,
        events: Vec<Event>,
    ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send;

    /// Appends a single event; for stores that can do with less for one, as most agents speak a word at a time. As it
    /// comes, it is an [`append`](Self::append).
    ///
    /// # Errors
    /// As for [`append`](Self::append).
    fn append_one(
        &self,
        owner: &Owner,
        id: &str,
        expected: u64,
        event: Event,
    ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
        self.append(owner, id, expected, vec![event])
    }

    /// Ends a task with this status, which is a terminal one, wherever its log has got to. It is for a cancel that comes in elsewhere than where the
    /// run is, which may write so fast that no revision stays the current one for as long as it takes to answer with it.
    /// As it comes, it is made of [`get`](Self::get) and [`append`](Self::append), and tried a few times.
    ///
    /// # Errors
    /// [`StoreError::Terminal`] if the task is over, [`StoreError::NotFound`] if the owner has no such task, and
    /// [`StoreError::Conflict`] if something was appended at each try.
    fn end(
        &self,
        owner: &Owner,
        id: &str,
        update: TaskStatusUpdateEvent,
    ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
        end_by_appending(self, owner, id, update)
    }

    /// A task as it stands.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the owner has no such task.
    fn get(&self, owner: &Owner, id: &str) -> impl Future<Output = Result<Snapshot, StoreError>> + Send;

    /// The entries of a log whose number is greater than `after`, in order, at most `limit` of them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the owner has no such task.
    fn read(
        &self,
        owner: &Owner,
        id: &str,
        after: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<LogEntry>, StoreError>> + Send;

    /// Waits until the log holds an entry whose number is greater than `after`. It may also come back early.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the owner has no such task, or it goes away.
    fn grown(&self, owner: &Owner, id: &str, after: u64) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The entries of a log whose number is greater than `after`, in order, each as soon as it is there; the stream ends
    /// only with an error. For stores that can do with less than a look-up each time; as it comes, it is made of
    /// [`read`](Self::read) and [`grown`](Self::grown), and holds 64 entries at most.
    ///
    /// # Errors
    /// As for [`read`](Self::read) and [`grown`](Self::grown); the error is the last item.
    fn follow(
        self,
        owner: Owner,
        id: Arc<str>,
        after: u64,
    ) -> impl Stream<Item = Result<LogEntry, StoreError>> + Send + 'static {
        let reading = Some((self, owner, id, after, VecDeque::new()));
        stream::unfold(reading, |reading| async {
            let (store, owner, id, mut after, mut entries) = reading?;
            while entries.is_empty() {
                match read_on(&store, &owner, &id, after).await {
                    Ok(read) => entries = VecDeque::from(read),
                    Err(error) => return Some((Err(error), None)),
                }
            }
            let entry = entries.pop_front()?;
            after = entry.number();
            Some((Ok(entry), Some((store, owner, id, after, entries))))
        })
    }

    /// Some of the owner's tasks, the latest status first.
    ///
    /// # Errors
    /// [`StoreError::BadToken`] if the page token is none of this store's.
    fn list(&self, owner: &Owner, query: &ListQuery) -> impl Future<Output = Result<StoredPage, StoreError>> + Send;

    /// How long a lease lasts; `None`, as it comes, if tasks end with the process anyway.
    fn lease(&self) -> Option<Duration> {
        None
    }

    /// Says that this holder is alive.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn renew_lease(&self) -> impl Future<Output = Result<(), StoreError>> + Send {
        ready(Ok(()))
    }

    /// Gives the lease up: what this holder still holds is lost from here on, so that others need not wait. A later
    /// renewal takes it up again.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn release_lease(&self) -> impl Future<Output = Result<(), StoreError>> + Send {
        ready(Ok(()))
    }

    /// Active tasks of holders other than this one that have not renewed their lease for as long as it
    /// [lasts](Self::lease), whoever owns them; at most `limit`. Each is as it stood when it was such a holder's: whoever
    /// takes it for lost writes to it at that revision, and is refused if another one was faster.
    ///
    /// Clocks jump, so a store had better go by how long this process has seen no renewal than by the time of day. A time
    /// in which it could not look counts for nobody's silence: a database that was away was away for all.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn lost_runs(&self, limit: usize) -> impl Future<Output = Result<Vec<LostRun>, StoreError>> + Send {
        let _ = limit;
        ready(Ok(Vec::new()))
    }

    /// The ids of tasks of this holder that another holder brings to a terminal state from now on: a cancel that came in
    /// elsewhere, or a lease that ran out. One that waits for an authorization still has its run, and counts as well. The layer stops their runs. Without it, a run finds out when it next writes.
    fn ended_elsewhere(&self) -> impl Stream<Item = Arc<str>> + Send + 'static {
        stream::pending()
    }

    /// Whether it takes [claims](Self#claims). As it comes, it does not, and a [retry
    /// window](super::TaskLayer::retry_window) over it refuses every message.
    fn takes_claims(&self) -> bool {
        false
    }

    /// Notes that a message is on its way, unless the same one was within this time: then it gives the claim of that one.
    /// The time counts from the first claim, by the clock of the store, and by the window that is asked for now.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], as always where no claims are [taken](Self::takes_claims).
    fn claim(
        &self,
        owner: &Owner,
        claim: &Claim,
        window: Duration,
    ) -> impl Future<Output = Result<Option<Claim>, StoreError>> + Send {
        let _ = (owner, claim, window);
        ready(Err(StoreError::Unavailable("the task store takes no claims".into())))
    }

    /// Gives up a [claim](Self#claims), whoever made it, if its task and revision are still those; another one of the same
    /// key stays.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn release(&self, owner: &Owner, claim: &Claim) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (owner, claim);
        ready(Ok(()))
    }

    /// Lets go of tasks at rest that are too many or too old. The layer asks for it every third of a
    /// [lease](Self::lease); a store without leases does it as it goes.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn retain(&self) -> impl Future<Output = Result<(), StoreError>> + Send {
        ready(Ok(()))
    }
}

/// A task that says it is being worked on, while nobody does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LostRun {
    /// Whose task it is.
    pub owner: Owner,
    /// The task as it stood when it was lost.
    pub snapshot: Snapshot,
}

impl LostRun {
    /// This task of this owner.
    #[must_use]
    pub const fn new(owner: Owner, snapshot: Snapshot) -> Self {
        Self { owner, snapshot }
    }
}

async fn end_by_appending<T: TaskStore>(
    store: &T,
    owner: &Owner,
    id: &str,
    update: TaskStatusUpdateEvent,
) -> Result<Snapshot, StoreError> {
    for _ in 0..ENDS {
        let revision = store.get(owner, id).await?.revision;
        match store.append(owner, id, revision, vec![Event::StatusUpdate(update.clone())]).await {
            Err(StoreError::Conflict) => {}
            ended => return ended,
        }
    }
    Err(StoreError::Conflict)
}

/// The entries that follow, of which there may be none after waiting for some.
async fn read_on<T: TaskStore>(store: &T, owner: &Owner, id: &str, after: u64) -> Result<Vec<LogEntry>, StoreError> {
    let entries = store.read(owner, id, after, READ_AT_ONCE).await?;
    if entries.is_empty() {
        store.grown(owner, id, after).await?;
    }
    Ok(entries)
}

/// A task and the number of the last event that it is folded from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// The task.
    pub task: Arc<Task>,
    /// The number of the last event in its log.
    pub revision: u64,
}

impl Snapshot {
    /// A task as of this revision.
    #[must_use]
    pub const fn new(task: Arc<Task>, revision: u64) -> Self {
        Self { task, revision }
    }
}

/// Which tasks to list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListQuery {
    /// Only those of this conversation.
    pub context_id: Option<Arc<str>>,
    /// Only those in this state.
    pub status: Option<TaskState>,
    /// Only those whose status is of this moment or later.
    pub status_timestamp_after: Option<Timestamp>,
    /// At most so many.
    pub page_size: usize,
    /// Where the last page ended, as this store said it.
    pub page_token: Option<String>,
}

impl ListQuery {
    /// The first so many tasks.
    #[must_use]
    pub const fn new(page_size: usize) -> Self {
        Self { context_id: None, status: None, status_timestamp_after: None, page_size, page_token: None }
    }
}

/// Some of an owner's tasks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredPage {
    /// The tasks, the latest status first.
    pub tasks: Vec<Arc<Task>>,
    /// Where the next page begins; `None` on the last one.
    pub next_page_token: Option<String>,
    /// How many tasks there are in all.
    pub total_size: u64,
}

impl StoredPage {
    /// A page that is also the last one.
    #[must_use]
    pub const fn new(tasks: Vec<Arc<Task>>, total_size: u64) -> Self {
        Self { tasks, next_page_token: None, total_size }
    }
}

/// Why a store did not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The owner has no such task.
    NotFound,
    /// The task's revision is not the expected one, or its id is taken.
    Conflict,
    /// The task is over, and nothing more can be appended.
    Terminal,
    /// The page token is none of this store's.
    BadToken,
    /// The store cannot be reached or is broken; trying again later may help.
    Unavailable(BoxError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "there is no such task",
            Self::Conflict => "the task has changed meanwhile",
            Self::Terminal => "the task is over",
            Self::BadToken => "the page token is not valid",
            Self::Unavailable(_) => "the task store is not available",
        })
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Unavailable(source) = self { Some(&**source) } else { None }
    }
}
