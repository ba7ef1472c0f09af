//! The one who writes. What comes while a transaction is under way shares the next one, so that many tasks cost few
//! commits.

use std::{sync::Arc, time::Duration};

use sqlx::{Connection as _, Executor as _, SqliteConnection, sqlite::SqliteQueryResult};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::claims::{self, ClaimWrite};
use crate::task::Claim;

/// How many writes share a transaction at most, so that the first does not wait for ever for the last.
const AT_ONCE: usize = 256;
/// How many writes may wait. More wait outside, with their callers.
const QUEUE: usize = 1024;
/// How many tasks are let go of in one transaction.
const LET_GO_AT_ONCE: i64 = 500;

/// Each of these is one trip to SQLite: a row of `tasks`, and, if that was as expected, one of the log and perhaps a
/// snapshot.
const CREATE: &str = "\
    INSERT INTO tasks (id, owner, context, state, phase, moment, revision, holder) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $5 = 0 THEN $8 END) ON CONFLICT (id) DO NOTHING; \
    INSERT INTO log (task, last, first, events) SELECT last_insert_rowid(), $7, 1, $9 WHERE changes() = 1; \
    INSERT INTO snapshots (task, revision, body) SELECT last_insert_rowid(), $7, $10 \
    WHERE changes() = 1 AND $10 IS NOT NULL";

/// Of a task whose status stays, and which is this holder's already.
const APPEND: &str = "\
    UPDATE tasks SET revision = $1 WHERE seq = $2 AND revision = $3; \
    INSERT INTO log (task, last, first, events) SELECT $2, $1, $3 + 1, $4 WHERE changes() = 1; \
    INSERT OR REPLACE INTO snapshots (task, revision, body) SELECT $2, $1, $5 WHERE changes() = 1 AND $5 IS NOT NULL";

const MOVE: &str = "\
    UPDATE tasks SET revision = $1, state = $6, phase = $7, moment = $8, holder = CASE \
    WHEN $7 = 0 THEN $9 WHEN $7 = 2 AND phase = 0 AND holder <> $9 THEN holder END WHERE seq = $2 AND revision = $3; \
    INSERT INTO log (task, last, first, events) SELECT $2, $1, $3 + 1, $4 WHERE changes() = 1; \
    INSERT OR REPLACE INTO snapshots (task, revision, body) SELECT $2, $1, $5 WHERE changes() = 1 AND $5 IS NOT NULL";

const BEAT: &str =
    "INSERT INTO holders (id, beat) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET beat = max(beat, 0) + 1";

/// What is to be written.
#[derive(Debug)]
pub(super) enum Write {
    Create(Create),
    Append(Append),
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
    Heard(String),
    /// Lets go of those at rest that are too many or too old.
    Retain(Keep),
    Claim(ClaimWrite),
}

#[derive(Debug)]
pub(super) struct Create {
    pub(super) id: Arc<str>,
    pub(super) owner: String,
    pub(super) context: Arc<str>,
    pub(super) standing: Standing,
    pub(super) revision: i64,
    pub(super) events: String,
    /// The whole task, if it is to be written.
    pub(super) snapshot: Option<String>,
}

#[derive(Debug)]
pub(super) struct Append {
    pub(super) seq: i64,
    pub(super) expected: i64,
    pub(super) revision: i64,
    pub(super) events: String,
    /// Where the task then stands, if that may be another place.
    pub(super) moves: Option<Standing>,
    /// The whole task, if it is to be written.
    pub(super) snapshot: Option<String>,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) state: i64,
    pub(super) phase: i64,
    pub(super) moment: i64,
}

/// How many of a phase are kept, and from which moment on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    pub(super) phase: i64,
    pub(super) count: i64,
    pub(super) oldest: i64,
}

/// What came of a write.
#[derive(Debug)]
pub(super) enum Written {
    /// It is done; of a task that was made, this is its number.
    Done(i64),
    /// The task was not as expected, and nothing is done.
    Refused,
    /// These are gone, and there may be more.
    Gone(Vec<String>),
    /// This claim was there before.
    Claimed(Claim),
}

