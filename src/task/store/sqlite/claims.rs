//! Claims of messages.

use std::sync::Arc;

use sqlx::{Row as _, SqliteConnection};

use crate::{
    task::{
        Claim,
        store::durable::{ClaimWrite, Written, number, stored},
    },
    types::Timestamp,
};

/// How many are let go of in one transaction.
const LET_GO_AT_ONCE: i64 = 500;

/// A clock that has jumped makes no claim last longer than its time.
const CLAIM: &str = "\
    INSERT INTO claims (owner, key, fingerprint, task, revision, holder, moment, until) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $7 + $8) \
    ON CONFLICT (owner, key) DO UPDATE SET fingerprint = excluded.fingerprint, task = excluded.task, \
    revision = excluded.revision, holder = excluded.holder, moment = excluded.moment, until = excluded.until \
    WHERE abs(excluded.moment - claims.moment) >= $8";

const FIRST: &str = "SELECT fingerprint, task, revision FROM claims WHERE owner = $1 AND key = $2";

const RELEASE: &str = "DELETE FROM claims WHERE owner = $1 AND key = $2 AND task = $3 AND revision = $4";

const LET_GO: &str = "\
    DELETE FROM claims WHERE (owner, key) IN (SELECT owner, key FROM claims WHERE until <= $1 LIMIT $2)";

pub(super) async fn write(
    connection: &mut SqliteConnection,
    holder: i64,
    write: &ClaimWrite,
) -> Result<Written, sqlx::Error> {
    match write {
        ClaimWrite::Claim { owner, claim, window, .. } => {
            let Claim { key, fingerprint, task_id, revision } = claim;
            let query = sqlx::query(CLAIM).bind(&**owner).bind(&**key).bind(fingerprint.cast_signed());
            let query = query.bind(&**task_id).bind(stored(*revision)).bind(holder);
            let query = query.bind(Timestamp::now().as_millis()).bind(window);
            if query.execute(&mut *connection).await?.rows_affected() > 0 {
                return Ok(Written::Done(0));
            }
            let first = sqlx::query(FIRST).bind(&**owner).bind(&**key).fetch_one(connection).await?;
            let (fingerprint, task): (i64, &str) = (first.try_get(0)?, first.try_get(1)?);
            let first =
                Claim::new(Arc::clone(key), fingerprint.cast_unsigned(), task).behind(number(first.try_get(2)?));
            Ok(Written::Claimed(first))
        }
        ClaimWrite::Release { owner, claim } => {
            let query = sqlx::query(RELEASE).bind(&**owner).bind(&*claim.key).bind(&*claim.task_id);
            query.bind(stored(claim.revision)).execute(connection).await?;
            Ok(Written::Done(0))
        }
        ClaimWrite::LetGo => {
            let done =
                sqlx::query(LET_GO).bind(Timestamp::now().as_millis()).bind(LET_GO_AT_ONCE).execute(connection).await?;
            Ok(if done.rows_affected() > 0 { Written::Done(0) } else { Written::Refused })
        }
    }
}
