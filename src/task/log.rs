use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use crate::{dialect::DialectKey, encoded::Text, types::Event};

/// How many dialects keep their text of an event. Two are built in; a third one's text is made anew for each reader.
const KEPT_TEXTS: usize = 2;

/// One entry of a task's log: an event and its number. Clones share it.
#[derive(Clone)]
pub struct LogEntry(Arc<Inner>);

struct Inner {
    number: u64,
    event: Event,
    texts: [OnceLock<(DialectKey, Text)>; KEPT_TEXTS],
}

impl LogEntry {
    /// The event of this number. Numbers begin at 1 and have no gaps.
    #[must_use]
    pub fn new(number: u64, event: Event) -> Self {
        Self(Arc::new(Inner { number, event, texts: [const { OnceLock::new() }; KEPT_TEXTS] }))
    }

    /// Its number in the log, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// What happened.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.0.event
    }

    /// Its text in a dialect, made once and then shared by all who read the log.
    ///
    /// # Errors
    /// What `encode` fails with.
    pub fn text<E>(&self, key: DialectKey, encode: impl FnOnce() -> Result<Text, E>) -> Result<Text, E> {
        for slot in &self.0.texts {
            match slot.get() {
                Some((kept, text)) if *kept == key => return Ok(text.clone()),
                Some(_) => {}
                None => {
                    let text = encode()?;
                    // Somebody else may have been faster: then theirs stays, and says the same.
                    let _ = slot.set((key, text.clone()));
                    return Ok(text);
                }
            }
        }
        encode()
    }

    /// Lets go of the texts, unless somebody else has the entry just now.
    pub(super) fn forget_texts(&mut self) {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.texts = [const { OnceLock::new() }; KEPT_TEXTS];
        }
    }
}

impl fmt::Debug for LogEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogEntry").field(&self.0.number).field(&self.0.event).finish()
    }
}
