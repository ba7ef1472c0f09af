use std::{fmt, sync::Arc};

use crate::{
    task::LogEntry,
    types::{AgentCard, Artifact, Event, Message, Messages, PushNotificationConfig, Task},
};

/// What a caller gets: one typed result, or a stream of [`StreamEvent`]s.
#[non_exhaustive]
pub enum Outcome<S> {
    /// One result.
    Answer(Answer),
    /// What happens, as it happens.
    Stream(S),
}

impl<S> Outcome<S> {
    /// With the stream put through a function.
    pub fn map_stream<T>(self, wrap: impl FnOnce(S) -> T) -> Outcome<T> {
        match self {
            Self::Answer(answer) => Outcome::Answer(answer),
            Self::Stream(stream) => Outcome::Stream(wrap(stream)),
        }
    }
}

impl<S> From<Answer> for Outcome<S> {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl<S> fmt::Debug for Outcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(answer) => answer.fmt(f),
            Self::Stream(_) => f.write_str("Stream(..)"),
        }
    }
}

/// One result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// A task, as the answer to a send.
    SentTask(TaskView),
    /// A message, as the answer to a send.
    SentMessage(Arc<Message>),
    /// A task.
    Task(TaskView),
    /// Some of the tasks.
    Tasks(ListTasksPage),
    /// A webhook.
    PushConfig(Box<PushNotificationConfig>),
    /// All webhooks of a task.
    PushConfigs(Vec<PushNotificationConfig>),
    /// The webhook is gone.
    PushConfigDeleted,
    /// The card for those who authenticate.
    ExtendedAgentCard(Arc<AgentCard>),
}

/// A task, and how much of it to show. The task itself is shared and stays whole.
#[derive(Clone, Debug)]
pub struct TaskView {
    task: Arc<Task>,
    history_length: Option<u32>,
    with_artifacts: bool,
}

impl TaskView {
    /// All of it.
    pub fn new(task: impl Into<Arc<Task>>) -> Self {
        Self { task: task.into(), history_length: None, with_artifacts: true }
    }

    /// At most so many messages of the history, the newest; `None` is all of them.
    #[must_use]
    pub fn with_history_length(mut self, length: Option<u32>) -> Self {
        self.history_length = length;
        self
    }

    /// Without its artifacts.
    #[must_use]
    pub fn without_artifacts(mut self) -> Self {
        self.with_artifacts = false;
        self
    }

    /// The whole task.
    #[must_use]
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// The messages to show.
    #[must_use]
    pub fn history(&self) -> Messages<'_> {
        let wanted = self.history_length.and_then(|length| usize::try_from(length).ok());
        self.task.history.latest(wanted.unwrap_or(usize::MAX))
    }

    /// The artifacts to show; `None` if they are left out.
    #[must_use]
    pub fn artifacts(&self) -> Option<&[Arc<Artifact>]> {
        self.with_artifacts.then_some(&self.task.artifacts)
    }
}

/// Some of the tasks (spec 1.0 §3.1.4).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListTasksPage {
    /// The tasks, the latest status first.
    pub tasks: Vec<TaskView>,
    /// Where the next page begins; empty on the last one.
    pub next_page_token: String,
    /// The size of a page.
    pub page_size: u32,
    /// How many tasks there are in all.
    pub total_size: u64,
}

impl ListTasksPage {
    /// A page that is also the last one.
    #[must_use]
    pub const fn new(tasks: Vec<TaskView>, page_size: u32, total_size: u64) -> Self {
        Self { tasks, next_page_token: String::new(), page_size, total_size }
    }
}

/// One item of a stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StreamEvent {
    /// An entry of a task's log. Its text is shared by all who read it.
    Logged(LogEntry),
    /// An entry that asks the caller for something, in a stream that does not end with it: what it asks for is given
    /// already, or the stream goes on all the same.
    Passed(LogEntry),
    /// A task as it stands after the event of this number, cut to what the caller asked for.
    Snapshot(TaskView, u64),
    /// The agent's whole answer, where there is no task.
    Message(Arc<Message>),
}

impl StreamEvent {
    /// The number by which a reader can come back to it.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Logged(entry) | Self::Passed(entry) => Some(entry.number()),
            Self::Snapshot(_, number) => Some(*number),
            Self::Message(_) => None,
        }
    }

    /// The event, in the canonical language.
    #[must_use]
    pub fn to_event(&self) -> Event {
        match self {
            Self::Logged(entry) | Self::Passed(entry) => entry.event().clone(),
            Self::Snapshot(view, _) => Event::Task(Arc::clone(view.task())),
            Self::Message(message) => Event::Message(Arc::clone(message)),
        }
    }
}
