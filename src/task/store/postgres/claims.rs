//! Claims of messages.

use std::sync::Arc;

use sqlx::PgConnection;

use crate::task::{
    Claim,
    store::durable::{ClaimWrite, Written, number, stored},
};

/// How many are let go of in one transaction.
const LET_GO_AT_ONCE: i64 = 500;

/// A clock that has jumped makes no claim last longer than its time.
const CLAIM: &str = "\
    INSERT INTO claims (owner, key, fingerprint, task, revision, holder, tag, moment, until) \
    SELECT index_key($1), index_key($2), $3, $4, $5, $6, $7, moment, moment + $8 \
    FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS moment) now \
    ON CONFLICT (owner, key) DO UPDATE SET fingerprint = excluded.fingerprint, task = excluded.task, \
    revision = excluded.revision, holder = excluded.holder, tag = excluded.tag, moment = excluded.moment, \
    until = excluded.until WHERE abs(excluded.moment - claims.moment) >= $8";

const FIRST: &str =
    "SELECT fingerprint, task, revision, tag FROM claims WHERE owner = index_key($1) AND key = index_key($2)";

const RELEASE: &str =
    "DELETE FROM claims WHERE owner = index_key($1) AND key = index_key($2) AND task = $3 AND revision = $4";

/// Replicas that do the same at once leave each other's alone.
const LET_GO: &str = "\
    DELETE FROM claims WHERE (owner, key) IN (SELECT owner, key FROM claims \
    WHERE until <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint ORDER BY until LIMIT $1 FOR UPDATE SKIP LOCKED)";

/// May be done twice, where it is not known whether it was done.
pub(super) async fn write(
    connection: &mut PgConnection,
    holder: i64,
    write: &ClaimWrite,
) -> Result<Written, sqlx::Error> {
    match write {
        ClaimWrite::Claim { owner, claim, window, tag } => loop {
            let Claim { key, fingerprint, task_id, revision } = claim;
            let query = sqlx::query(CLAIM).bind(owner.as_bytes()).bind(key.as_bytes()).bind(fingerprint.cast_signed());
            let query = query.bind(task_id.as_bytes()).bind(stored(*revision)).bind(holder).bind(tag).bind(window);
            if query.execute(&mut *connection).await?.rows_affected() > 0 {
                return Ok(Written::Done(0));
            }
            let query = sqlx::query_as(FIRST).bind(owner.as_bytes()).bind(key.as_bytes());
            let first: Option<(i64, Vec<u8>, i64, i64)> = query.fetch_optional(&mut *connection).await?;
            let Some((fingerprint, task, revision, by)) = first else {
                // It was given up meanwhile.
                continue;
            };
            if by == *tag {
                return Ok(Written::Done(0));
            }
            let task = String::from_utf8(task).map_err(|error| sqlx::Error::Decode(error.into()))?;
            let first = Claim::new(Arc::clone(key), fingerprint.cast_unsigned(), task).behind(number(revision));
            return Ok(Written::Claimed(first));
        },
        ClaimWrite::Release { owner, claim } => {
            let query = sqlx::query(RELEASE).bind(owner.as_bytes()).bind(claim.key.as_bytes());
            let query = query.bind(claim.task_id.as_bytes()).bind(stored(claim.revision));
            query.execute(connection).await?;
            Ok(Written::Done(0))
        }
        ClaimWrite::LetGo => {
            let done = sqlx::query(LET_GO).bind(LET_GO_AT_ONCE).execute(connection).await?;
            Ok(if done.rows_affected() > 0 { Written::Done(0) } else { Written::Refused })
        }
    }
}

/// Gives up the claim of this tag.
pub(super) async fn disown(connection: &mut PgConnection, owner: &str, key: &str, tag: i64) -> Result<(), sqlx::Error> {
    const SQL: &str = "DELETE FROM claims WHERE owner = index_key($1) AND key = index_key($2) AND tag = $3";
    let query = sqlx::query(SQL).bind(owner.as_bytes()).bind(key.as_bytes()).bind(tag);
    query.execute(connection).await.map(drop)
}
