use std::{sync::Arc, time::Duration};

use tower_layer::Layer;

use super::{
    CancelMode, CancelScope, CloseOn, FirstEvent, MemoryTaskStore, Replay, ReplyMode, TaskStore, Tasks, keeper,
    runs::Runs, settings::Settings,
};

/// Carries operations out against a store, and runs the agent. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct TaskLayer<T = MemoryTaskStore> {
    store: T,
    settings: Settings,
    runs: Runs,
}

impl TaskLayer {
    /// Keeps tasks in memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_store(MemoryTaskStore::new())
    }
}

impl Default for TaskLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> TaskLayer<T> {
    /// Keeps tasks in this store.
    pub fn with_store(store: T) -> Self {
        Self { store, settings: Settings::default(), runs: Runs::default() }
    }

    /// Keeps tasks in another store, with the same settings.
    #[must_use]
    pub fn store<U>(self, store: U) -> TaskLayer<U> {
        TaskLayer { store, settings: self.settings, runs: Runs::default() }
    }

    /// How a send is answered. Default: [`ReplyMode::Task`].
    #[must_use]
    pub fn reply(mut self, mode: ReplyMode) -> Self {
        self.settings.reply = mode;
        self
    }

    /// What a cancel does. Default: [`CancelMode::Final`].
    #[must_use]
    pub fn cancel(mut self, mode: CancelMode) -> Self {
        self.settings.cancel = mode;
        self
    }

    /// Which tasks can be canceled. Default: [`CancelScope::Any`].
    #[must_use]
    pub fn cancel_scope(mut self, scope: CancelScope) -> Self {
        self.settings.cancel_scope = scope;
        self
    }

