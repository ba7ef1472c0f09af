//! The one who writes.

use std::{sync::Arc, time::Duration};

use sqlx::{Connection as _, Executor as _, SqliteConnection, sqlite::SqliteQueryResult};
use tokio::time::{Instant, sleep};

use super::{claims, many, open::is_busy};
use crate::task::store::durable::{Asked, Commit, End, Keep, Renewal, Standing, Write, Written};

/// How many tasks are let go of in one transaction.
const LET_GO_AT_ONCE: i64 = 500;

/// One trip to SQLite: a row of `tasks`, and, if that was as expected, one of the log and perhaps a snapshot. Most have none,
/// and even a statement that does nothing has its price.
struct Trip {
    plain: &'static str,
    with_snapshot: &'static str,
}

impl Trip {
    const fn sql(&self, snapshot: Option<&String>) -> &'static str {
        if snapshot.is_some() { self.with_snapshot } else { self.plain }
    }
}

macro_rules! trip {
    ($rows:literal, $snapshot:literal) => {
        Trip { plain: $rows, with_snapshot: concat!($rows, "; ", $snapshot) }
    };
}

const CREATE: Trip = trip!(
    "INSERT INTO tasks (id, owner, context, state, phase, moment, revision, holder) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $5 = 0 THEN $8 END) ON CONFLICT (id) DO NOTHING; \
     INSERT INTO log (task, last, first, events) SELECT last_insert_rowid(), $7, 1, $9 WHERE changes() = 1",
    "INSERT INTO snapshots (task, revision, body) SELECT last_insert_rowid(), $7, $10 WHERE changes() = 1"
);

/// Of a task whose status stays, and which is this holder's already.
const APPEND: Trip = trip!(
    "UPDATE tasks SET revision = $1 WHERE seq = $2 AND revision = $3; \
     INSERT INTO log (task, last, first, events) SELECT $2, $1, $3 + 1, $4 WHERE changes() = 1",
    "INSERT OR REPLACE INTO snapshots (task, revision, body) SELECT $2, $1, $5 WHERE changes() = 1"
);

const MOVE: Trip = trip!(
    "UPDATE tasks SET revision = $1, state = $6, phase = $7, moment = $8, holder = CASE \
     WHEN $7 = 0 OR $6 = 7 THEN $9 WHEN $7 = 2 AND holder <> $9 THEN holder END WHERE seq = $2 AND revision = $3; \
     INSERT INTO log (task, last, first, events) SELECT $2, $1, $3 + 1, $4 WHERE changes() = 1",
    "INSERT OR REPLACE INTO snapshots (task, revision, body) SELECT $2, $1, $5 WHERE changes() = 1"
);

/// Whatever it was.
const END: &str = "\
    UPDATE tasks SET revision = revision + 1, state = $2, phase = $3, moment = $4, \
    holder = CASE WHEN phase < 2 AND holder <> $5 THEN holder END WHERE seq = $1 AND phase < 2; \
    INSERT INTO log (task, last, first, events) SELECT seq, revision, revision, $6 FROM tasks WHERE seq = $1 AND changes() = 1";

const BEAT: &str =
    "INSERT INTO holders (id, beat) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET beat = max(beat, 0) + 1";

/// The only connection that writes.
pub(super) struct Work {
    pub(super) connection: SqliteConnection,
    pub(super) holder: i64,
    pub(super) renewal: Renewal,
    /// How long it waits for another process that writes.
    pub(super) patience: Duration,
}

/// How long to wait before the file is tried again that another process writes to: about as long as a commit takes. SQLite
/// itself would wait longer each time, up to 100 ms, and meanwhile another process that is busy could write on and on.
const RETRY: Duration = Duration::from_millis(1);

impl Commit for Work {
    const AT_ONCE: usize = 256;

    async fn commit(&mut self, asked: &mut Vec<Asked>) {
        match self.transaction(asked).await {
            Ok(written) => asked.drain(..).zip(written).for_each(|(asked, written)| asked.answer.send(Ok(written))),
            // One that cannot be written is no reason not to write the others.
            Err(Failed::Write(_)) if asked.len() > 1 => {
                for one in asked.drain(..) {
                    let written = self.transaction(std::slice::from_ref(&one)).await;
                    let written = written.map(|written| written.into_iter().next().unwrap_or(Written::Refused));
                    one.answer.send(written.map_err(|failed| failed.into_error() as _));
                }
            }
            Err(failed) => {
                let error = failed.into_error();
                asked.drain(..).for_each(|asked| asked.answer.send(Err(Arc::clone(&error) as _)));
            }
        }
    }

