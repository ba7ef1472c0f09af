use std::{fmt, iter::FusedIterator, mem, ops::Index, ops::Range, sync::Arc};

use super::{Few, Message};

/// How many messages are shared as one: few enough that copying those not shared yet costs next to nothing, many enough
/// that a long history is a short list of them.
const SHARED: usize = 32;

/// Messages that are shared as one.
type Piece = Arc<[Arc<Message>]>;

/// What was said in a [`Task`](super::Task), oldest first.
///
/// A message is added at the end, and none is ever changed or taken out. So all but the last few are shared between
/// clones, and a turn costs the same in a long conversation as in a short one, although the task as it was before lives on
/// with its readers.
#[derive(Clone, Default)]
pub struct History {
    /// Full pieces, each of the same size; `None` as long as there is none.
    shared: Option<Arc<Vec<Piece>>>,
    /// Fewer than a piece.
    last: Few<Arc<Message>>,
}

impl History {
    /// Nothing was said yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { shared: None, last: Few::new() }
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces().len() * SHARED + self.last.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more message.
    pub fn push(&mut self, message: Arc<Message>) {
        self.last.push(message);
        if self.last.len() == SHARED {
            Arc::make_mut(self.shared.get_or_insert_default()).push(mem::take(&mut self.last).into_vec().into());
        }
    }

    /// The message at this place, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Arc<Message>> {
        match self.pieces().get(index / SHARED) {
            Some(piece) => piece.get(index % SHARED),
            None => self.last.get(index - self.pieces().len() * SHARED),
        }
    }

    /// The newest message.
    #[must_use]
    pub fn last(&self) -> Option<&Arc<Message>> {
        self.messages().last()
    }

    /// All messages, oldest first.
    #[must_use]
    pub fn iter(&self) -> HistoryIter<'_> {
        self.messages().iter()
    }

    /// All messages, as something to look at.
    #[must_use]
    pub fn messages(&self) -> Messages<'_> {
        Messages { history: self, skipped: 0 }
    }

    /// The newest messages, at most so many of them.
    #[must_use]
    pub fn latest(&self, count: usize) -> Messages<'_> {
        Messages { history: self, skipped: self.len().saturating_sub(count) }
    }

    fn pieces(&self) -> &[Piece] {
        self.shared.as_ref().map_or(&[], |pieces| pieces)
    }
}

impl Index<usize> for History {
    type Output = Arc<Message>;

    /// # Panics
    /// If there are no so many messages.
    fn index(&self, index: usize) -> &Arc<Message> {
        self.get(index).expect("a place in the history")
    }
}

impl Extend<Arc<Message>> for History {
    fn extend<T: IntoIterator<Item = Arc<Message>>>(&mut self, messages: T) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

impl FromIterator<Arc<Message>> for History {
    fn from_iter<T: IntoIterator<Item = Arc<Message>>>(messages: T) -> Self {
        let mut history = Self::new();
        history.extend(messages);
        history
    }
}

impl From<Vec<Arc<Message>>> for History {
    fn from(messages: Vec<Arc<Message>>) -> Self {
        messages.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a History {
    type Item = &'a Arc<Message>;
    type IntoIter = HistoryIter<'a>;

    fn into_iter(self) -> HistoryIter<'a> {
        self.iter()
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl<const N: usize> PartialEq<[Arc<Message>; N]> for History {
    fn eq(&self, other: &[Arc<Message>; N]) -> bool {
        self.iter().eq(other)
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// The messages of a [`History`], or the newest of them, oldest first.
#[derive(Clone, Copy)]
pub struct Messages<'a> {
    history: &'a History,
    skipped: usize,
}

impl<'a> Messages<'a> {
    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.history.len() - self.skipped
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The oldest of them.
    #[must_use]
    pub fn first(&self) -> Option<&'a Arc<Message>> {
        self.iter().next()
    }

    /// The newest of them.
    #[must_use]
    pub fn last(&self) -> Option<&'a Arc<Message>> {
        self.iter().next_back()
    }

    /// One after the other.
    #[must_use]
    pub fn iter(&self) -> HistoryIter<'a> {
        HistoryIter { history: self.history, range: self.skipped..self.history.len() }
    }
}

impl<'a> IntoIterator for Messages<'a> {
    type Item = &'a Arc<Message>;
    type IntoIter = HistoryIter<'a>;

    fn into_iter(self) -> HistoryIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Messages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

/// One message of a [`History`] after the other.
#[derive(Clone, Debug)]
pub struct HistoryIter<'a> {
    history: &'a History,
    range: Range<usize>,
}

impl<'a> Iterator for HistoryIter<'a> {
    type Item = &'a Arc<Message>;

    fn next(&mut self) -> Option<Self::Item> {
        self.range.next().and_then(|index| self.history.get(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.range.nth(n).and_then(|index| self.history.get(index))
    }
}

impl DoubleEndedIterator for HistoryIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.range.next_back().and_then(|index| self.history.get(index))
    }
}

impl ExactSizeIterator for HistoryIter<'_> {}

impl FusedIterator for HistoryIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: usize) -> Arc<Message> {
        Arc::new(Message::user("").with_message_id(number.to_string()))
    }

    fn numbers<'a>(messages: impl IntoIterator<Item = &'a Arc<Message>>) -> Vec<usize> {
        messages.into_iter().map(|message| message.message_id.parse().unwrap()).collect()
    }

    #[test]
    fn it_is_a_list_of_any_length() {
        let mut history = History::new();
        assert!(history.is_empty() && history.last().is_none() && history.get(0).is_none());
        for length in 1..=3 * SHARED + 1 {
            history.push(message(length - 1));
            let all: Vec<_> = (0..length).collect();
            assert_eq!((history.len(), numbers(&history)), (length, all.clone()));
            assert_eq!(numbers(history.iter().rev()), all.iter().rev().copied().collect::<Vec<_>>());
            assert_eq!(history[length - 1].message_id, (length - 1).to_string());
            assert!(history.get(length).is_none());
            assert_eq!(history.last(), history.get(length - 1));
            for count in [0, 1, SHARED - 1, SHARED, SHARED + 1, length, length + 1, usize::MAX] {
                let latest = history.latest(count);
                assert_eq!(numbers(latest), all[length.saturating_sub(count)..]);
                assert_eq!((latest.len(), latest.is_empty()), (count.min(length), count == 0));
                assert_eq!(latest.first(), latest.iter().next());
            }
            assert_eq!(history, history.iter().cloned().collect::<History>());
        }
        assert_ne!(history, History::from(vec![message(0)]));
        assert_eq!(format!("{:?}", history.latest(1)), format!("[{:?}]", history.last().unwrap()));
    }

    #[test]
    fn clones_grow_apart_and_share_all_but_the_last_few() {
        let mut first: History = (0..10 * SHARED + 3).map(message).collect();
        let mut second = first.clone();
        for number in 0..2 * SHARED {
            first.push(message(number));
        }
        second.push(message(7));
        assert_eq!((first.len(), second.len()), (12 * SHARED + 3, 10 * SHARED + 4));
        assert!(numbers(&first)[10 * SHARED + 3..].iter().copied().eq(0..2 * SHARED));
        let pieces = first.pieces().iter().zip(second.pieces());
        assert_eq!(pieces.filter(|(ours, theirs)| Arc::ptr_eq(ours, theirs)).count(), 10);
    }
}