    /// How long an agent may go on after a cancel before its future is dropped. Default: 5 s, enough to put things
    /// away and short enough not to pile up.
    #[must_use]
    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.settings.cancel_grace = grace;
        self
    }

    /// Which interrupted state ends a stream. Default: [`CloseOn::InputRequired`].
    #[must_use]
    pub fn close_on(mut self, states: CloseOn) -> Self {
        self.settings.close_on = states;
        self
    }

    /// Where a subscription without a cursor begins. Default: [`Replay::ByVersion`].
    #[must_use]
    pub fn replay(mut self, replay: Replay) -> Self {
        self.settings.replay = replay;
        self
    }

    /// What a stream begins with. Default: [`FirstEvent::Submitted`].
    #[must_use]
    pub fn first_event(mut self, first: FirstEvent) -> Self {
        self.settings.first_event = first;
        self
    }

    /// Whether `GetTask` shows the status alone, without history and artifacts. Default: false.
    #[must_use]
    pub fn status_only(mut self, status_only: bool) -> Self {
        self.settings.status_only = status_only;
        self
    }

    /// Whether a task that names no conversation takes its own id as the conversation's. Default: false, a
    /// fresh id.
    #[must_use]
    pub fn context_is_task(mut self, context_is_task: bool) -> Self {
        self.settings.context_is_task = context_is_task;
        self
    }

    /// Whether fresh ids say what they are of, as in `task-…` and `ctx-…`. Default: false.
    #[must_use]
    pub fn named_ids(mut self, named: bool) -> Self {
        self.settings.named_ids = named;
        self
    }

    /// How many agents may run at once; one more send is refused as overloaded, with retry advice. Default: 100,000,
    /// which keeps a flood from taking all memory; what the agent itself can bear is for a `concurrency_limit` beneath
    /// this layer to say, behind which tasks wait as submitted.
    #[must_use]
    pub fn max_runs(mut self, runs: usize) -> Self {
        self.settings.max_runs = runs;
        self
    }

    /// How many events a task may have; one more fails it. Default: 1,000,000, far beyond any answer, so that an agent
    /// that never ends cannot take all memory.
    #[must_use]
    pub fn max_events(mut self, events: u64) -> Self {
        self.settings.max_events = events;
        self
    }

    /// How many other tasks a message may refer to; one more and it is refused. Default: 100, more than anyone means,
    /// and few enough to look up for every message.
    #[must_use]
    pub fn max_references(mut self, references: usize) -> Self {
        self.settings.max_references = references;
        self
    }

    /// How often a message is given to the agent again whose run was lost with its process, where the store has
    /// [leases](TaskStore#leases). Default: 0, such a task ends as failed: only its author knows whether an agent may do
    /// its work twice.
    ///
    /// The log then says the task anew, as it was when the turn began, and goes on from there. The agent gets the same
    /// message with the same task, but none of the headers and extensions that came with it. Whichever process sees the
    /// loss first gives the message to its own agent, so all that share a store must have the same one.
    #[must_use]
    pub fn rerun_lost(mut self, times: u32) -> Self {
        self.settings.rerun_lost = times;
        self
    }

    /// How long an agent may work on one message; `None` for as long as it likes. Default: 1 h, so that no task stays
    /// at work for ever. A task that runs into it fails.
    #[must_use]
    pub fn run_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.settings.run_timeout = timeout;
        self
    }

    /// How long an agent may say nothing; `None` for as long as it likes. Default: 10 min, longer than slow models
    /// think. A task that runs into it fails, unless it waits for an authorization.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.settings.idle_timeout = timeout;
        self
    }

    /// How long a blocking send waits before it is answered with the task as it stands. Default: `None`, until the
    /// work ends or is interrupted (spec 1.0 §3.2.2). Set it below the time-out of what stands in front of the server.
    #[must_use]
    pub fn max_wait(mut self, wait: Option<Duration>) -> Self {
        self.settings.max_wait = wait;
        self
    }

    /// For how long a message that comes again is answered with the task of the first one; `None` for never. Default:
    /// `None`, since there are clients that use an id more than once. An id may be 1,024 bytes long where there is a window; a
    /// longer one is refused, as each is kept in an index. See [safe retries](super#safe-retries).
    ///
    /// The time counts from the first message. Clients try again for minutes, so an hour is much; the store keeps an entry
    /// for each message meanwhile, and no longer than its task.
    #[must_use]
    pub fn retry_window(mut self, window: Option<Duration>) -> Self {
        self.settings.retry_window = window;
        self
    }

    /// What the agent is called where one that comes again is told from the first: a message to another one is another
    /// message. Default: nothing. A `server::Mount` sets its own id. For layers of several agents that share a store; the
    /// layers of one agent, on its replicas, must all say the same.
    #[must_use]
    pub fn retry_scope(mut self, agent: impl Into<Arc<str>>) -> Self {
        self.settings.retry_scope = agent.into();
        self
    }
}

impl<T: TaskStore> TaskLayer<T> {
    /// True if there is a [retry window](Self::retry_window), but no store for it.
    pub(crate) fn lacks_claims(&self) -> bool {
        self.settings.retry_window.is_some() && !self.store.takes_claims()
    }

    /// Brings the work of this layer, its clones, and the services it made to an end, before the process ends.
    ///
    /// From here on no run begins: whoever sends is refused as overloaded, with retry advice. The runs that there are
    /// have so much time left; then their tasks end as failed, with a message that says why, and their agents are told.
    /// Where lost runs are [begun again](Self::rerun_lost), they are left to other processes instead, which do so at
    /// once. Those that wait for their callers stay as they are. Last, the store's lease is given up, so that other
    /// processes, and the next one here, need not wait for it to run out. A store that is not there is given 5 s for each
    /// of the last two.
    ///
    /// Give it less time than there is before the process is killed: a supervisor waits 10 to 30 s.
    pub async fn shutdown(&self, patience: Duration) {
        let hands_over = self.settings.rerun_lost > 0 && self.store.lease().is_some();
        keeper::shut_down(&self.store, &self.runs, patience, hands_over).await;
    }
}

impl<S, T: Clone> Layer<S> for TaskLayer<T> {
    type Service = Tasks<S, T>;

    fn layer(&self, inner: S) -> Self::Service {
        Tasks::new(inner, self.store.clone(), Arc::new(self.settings.clone()), self.runs.clone())
    }
}
