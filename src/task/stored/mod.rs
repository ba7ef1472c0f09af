//! Tasks and events as text that can be kept: for stores that write them down.
//!
//! The wire has forms of its own, each with what it cannot say. This one says everything that the types of this crate
//! can hold, and reads back what it wrote: JSON, with the digits and the order of foreign JSON as they came. It is not
//! meant for anybody but stores.
//!
//! This is form 1. Members that a reader does not know are skipped, so that an older process can read what a newer one
//! has added; a form that cannot be read so would have a member `v` with its number, which is refused here.
//!
//! ```
//! use a2a_layers::{
//!     task::stored,
//!     types::{Artifact, Event, Part, Task, TaskArtifactUpdateEvent, TaskState},
//! };
//!
//! let task = Task::new("t", "c", TaskState::Working);
//! assert_eq!(stored::read_task(&stored::write_task(&task)).unwrap(), task);
//!
//! // The ids of the task are known wherever its events are, so they are left out.
//! let word = |text| {
//!     let mut update = TaskArtifactUpdateEvent::new("t".into(), "c".into(), Artifact::new("a", vec![Part::text(text)]));
//!     update.append = true;
//!     Event::ArtifactUpdate(update)
//! };
//! let events = [word("one "), word("two")];
//! let text = stored::write_events("t", "c", &events);
//! assert_eq!(text, r#"[{"texts":{"id":"a","deltas":["one ","two"]}}]"#);
//! assert_eq!(stored::read_events("t", "c", &text).unwrap(), events);
//! ```

mod event;
mod form;

use std::{borrow::Cow, fmt, sync::Arc};

use serde::Serialize;

use self::{
    event::{Ids, StoredEvent, StoredTexts},
    form::StoredTask,
};
use crate::types::{Artifact, Event, Task};

/// A text that is none of this form.
#[derive(Debug)]
pub struct StoredError(Cow<'static, str>);

impl StoredError {
    #[cfg_attr(not(any(feature = "sqlite", feature = "postgres")), expect(dead_code, reason = "only stores say so"))]
    pub(crate) const fn new(words: &'static str) -> Self {
        Self(Cow::Borrowed(words))
    }
}

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read what was stored: {}", self.0)
    }
}

impl std::error::Error for StoredError {}

impl From<serde_json::Error> for StoredError {
    fn from(error: serde_json::Error) -> Self {
        Self(Cow::Owned(error.to_string()))
    }
}

/// A task as text.
#[must_use]
pub fn write_task(task: &Task) -> String {
    text(&StoredTask::of(task))
}

/// A task out of its text.
///
/// # Errors
/// If the text is not one that [`write_task`] wrote.
pub fn read_task(text: &str) -> Result<Task, StoredError> {
    serde_json::from_str::<StoredTask<'_>>(text)?.into_task()
}

/// Events of one task as text. Pieces of text that follow each other in one artifact take little more than the text.
#[must_use]
pub fn write_events(task_id: &str, context_id: &str, events: &[Event]) -> String {
    let mut stored: Vec<StoredEvent<'_>> = Vec::with_capacity(events.len());
    for event in events {
        match (plain_delta(task_id, context_id, event), stored.last_mut()) {
            (Some((id, delta)), Some(StoredEvent::Texts(texts))) if texts.id == id => texts.deltas.push(delta.into()),
            (Some((id, delta)), _) => {
                stored.push(StoredEvent::Texts(StoredTexts { id: id.into(), deltas: vec![delta.into()] }));
            }
            (None, _) => stored.push(StoredEvent::of(task_id, context_id, event)),
        }
    }
    text(&stored)
}

/// Events of one task out of their text.
///
/// # Errors
/// If the text is not one that [`write_events`] wrote.
pub fn read_events(task_id: &str, context_id: &str, text: &str) -> Result<Vec<Event>, StoredError> {
    let stored = serde_json::from_str::<Vec<StoredEvent<'_>>>(text)?;
    let ids = Ids { task_id: Arc::from(task_id), context_id: Arc::from(context_id) };
    let mut events = Vec::with_capacity(stored.len());
    for event in stored {
        event.read(&ids, &mut events)?;
    }
    Ok(events)
}

/// Nothing in these values has keys that are no strings, or a serialiser of its own.
fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The artifact's id and the text, if that is all that the event says.
fn plain_delta<'a>(task_id: &str, context_id: &str, event: &'a Event) -> Option<(&'a str, &'a str)> {
    let Event::ArtifactUpdate(update) = event else { return None };
    let Artifact { artifact_id, name: None, description: None, parts, extensions, metadata: None } = &*update.artifact
    else {
        return None;
    };
    let is_plain = update.append && !update.last_chunk && update.metadata.is_none() && extensions.is_empty();
    let is_own = &*update.task_id == task_id && &*update.context_id == context_id;
    match &parts[..] {
        [part] if is_plain && is_own && part.is_plain_text() => Some((artifact_id, part.as_text()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
