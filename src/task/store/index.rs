//! Finds tasks by id, and in the order of their last status.

use std::{
    borrow::{Borrow, Cow},
    collections::{BTreeMap, HashMap, VecDeque, hash_map},
    hash::{Hash, Hasher},
    mem,
    ops::Bound,
    sync::Arc,
};

use super::ListQuery;
use crate::{
    owner::Owner,
    types::{Task, TaskState, Timestamp},
};

/// Where a task stands in a list: the moment of its status, and, among equals, when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) millis: i64,
    pub(super) sequence: u64,
}

impl Key {
    /// The same task's place at another moment.
    pub(super) fn at(self, time: Timestamp) -> Self {
        Self { millis: time.as_millis(), ..self }
    }

    pub(super) fn to_token(self) -> String {
        format!("{:x}.{:x}", self.millis, self.sequence)
    }

    pub(super) fn from_token(token: &str) -> Option<Self> {
        let (millis, sequence) = token.split_once('.')?;
        let key = Self {
            millis: u64::from_str_radix(millis, 16).ok()?.cast_signed(),
            sequence: u64::from_str_radix(sequence, 16).ok()?,
        };
        // Only what this store writes: no signs, no leading zeros, no capitals.
        (key.to_token() == token).then_some(key)
    }
}

/// How many tasks are kept, and from which moment on, in milliseconds since the epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    pub(super) count: usize,
    pub(super) oldest: i64,
}

impl Keep {
    fn is_beyond(self, count: usize, millis: i64) -> bool {
        count > self.count || millis < self.oldest
    }
}

/// What never changes of a record, and is needed to find it.
pub(super) trait Filed {
    fn id(&self) -> &str;
    fn owner(&self) -> &Owner;
    fn context_id(&self) -> &Arc<str>;
}

/// All tasks of a store. It knows where they stand, not what they say.
#[derive(Debug)]
pub(super) struct Catalog<R> {
    /// Where each stands. Small entries, since each look-up is somewhere else in them.
    tasks: HashMap<ById<R>, Key>,
    owners: HashMap<Owner, OwnerIndex<R>>,
    /// Finished tasks, in the order in which they ended.
    finished: VecDeque<(i64, Arc<R>)>,
    /// Tasks that wait for their caller, in the order in which they began to.
    interrupted: BTreeMap<Key, Arc<R>>,
    next_sequence: u64,
}

/// A record, found by its task's id.
#[derive(Debug)]
struct ById<R>(Arc<R>);

impl<R: Filed> Borrow<str> for ById<R> {
    fn borrow(&self) -> &str {
        self.0.id()
    }
}

impl<R: Filed> Hash for ById<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id().hash(state);
    }
}

impl<R: Filed> PartialEq for ById<R> {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}

impl<R: Filed> Eq for ById<R> {}

#[derive(Debug)]
struct OwnerIndex<R> {
    all: BTreeMap<Key, Entry<R>>,
    contexts: HashMap<Arc<str>, Conversation<R>>,
    /// How many tasks are in each state.
    states: [u64; TaskState::ALL.len() + 1],
}

/// The tasks of one conversation. Most have one, for which a tree would be a large node that is nearly empty.
#[derive(Debug)]
enum Conversation<R> {
    One(Key),
    More(BTreeMap<Key, Entry<R>>),
}

#[derive(Debug)]
struct Entry<R> {
    record: Arc<R>,
    state: TaskState,
}

/// A page, and what there is beyond it.
#[derive(Debug)]
pub(super) struct Found<R> {
    pub(super) records: Vec<Arc<R>>,
    pub(super) next: Option<Key>,
    pub(super) total: u64,
}

impl<R> Default for Catalog<R> {
    fn default() -> Self {
        Self {
            tasks: HashMap::new(),
            owners: HashMap::new(),
            finished: VecDeque::new(),
            interrupted: BTreeMap::new(),
            next_sequence: 0,
        }
    }
}

impl<R> Default for OwnerIndex<R> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), contexts: HashMap::new(), states: Default::default() }
    }
}

