use std::sync::Arc;

use uuid::Uuid;

use super::{Few, JsonObject, Part};

/// Who said a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The caller.
    User,
    /// The agent.
    Agent,
}

/// One turn of a conversation (spec 1.0 §4.1.4).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// The sender's id for it.
    pub message_id: String,
    /// Who said it.
    pub role: Role,
    /// What was said, at least one part.
    pub parts: Few<Part>,
    /// The conversation it belongs to.
    pub context_id: Option<Arc<str>>,
    /// The task it belongs to.
    pub task_id: Option<Arc<str>>,
    /// Other tasks that it speaks of.
    pub reference_task_ids: Vec<String>,
    /// URIs of the extensions that are at work in it.
    pub extensions: Vec<String>,
    /// Anything else the sender wants to say.
    pub metadata: Option<JsonObject>,
}

impl Message {
    /// A message of these parts with a fresh id.
    pub fn new(role: Role, parts: impl Into<Few<Part>>) -> Self {
        Self {
            message_id: fresh_id(),
            role,
            parts: parts.into(),
            context_id: None,
            task_id: None,
            reference_task_ids: Vec::new(),
            extensions: Vec::new(),
            metadata: None,
        }
    }

    /// One part, said by the agent.
    pub fn agent(part: impl Into<Part>) -> Self {
        Self::new(Role::Agent, part.into())
    }

    /// One part, said by the caller.
    pub fn user(part: impl Into<Part>) -> Self {
        Self::new(Role::User, part.into())
    }

    /// With this id.
    #[must_use]
    pub fn with_message_id(mut self, id: impl Into<String>) -> Self {
        self.message_id = id.into();
        self
    }

    /// As a turn of this task.
    #[must_use]
    pub fn with_task_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.task_id = Some(id.into());
        self
    }

    /// As a turn of this conversation.
    #[must_use]
    pub fn with_context_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.context_id = Some(id.into());
        self
    }

    /// With this metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: JsonObject) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// All its text parts, joined by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

/// An id that no other message has.
pub(crate) fn fresh_id() -> String {
    // Written in place: to go through a formatter costs as much as the random number.
    Uuid::new_v4().hyphenated().encode_lower(&mut Uuid::encode_buffer()).to_owned()
}
