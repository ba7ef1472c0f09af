//! Many writes of a kind as one statement, and so as one transaction and one round trip.

use sqlx::{PgConnection, Row as _, postgres::PgRow};

use super::read::Values;
use crate::task::store::durable::{Append, Create};

/// A write of which many fit into one statement. Of those in a batch no two are of the same task.
pub(super) trait Batched: Send + Sync + Sized + 'static {
    /// Gives the rows that the statement gave which has written them.
    const LOOK: &'static str;

    /// In this order locks are taken, so that no two writers wait for each other.
    type Place: Ord + ?Sized;
    fn place(&self) -> &Self::Place;

    /// A statement that writes them, and gives a row for each that was as expected: its place from 1, the task's row, and the
    /// holder that it was taken from by its end.
    fn write(batch: &[Self], tags: &[i64], holder: i64) -> Result<(&'static str, Values), sqlx::Error>;

    fn values_to_look(batch: &[Self], tags: &[i64]) -> Result<Values, sqlx::Error>;

    /// The task's id, and the revision that it then has.
    fn change(&self) -> (&std::sync::Arc<str>, i64);
}

/// What came of a write that was as expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) seq: i64,
    pub(super) ended: Option<i64>,
}

/// A prepared statement, with its rows put where they belong.
pub(super) async fn run(
    connection: &mut PgConnection,
    sql: &str,
    values: Values,
    writes: usize,
) -> Result<Vec<Option<Done>>, sqlx::Error> {
    let rows = sqlx::query_with(sql, values.into_arguments()).fetch_all(connection).await?;
    let mut done = vec![None; writes];
    for row in rows {
        let (at, one) = read(&row)?;
        if let Some(place) = usize::try_from(at - 1).ok().and_then(|at| done.get_mut(at)) {
            *place = Some(one);
        }
    }
    Ok(done)
}

fn read(row: &PgRow) -> Result<(i64, Done), sqlx::Error> {
    Ok((row.try_get(0)?, Done { seq: row.try_get(1)?, ended: row.try_get(2)? }))
}

/// One value of each write.
fn column<'a, W, T>(batch: &'a [W], of: impl Fn(&'a W) -> T) -> Vec<T> {
    batch.iter().map(of).collect()
}

impl Create {
    /// The longest text that stands in an index as it is, in bytes; as in the schema.
    const SHORT: usize = 512;

    /// Nearly all are short.
    fn is_short(&self) -> bool {
        [&*self.id, &*self.owner, &*self.context].iter().all(|text| text.len() <= Self::SHORT)
    }

    const WRITE_SHORT: &'static str = "\
        WITH given AS MATERIALIZED ( \
            SELECT nextval('tasks_seq_seq') AS seq, g.* FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::smallint[], \
            $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[]) \
            WITH ORDINALITY AS g (id, owner, context, state, phase, moment, revision, tag, events, body, at) \
        ), made AS ( \
            INSERT INTO tasks (seq, moment, revision, holder, state, phase, id, owner, context) \
            SELECT seq, moment, revision, CASE WHEN phase = 0 THEN $11::bigint END, state, phase, id, owner, context \
            FROM given ON CONFLICT (id) DO NOTHING RETURNING seq \
        ), whole AS MATERIALIZED (SELECT g.* FROM made m JOIN given g ON g.seq = m.seq \
        ), logged AS ( \
            INSERT INTO log (task, last, first, tag, events) SELECT seq, revision, 1, tag, events FROM whole \
        ), kept AS ( \
            INSERT INTO snapshots (task, revision, body) SELECT seq, revision, body FROM whole WHERE body IS NOT NULL \
        ), counted AS ( \
            INSERT INTO count_changes (owner, state, tasks) SELECT owner, state, count(*) FROM whole GROUP BY 1, 2 \
        ) SELECT at, seq, NULL::bigint FROM whole";

    const WRITE: &'static str = "\
        WITH given AS MATERIALIZED ( \
            SELECT g.*, index_key(g.id) AS id_key, index_key(g.owner) AS owner_key FROM unnest($1::bytea[], $2::bytea[], \
            $3::bytea[], $4::smallint[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[]) \
            WITH ORDINALITY AS g (id, owner, context, state, phase, moment, revision, tag, events, body, at) \
        ), made AS ( \
            INSERT INTO tasks (moment, revision, holder, state, phase, id, owner, context, long_id, long_owner, long_context) \
            SELECT moment, revision, CASE WHEN phase = 0 THEN $11::bigint END, state, phase, id_key, owner_key, \
                index_key(context), long_text(id), long_text(owner), long_text(context) FROM given \
            ON CONFLICT (id) DO NOTHING RETURNING seq, id \
        ), whole AS MATERIALIZED (SELECT m.seq, g.* FROM made m JOIN given g ON g.id_key = m.id \
        ), logged AS ( \
            INSERT INTO log (task, last, first, tag, events) SELECT seq, revision, 1, tag, events FROM whole \
        ), kept AS ( \
            INSERT INTO snapshots (task, revision, body) SELECT seq, revision, body FROM whole WHERE body IS NOT NULL \
        ), counted AS ( \
            INSERT INTO count_changes (owner, state, tasks) SELECT owner_key, state, count(*) FROM whole GROUP BY 1, 2 \
        ) SELECT at, seq, NULL::bigint FROM whole";
}

impl Batched for Create {
    const LOOK: &'static str = "\
        SELECT g.at, t.seq, NULL::bigint FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) \
        WITH ORDINALITY AS g (id, revision, tag, at) JOIN tasks t ON t.id = index_key(g.id) \
        JOIN log l ON l.task = t.seq AND l.last = g.revision AND l.tag = g.tag";

