//! Turns what an agent says into events of its task.

use std::sync::{Arc, LazyLock};

use crate::{
    agent::{ArtifactUpdate, StatusUpdate, Update},
    error::Error,
    types::{
        Artifact, Event, Json, Message, Part, Role, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
        TaskStatusUpdateEvent,
    },
};

/// Whether an agent is still listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It is.
    Goes,
    /// The run is over.
    Ends,
}

/// Knows what has been said so far, as far as it decides what comes next.
#[derive(Debug)]
pub(super) struct Narrator {
    task_id: Arc<str>,
    context_id: Arc<str>,
    state: TaskState,
    text: Option<Arc<str>>,
    /// The highest number that an artifact's id ends in, so that a fresh id is never one that the agent has chosen.
    last_artifact: u64,
}

impl Narrator {
    pub(super) fn new(task_id: Arc<str>, context_id: Arc<str>, task: Option<&Task>) -> Self {
        let ids = task.into_iter().flat_map(|task| &task.artifacts).map(|artifact| &*artifact.artifact_id);
        Self {
            task_id,
            context_id,
            state: task.map_or(TaskState::Submitted, |task| task.status.state),
            text: None,
            last_artifact: ids.filter_map(artifact_number).max().unwrap_or(0),
        }
    }

    pub(super) fn state(&self) -> TaskState {
        self.state
    }

    /// The agent has the message.
    pub(super) fn works(&mut self, out: &mut Vec<Event>) {
        self.status(StatusUpdate::new(TaskState::Working), out);
    }

    pub(super) fn tell(&mut self, update: Update, out: &mut Vec<Event>) -> Flow {
        match update {
            Update::Text(text) => {
                if !text.is_empty() {
                    self.text(text, out);
                }
            }
            Update::Part(part) => {
                let artifact = Artifact::new(self.fresh_artifact_id(), part);
                self.artifact(ArtifactUpdate::new(artifact), out);
            }
            Update::Artifact(update) => {
                let number = artifact_number(&update.artifact.artifact_id);
                self.last_artifact = self.last_artifact.max(number.unwrap_or(0));
                self.artifact(update, out);
            }
            Update::Message(message) => {
                if !message.parts.is_empty() {
                    let mut artifact = Artifact::new(self.fresh_artifact_id(), message.parts);
                    artifact.metadata = message.metadata;
                    artifact.extensions = message.extensions;
                    self.artifact(ArtifactUpdate::new(artifact), out);
                }
                return self.status(StatusUpdate::new(TaskState::Completed), out);
            }
            Update::Status(update) => return self.status(update, out),
        }
        Flow::Goes
    }

    /// The agent has said all. What waits for an authorization goes on waiting; all else is done.
    pub(super) fn ends(&mut self, out: &mut Vec<Event>) {
        if self.state != TaskState::AuthRequired {
            self.status(StatusUpdate::new(TaskState::Completed), out);
        }
    }

    /// The run failed: the callers are told the code and the words of the error, and nothing of its cause.
    pub(super) fn fails(&mut self, error: &Error, out: &mut Vec<Event>) {
        let words = error.message();
        let data = Json::from(serde_json::json!({ "code": error.code(), "message": words }));
        let message = Message::new(Role::Agent, vec![Part::text(words), Part::data(data)]);
        self.status(StatusUpdate::new(TaskState::Failed).with_message(message), out);
    }

    /// The agent has stopped after a cancel.
    pub(super) fn stops(&mut self, out: &mut Vec<Event>) {
        self.status(StatusUpdate::new(TaskState::Canceled), out);
    }

    fn text(&mut self, text: String, out: &mut Vec<Event>) {
        let append = self.text.is_some();
        let id = match &self.text {
            Some(id) => Arc::clone(id),
            None => {
                let id = self.fresh_artifact_id();
                Arc::clone(self.text.insert(id))
            }
        };
        let mut update = ArtifactUpdate::new(Artifact::new(id, Part::text(text)));
        update.append = append;
        self.artifact(update, out);
    }

    fn artifact(&self, update: ArtifactUpdate, out: &mut Vec<Event>) {
        out.push(Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: Arc::clone(&self.task_id),
            context_id: Arc::clone(&self.context_id),
            artifact: Arc::new(update.artifact),
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
        }));
    }

    fn status(&mut self, update: StatusUpdate, out: &mut Vec<Event>) -> Flow {
        let StatusUpdate { state, message, metadata } = update;
        let says_nothing = message.is_none() && metadata.is_none();
        let is_old = state == self.state || matches!(state, TaskState::Submitted | TaskState::Unspecified);
        if is_old && says_nothing {
            return Flow::Goes;
        }
        // A task does not go back to submitted; what the agent says with it is still told.
        let state = if is_old { self.state } else { state };
        self.state = state;
        let mut status = TaskStatus::new(state);
        status.message = message.map(|mut message| {
            message.role = Role::Agent;
            message.task_id = Some(Arc::clone(&self.task_id));
            message.context_id = Some(Arc::clone(&self.context_id));
            Arc::new(message)
        });
        let ids = (Arc::clone(&self.task_id), Arc::clone(&self.context_id));
        out.push(Event::StatusUpdate(TaskStatusUpdateEvent { task_id: ids.0, context_id: ids.1, status, metadata }));
        // What an authorization brings about comes from the same run.
        if state.is_terminal() || state == TaskState::InputRequired { Flow::Ends } else { Flow::Goes }
    }

    fn fresh_artifact_id(&mut self) -> Arc<str> {
        self.last_artifact = self.last_artifact.saturating_add(1);
        // Nearly every task has an artifact of the first of these names, so they are made once.
        static FIRST: LazyLock<[Arc<str>; 4]> =
            LazyLock::new(|| std::array::from_fn(|index| artifact_id(index as u64 + 1)));
        let index = usize::try_from(self.last_artifact - 1).unwrap_or(usize::MAX);
        FIRST.get(index).map_or_else(|| artifact_id(self.last_artifact), Arc::clone)
    }
}

