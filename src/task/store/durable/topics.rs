//! Who waits in this process for logs that are kept elsewhere, and what was last appended to those.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use crate::task::store::READ_AT_ONCE;
use crate::{owner::Owner, task::LogEntry};

/// How many of the last entries of a log are kept for those who follow it: a few reads' worth.
const RECENT: usize = 4 * READ_AT_ONCE;
/// What is told of a task that is gone, instead of its revision.
const GONE: u64 = u64::MAX;

/// The logs that somebody waits for. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topics(Arc<Mutex<HashMap<Arc<str>, Topic>>>);

#[derive(Debug)]
struct Topic {
    owner: Owner,
    revision: watch::Sender<u64>,
    recent: VecDeque<LogEntry>,
}

/// Somebody who waits. With the last one the topic goes.
#[derive(Debug)]
pub(crate) struct Subscription {
    topics: Topics,
    id: Arc<str>,
    /// Taken when this is dropped, so that it no longer counts.
    revision: Option<watch::Receiver<u64>>,
}

/// What has happened to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// It is known to have got this far; 0 if nothing is known.
    Revision(u64),
    /// It is gone.
    Gone,
}

impl Topics {
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Topic>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits from now on. What an owner may see is for the caller to find out; until then others' entries are kept apart.
    pub(crate) fn subscribe(&self, owner: &Owner, id: &Arc<str>) -> Subscription {
        let mut topics = self.lock();
        let topic = topics.entry(Arc::clone(id)).or_insert_with(|| Topic {
            owner: owner.clone(),
            revision: watch::Sender::new(0),
            recent: VecDeque::new(),
        });
        let revision = Some(topic.revision.subscribe());
        Subscription { topics: self.clone(), id: Arc::clone(id), revision }
    }

    /// Tells those who wait for a log what was appended to it here.
    pub(crate) fn appended(&self, owner: &Owner, id: &str, entries: impl Iterator<Item = LogEntry>) {
        let mut topics = self.lock();
        let Some(topic) = topics.get_mut(id) else { return };
        // The first to wait may have been somebody who must not see it.
        if topic.owner != *owner {
            (topic.owner, topic.recent) = (owner.clone(), VecDeque::new());
        }
        let mut last = 0;
        for entry in entries {
            // Somebody else may have appended in between; the entries that are kept must have no gaps.
            if topic.recent.back().is_some_and(|before| before.number() + 1 != entry.number()) {
                topic.recent.clear();
            }
            if topic.recent.len() == RECENT {
                topic.recent.pop_front();
            }
            last = entry.number();
            topic.recent.push_back(entry);
        }
        tell(topic, last);
    }

    /// Tells those who wait for a log how far it has got elsewhere; `None` if it is gone.
    pub(crate) fn grown(&self, id: &str, revision: Option<u64>) {
        if let Some(topic) = self.lock().get(id) {
            tell(topic, revision.unwrap_or(GONE));
        }
    }

    /// The logs that somebody waits for.
    pub(crate) fn ids(&self) -> Vec<Arc<str>> {
        self.lock().keys().cloned().collect()
    }

    /// The entries behind this number, if they are among those kept for this owner.
    pub(crate) fn recent(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Option<Vec<LogEntry>> {
        let topics = self.lock();
        let topic = topics.get(id).filter(|topic| topic.owner == *owner)?;
        let first = topic.recent.front()?.number();
        let from = usize::try_from(after.saturating_add(1).checked_sub(first)?).ok()?;
        let entries = topic.recent.range(from.min(topic.recent.len())..);
        let entries: Vec<_> = entries.take(limit).cloned().collect();
        (!entries.is_empty()).then_some(entries)
    }
}

fn tell(topic: &Topic, revision: u64) {
    topic.revision.send_if_modified(|known| {
        let grows = revision > *known;
        *known = revision.max(*known);
        grows
    });
}

impl Subscription {
    /// What is known by now.
    pub(crate) fn growth(&mut self) -> Growth {
        match self.revision.as_mut().map_or(GONE, |revision| *revision.borrow_and_update()) {
            GONE => Growth::Gone,
            revision => Growth::Revision(revision),
        }
    }

    /// Waits until more is known.
    pub(crate) async fn changed(&mut self) {
        if let Some(revision) = &mut self.revision {
            // The sender lives as long as somebody is subscribed.
            let _ = revision.changed().await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut topics = self.topics.lock();
        self.revision = None;
        if topics.get(&self.id).is_some_and(|topic| topic.revision.receiver_count() == 0) {
            topics.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::types::{Event, Message};

    fn entry(number: u64) -> LogEntry {
        LogEntry::new(number, Event::Message(Arc::new(Message::agent("x"))))
    }

    fn numbers(entries: Option<Vec<LogEntry>>) -> Option<Vec<u64>> {
        entries.map(|entries| entries.iter().map(LogEntry::number).collect())
    }

    #[test]
    fn the_last_entries_are_kept_for_those_who_wait_and_go_with_them() {
        let (topics, owner, id) = (Topics::default(), Owner::new("ann"), Arc::from("t"));
        topics.appended(&owner, &id, [entry(1)].into_iter());
        assert!(topics.recent(&owner, &id, 0, 9).is_none(), "nobody waits");
        let mut waiting = topics.subscribe(&owner, &id);
        assert_eq!(waiting.growth(), Growth::Revision(0));
        topics.appended(&owner, &id, (2..=4).map(entry));
        assert!(waiting.changed().now_or_never().is_some());
        assert_eq!(waiting.growth(), Growth::Revision(4));
        assert!(waiting.changed().now_or_never().is_none());
        for (after, limit, expected) in
            [(0, 9, None), (1, 9, Some(vec![2, 3, 4])), (2, 1, Some(vec![3])), (4, 9, None), (9, 9, None)]
        {
            assert_eq!(numbers(topics.recent(&owner, &id, after, limit)), expected, "{after} {limit}");
        }
        assert!(topics.recent(&Owner::anonymous(), &id, 1, 9).is_none());
        // Another process has appended 5.
        topics.grown(&id, Some(5));
        assert_eq!(waiting.growth(), Growth::Revision(5));
        topics.appended(&owner, &id, [entry(6)].into_iter());
        assert_eq!(numbers(topics.recent(&owner, &id, 4, 9)), None);
        assert_eq!(numbers(topics.recent(&owner, &id, 5, 9)), Some(vec![6]));
        topics.grown(&id, None);
        assert_eq!(waiting.growth(), Growth::Gone);
        drop(waiting);
        assert!(topics.ids().is_empty());
    }

    #[test]
    fn no_more_are_kept_than_may_be() {
        let (topics, owner, id) = (Topics::default(), Owner::anonymous(), Arc::from("t"));
        let waiting = topics.subscribe(&owner, &id);
        topics.appended(&owner, &id, (1..=RECENT as u64 + 1).map(entry));
        assert!(topics.recent(&owner, &id, 0, 1).is_none());
        assert_eq!(numbers(topics.recent(&owner, &id, 1, usize::MAX)).unwrap().len(), RECENT);
        drop(waiting);
    }
}
