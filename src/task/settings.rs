use std::{sync::Arc, time::Duration};

/// How a send is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ReplyMode {
    /// Always with a task.
    #[default]
    Task,
    /// Always with a message, made of the task's results. The task is there all the same, and streams show it.
    Message,
    /// With a message if the first thing the agent says is a whole message, and with a task otherwise. A caller that does
    /// not wait for the end gets the message too if it is there at once, and a task to come back to if not.
    Auto,
}

/// What a cancel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CancelMode {
    /// The task is canceled there and then; what the agent still says is dropped.
    #[default]
    Final,
    /// The agent is asked to stop, and the answer says `canceled` before it has. An agent that goes on to its end all
    /// the same completes the task.
    Attempt,
}

/// Which tasks can be canceled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CancelScope {
    /// Every task that is not over.
    #[default]
    Any,
    /// Only those that run here and were begun as a stream.
    OwnStreams,
}

/// Which interrupted state ends a stream (spec 1.0 §3.1.2 against §11.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CloseOn {
    /// Input-required does; at auth-required the stream stays open, because the work goes on without another message.
    #[default]
    InputRequired,
    /// Both input-required and auth-required do.
    Interrupted,
    /// Neither does: only a terminal state ends a stream.
    Terminal,
}

/// Where a subscription without a cursor begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Replay {
    /// At the start of the log for callers of 0.x, with a snapshot of the task for others.
    #[default]
    ByVersion,
    /// At the start of the log.
    FromStart,
    /// With a snapshot of the task.
    Snapshot,
}

/// What a stream begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FirstEvent {
    /// The task, in state submitted.
    #[default]
    Submitted,
    /// The task, already in state working.
    Working,
    /// No task but its status, in state submitted. Not what the protocol asks for; some old readers want it.
    StatusOnly,
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) reply: ReplyMode,
    pub(super) cancel: CancelMode,
    pub(super) cancel_scope: CancelScope,
    pub(super) cancel_grace: Duration,
    pub(super) close_on: CloseOn,
    pub(super) replay: Replay,
    pub(super) first_event: FirstEvent,
    pub(super) status_only: bool,
    pub(super) context_is_task: bool,
    pub(super) named_ids: bool,
    pub(super) max_runs: usize,
    pub(super) max_events: u64,
    pub(super) max_references: usize,
    pub(super) rerun_lost: u32,
    pub(super) run_timeout: Option<Duration>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) max_wait: Option<Duration>,
    pub(super) retry_window: Option<Duration>,
    /// What the agent is called in claims.
    pub(super) retry_scope: Arc<str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            reply: ReplyMode::default(),
            cancel: CancelMode::default(),
            cancel_scope: CancelScope::default(),
            cancel_grace: Duration::from_secs(5),
            close_on: CloseOn::default(),
            replay: Replay::default(),
            first_event: FirstEvent::default(),
            status_only: false,
            context_is_task: false,
            named_ids: false,
            max_runs: 100_000,
            max_events: 1_000_000,
            max_references: 100,
            rerun_lost: 0,
            run_timeout: Some(Duration::from_secs(60 * 60)),
            idle_timeout: Some(Duration::from_secs(10 * 60)),
            max_wait: None,
            retry_window: None,
            retry_scope: Arc::from(""),
        }
    }
}