type Answer = oneshot::Sender<Result<Written, Arc<sqlx::Error>>>;

/// Where writes go.
#[derive(Clone, Debug)]
pub(super) struct Writer(mpsc::Sender<(Write, Answer)>);

impl Writer {
    /// Writes on this connection until the last clone is dropped.
    pub(super) fn start(connection: SqliteConnection, holder: i64, lease: Duration) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let work = Work { connection, holder, lease, renewed: Instant::now() };
        tokio::spawn(work.run(receiver));
        Self(sender)
    }

    /// A write that is asked for is done or not done, whether the caller waits for it or not.
    pub(super) async fn write(&self, write: Write) -> Result<Written, Arc<sqlx::Error>> {
        let (answer, answered) = oneshot::channel();
        let closed = || Arc::new(sqlx::Error::PoolClosed);
        self.0.send((write, answer)).await.map_err(|_| closed())?;
        answered.await.unwrap_or_else(|_| Err(closed()))
    }
}

struct Work {
    connection: SqliteConnection,
    holder: i64,
    lease: Duration,
    renewed: Instant,
}

impl Work {
    async fn run(mut self, mut receiver: mpsc::Receiver<(Write, Answer)>) {
        let mut writes = Vec::new();
        while receiver.recv_many(&mut writes, AT_ONCE).await > 0 {
            let (writes, answers): (Vec<_>, Vec<_>) = writes.drain(..).unzip();
            self.write_all(&writes, answers).await;
        }
        let _ = self.connection.close().await;
    }

    async fn write_all(&mut self, writes: &[Write], answers: Vec<Answer>) {
        match self.transaction(writes).await {
            Ok(written) => {
                for (answer, written) in answers.into_iter().zip(written) {
                    // Who has left does not want to know.
                    let _ = answer.send(Ok(written));
                }
            }
            // One that cannot be written is no reason not to write the others.
            Err(Failed::Write(_)) if writes.len() > 1 => {
                for (write, answer) in writes.iter().zip(answers) {
                    let written = self.transaction(std::slice::from_ref(write)).await;
                    let one = written.map(|written| written.into_iter().next().unwrap_or(Written::Refused));
                    let _ = answer.send(one.map_err(Failed::into_error));
                }
            }
            Err(failed) => {
                let error = failed.into_error();
                for answer in answers {
                    let _ = answer.send(Err(Arc::clone(&error)));
                }
            }
        }
    }

    /// Begins and ends by plain statements: where SQLite rolls back by itself, as it does when the disk is full, a guard
    /// that counts transactions would be wrong from then on.
    async fn transaction(&mut self, writes: &[Write]) -> Result<Vec<Written>, Failed> {
        self.connection.execute("BEGIN IMMEDIATE").await.map_err(Failed::Whole)?;
        // Whoever was away for so long may be taken for gone, and has to be back before it holds anything.
        let (now, is_late) = (Instant::now(), self.renewed.elapsed() > self.lease / 2);
        let written = self.statements(writes, is_late).await;
        let written = match written {
            Ok(written) => self.connection.execute("COMMIT").await.map(|_| written).map_err(Failed::Whole),
            failed => failed,
        };
        if written.is_err() {
            // There may be nothing left to roll back.
            let _ = self.connection.execute("ROLLBACK").await;
        } else if is_late || writes.iter().any(|write| matches!(write, Write::Beat)) {
            self.renewed = now;
        }
        written
    }

    async fn statements(&mut self, writes: &[Write], is_late: bool) -> Result<Vec<Written>, Failed> {
        if is_late {
            beat(&mut self.connection, self.holder).await.map_err(Failed::Whole)?;
        }
        let mut written = Vec::with_capacity(writes.len());
        for write in writes {
            written.push(one(&mut self.connection, self.holder, write).await.map_err(Failed::Write)?);
        }
        Ok(written)
    }
}

