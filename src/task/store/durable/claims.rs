//! Claims of messages.

use std::time::Duration;

use uuid::Uuid;

use super::{Inner, Write, Written, owner_text};
use crate::{
    owner::Owner,
    task::{Claim, StoreError},
};

/// What is to be done about claims. Times are the database's own.
#[derive(Debug)]
pub(crate) enum ClaimWrite {
    Claim {
        owner: String,
        claim: Claim,
        /// How long a claim counts, in milliseconds.
        window: i64,
        /// Tells it from all others, those of the same message too: a claim that is found may be this one, where it was not
        /// known whether it was written.
        #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "SQLite always knows"))]
        tag: i64,
    },
    Release {
        owner: String,
        claim: Claim,
    },
    /// Lets go of some of those that are over.
    LetGo,
}

impl<B> Inner<B> {
    pub(super) async fn claim(
        &self,
        owner: &Owner,
        claim: &Claim,
        window: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let (owner, claim) = (owner_text(owner).into_owned(), claim.clone());
        // As far apart as no two moments are.
        let window = i64::try_from(window.as_millis()).unwrap_or(i64::MAX).min(i64::MAX >> 2);
        let tag = Uuid::new_v4().as_u64_pair().0.cast_signed();
        match self.writer.write(Write::Claim(ClaimWrite::Claim { owner, claim, window, tag })).await? {
            Written::Claimed(first) => Ok(Some(first)),
            _ => Ok(None),
        }
    }

    pub(super) async fn release(&self, owner: &Owner, claim: &Claim) -> Result<(), StoreError> {
        let (owner, claim) = (owner_text(owner).into_owned(), claim.clone());
        self.writer.write(Write::Claim(ClaimWrite::Release { owner, claim })).await.map(drop)
    }

    pub(super) async fn let_go_of_claims(&self) -> Result<(), StoreError> {
        while let Written::Done(_) = self.writer.write(Write::Claim(ClaimWrite::LetGo)).await? {}
        Ok(())
    }
}
