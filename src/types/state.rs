use std::fmt;

/// The state of a task (spec 1.0 §4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TaskState {
    /// Not known; never set by this crate, but other agents may say it.
    #[default]
    Unspecified,
    /// Accepted, the agent has not begun.
    Submitted,
    /// The agent is at work.
    Working,
    /// Done, with its results in the artifacts.
    Completed,
    /// Ended by an error.
    Failed,
    /// Ended by a cancel.
    Canceled,
    /// Waits for another message from the caller.
    InputRequired,
    /// The agent declined the work.
    Rejected,
    /// Waits for an authorization that arrives out of band.
    AuthRequired,
}

/// What a [`TaskState`] means for the life of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StateKind {
    /// Work goes on.
    Active,
    /// Work waits for something from outside.
    Interrupted,
    /// Nothing will change any more.
    Terminal,
}

impl TaskState {
    /// Every state that a task can be in.
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::InputRequired,
        Self::Rejected,
        Self::AuthRequired,
    ];

    /// What this state means for the life of a task.
    #[must_use]
    pub const fn kind(self) -> StateKind {
        match self {
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => StateKind::Terminal,
            Self::InputRequired | Self::AuthRequired => StateKind::Interrupted,
            Self::Unspecified | Self::Submitted | Self::Working => StateKind::Active,
        }
    }

    /// True if nothing will change any more: completed, failed, canceled or rejected.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self.kind(), StateKind::Terminal)
    }

    /// True if the task waits for its caller: input-required or auth-required.
    #[must_use]
    pub const fn is_interrupted(self) -> bool {
        matches!(self.kind(), StateKind::Interrupted)
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "unspecified",
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::InputRequired => "input-required",
            Self::Rejected => "rejected",
            Self::AuthRequired => "auth-required",
        })
    }
}
