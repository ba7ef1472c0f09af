use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use crate::{dialect::DialectKey, encoded::Text, types::Event};

/// One entry of a task's log: an event and its number. Clones share it.
#[derive(Clone)]
pub struct LogEntry {
    batch: Batch,
    at: usize,
    /// True if nobody else reads the log, so that there is no use in keeping a text.
    alone: bool,
}

/// Entries that were appended together, in one piece of memory.
#[derive(Clone)]
pub(crate) struct Batch(Arc<[Inner]>);

struct Inner {
    number: u64,
    event: Event,
    texts: Texts,
}

/// An event's text in each dialect that somebody reads it in: mostly one, which has its room beside the event.
#[derive(Default)]
struct Texts {
    first: OnceLock<(DialectKey, Text)>,
    others: OnceLock<Box<Texts>>,
}

impl LogEntry {
    /// The event of this number. Numbers begin at 1 and have no gaps.
    #[must_use]
    pub fn new(number: u64, event: Event) -> Self {
        Self { batch: Batch(Arc::new([Inner::new(number, event)])), at: 0, alone: false }
    }

    fn inner(&self) -> &Inner {
        &self.batch.0[self.at]
    }

    /// Its number in the log, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.inner().number
    }

    /// What happened.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.inner().event
    }

    /// For the only one who reads the log: the texts that it asks for are not kept. Whoever comes later makes them again.
    pub(crate) fn read_alone(self, alone: bool) -> Self {
        Self { alone, ..self }
    }

    /// Its text in a dialect, made once and then shared by all who read the log.
    ///
    /// # Errors
    /// What `encode` fails with.
    pub fn text<E>(&self, key: DialectKey, encode: impl FnOnce() -> Result<Text, E>) -> Result<Text, E> {
        let mut texts = &self.inner().texts;
        loop {
            match texts.first.get() {
                Some((kept, text)) if *kept == key => return Ok(text.clone()),
                None if self.alone => return encode(),
                Some(_) if self.alone => match texts.others.get() {
                    Some(others) => texts = others,
                    None => return encode(),
                },
                Some(_) => texts = texts.others.get_or_init(Box::default),
                None => {
                    let text = encode()?;
                    // Somebody else may have been faster: then theirs stays, and says the same, if in another dialect
                    // perhaps, so that this one is made once more.
                    let _ = texts.first.set((key, text.clone()));
                    return Ok(text);
                }
            }
        }
    }
}

impl Batch {
    /// These events, numbered from this number on.
    pub(crate) fn new(first: u64, events: impl IntoIterator<Item = Event>) -> Self {
        // The numbers end no sooner than the events, and the list of those knows its length: one piece of memory.
        Self(events.into_iter().zip(first..).map(|(event, number)| Inner::new(number, event)).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of its first entry.
    pub(crate) fn first(&self) -> Option<u64> {
        self.0.first().map(|inner| inner.number)
    }

    /// Its entries from this place on.
    pub(crate) fn entries(&self, from: usize) -> impl Iterator<Item = LogEntry> + '_ {
        (from..self.len()).map(|at| LogEntry { batch: self.clone(), at, alone: false })
    }

    /// Lets go of the texts, unless somebody else has an entry just now.
    pub(crate) fn forget_texts(&mut self) {
        for inner in Arc::get_mut(&mut self.0).into_iter().flatten() {
            inner.texts = Texts::default();
        }
    }
}

impl Inner {
    fn new(number: u64, event: Event) -> Self {
        Self { number, event, texts: Texts::default() }
    }
}

impl fmt::Debug for LogEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogEntry").field(&self.number()).field(self.event()).finish()
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries(0)).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::types::Message;

    #[test]
    fn each_dialect_writes_an_event_once_however_many_they_are() {
        let entry = LogEntry::new(1, Event::Message(Arc::new(Message::agent("hi"))));
        let keys: Vec<_> = (0..4).map(|_| DialectKey::unique()).collect();
        let mut written = Vec::new();
        for _ in 0..3 {
            for (index, key) in keys.iter().enumerate() {
                let text = entry.clone().text(*key, || {
                    written.push(index);
                    Ok::<_, Infallible>(Text::from(index.to_string()))
                });
                assert_eq!(&*text.unwrap(), index.to_string().as_bytes());
            }
        }
        assert_eq!(written, [0, 1, 2, 3]);
    }

    #[test]
    fn who_reads_alone_leaves_no_text_behind_and_takes_what_is_there() {
        let entry = LogEntry::new(1, Event::Message(Arc::new(Message::agent("hi"))));
        let (first, second) = (DialectKey::unique(), DialectKey::unique());
        let count = |entry: &LogEntry, key| {
            let mut made = 0;
            for _ in 0..2 {
                let text = entry.text(key, || {
                    made += 1;
                    Ok::<_, Infallible>(Text::from("x"))
                });
                assert_eq!(&*text.unwrap(), b"x");
            }
            made
        };
        let alone = entry.clone().read_alone(true);
        assert_eq!((count(&alone, first), count(&entry, first), count(&alone, first)), (2, 1, 0));
        assert_eq!((count(&alone, second), count(&entry, second), count(&alone, second)), (2, 1, 0));
    }
}