fn artifact_id(number: u64) -> Arc<str> {
    Arc::from(format!("{ARTIFACT}{number}"))
}

/// How the ids of artifacts begin that the agent has not named.
const ARTIFACT: &str = "artifact-";

fn artifact_number(id: &str) -> Option<u64> {
    id.strip_prefix(ARTIFACT)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrator() -> Narrator {
        Narrator::new(Arc::from("t"), Arc::from("c"), None)
    }

    fn told(narrator: &mut Narrator, updates: Vec<Update>) -> (Vec<Event>, Flow) {
        let (mut out, mut flow) = (Vec::new(), Flow::Goes);
        for update in updates {
            flow = narrator.tell(update, &mut out);
        }
        (out, flow)
    }

    #[test]
    fn b075_text_is_one_artifact_whose_first_piece_alone_does_not_append() {
        let updates = vec!["a".into(), "".into(), Update::file(Part::url("u")), "b".into()];
        let (events, _) = told(&mut narrator(), updates);
        let seen: Vec<_> = events
            .iter()
            .map(|event| match event {
                Event::ArtifactUpdate(update) => (&*update.artifact.artifact_id, update.append, update.last_chunk),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(seen, [("artifact-1", false, false), ("artifact-2", false, false), ("artifact-1", true, false)]);
    }

    #[test]
    fn states_are_told_once_and_never_go_back() {
        let mut narrator = narrator();
        let mut out = Vec::new();
        narrator.works(&mut out);
        assert_eq!(out.len(), 1);
        let submitted = Update::Status(StatusUpdate::new(TaskState::Submitted));
        let (events, flow) = told(&mut narrator, vec![Update::working(), submitted]);
        assert_eq!((events.len(), flow), (0, Flow::Goes));
        let (events, flow) = told(&mut narrator, vec![Update::progress("half")]);
        assert_eq!((events.len(), flow), (1, Flow::Goes));
    }

    #[test]
    fn what_ends_a_run() {
        for (update, expected) in [
            (Update::input_required("?"), Flow::Ends),
            (Update::auth_required("?"), Flow::Goes),
            (Update::rejected("no"), Flow::Ends),
            (Update::failed("no"), Flow::Ends),
            (Update::completed(), Flow::Ends),
            (Update::canceled(), Flow::Ends),
            (Update::Message(Message::agent("all")), Flow::Ends),
            (Update::text("x"), Flow::Goes),
        ] {
            assert_eq!(told(&mut narrator(), vec![update.clone()]).1, expected, "{update:?}");
        }
    }

    #[test]
    fn fresh_ids_of_artifacts_are_none_that_the_agent_has_chosen() {
        let mut task = Task::new("t", "c", TaskState::InputRequired);
        task.artifacts.push(Arc::new(Artifact::new("artifact-7", vec![Part::text("old")])));
        let mut narrator = Narrator::new(Arc::from("t"), Arc::from("c"), Some(&task));
        let own = |id: &str| Update::artifact(Artifact::new(id, vec![Part::text("own")]));
        let (events, _) =
            told(&mut narrator, vec!["a".into(), own("artifact-9"), own("artifact-x"), Part::url("u").into()]);
        let ids: Vec<_> = events
            .iter()
            .map(|event| match event {
                Event::ArtifactUpdate(update) => &*update.artifact.artifact_id,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(ids, ["artifact-8", "artifact-9", "artifact-x", "artifact-10"]);
    }

    #[test]
    fn a_whole_message_without_parts_makes_no_artifact() {
        let (events, flow) = told(&mut narrator(), vec![Update::Message(Message::new(Role::Agent, Vec::new()))]);
        assert_eq!((events.len(), flow), (1, Flow::Ends));
        assert_eq!(events[0].state(), Some(TaskState::Completed));
    }

    #[test]
    fn b126_a_failure_tells_code_and_message_and_no_cause() {
        let mut out = Vec::new();
        narrator().fails(&Error::internal("secret"), &mut out);
        let Event::StatusUpdate(update) = &out[0] else { panic!("{out:?}") };
        let message = update.status.message.as_ref().unwrap();
        assert_eq!(message.parts[0].as_text(), Some("Internal error"));
        assert_eq!(message.parts[1].as_data().unwrap().get(), r#"{"code":-32603,"message":"Internal error"}"#);
        assert!(!format!("{message:?}").contains("secret"));
    }
}