    type Place = str;

    fn place(&self) -> &str {
        &self.id
    }

    fn write(batch: &[Self], tags: &[i64], holder: i64) -> Result<(&'static str, Values), sqlx::Error> {
        let sql = if batch.iter().all(Self::is_short) { Self::WRITE_SHORT } else { Self::WRITE };
        let values = Values::default()
            .with(column(batch, |write| write.id.as_bytes()))?
            .with(column(batch, |write| write.owner.as_bytes()))?
            .with(column(batch, |write| write.context.as_bytes()))?
            .with(column(batch, |write| write.standing.state as i16))?
            .with(column(batch, |write| write.standing.phase as i16))?
            .with(column(batch, |write| write.standing.moment))?
            .with(column(batch, |write| write.revision))?
            .with(tags)?
            .with(column(batch, |write| write.events.as_bytes()))?
            .with(column(batch, |write| write.snapshot.as_deref().map(str::as_bytes)))?
            .with(holder)?;
        Ok((sql, values))
    }

    fn values_to_look(batch: &[Self], tags: &[i64]) -> Result<Values, sqlx::Error> {
        Values::default()
            .with(column(batch, |write| write.id.as_bytes()))?
            .with(column(batch, |write| write.revision))?
            .with(tags)
    }

    fn change(&self) -> (&std::sync::Arc<str>, i64) {
        (&self.id, self.revision)
    }
}

impl Append {
    /// True if nothing but the log grows, as with most.
    fn is_plain(&self) -> bool {
        self.moves.is_none() && self.snapshot.is_none()
    }

    const WRITE_PLAIN: &'static str = "\
        WITH moved AS ( \
            UPDATE tasks t SET revision = g.revision \
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[]) WITH ORDINALITY \
                AS g (seq, expected, revision, tag, events, at) \
            WHERE t.seq = g.seq AND t.revision = g.expected RETURNING g.* \
        ), logged AS ( \
            INSERT INTO log (task, last, first, tag, events) SELECT seq, revision, expected + 1, tag, events FROM moved \
        ) SELECT at, seq, NULL::bigint FROM moved";

    /// Whoever has changed a task first is waited for, and then its revision is another.
    const WRITE: &'static str = "\
        WITH moved AS ( \
            UPDATE tasks t SET revision = g.revision, state = coalesce(g.state, t.state), \
                phase = coalesce(g.phase, t.phase), moment = coalesce(g.moment, t.moment), \
                holder = CASE WHEN g.phase IS NULL THEN t.holder WHEN g.phase = 0 OR g.state = 7 THEN $10::bigint \
                    WHEN g.phase = 2 AND t.holder <> $10 THEN t.holder END \
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[], $7::smallint[], \
                $8::smallint[], $9::smallint[], $11::bigint[]) WITH ORDINALITY \
                AS g (seq, expected, revision, tag, events, body, state_before, state, phase, moment, at) \
            WHERE t.seq = g.seq AND t.revision = g.expected \
            RETURNING g.*, t.owner, CASE WHEN g.phase = 2 THEN t.holder END AS ended \
        ), logged AS ( \
            INSERT INTO log (task, last, first, tag, events) SELECT seq, revision, expected + 1, tag, events FROM moved \
        ), kept AS ( \
            INSERT INTO snapshots (task, revision, body) SELECT seq, revision, body FROM moved WHERE body IS NOT NULL \
            ON CONFLICT (task) DO UPDATE SET revision = EXCLUDED.revision, body = EXCLUDED.body \
        ), counted AS ( \
            INSERT INTO count_changes (owner, state, tasks) SELECT owner, state, sum(tasks) FROM ( \
                SELECT owner, state, 1 FROM moved WHERE state <> state_before UNION ALL \
                SELECT owner, state_before, -1 FROM moved WHERE state <> state_before \
            ) AS c (owner, state, tasks) GROUP BY 1, 2 HAVING sum(tasks) <> 0 \
        ) SELECT at, seq, ended FROM moved";
}

impl Batched for Append {
    const LOOK: &'static str = "\
        SELECT g.at, g.seq, NULL::bigint FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) \
        WITH ORDINALITY AS g (seq, revision, tag, at) \
        JOIN log l ON l.task = g.seq AND l.last = g.revision AND l.tag = g.tag";

    type Place = i64;

    fn place(&self) -> &i64 {
        &self.seq
    }

    fn write(batch: &[Self], tags: &[i64], holder: i64) -> Result<(&'static str, Values), sqlx::Error> {
        let values = Values::default()
            .with(column(batch, |write| write.seq))?
            .with(column(batch, |write| write.expected))?
            .with(column(batch, |write| write.revision))?
            .with(tags)?
            .with(column(batch, |write| write.events.as_bytes()))?;
        if batch.iter().all(Self::is_plain) {
            return Ok((Self::WRITE_PLAIN, values));
        }
        let values = values
            .with(column(batch, |write| write.snapshot.as_deref().map(str::as_bytes)))?
            .with(column(batch, |write| write.state_before as i16))?
            .with(column(batch, |write| write.moves.map(|to| to.state as i16)))?
            .with(column(batch, |write| write.moves.map(|to| to.phase as i16)))?
            .with(holder)?
            .with(column(batch, |write| write.moves.map(|to| to.moment)))?;
        Ok((Self::WRITE, values))
    }

    fn values_to_look(batch: &[Self], tags: &[i64]) -> Result<Values, sqlx::Error> {
        Values::default()
            .with(column(batch, |write| write.seq))?
            .with(column(batch, |write| write.revision))?
            .with(tags)
    }

    fn change(&self) -> (&std::sync::Arc<str>, i64) {
        (&self.id, self.revision)
    }
}
