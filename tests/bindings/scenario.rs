//! One scenario: steps, and how they are played over one way.

use std::{sync::atomic::Ordering, time::Duration};

use a2a_layers::operation::OperationKind;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{client::Talk, names::Names, place::Place, request::Ask, wire::Stage};

/// What is done one after the other, over each way by itself.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    steps: Vec<Step>,
    /// What the answers of the first way are, in short.
    pub(crate) shows: Vec<&'static str>,
    /// Answers that may be of a task that has begun or of one that is on its way, as it happens.
    active: &'static [usize],
}

#[derive(Clone)]
pub(crate) enum Step {
    /// Asks and keeps the answer. `$0` in the parameters is the id of the task in the first answer, `$0.context` that of
    /// its conversation, `$0.token` the next page's.
    Ask(Ask),
    /// Asks, and goes on as soon as a stream has begun and a run waits.
    Begin(Ask),
    /// Lets a run that waits go on.
    Release,
    /// Keeps the answer to what was begun.
    End,
    /// Looks at the task of that answer until it is in this state.
    Until(usize, &'static str),
}

pub(crate) fn ask(op: OperationKind, params: Value) -> Ask {
    Ask { op, params, headers: Vec::new(), owner: "owner" }
}

impl Ask {
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn by(mut self, owner: &'static str) -> Self {
        self.owner = owner;
        self
    }

    pub(crate) fn begun(self) -> Step {
        Step::Begin(self)
    }
}

impl From<Ask> for Step {
    fn from(ask: Ask) -> Self {
        Self::Ask(ask)
    }
}

pub(crate) fn scenario(
    name: &'static str,
    steps: impl IntoIterator<Item = Step>,
    shows: impl AsRef<[&'static str]>,
) -> Scenario {
    let (steps, shows) = (steps.into_iter().collect(), shows.as_ref().to_vec());
    Scenario { name, place: Place::Full, steps, shows, active: &[] }
}

impl Scenario {
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    pub(crate) fn active(mut self, answers: &'static [usize]) -> Self {
        self.active = answers;
        self
    }

    /// The answers over a way, in their canonical form.
    pub(crate) async fn play(&self, talk: &Talk, stage: &Stage) -> Vec<Value> {
        let mut answers = Vec::new();
        let mut begun: Option<JoinHandle<Value>> = None;
        for step in &self.steps {
            match step {
                Step::Ask(ask) => answers.push(talk.ask(&filled(ask, &answers)).await),
                Step::Begin(ask) => {
                    let ((talk, begins), ask) = (talk.telling(), filled(ask, &answers));
                    let is_stream = ask.op.is_streaming();
                    begun = Some(tokio::spawn(async move { talk.ask(&ask).await }));
                    if is_stream {
                        begins.notified().await;
                    }
                    until(async || stage.waiting.load(Ordering::SeqCst) > 0).await;
                }
                Step::Release => {
                    until(async || stage.waiting.load(Ordering::SeqCst) > 0).await;
                    stage.gate.add_permits(1);
                    until(async || stage.waiting.load(Ordering::SeqCst) == 0).await;
                }
                Step::End => answers.push(begun.take().expect("something begun").await.expect("an answer")),
                Step::Until(answer, state) => {
                    let get = filled(&ask(OperationKind::GetTask, json!({ "id": format!("${answer}") })), &answers);
                    let state = format!("TASK_STATE_{state}");
                    until(async || talk.ask(&get).await["task"]["status"]["state"] == *state).await;
                }
            }
        }
        let mut names = Names::default();
        let answers = answers.iter().enumerate().map(|(place, answer)| {
            let answer = if self.active.contains(&place) { begun_task(answer) } else { answer.clone() };
            names.replace(&answer)
        });
        answers.collect()
    }
}

/// A task that is not over, of which it is chance how far it is.
fn begun_task(answer: &Value) -> Value {
    let task = &answer["task"];
    let state = task["status"]["state"].as_str().unwrap_or_default();
    assert!(["SUBMITTED", "WORKING", "AUTH_REQUIRED"].iter().any(|active| state.ends_with(active)), "{answer}");
    json!({ "task": { "id": task["id"], "contextId": task["contextId"] } })
}

async fn until(mut done: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !done().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.expect("it never comes");
}

fn filled(ask: &Ask, answers: &[Value]) -> Ask {
    Ask { params: fill(&ask.params, answers), ..ask.clone() }
}

fn fill(value: &Value, answers: &[Value]) -> Value {
    match value {
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, inner)| (name.clone(), fill(inner, answers))).collect())
        }
        Value::Array(elements) => elements.iter().map(|inner| fill(inner, answers)).collect(),
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => {
                let (number, member) = name.split_once('.').unwrap_or((name, ""));
                let answer = &answers[number.parse::<usize>().expect("a number")];
                let value = match member {
                    "context" => &answer["task"]["contextId"],
                    "token" => &answer["nextPageToken"],
                    _ => &answer["task"]["id"],
                };
                assert!(value.is_string(), "there is no {text} in {answer}");
                value.clone()
            }
            None => value.clone(),
        },
        other => other.clone(),
    }
}

/// What an answer is, in short.
pub(crate) fn summary(answer: &Value) -> String {
    if let Some(kind) = answer["error"]["kind"].as_str() {
        return format!("error {kind}");
    }
    if let Some(events) = answer["events"].as_array() {
        let names =
            events.iter().map(|event| event.as_object().and_then(|event| event.keys().next()).map_or("", |name| name));
        return names.collect::<Vec<_>>().join(" ");
    }
    if let Some(state) = answer["task"]["status"]["state"].as_str() {
        return format!("task {}", state.trim_start_matches("TASK_STATE_"));
    }
    if let Some(tasks) = answer["tasks"].as_array() {
        return format!("tasks {}", tasks.len());
    }
    answer.as_object().and_then(|answer| answer.keys().next().cloned()).unwrap_or_default()
}
