//! What must hold of the tasks after each round.

use std::{fmt, time::Duration};

use a2a_layers::{
    owner::Owner,
    task::TaskStore,
    types::{Event, Task, TaskState, Timestamp},
};
use serde_json::{Value, json};

use super::{
    REPLICAS,
    durable::{
        Outcome,
        check::{folds_into, goes_on, text_of},
        client::{result, text_of_task},
        fleet::Fleet,
    },
    work::Known,
};

/// What callers are told of a run that went down with its replica, killed or stopped.
const REASONS: [&str; 2] = ["is gone", "was stopped"];

/// How much was seen in all rounds, so that one can tell whether it was anything.
#[derive(Default)]
pub(crate) struct Seen {
    tasks: usize,
    events: usize,
    /// Streams that were cut in the middle, and read on elsewhere.
    cut: usize,
    canceled: usize,
    /// Runs that ended as failed with their replica.
    failed: usize,
    /// Runs that were begun again.
    reruns: usize,
    /// After how much time the last lost run ended.
    last_end: Duration,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, events, cut, canceled, failed, reruns, last_end } = self;
        write!(f, "{tasks} tasks, {events} events shown, {cut} streams cut and read on elsewhere, ")?;
        write!(f, "{canceled} tasks canceled elsewhere, {failed} lost runs failed ({last_end:?} later at most), ")?;
        write!(f, "{reruns} begun again")
    }
}

/// A round, when it is over.
pub(crate) struct Round<'a> {
    pub(crate) fleet: &'a Fleet,
    /// The replica that went down, and when.
    pub(crate) victim: usize,
    pub(crate) down: Timestamp,
    /// Whether lost runs are begun again.
    pub(crate) reruns: bool,
}

impl Seen {
    pub(crate) async fn round<T: TaskStore>(&mut self, store: &T, round: Round<'_>, known: Vec<Known>) -> Outcome<()> {
        for known in known {
            self.task(store, &round, &known).await.map_err(|error| format!("task {}: {error}", known.id))?;
        }
        all_list_the_same(round.fleet).await
    }

    async fn task<T: TaskStore>(&mut self, store: &T, round: &Round<'_>, known: &Known) -> Outcome<()> {
        let (owner, id) = (Owner::anonymous(), &*known.id);
        let (log, snapshot) = (store.read(&owner, id, 0, usize::MAX).await?, store.get(&owner, id).await?);
        folds_into(&log, &snapshot.task, snapshot.revision)?;
        for follower in &known.followers {
            follower.has_all(&log)?;
            self.events += follower.events.len();
            self.cut += follower.cuts;
        }
        for replica in 0..REPLICAS {
            let task = result(&round.fleet.url(replica), "GetTask", json!({ "id": id })).await?;
            is_the_same(&task, &snapshot.task)?;
        }
        if let Some(answer) = &known.answer {
            is_the_same(answer, &snapshot.task)?;
        }
        let reruns = log.iter().skip(1).filter(|entry| matches!(entry.event(), Event::Task(_))).count();
        self.end(round, known, &snapshot.task).map_err(|error| format!("begun {reruns} times again: {error}"))?;
        self.reruns += reruns;
        self.tasks += 1;
        Ok(())
    }

    /// It ended as it should have.
    fn end(&mut self, round: &Round<'_>, known: &Known, task: &Task) -> Outcome<()> {
        let (state, text) = (task.status.state, text_of(task));
        if known.canceled != (state == TaskState::Canceled) {
            return Err(format!("it is {state}, and a cancel was acknowledged: {}", known.canceled).into());
        }
        self.canceled += usize::from(known.canceled);
        match state {
            TaskState::Completed | TaskState::InputRequired if text == known.text => Ok(()),
            TaskState::Canceled if known.text.starts_with(&text) => Ok(()),
            TaskState::Failed if known.text.starts_with(&text) => self.failure(round, known, task),
            _ => Err(format!("it is {state} and says {text:?}").into()),
        }
    }

    fn failure(&mut self, round: &Round<'_>, known: &Known, task: &Task) -> Outcome<()> {
        let reason = task.status.message.as_ref().map(|message| message.text()).unwrap_or_default();
        if known.replica != round.victim || round.reruns || !REASONS.iter().any(|words| reason.contains(words)) {
            let (replica, victim) = (known.replica, round.victim);
            return Err(format!("on {replica} it failed when {victim} went down, because: {reason}").into());
        }
        let ended = task.status.timestamp.ok_or("no time")?.as_millis();
        let later = Duration::from_millis(ended.saturating_sub(round.down.as_millis()).try_into().unwrap_or(0));
        self.last_end = self.last_end.max(later);
        self.failed += 1;
        Ok(())
    }

    /// A run in which nothing happened shows nothing, so there are some more rounds if so many were not enough.
    pub(crate) fn goes_on(&self, round: u64, rounds: u64) -> Outcome<bool> {
        let happened = [self.cut, self.canceled].into_iter().all(|count| count as u64 >= round.max(rounds));
        let is_enough = happened && self.failed > 0 && (self.reruns > 0 || rounds < 4);
        goes_on(round, rounds, is_enough).map_err(|error| format!("{error}: {self}").into())
    }
}

fn is_the_same(answer: &Value, kept: &Task) -> Outcome<()> {
    let state = format!("TASK_STATE_{}", kept.status.state.to_string().to_uppercase().replace('-', "_"));
    if answer["status"]["state"] == state && text_of_task(answer) == text_of(kept) {
        Ok(())
    } else {
        Err(format!("an answer is not what is kept: {answer} and {kept:?}").into())
    }
}

async fn all_list_the_same(fleet: &Fleet) -> Outcome<()> {
    let mut lists = Vec::new();
    for replica in 0..REPLICAS {
        lists.push(result(&fleet.url(replica), "ListTasks", json!({ "pageSize": 100 })).await?);
    }
    if lists.windows(2).all(|pair| pair[0] == pair[1]) {
        Ok(())
    } else {
        Err(format!("the replicas list other tasks: {lists:?}").into())
    }
}