impl<R> Clone for Entry<R> {
    fn clone(&self) -> Self {
        Self { record: Arc::clone(&self.record), state: self.state }
    }
}

impl<R: Filed> Catalog<R> {
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<R>> {
        self.tasks.get_key_value(id).map(|(record, _)| Arc::clone(&record.0))
    }

    pub(super) fn next_key(&mut self, time: Timestamp) -> Key {
        self.next_sequence += 1;
        Key { millis: time.as_millis(), sequence: self.next_sequence }
    }

    /// False, and nothing done, if the id is taken.
    pub(super) fn insert(&mut self, task: &Task, key: Key, record: Arc<R>) -> bool {
        let hash_map::Entry::Vacant(place) = self.tasks.entry(ById(Arc::clone(&record))) else { return false };
        place.insert(key);
        self.note_rest(&record, task, key);
        let state = task.status.state;
        match self.index_mut(record.owner()) {
            Some(index) => index.insert(key, Entry { record, state }),
            None => {
                let owner = record.owner().clone();
                self.owners.entry(owner).or_default().insert(key, Entry { record, state });
            }
        }
        true
    }

    /// What there is of an owner. Where callers are not told apart there is one, which is found without a look-up.
    fn index_mut(&mut self, owner: &Owner) -> Option<&mut OwnerIndex<R>> {
        if self.owners.len() > 1 {
            return self.owners.get_mut(owner);
        }
        self.owners.iter_mut().find(|(only, _)| *only == owner).map(|(_, index)| index)
    }

    /// Moves a task whose status changed.
    pub(super) fn reposition(&mut self, record: &Arc<R>, task: &Task, old: Key, new: Key) {
        // A task that was let go meanwhile stays gone.
        let Some(key) = self.tasks.get_mut(record.id()) else { return };
        *key = new;
        if let Some(index) = self.index_mut(record.owner()) {
            index.reposition(&task.context_id, old, new, task.status.state);
        }
        self.interrupted.remove(&old);
        self.note_rest(record, task, new);
    }

    fn note_rest(&mut self, record: &Arc<R>, task: &Task, key: Key) {
        if task.status.state.is_terminal() {
            self.finished.push_back((key.millis, Arc::clone(record)));
        } else if task.status.state.is_interrupted() {
            self.interrupted.insert(key, Arc::clone(record));
        }
    }

    /// Lets go of finished and of interrupted tasks that are beyond what is kept of each.
    pub(super) fn retain(&mut self, finished: Keep, interrupted: Keep) -> Vec<Arc<R>> {
        let mut dropped = Vec::new();
        while self.finished.front().is_some_and(|(ended, _)| finished.is_beyond(self.finished.len(), *ended)) {
            dropped.extend(self.finished.pop_front().map(|(_, record)| self.remove(record)));
        }
        while let Some(first) = self.interrupted.first_entry().map(|entry| entry.key().millis)
            && interrupted.is_beyond(self.interrupted.len(), first)
        {
            dropped.extend(self.interrupted.pop_first().map(|(_, record)| self.remove(record)));
        }
        dropped
    }

    fn remove(&mut self, record: Arc<R>) -> Arc<R> {
        if let Some(key) = self.tasks.remove(record.id())
            && let Some(index) = self.index_mut(record.owner())
        {
            index.remove(record.context_id(), key);
            if index.all.is_empty() {
                self.owners.remove(record.owner());
            }
        }
        record
    }

