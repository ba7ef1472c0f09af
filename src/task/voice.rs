//! What an agent says in a run, one word after the other.

use std::{
    fmt::Write as _,
    task::{Context, Poll},
};

use super::{
    CancelMode,
    narrator::{Flow, Narrator},
    settings::Settings,
    source::Step,
    watch::Alarm,
    work::{AtWork, BATCH, Next},
};
use crate::{
    agent::TaskContext,
    error::{Error, ErrorKind},
    types::{Event, TaskState},
};

/// What the agent has said, as far as it decides what comes next.
pub(super) struct Voice {
    pub(super) narrator: Narrator,
    pub(super) revision: u64,
    pub(super) flow: Flow,
    /// Why the run failed.
    pub(super) failure: Option<Error>,
    canceled: bool,
    /// True if the agent has had nothing to say in this very poll, so that asking again has to wait until it wakes the
    /// run. Without that, an agent that yields between its words would go on as if it did not.
    pub(super) silent: bool,
}

/// What a run's words depend on beside the agent.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) settings: &'a Settings,
    pub(super) context: &'a TaskContext,
}

impl Voice {
    pub(super) fn new(narrator: Narrator, revision: u64) -> Self {
        Self { narrator, revision, flow: Flow::Goes, failure: None, canceled: false, silent: false }
    }

    /// Takes the agent's first step, if there was one, and all that it has to say with it.
    pub(super) fn begins<T>(
        &mut self,
        called: bool,
        first: Option<Next>,
        mut work: AtWork<'_, T>,
        batch: &mut Vec<Event>,
        about: About<'_>,
        cx: &mut Context<'_>,
    ) {
        if called {
            self.narrator.works(batch);
        }
        let Some(first) = first else { return };
        self.hear(first, work.as_mut(), batch, about);
        self.gather(work, batch, about, cx);
    }

    /// Takes all that the agent has to say just now.
    pub(super) fn gather<T>(
        &mut self,
        mut work: AtWork<'_, T>,
        batch: &mut Vec<Event>,
        about: About<'_>,
        cx: &mut Context<'_>,
    ) {
        self.silent = false;
        while self.flow != Flow::Ends && !self.is_stopped(about.settings) && batch.len() < BATCH {
            match work.as_mut().poll_next(cx, about.context) {
                Poll::Ready(next) => self.hear(next, work.as_mut(), batch, about),
                Poll::Pending => {
                    self.silent = true;
                    break;
                }
            }
        }
    }

    /// True if a cancel has taken effect, so that nothing the agent still says counts.
    pub(super) fn is_stopped(&self, settings: &Settings) -> bool {
        self.canceled && self.flow != Flow::Ends && settings.cancel == CancelMode::Final
    }

    /// Turns what came next into events, and knows from then on whether more may come.
    pub(super) fn hear<T>(&mut self, next: Next, work: AtWork<'_, T>, batch: &mut Vec<Event>, about: About<'_>) {
        self.flow = match next {
            Next::Step(Step::Called) => {
                self.narrator.works(batch);
                Flow::Goes
            }
            Next::Step(Step::Update(_)) if self.revision + batch.len() as u64 >= about.settings.max_events => {
                let error = Error::new(ErrorKind::Internal).with_detail("the agent said more than it may");
                self.fail(error, batch, about)
            }
            Next::Step(Step::Update(update)) => self.narrator.tell(update, batch),
            Next::Step(Step::End) => {
                self.narrator.ends(batch);
                Flow::Ends
            }
            // What an agent does to stop is no failure. It may hear of the cancel before the watch is asked.
            Next::Step(Step::Failed(_)) if about.context.is_canceled() => {
                self.narrator.stops(batch);
                Flow::Ends
            }
            Next::Step(Step::Failed(error)) => self.fail(error, batch, about),
            Next::Alarm(Alarm::Canceled) => {
                self.canceled = true;
                self.flow
            }
            Next::Alarm(Alarm::GraceOver) => {
                self.narrator.stops(batch);
                Flow::Ends
            }
            // An authorization takes the time that somebody takes to give it.
            Next::Alarm(Alarm::IdleTimeout) if self.narrator.state() == TaskState::AuthRequired => {
                work.heard();
                self.flow
            }
            Next::Alarm(alarm) => {
                let error = Error::new(ErrorKind::Internal).with_detail(alarm.to_string());
                self.fail(error, batch, about)
            }
        };
    }

    fn fail(&mut self, error: Error, batch: &mut Vec<Event>, about: About<'_>) -> Flow {
        log_failure(about.context.task_id(), &error);
        self.narrator.fails(&error, batch);
        self.failure = Some(error);
        Flow::Ends
    }
}

/// The one place where the cause of a failure is told: the log.
pub(super) fn log_failure(task_id: &str, error: &Error) {
    let mut causes = String::new();
    let mut cause = std::error::Error::source(error);
    while let Some(current) = cause {
        let _ = write!(causes, "{}{current}", if causes.is_empty() { "" } else { ": " });
        cause = current.source();
    }
    tracing::error!(task_id, code = error.code(), message = %error, cause = causes, "the run of a task failed");
}
