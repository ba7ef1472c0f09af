//! Where writes gather. What comes while a transaction is under way shares the next one, so that many tasks cost few
//! commits.

use std::{
    error::Error,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex as AsyncMutex, mpsc, oneshot},
    time::Instant,
};

use super::{ClaimWrite, unavailable};
use crate::task::{Claim, StoreError};

/// How many writes may wait. More wait outside, with their callers.
const QUEUE: usize = 1024;

/// What is to be written.
#[derive(Debug)]
pub(crate) enum Write {
    Create(Create),
    Append(Append),
    End(End),
    /// The holder is alive.
    Beat,
    /// The holder gives its lease up.
    Release,
    /// That one is gone, if it has not moved since.
    Bury {
        holder: i64,
        beat: i64,
    },
    /// The holder has heard that these are over.
    Heard(Vec<String>),
    /// Lets go of those at rest that are too many or too old.
    Retain(Keep),
    Claim(ClaimWrite),
}

#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) id: Arc<str>,
    pub(crate) owner: String,
    pub(crate) context: Arc<str>,
    pub(crate) standing: Standing,
    pub(crate) revision: i64,
    pub(crate) events: String,
    /// The whole task, if it is to be written.
    pub(crate) snapshot: Option<String>,
}

#[derive(Debug)]
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "SQLite finds some of it itself"))]
pub(crate) struct Append {
    pub(crate) id: Arc<str>,
    pub(crate) seq: i64,
    pub(crate) expected: i64,
    pub(crate) revision: i64,
    pub(crate) events: String,
    /// The state as of the expected revision.
    pub(crate) state_before: i64,
    /// Where the task then stands, if that may be another place.
    pub(crate) moves: Option<Standing>,
    /// The whole task, if it is to be written.
    pub(crate) snapshot: Option<String>,
}

/// Brings a task to its end, unless it is over, whatever its revision.
#[derive(Debug)]
pub(crate) struct End {
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only other machines are told"))]
    pub(crate) id: Arc<str>,
    pub(crate) seq: i64,
    pub(crate) events: String,
    pub(crate) standing: Standing,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) state: i64,
    pub(crate) phase: i64,
    pub(crate) moment: i64,
}

/// How many of a phase are kept, and from which moment on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    pub(crate) phase: i64,
    pub(crate) count: i64,
    pub(crate) oldest: i64,
}

/// What came of a write.
#[derive(Debug)]
pub(crate) enum Written {
    /// It is done; of a task that was made, this is its number, and of one that was ended its revision.
    Done(i64),
    /// The task was not as expected, and nothing is done.
    Refused,
    /// These are gone, and there may be more.
    Gone(Vec<String>),
    /// This claim was there before.
    Claimed(Claim),
}

/// Why a write was not done. All that shared a transaction share it.
pub(crate) type WriteError = Arc<dyn Error + Send + Sync>;

/// A write that somebody has asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) write: Write,
    /// When that was.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "SQLite waits for locks and for nothing else"))]
    pub(crate) at: Instant,
    pub(crate) answer: Answer,
}

/// Where somebody waits.
#[derive(Debug)]
pub(crate) struct Answer(oneshot::Sender<Result<Written, WriteError>>);

impl Answer {
    /// Who has left does not want to know.
    pub(crate) fn send(self, answer: Result<Written, WriteError>) {
        let _ = self.0.send(answer);
    }
}

/// One that writes, with a connection of its own.
pub(crate) trait Commit: Send + 'static {
    /// How many writes share a transaction at most, so that the first does not wait for ever for the last.
    const AT_ONCE: usize;

    /// Writes what has gathered, takes it out of the list, and answers each.
    fn commit(&mut self, asked: &mut Vec<Asked>) -> impl Future<Output = ()> + Send;

    /// There is nothing more to write.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// Where writes go.
#[derive(Clone, Debug)]
pub(crate) struct Writer(mpsc::Sender<Asked>);

impl Writer {
    /// Writes with these until the last clone is dropped. Whoever is free takes all that is there.
    pub(crate) fn start<C: Commit>(commits: impl IntoIterator<Item = C>) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let receiver = Arc::new(AsyncMutex::new(receiver));
        for commit in commits {
            tokio::spawn(run(commit, Arc::clone(&receiver)));
        }
        Self(sender)
    }

    /// A write that is asked for is done or not done, whether the caller waits for it or not.
    pub(crate) async fn write(&self, write: Write) -> Result<Written, StoreError> {
        let (answer, answered) = oneshot::channel();
        let closed = || unavailable("the store is closed");
        self.0.send(Asked { write, at: Instant::now(), answer: Answer(answer) }).await.map_err(|_| closed())?;
        match answered.await {
            Ok(written) => written.map_err(unavailable),
            Err(_) => Err(closed()),
        }
    }
}

async fn run<C: Commit>(mut commit: C, receiver: Arc<AsyncMutex<mpsc::Receiver<Asked>>>) {
    let mut asked = Vec::new();
    while receiver.lock().await.recv_many(&mut asked, C::AT_ONCE).await > 0 {
        commit.commit(&mut asked).await;
        asked.clear();
    }
    commit.close().await;
}

/// When the holder has last said that it is alive. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    lease: Duration,
    last: Arc<Mutex<Instant>>,
}

impl Renewal {
    /// Of a lease that begins now.
    pub(crate) fn new(lease: Duration) -> Self {
        Self { lease, last: Arc::new(Mutex::new(Instant::now())) }
    }

    /// Whoever was away for so long may be taken for gone, and has to be back before it holds anything.
    pub(crate) fn is_late(&self) -> bool {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > self.lease / 2
    }

    /// It was said in a write that began at this moment.
    pub(crate) fn renewed(&self, at: Instant) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = at.max(*last);
    }
}
