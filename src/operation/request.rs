use std::sync::Arc;

use crate::types::{JsonObject, Message, PushNotificationConfig, TaskState, Timestamp};

/// Which operation an [`Operation`](super::Operation) is (spec 1.0 §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OperationKind {
    /// Send a message, get one answer.
    SendMessage,
    /// Send a message, get a stream.
    SendStreamingMessage,
    /// Look at a task.
    GetTask,
    /// Look at all tasks.
    ListTasks,
    /// Stop a task.
    CancelTask,
    /// Follow a task.
    SubscribeToTask,
    /// Register a webhook.
    CreatePushConfig,
    /// Look at a webhook.
    GetPushConfig,
    /// Look at all webhooks of a task.
    ListPushConfigs,
    /// Remove a webhook.
    DeletePushConfig,
    /// Get the card for those who authenticate.
    GetExtendedAgentCard,
}

impl OperationKind {
    /// Every operation.
    pub const ALL: [Self; 11] = [
        Self::SendMessage,
        Self::SendStreamingMessage,
        Self::GetTask,
        Self::ListTasks,
        Self::CancelTask,
        Self::SubscribeToTask,
        Self::CreatePushConfig,
        Self::GetPushConfig,
        Self::ListPushConfigs,
        Self::DeletePushConfig,
        Self::GetExtendedAgentCard,
    ];

    /// What version 1.0 calls it, over every binding (spec 1.0 §5.3).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendMessage => "SendMessage",
            Self::SendStreamingMessage => "SendStreamingMessage",
            Self::GetTask => "GetTask",
            Self::ListTasks => "ListTasks",
            Self::CancelTask => "CancelTask",
            Self::SubscribeToTask => "SubscribeToTask",
            Self::CreatePushConfig => "CreateTaskPushNotificationConfig",
            Self::GetPushConfig => "GetTaskPushNotificationConfig",
            Self::ListPushConfigs => "ListTaskPushNotificationConfigs",
            Self::DeletePushConfig => "DeleteTaskPushNotificationConfig",
            Self::GetExtendedAgentCard => "GetExtendedAgentCard",
        }
    }

    /// True if the answer is a stream.
    #[must_use]
    pub const fn is_streaming(self) -> bool {
        matches!(self, Self::SendStreamingMessage | Self::SubscribeToTask)
    }

    /// True if it is about webhooks.
    #[must_use]
    pub const fn is_push(self) -> bool {
        matches!(self, Self::CreatePushConfig | Self::GetPushConfig | Self::ListPushConfigs | Self::DeletePushConfig)
    }
}

/// What a caller wants.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OperationRequest {
    /// Send a message, get one answer.
    SendMessage(SendMessage),
    /// Send a message, get a stream.
    SendStreamingMessage(SendMessage),
    /// Look at a task.
    GetTask(GetTask),
    /// Look at all tasks.
    ListTasks(ListTasks),
    /// Stop a task.
    CancelTask(CancelTask),
    /// Follow a task.
    SubscribeToTask(SubscribeToTask),
    /// Register a webhook; its `task_id` is set.
    CreatePushConfig(Box<PushNotificationConfig>),
    /// Look at a webhook.
    GetPushConfig(PushConfigOf),
    /// Look at all webhooks of a task.
    ListPushConfigs(PushConfigOf),
    /// Remove a webhook.
    DeletePushConfig(PushConfigOf),
    /// Get the card for those who authenticate.
    GetExtendedAgentCard,
}

impl OperationRequest {
    /// Which operation it is.
    #[must_use]
    pub const fn kind(&self) -> OperationKind {
        match self {
            Self::SendMessage(_) => OperationKind::SendMessage,
            Self::SendStreamingMessage(_) => OperationKind::SendStreamingMessage,
            Self::GetTask(_) => OperationKind::GetTask,
            Self::ListTasks(_) => OperationKind::ListTasks,
            Self::CancelTask(_) => OperationKind::CancelTask,
            Self::SubscribeToTask(_) => OperationKind::SubscribeToTask,
            Self::CreatePushConfig(_) => OperationKind::CreatePushConfig,
            Self::GetPushConfig(_) => OperationKind::GetPushConfig,
            Self::ListPushConfigs(_) => OperationKind::ListPushConfigs,
            Self::DeletePushConfig(_) => OperationKind::DeletePushConfig,
            Self::GetExtendedAgentCard => OperationKind::GetExtendedAgentCard,
        }
    }
}