    async fn close(self) {
        let _ = self.connection.close().await;
    }
}

impl Work {
    /// Begins and ends by plain statements: where SQLite rolls back by itself, as it does when the disk is full, a guard
    /// that counts transactions would be wrong from then on.
    async fn transaction(&mut self, asked: &[Asked]) -> Result<Vec<Written>, Failed> {
        self.begin().await.map_err(Failed::Whole)?;
        let (now, is_late) = (Instant::now(), self.renewal.is_late());
        let written = self.statements(asked, is_late).await;
        let written = match written {
            Ok(written) => self.connection.execute("COMMIT").await.map(|_| written).map_err(Failed::Whole),
            failed => failed,
        };
        if written.is_err() {
            // There may be nothing left to roll back.
            let _ = self.connection.execute("ROLLBACK").await;
        } else if is_late || asked.iter().any(|asked| matches!(asked.write, Write::Beat)) {
            self.renewal.renewed(now);
        }
        written
    }

    async fn begin(&mut self) -> Result<(), sqlx::Error> {
        let started = Instant::now();
        loop {
            match self.connection.execute("BEGIN IMMEDIATE").await {
                Err(sqlx::Error::Database(error)) if is_busy(&*error) && started.elapsed() < self.patience => {
                    sleep(RETRY).await;
                }
                begun => return begun.map(drop),
            }
        }
    }

    async fn statements(&mut self, asked: &[Asked], is_late: bool) -> Result<Vec<Written>, Failed> {
        if is_late {
            beat(&mut self.connection, self.holder).await.map_err(Failed::Whole)?;
        }
        let plain = many::plain(asked);
        let done = many::append(&mut self.connection, &plain).await.map_err(Failed::Write)?;
        let (mut done, mut written) = (&plain[..done], Vec::with_capacity(asked.len()));
        for (place, Asked { write, .. }) in asked.iter().enumerate() {
            written.push(match done {
                [(first, _), rest @ ..] if *first == place => {
                    done = rest;
                    Written::Done(0)
                }
                _ => one(&mut self.connection, self.holder, write).await.map_err(Failed::Write)?,
            });
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
            let query = sqlx::query(CREATE.sql(create.snapshot.as_ref()))
                .bind(&*create.id)
                .bind(&*create.owner)
                .bind(&*create.context);
            let query = query.bind(state).bind(phase).bind(moment).bind(create.revision).bind(holder);
            let query = query.bind(&*create.events).bind(create.snapshot.as_deref());
            connection.execute(query).await.map(|done| written(&done))
        }
        Write::Append(append) => {
            let trip = if append.moves.is_some() { MOVE } else { APPEND };
            let query = sqlx::query(trip.sql(append.snapshot.as_ref()));
            let query = query.bind(append.revision).bind(append.seq).bind(append.expected).bind(&*append.events);
            let query = query.bind(append.snapshot.as_deref());
            let query = match append.moves {
                Some(Standing { state, phase, moment }) => query.bind(state).bind(phase).bind(moment).bind(holder),
                None => query,
            };
            connection.execute(query).await.map(|done| written(&done))
        }
        Write::End(End { seq, events, standing, .. }) => {
            let query = sqlx::query(END).bind(seq).bind(standing.state).bind(standing.phase).bind(standing.moment);
            let ended = connection.execute(query.bind(holder).bind(&**events)).await?;
            if ended.rows_affected() == 0 {
                return Ok(Written::Refused);
            }
            let query = sqlx::query_scalar("SELECT revision FROM tasks WHERE seq = $1").bind(seq);
            query.fetch_one(connection).await.map(Written::Done)
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
            query.bind(holder).bind(json(ids)).execute(connection).await?;
            Ok(Written::Done(0))
        }
        Write::Retain(keep) => retain(connection, *keep).await.map(Written::Gone),
        Write::Claim(write) => claims::write(connection, holder, write).await,
    }
}

/// How SQLite takes a list.
pub(super) fn json<T: AsRef<str>>(ids: &[T]) -> String {
    let ids: Vec<_> = ids.iter().map(AsRef::as_ref).collect();
    serde_json::to_string(&ids).unwrap_or_default()
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
