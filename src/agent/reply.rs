use std::{fmt, pin::Pin};

use futures_core::Stream;
use futures_util::StreamExt;
use serde::Serialize;

use crate::{
    error::BoxError,
    types::{Artifact, Json, JsonObject, Message, Part, TaskState},
};

/// A stream of updates, as a [`Reply`] carries it.
pub type Updates = Pin<Box<dyn Stream<Item = Result<Update, BoxError>> + Send>>;

/// What an agent answers: one whole message, a few updates, or a stream of them.
///
/// Most agents return something that [becomes](super::IntoReply) a reply and never name this type.
pub struct Reply(pub(crate) ReplyForm);

#[expect(clippy::large_enum_variant, reason = "most are the large one, which is moved a few times and never kept")]
pub(crate) enum ReplyForm {
    /// One update, such as a whole answer.
    One(Update),
    /// A few updates that are there already.
    Updates(Vec<Update>),
    /// Updates that are still to come.
    Stream(Updates),
}

impl Reply {
    /// A whole answer. Where the mount leaves the choice to the agent, it is sent as a message, without a task.
    #[must_use]
    pub fn message(message: Message) -> Self {
        Self(ReplyForm::One(Update::Message(message)))
    }

    /// A few updates that are there already.
    #[must_use]
    pub fn updates(updates: Vec<Update>) -> Self {
        Self(ReplyForm::Updates(updates))
    }

    /// Updates that are still to come: text deltas, files, data, artifacts, states.
    ///
    /// Each item is a `Result`, because a stream can fail on its way: an error ends it, and the task as failed. The
    /// stream outlives the request that it answers, so it must own what it uses: clone the text of an
    /// [`Input`](crate::part::Input), or move the request into it.
    ///
    /// ```
    /// use a2a_layers::{agent::Reply, part::Input};
    /// use futures_util::stream;
    ///
    /// fn spell(input: &Input) -> Reply {
    ///     let letters: Vec<_> = input.text().chars().map(|letter| Ok::<_, std::io::Error>(letter.to_string())).collect();
    ///     Reply::stream(stream::iter(letters))
    /// }
    /// ```
    pub fn stream<S, U, E>(updates: S) -> Self
    where
        S: Stream<Item = Result<U, E>> + Send + 'static,
        U: Into<Update>,
        E: Into<BoxError>,
    {
        Self(ReplyForm::Stream(Box::pin(updates.map(|update| update.map(Into::into).map_err(Into::into)))))
    }

    /// With every update put through a function.
    #[must_use]
    pub fn map(self, mut change: impl FnMut(Update) -> Update + Send + 'static) -> Self {
        Self(match self.0 {
            ReplyForm::One(update) => ReplyForm::One(change(update)),
            ReplyForm::Updates(updates) => ReplyForm::Updates(updates.into_iter().map(change).collect()),
            ReplyForm::Stream(updates) => {
                ReplyForm::Stream(Box::pin(updates.map(move |update| update.map(&mut change))))
            }
        })
    }

    /// All of it as a stream.
    #[must_use]
    pub fn into_updates(self) -> Updates {
        match self.0 {
            ReplyForm::One(update) => Box::pin(futures_util::stream::iter([Ok(update)])),
            ReplyForm::Updates(updates) => Box::pin(futures_util::stream::iter(updates.into_iter().map(Ok))),
            ReplyForm::Stream(updates) => updates,
        }
    }
}

impl From<Update> for Reply {
    fn from(update: Update) -> Self {
        Self(ReplyForm::One(update))
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ReplyForm::One(Update::Message(message)) => f.debug_tuple("Message").field(message).finish(),
            ReplyForm::One(update) => f.debug_tuple("Updates").field(&[update]).finish(),
            ReplyForm::Updates(updates) => f.debug_tuple("Updates").field(updates).finish(),
            ReplyForm::Stream(_) => f.write_str("Stream(..)"),
        }
    }
}

/// One thing an agent has to say while it works.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Update {
    /// A piece of text. All pieces of a reply join into one artifact.
    Text(String),
    /// A part that is an artifact of its own: a file, data.
    Part(Part),
    /// An artifact, or a piece of one, under an id of the agent's choice.
    Artifact(ArtifactUpdate),
    /// The task's state changes. A terminal or interrupted state ends the reply.
    Status(StatusUpdate),
    /// A whole answer.
    Message(Message),
}

/// An artifact, or a piece of one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArtifactUpdate {
    /// The artifact, or the parts to add to it.
    pub artifact: Artifact,
    /// True to add the parts to the artifact of this id, false to replace it.
    pub append: bool,
    /// True if nothing more will be added.
    pub last_chunk: bool,
    /// About the update.
    pub metadata: Option<JsonObject>,
}