/// Send a message (spec 1.0 §3.2.1).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SendMessage {
    /// The message. A layer that changes it does so through [`Arc::make_mut`], which copies nothing where nobody else has it.
    pub message: Arc<Message>,
    /// How to answer.
    pub configuration: SendConfiguration,
    /// About the request, apart from the message's own metadata.
    pub metadata: Option<JsonObject>,
    /// The id for a task that is not there yet. Only protocol versions below 0.2 let the caller choose it.
    pub new_task_id: Option<Arc<str>>,
}

impl SendMessage {
    /// Send this, with nothing configured.
    #[must_use]
    pub fn new(message: impl Into<Arc<Message>>) -> Self {
        Self { message: message.into(), configuration: SendConfiguration::default(), metadata: None, new_task_id: None }
    }
}

/// How to answer a message (spec 1.0 §3.2.2).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SendConfiguration {
    /// Media types that the caller can take; empty means any.
    pub accepted_output_modes: Vec<String>,
    /// A webhook for the task; boxed, as few messages bring one.
    pub push: Option<Box<PushNotificationConfig>>,
    /// How many messages of the history to answer with at most; `None` is all of them.
    pub history_length: Option<u32>,
    /// True if the caller does not wait for the work to end. Absent means that it waits.
    pub return_immediately: bool,
}

/// Look at a task (spec 1.0 §3.1.3).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetTask {
    /// Which.
    pub id: Arc<str>,
    /// How many messages of the history to answer with at most; `None` is all of them.
    pub history_length: Option<u32>,
}

impl GetTask {
    /// Look at this task, with its whole history.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), history_length: None }
    }
}

/// Look at all tasks (spec 1.0 §3.1.4).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListTasks {
    /// Only those of this conversation.
    pub context_id: Option<Arc<str>>,
    /// Only those in this state.
    pub status: Option<TaskState>,
    /// At most so many a page, 1 to 100; `None` is [`ListTasks::DEFAULT_PAGE_SIZE`].
    pub page_size: Option<u32>,
    /// Where the last page ended.
    pub page_token: Option<String>,
    /// How many messages of each history to answer with at most; `None` is all of them.
    pub history_length: Option<u32>,
    /// Only those whose status is of this moment or later.
    pub status_timestamp_after: Option<Timestamp>,
    /// True if the artifacts are wanted too.
    pub include_artifacts: bool,
}

impl ListTasks {
    /// The size of a page where the caller names none (spec 1.0 §3.1.4).
    pub const DEFAULT_PAGE_SIZE: u32 = 50;
    /// The largest page (spec 1.0 §3.1.4).
    pub const MAX_PAGE_SIZE: u32 = 100;
}

/// Stop a task (spec 1.0 §3.1.5).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CancelTask {
    /// Which.
    pub id: Arc<str>,
    /// About the request.
    pub metadata: Option<JsonObject>,
}

impl CancelTask {
    /// Stop this task.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), metadata: None }
    }
}

/// Follow a task (spec 1.0 §3.1.6).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscribeToTask {
    /// Which.
    pub id: Arc<str>,
}

impl SubscribeToTask {
    /// Follow this task.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into() }
    }
}

/// Which webhook, or, without a config id, which task's (spec 1.0 §3.1.8-10).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PushConfigOf {
    /// The task.
    pub task_id: Arc<str>,
    /// The webhook.
    pub config_id: Option<String>,
    /// At most so many a page.
    pub page_size: Option<u32>,
    /// Where the last page ended.
    pub page_token: Option<String>,
}

impl PushConfigOf {
    /// All webhooks of this task.
    pub fn new(task_id: impl Into<Arc<str>>) -> Self {
        Self { task_id: task_id.into(), config_id: None, page_size: None, page_token: None }
    }
}