    pub(super) fn list(&self, owner: &Owner, query: &ListQuery, before: Option<Key>) -> Found<R> {
        let mut found = Found { records: Vec::new(), next: None, total: 0 };
        let Some(index) = self.owners.get(owner) else { return found };
        let entries = match &query.context_id {
            None => Cow::Borrowed(&index.all),
            Some(id) => match index.contexts.get(id) {
                None => return found,
                Some(Conversation::One(key)) => {
                    Cow::Owned(index.all.get(key).map(|entry| (*key, entry.clone())).into_iter().collect())
                }
                Some(Conversation::More(entries)) => Cow::Borrowed(entries),
            },
        };
        let from = query
            .status_timestamp_after
            .map_or(Bound::Unbounded, |time| Bound::Included(Key { millis: time.as_millis(), sequence: 0 }));
        let matches = |entry: &Entry<R>| query.status.is_none_or(|state| entry.state == state);
        found.total = match (&query.context_id, query.status, query.status_timestamp_after) {
            (_, None, None) => entries.len() as u64,
            (None, Some(state), None) => index.states[state as usize],
            _ => entries.range((from, Bound::Unbounded)).filter(|(_, entry)| matches(entry)).count() as u64,
        };
        let to = before.map_or(Bound::Unbounded, Bound::Excluded);
        // A token from beyond the filter leaves nothing; `range` would panic on bounds that cross.
        if let (Bound::Included(low), Bound::Excluded(high)) = (from, to)
            && low >= high
        {
            return found;
        }
        let mut last = None;
        for (key, entry) in entries.range((from, to)).rev().filter(|(_, entry)| matches(entry)) {
            if found.records.len() == query.page_size {
                found.next = last;
                break;
            }
            found.records.push(Arc::clone(&entry.record));
            last = Some(*key);
        }
        found
    }
}

impl<R: Filed> OwnerIndex<R> {
    fn insert(&mut self, key: Key, entry: Entry<R>) {
        self.states[entry.state as usize] += 1;
        match self.contexts.entry(Arc::clone(entry.record.context_id())) {
            hash_map::Entry::Vacant(place) => {
                place.insert(Conversation::One(key));
            }
            hash_map::Entry::Occupied(place) => place.into_mut().insert(key, entry.clone(), &self.all),
        }
        self.all.insert(key, entry);
    }

    fn reposition(&mut self, context_id: &Arc<str>, old: Key, new: Key, state: TaskState) {
        let Some(mut entry) = self.all.remove(&old) else { return };
        self.states[entry.state as usize] -= 1;
        self.states[state as usize] += 1;
        entry.state = state;
        match self.contexts.get_mut(context_id) {
            Some(Conversation::One(key)) => *key = new,
            Some(Conversation::More(entries)) => {
                entries.remove(&old);
                entries.insert(new, entry.clone());
            }
            None => {}
        }
        self.all.insert(new, entry);
    }

    fn remove(&mut self, context_id: &Arc<str>, key: Key) {
        let Some(entry) = self.all.remove(&key) else { return };
        self.states[entry.state as usize] -= 1;
        // Most have one task: they are gone with a single look-up.
        if let Some((context_id, Conversation::More(mut entries))) = self.contexts.remove_entry(context_id) {
            entries.remove(&key);
            if !entries.is_empty() {
                self.contexts.insert(context_id, Conversation::More(entries));
            }
        }
    }
}

impl<R> Conversation<R> {
    /// With one more, of all that the owner has.
    fn insert(&mut self, key: Key, entry: Entry<R>, all: &BTreeMap<Key, Entry<R>>) {
        let mut entries = match mem::replace(self, Self::More(BTreeMap::new())) {
            Self::One(key) => all.get(&key).map(|entry| (key, entry.clone())).into_iter().collect(),
            Self::More(entries) => entries,
        };
        entries.insert(key, entry);
        *self = Self::More(entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Filed for Nothing {
        fn id(&self) -> &str {
            unreachable!()
        }

        fn owner(&self) -> &Owner {
            unreachable!()
        }

        fn context_id(&self) -> &Arc<str> {
            unreachable!()
        }
    }

    #[test]
    fn tokens_come_back_as_they_went_and_nothing_else_is_one() {
        let mut catalog = Catalog::<Nothing>::default();
        for millis in [0, 1, -1, 1_767_225_600_123] {
            let key = catalog.next_key(Timestamp::from_millis(millis));
            assert_eq!(Key::from_token(&key.to_token()), Some(key));
        }
        for token in ["", ".", "not a token", "1", "1.", "+1.1", "01.1", "A.1", "1.1.1", "ffffffffffffffffff.1"] {
            assert_eq!(Key::from_token(token), None, "{token}");
        }
    }
}