/// A change of the task's state.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StatusUpdate {
    /// The new state.
    pub state: TaskState,
    /// What the agent says about it.
    pub message: Option<Message>,
    /// About the update; it also joins the task's own metadata.
    pub metadata: Option<JsonObject>,
}

impl Update {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A file, inline or by its URL.
    #[must_use]
    pub const fn file(file: Part) -> Self {
        Self::Part(file)
    }

    /// Structured data. For a type of your own there is [`data_from`](Self::data_from).
    pub fn data(data: impl Into<Json>) -> Self {
        Self::Part(Part::data(data))
    }

    /// Structured data, of any type that can be serialised.
    ///
    /// ```
    /// use a2a_layers::agent::Update;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Count {
    ///     words: usize,
    /// }
    ///
    /// assert_eq!(Update::data_from(&Count { words: 3 })?, Update::data(serde_json::json!({"words": 3})));
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the value cannot be written as JSON, such as a map with keys that are no strings.
    pub fn data_from<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Json::from_serialize(value).map(Self::data)
    }

    /// A whole artifact.
    #[must_use]
    pub const fn artifact(artifact: Artifact) -> Self {
        Self::Artifact(ArtifactUpdate::new(artifact))
    }

    /// The agent is at work.
    #[must_use]
    pub const fn working() -> Self {
        Self::Status(StatusUpdate::new(TaskState::Working))
    }

    /// The agent is at work, and says how far it is.
    pub fn progress(words: impl Into<Part>) -> Self {
        Self::Status(StatusUpdate::new(TaskState::Working).with_words(words))
    }

    /// The agent needs an answer to go on. The reply ends here; the caller's next message on the task is a new request.
    pub fn input_required(question: impl Into<Part>) -> Self {
        Self::Status(StatusUpdate::new(TaskState::InputRequired).with_words(question))
    }

    /// The agent needs an authorization that arrives out of band. The reply may go on once it has.
    pub fn auth_required(words: impl Into<Part>) -> Self {
        Self::Status(StatusUpdate::new(TaskState::AuthRequired).with_words(words))
    }

    /// The agent declines the work.
    pub fn rejected(reason: impl Into<Part>) -> Self {
        Self::Status(StatusUpdate::new(TaskState::Rejected).with_words(reason))
    }

    /// The work has failed, for a reason that the caller may know.
    pub fn failed(reason: impl Into<Part>) -> Self {
        Self::Status(StatusUpdate::new(TaskState::Failed).with_words(reason))
    }

    /// The agent has stopped because it was asked to.
    #[must_use]
    pub const fn canceled() -> Self {
        Self::Status(StatusUpdate::new(TaskState::Canceled))
    }

    /// The work is done. A reply that simply ends says the same.
    #[must_use]
    pub const fn completed() -> Self {
        Self::Status(StatusUpdate::new(TaskState::Completed))
    }
}

impl ArtifactUpdate {
    /// A whole artifact.
    #[must_use]
    pub const fn new(artifact: Artifact) -> Self {
        Self { artifact, append: false, last_chunk: false, metadata: None }
    }

    /// As parts to add to the artifact of this id.
    #[must_use]
    pub const fn appended(mut self) -> Self {
        self.append = true;
        self
    }

    /// As the last that will be said of this artifact.
    #[must_use]
    pub const fn last(mut self) -> Self {
        self.last_chunk = true;
        self
    }
}

impl StatusUpdate {
    /// This state, without words.
    #[must_use]
    pub const fn new(state: TaskState) -> Self {
        Self { state, message: None, metadata: None }
    }

    /// With something the agent says about it.
    #[must_use]
    pub fn with_words(mut self, words: impl Into<Part>) -> Self {
        self.message = Some(Message::agent(words));
        self
    }

    /// With a whole message of the agent's.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.message = Some(message);
        self
    }

    /// With something for programs.
    #[must_use]
    pub fn with_metadata(mut self, metadata: JsonObject) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

impl From<&str> for Update {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Update {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Part> for Update {
    fn from(part: Part) -> Self {
        Self::Part(part)
    }
}

impl From<Json> for Update {
    fn from(data: Json) -> Self {
        Self::data(data)
    }
}

impl From<serde_json::Value> for Update {
    fn from(data: serde_json::Value) -> Self {
        Self::data(data)
    }
}

impl From<Artifact> for Update {
    fn from(artifact: Artifact) -> Self {
        Self::artifact(artifact)
    }
}

impl From<ArtifactUpdate> for Update {
    fn from(update: ArtifactUpdate) -> Self {
        Self::Artifact(update)
    }
}

impl From<StatusUpdate> for Update {
    fn from(update: StatusUpdate) -> Self {
        Self::Status(update)
    }
}

impl From<Message> for Update {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}
