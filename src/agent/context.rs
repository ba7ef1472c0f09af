use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use super::Cancellation;
use crate::{
    extension::ActivatedExtensions,
    owner::Owner,
    task::Progress,
    types::{JsonObject, Message, Task},
};

/// The task that a request belongs to, as the [`task`](crate::task) layer puts it into the request's extensions.
/// Clones share it.
#[derive(Clone, Debug)]
pub struct TaskContext(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    task_id: Arc<str>,
    context_id: Arc<str>,
    owner: Owner,
    task: Option<Arc<Task>>,
    referenced: Vec<Arc<Task>>,
    extensions: ActivatedExtensions,
    accepted_output_modes: Vec<String>,
    metadata: Option<JsonObject>,
    /// Made for the first who asks: most work is done before anybody could want it to stop.
    cancellation: OnceLock<Cancellation>,
    /// Made for the first layer that holds the message.
    incoming: OnceLock<Mutex<Incoming>>,
    progress: Progress,
}

/// What becomes of the message in the task's history.
#[derive(Debug, Default)]
enum Incoming {
    /// It is kept as it came.
    #[default]
    AsItCame,
    /// A layer is about to change it.
    Held,
    /// This is kept in its place.
    Changed(Arc<Message>),
    /// The layer that wanted to change it could not.
    Lost,
}

/// A layer's word that it will say what the task's history should keep. See [`TaskContext::hold_message`].
#[derive(Debug)]
#[must_use = "dropping it says that the message cannot be kept"]
pub struct MessageHold(TaskContext);

/// Makes a [`TaskContext`]; for those who drive agents without the [`task`](crate::task) layer, such as tests.
#[derive(Debug)]
#[must_use]
pub struct TaskContextBuilder(Inner);

impl TaskContext {
    /// The context of this task in this conversation.
    pub fn builder(task_id: impl Into<Arc<str>>, context_id: impl Into<Arc<str>>) -> TaskContextBuilder {
        TaskContextBuilder(Inner {
            task_id: task_id.into(),
            context_id: context_id.into(),
            owner: Owner::anonymous(),
            task: None,
            referenced: Vec::new(),
            extensions: ActivatedExtensions::default(),
            accepted_output_modes: Vec::new(),
            metadata: None,
            cancellation: OnceLock::new(),
            incoming: OnceLock::new(),
            progress: Progress::default(),
        })
    }

    /// The task's id.
    #[must_use]
    pub fn task_id(&self) -> &Arc<str> {
        &self.0.task_id
    }

    /// The conversation's id.
    #[must_use]
    pub fn context_id(&self) -> &Arc<str> {
        &self.0.context_id
    }

    /// Who calls.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.0.owner
    }

    /// The task as it stood before this message; `None` if the message began it.
    #[must_use]
    pub fn task(&self) -> Option<&Arc<Task>> {
        self.0.task.as_ref()
    }

    /// What was said before this message, oldest first, the agent's last question included.
    pub fn history(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.0.task.iter().flat_map(|task| task.history.iter().chain(task.status.message.as_ref()))
    }

    /// The tasks that the message refers to, as far as the caller may see them.
    #[must_use]
    pub fn referenced_tasks(&self) -> &[Arc<Task>] {
        &self.0.referenced
    }

    /// The extensions that the caller has activated and the agent supports.
    #[must_use]
    pub fn extensions(&self) -> &ActivatedExtensions {
        &self.0.extensions
    }

    /// Media types that the caller can take; empty means any.
    #[must_use]
    pub fn accepted_output_modes(&self) -> &[String] {
        &self.0.accepted_output_modes
    }

    /// What the caller says about the request, apart from the message's own metadata.
    #[must_use]
    pub fn metadata(&self) -> Option<&JsonObject> {
        self.0.metadata.as_ref()
    }

    /// Tells when the work is no longer wanted.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        self.0.cancellation.get_or_init(Cancellation::new)
    }

    /// True once the work is no longer wanted.
    pub(crate) fn is_canceled(&self) -> bool {
        self.0.cancellation.get().is_some_and(Cancellation::is_canceled)
    }

    /// How the run tells of itself.
    pub(crate) fn progress(&self) -> &Progress {
        &self.0.progress
    }

    /// For a layer between the task and the agent that changes messages on their way in and wants the task's history to
    /// hold what it made of this one: files by their URLs, say, instead of their bytes.
    ///
    /// The task waits for it before it keeps the message: [`MessageHold::keep`] says what to keep, and a hold that is
    /// dropped says that the message could not be taken, so that no task comes of it.
    pub fn hold_message(&self) -> MessageHold {
        self.set_incoming(Incoming::Held);
        MessageHold(self.clone())
    }

    /// True while a layer holds the message.
    pub(crate) fn is_held(&self) -> bool {
        self.is_incoming(|incoming| matches!(incoming, Incoming::Held))
    }

    /// True if the layer that held the message gave up.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_incoming(|incoming| matches!(incoming, Incoming::Lost))
    }

    /// What to keep instead of the message as it came.
    pub(crate) fn take_changed(&self) -> Option<Arc<Message>> {
        match std::mem::take(&mut *lock(self.0.incoming.get()?)) {
            Incoming::Changed(message) => Some(message),
            _ => None,
        }
    }

    fn set_incoming(&self, incoming: Incoming) {
        *lock(self.0.incoming.get_or_init(Mutex::default)) = incoming;
    }

    fn is_incoming(&self, is: impl FnOnce(&Incoming) -> bool) -> bool {
        self.0.incoming.get().is_some_and(|incoming| is(&lock(incoming)))
    }
}

