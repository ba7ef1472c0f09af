//! What is kept no longer, and what is summed up.

use sqlx::{Connection as _, Executor as _, PgConnection, PgTransaction};

use super::read::text;
use crate::{
    error::BoxError,
    task::store::durable::{Keep, state_number},
    types::{StateKind, TaskState},
};

/// How many tasks are let go of in one transaction.
const LET_GO_AT_ONCE: i64 = 500;
/// How many changes of counts are summed up in one transaction.
const SUM_AT_ONCE: i64 = 10_000;

/// Sums up what has changed. Whoever reads the counts meanwhile sees all of it or nothing.
const SUM: &str = "\
    WITH taken AS ( \
        DELETE FROM count_changes WHERE id IN (SELECT id FROM count_changes ORDER BY id LIMIT $1) \
        RETURNING owner, state, tasks \
    ), counted AS ( \
        INSERT INTO counts (owner, state, tasks) SELECT owner, state, sum(tasks) FROM taken GROUP BY 1, 2 \
        HAVING sum(tasks) <> 0 ON CONFLICT (owner, state) DO UPDATE SET tasks = counts.tasks + EXCLUDED.tasks \
    ), totaled AS ( \
        INSERT INTO totals (state, tasks) SELECT state, sum(tasks) FROM taken GROUP BY 1 \
        ON CONFLICT (state) DO UPDATE SET tasks = totals.tasks + EXCLUDED.tasks \
    ) SELECT count(*) FROM taken";

/// The oldest go first, so those that are too many and those that are too old are at the same end.
const OLDEST: &str =
    "SELECT seq, moment FROM tasks WHERE phase = $1 AND phase > 0 ORDER BY phase, moment, seq LIMIT $2";
/// A task that somebody writes to is left for the next time.
const LOCK: &str = "SELECT seq FROM tasks WHERE seq = ANY($1) AND phase = $2 FOR UPDATE SKIP LOCKED";
const LET_GO: &str = "\
    WITH gone AS ( \
        DELETE FROM tasks WHERE seq = ANY($1) RETURNING coalesce(long_id, id) AS id, owner, state \
    ), logs AS (DELETE FROM log WHERE task = ANY($1) \
    ), bodies AS (DELETE FROM snapshots WHERE task = ANY($1) \
    ), counted AS ( \
        INSERT INTO count_changes (owner, state, tasks) SELECT owner, state, -count(*) FROM gone GROUP BY 1, 2 \
    ) SELECT id FROM gone";

/// Sums up, and then lets go of the oldest. Gives the ids of those that are gone.
pub(super) async fn retain(connection: &mut PgConnection, schema: &str, keep: Keep) -> Result<Vec<String>, BoxError> {
    // In the transaction that then reads the totals, or else another one may let go of the same number again.
    let mut transaction = locked(connection, schema).await?;
    while sum(&mut transaction).await? == SUM_AT_ONCE {
        transaction.commit().await?;
        transaction = locked(connection, schema).await?;
    }
    let states = TaskState::ALL.into_iter().filter(|state| phase(*state) == keep.phase);
    let states: Vec<_> = states.map(|state| state_number(state) as i16).collect();
    let there: i64 = sqlx::query_scalar("SELECT coalesce(sum(tasks), 0)::bigint FROM totals WHERE state = ANY($1)")
        .bind(states)
        .fetch_one(&mut *transaction)
        .await?;
    let too_many = usize::try_from(there - keep.count).unwrap_or(0);
    let query = sqlx::query_as(OLDEST).bind(keep.phase as i16).bind(LET_GO_AT_ONCE);
    let oldest: Vec<(i64, i64)> = query.fetch_all(&mut *transaction).await?;
    let goes = |(at, (_, moment)): &(usize, (i64, i64))| *at < too_many || *moment < keep.oldest;
    let goes: Vec<_> = oldest.into_iter().enumerate().filter(goes).map(|(_, (seq, _))| seq).collect();
    if goes.is_empty() {
        transaction.commit().await?;
        return Ok(Vec::new());
    }
    // In a statement of its own, so that the next one sees all that was written to them.
    let query = sqlx::query_scalar(LOCK).bind(goes).bind(keep.phase as i16);
    let locked: Vec<i64> = query.fetch_all(&mut *transaction).await?;
    let rows = sqlx::query(LET_GO).bind(locked).fetch_all(&mut *transaction).await?;
    let gone = rows.iter().map(|row| text(row, 0).map(str::to_owned)).collect::<Result<_, _>>()?;
    transaction.commit().await?;
    Ok(gone)
}

async fn sum(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    let summed = sqlx::query_scalar(SUM).bind(SUM_AT_ONCE).fetch_one(&mut *connection).await?;
    connection.execute("DELETE FROM counts WHERE tasks = 0").await?;
    // Holders that are gone and hold nothing any more: who comes back is made again.
    let idle = "DELETE FROM holders h WHERE h.beat < 0 AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.holder = h.id)";
    connection.execute(idle).await?;
    Ok(summed)
}

/// One replica at a time does this.
async fn locked<'a>(connection: &'a mut PgConnection, schema: &str) -> Result<PgTransaction<'a>, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended('a2a-layers retain ' || $1, 0))")
        .bind(schema)
        .execute(&mut *transaction)
        .await?;
    Ok(transaction)
}

fn phase(state: TaskState) -> i64 {
    match state.kind() {
        StateKind::Active => 0,
        StateKind::Interrupted => 1,
        StateKind::Terminal => 2,
    }
}