/// Why a transaction did not come about.
enum Failed {
    /// There is something about one of the writes.
    Write(sqlx::Error),
    /// It could not begin or end.
    Whole(sqlx::Error),
}

impl Failed {
    fn into_error(self) -> Arc<sqlx::Error> {
        match self {
            Self::Write(error) | Self::Whole(error) => Arc::new(error),
        }
    }
}

async fn beat(connection: &mut SqliteConnection, holder: i64) -> Result<(), sqlx::Error> {
    sqlx::query(BEAT).bind(holder).execute(connection).await.map(drop)
}

async fn one(connection: &mut SqliteConnection, holder: i64, write: &Write) -> Result<Written, sqlx::Error> {
    match write {
        Write::Create(create) => {
            let Standing { state, phase, moment } = create.standing;
            let query = sqlx::query(CREATE).bind(&*create.id).bind(&*create.owner).bind(&*create.context);
            let query = query.bind(state).bind(phase).bind(moment).bind(create.revision).bind(holder);
            let query = query.bind(&*create.events).bind(create.snapshot.as_deref());
            connection.execute(query).await.map(|done| written(&done))
        }
        Write::Append(append) => {
            let query = sqlx::query(if append.moves.is_some() { MOVE } else { APPEND });
            let query = query.bind(append.revision).bind(append.seq).bind(append.expected).bind(&*append.events);
            let query = query.bind(append.snapshot.as_deref());
            let query = match append.moves {
                Some(Standing { state, phase, moment }) => query.bind(state).bind(phase).bind(moment).bind(holder),
                None => query,
            };
            connection.execute(query).await.map(|done| written(&done))
        }
        Write::Beat => beat(connection, holder).await.map(|()| Written::Done(0)),
        Write::Release => {
            sqlx::query("UPDATE holders SET beat = -1 WHERE id = $1").bind(holder).execute(connection).await?;
            Ok(Written::Done(0))
        }
        Write::Bury { holder, beat } => {
            let query = sqlx::query("UPDATE holders SET beat = -1 WHERE id = $1 AND beat = $2");
            query.bind(holder).bind(beat).execute(connection).await?;
            Ok(Written::Done(0))
        }
        Write::Heard(ids) => {
            let query = sqlx::query(
                "UPDATE tasks SET holder = NULL WHERE phase = 2 AND holder = $1 \
                 AND id IN (SELECT value FROM json_each($2))",
            );
            query.bind(holder).bind(&**ids).execute(connection).await?;
            Ok(Written::Done(0))
        }
        Write::Retain(keep) => retain(connection, *keep).await.map(Written::Gone),
        Write::Claim(write) => claims::write(connection, holder, write).await,
    }
}

fn written(done: &SqliteQueryResult) -> Written {
    if done.rows_affected() > 0 { Written::Done(done.last_insert_rowid()) } else { Written::Refused }
}

/// The oldest go first, so those that are too many and those that are too old are at the same end.
async fn retain(connection: &mut SqliteConnection, keep: Keep) -> Result<Vec<String>, sqlx::Error> {
    let query = sqlx::query_scalar::<_, i64>("SELECT tasks FROM totals WHERE phase = $1");
    let there = query.bind(keep.phase).fetch_one(&mut *connection).await?;
    let too_many = (there - keep.count).clamp(0, LET_GO_AT_ONCE);
    let query = sqlx::query_scalar(
        "DELETE FROM tasks WHERE seq IN (SELECT seq FROM (\
         SELECT seq, moment, row_number() OVER (ORDER BY moment, seq) AS place FROM (\
         SELECT seq, moment FROM tasks WHERE phase = $1 AND phase > 0 ORDER BY moment, seq LIMIT $2)) \
         WHERE place <= $3 OR moment < $4) RETURNING id",
    );
    query.bind(keep.phase).bind(LET_GO_AT_ONCE).bind(too_many).bind(keep.oldest).fetch_all(connection).await
}
