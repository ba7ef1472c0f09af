//! Somebody who follows a log.

use std::{collections::VecDeque, sync::Arc};

use futures_core::Stream;
use futures_util::stream;

use super::{
    Backend, Inner,
    topics::{Growth, Subscription},
};
use crate::{
    owner::Owner,
    task::{LogEntry, StoreError, store::READ_AT_ONCE},
};

pub(super) struct Follow<B> {
    store: Arc<Inner<B>>,
    owner: Owner,
    id: Arc<str>,
    /// The number of the last entry that was given out.
    after: u64,
    subscription: Subscription,
    entries: VecDeque<LogEntry>,
    /// False until the database was asked, which also says whether the owner may see it.
    has_read: bool,
}

impl<B: Backend> Follow<B> {
    pub(super) fn new(store: Arc<Inner<B>>, owner: Owner, id: Arc<str>, after: u64) -> Self {
        let subscription = store.topics.subscribe(&owner, &id);
        Self { store, owner, id, after, subscription, entries: VecDeque::new(), has_read: false }
    }

    pub(super) fn entries(self) -> impl Stream<Item = Result<LogEntry, StoreError>> + Send + 'static {
        stream::unfold(Some(self), |follow| async {
            let mut follow = follow?;
            match follow.next().await {
                Ok(entry) => Some((Ok(entry), Some(follow))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn next(&mut self) -> Result<LogEntry, StoreError> {
        loop {
            if let Some(entry) = self.entries.pop_front() {
                self.after = entry.number();
                return Ok(entry);
            }
            let read = match self.subscription.growth() {
                Growth::Gone if self.has_read => return Err(StoreError::NotFound),
                Growth::Revision(revision) if self.has_read && revision <= self.after => {
                    self.subscription.changed().await;
                    continue;
                }
                // What this process wrote is at hand.
                _ if self.has_read => self.store.topics.recent(&self.owner, &self.id, self.after, READ_AT_ONCE),
                _ => None,
            };
            self.entries = match read {
                Some(entries) => entries.into(),
                None => self.store.entries(&self.owner, &self.id, self.after, READ_AT_ONCE).await?.into(),
            };
            // Only when nothing is left in the database is it enough to be told.
            self.has_read = self.has_read || self.entries.len() < READ_AT_ONCE;
        }
    }
}