fn lock(incoming: &Mutex<Incoming>) -> std::sync::MutexGuard<'_, Incoming> {
    incoming.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MessageHold {
    /// Says what the task's history should keep.
    pub fn keep(self, message: impl Into<Arc<Message>>) {
        self.0.set_incoming(Incoming::Changed(message.into()));
    }
}

impl Drop for MessageHold {
    fn drop(&mut self) {
        if self.0.is_held() {
            self.0.set_incoming(Incoming::Lost);
        }
    }
}

impl TaskContextBuilder {
    /// For this caller.
    #[inline]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.0.owner = owner;
        self
    }

    /// With the task as it stood before this message; `None` if the message begins it.
    #[inline]
    pub fn prior_task(mut self, task: Option<Arc<Task>>) -> Self {
        self.0.task = task;
        self
    }

    /// With the tasks that the message refers to.
    #[inline]
    pub fn referenced_tasks(mut self, tasks: Vec<Arc<Task>>) -> Self {
        self.0.referenced = tasks;
        self
    }

    /// With the extensions that are at work.
    #[inline]
    pub fn extensions(mut self, activated: ActivatedExtensions) -> Self {
        self.0.extensions = activated;
        self
    }

    /// With the media types that the caller can take.
    #[inline]
    pub fn accepted_output_modes(mut self, modes: Vec<String>) -> Self {
        self.0.accepted_output_modes = modes;
        self
    }

    /// With what the caller says about the request.
    #[inline]
    pub fn metadata(mut self, metadata: Option<JsonObject>) -> Self {
        self.0.metadata = metadata;
        self
    }

    /// With this cancellation.
    #[inline]
    pub fn cancellation(mut self, cancellation: Cancellation) -> Self {
        self.0.cancellation = OnceLock::from(cancellation);
        self
    }

    /// The context.
    #[must_use]
    #[inline]
    pub fn build(self) -> TaskContext {
        TaskContext(Arc::new(self.0))
    }
}

/// What an agent can ask its request beyond the body. Sealed: it is there for every `http::Request`.
pub trait RequestExt: sealed::Sealed {
    /// The task that the request belongs to. Outside the [`task`](crate::task) layer it is one without ids.
    fn task_context(&self) -> &TaskContext;

    /// The task's id.
    fn task_id(&self) -> &Arc<str> {
        self.task_context().task_id()
    }

    /// The conversation's id.
    fn context_id(&self) -> &Arc<str> {
        self.task_context().context_id()
    }

    /// Who calls.
    fn owner(&self) -> &Owner {
        self.task_context().owner()
    }

    /// Tells when the work is no longer wanted.
    fn cancellation(&self) -> &Cancellation {
        self.task_context().cancellation()
    }
}

impl<T> RequestExt for http::Request<T> {
    fn task_context(&self) -> &TaskContext {
        static NONE: LazyLock<TaskContext> = LazyLock::new(|| TaskContext::builder("", "").build());
        self.extensions().get().unwrap_or(&NONE)
    }
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for http::Request<T> {}
}
