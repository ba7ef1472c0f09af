//! Claims of messages.

use std::{sync::Arc, time::Duration};

use sqlx::{Row as _, SqliteConnection};

use super::{
    SqliteTaskStore, StoreError,
    read::{number, owner_text, stored},
    writer::{Write, Written},
};
use crate::{owner::Owner, task::Claim, types::Timestamp};

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

const RELEASE: &str = "\
    DELETE FROM claims WHERE owner = $1 AND key = $2 AND task = $3 AND revision = $4 AND holder = $5 \
    AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = claims.task AND tasks.revision > claims.revision)";

const LET_GO: &str = "\
    DELETE FROM claims WHERE (owner, key) IN (SELECT owner, key FROM claims WHERE until <= $1 LIMIT $2)";

/// What is to be done about claims.
#[derive(Debug)]
pub(super) enum ClaimWrite {
    Claim {
        owner: String,
        claim: Claim,
        moment: i64,
        window: i64,
    },
    Release {
        owner: String,
        claim: Claim,
    },
    /// Lets go of some of those that are over at this moment.
    LetGo(i64),
}

impl SqliteTaskStore {
    pub(super) async fn claim_message(
        &self,
        owner: &Owner,
        claim: &Claim,
        window: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let (owner, claim) = (owner_text(owner).into_owned(), claim.clone());
        // As far apart as no two moments are.
        let window = i64::try_from(window.as_millis()).unwrap_or(i64::MAX).min(i64::MAX >> 2);
        let moment = Timestamp::now().as_millis();
        match self.0.write(Write::Claim(ClaimWrite::Claim { owner, claim, moment, window })).await? {
            Written::Claimed(first) => Ok(Some(first)),
            _ => Ok(None),
        }
    }

    pub(super) async fn release_message(&self, owner: &Owner, claim: &Claim) -> Result<(), StoreError> {
        let (owner, claim) = (owner_text(owner).into_owned(), claim.clone());
        self.0.write(Write::Claim(ClaimWrite::Release { owner, claim })).await.map(drop)
    }

    pub(super) async fn let_go_of_claims(&self) -> Result<(), StoreError> {
        let now = Timestamp::now().as_millis();
        while let Written::Done(_) = self.0.write(Write::Claim(ClaimWrite::LetGo(now))).await? {}
        Ok(())
    }
}

pub(super) async fn write(
    connection: &mut SqliteConnection,
    holder: i64,
    write: &ClaimWrite,
) -> Result<Written, sqlx::Error> {
    match write {
        ClaimWrite::Claim { owner, claim, moment, window } => {
            let Claim { key, fingerprint, task_id, revision } = claim;
            let query = sqlx::query(CLAIM).bind(&**owner).bind(&**key).bind(fingerprint.cast_signed());
            let query = query.bind(&**task_id).bind(stored(*revision)).bind(holder).bind(moment).bind(window);
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
            query.bind(stored(claim.revision)).bind(holder).execute(connection).await?;
            Ok(Written::Done(0))
        }
        ClaimWrite::LetGo(moment) => {
            let done = sqlx::query(LET_GO).bind(moment).bind(LET_GO_AT_ONCE).execute(connection).await?;
            Ok(if done.rows_affected() > 0 { Written::Done(0) } else { Written::Refused })
        }
    }
}
