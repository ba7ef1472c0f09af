//! What must hold of a store.

use std::time::Duration;

use a2a_layers::{
    task::{LogEntry, fold},
    types::{Event, Role, StateKind, Task},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    Outcome,
    client::{result, text_of_artifact},
};

/// How many rounds more than asked for there are at most.
const MORE_ROUNDS: u64 = 10;

/// Whether there is another round after so many: until as many are done as were asked for, and enough has happened in
/// them, since what happens is left to chance.
pub(crate) fn goes_on(done: u64, rounds: u64, is_enough: bool) -> Result<bool, &'static str> {
    match is_enough {
        true => Ok(done < rounds),
        false if done < rounds + MORE_ROUNDS => Ok(true),
        false => Err("too little happened"),
    }
}

/// Two leases after a process has gone there is nothing left of it; somebody may be slow besides.
pub(crate) async fn nothing_stays_at_work(url: &str, lease: Duration) -> Outcome<()> {
    let until = Instant::now() + lease * 2 + Duration::from_secs(10);
    loop {
        let mut left = 0;
        for state in ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"] {
            left += result(url, "ListTasks", json!({ "status": state })).await?["totalSize"].as_u64().unwrap_or(1);
        }
        if left == 0 {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(format!("{left} tasks stay at work").into());
        }
        sleep(lease / 10).await;
    }
}

/// The log has no gaps, and the task is what it folds into.
pub(crate) fn folds_into(log: &[LogEntry], task: &Task, revision: u64) -> Outcome<()> {
    if !log.iter().map(LogEntry::number).eq(1..=revision) {
        return Err(format!("the log has gaps, or is not as long as {revision}").into());
    }
    let Some(Event::Task(first)) = log.first().map(LogEntry::event) else { return Err("no task at the head".into()) };
    let mut folded = Task::clone(first);
    for entry in &log[1..] {
        fold(&mut folded, entry.event())?;
    }
    if folded != *task || task.status.state.kind() == StateKind::Active {
        return Err(format!("the log folds into {folded:?}, the snapshot is {task:?}").into());
    }
    Ok(())
}

/// The events that somebody was shown are those of the log from its first on, each once and in order. What callers said
/// themselves is not shown.
pub(crate) fn shown_is_kept(events: &[(u64, Value)], log: &[LogEntry]) -> Outcome<()> {
    let is_shown = |entry: &&LogEntry| !matches!(entry.event(), Event::Message(said) if said.role == Role::User);
    let mut kept = log.iter().filter(is_shown);
    for (number, event) in events {
        let Some(entry) = kept.next() else {
            return Err(format!("{} events were shown, {} are kept", events.len(), log.len()).into());
        };
        let (shown, kept) = (essence_of_wire(event), essence(entry.event()));
        if *number != entry.number() || shown != kept {
            let (kept_number, numbers) = (entry.number(), events.iter().map(|(number, _)| number));
            let numbers: Vec<_> = numbers.collect();
            return Err(format!("{number} {shown:?} was shown for {kept_number} {kept:?}; in all {numbers:?}").into());
        }
    }
    Ok(())
}

/// What distinguishes events here: their kind, and the text or the state.
fn essence(event: &Event) -> (&'static str, String) {
    match event {
        Event::Task(task) => ("task", task.id.to_string()),
        Event::Message(message) => ("message", message.message_id.clone()),
        Event::StatusUpdate(update) => ("status", update.status.state.to_string()),
        Event::ArtifactUpdate(update) => {
            let texts = update.artifact.parts.iter().filter_map(|part| part.as_text());
            ("artifact", texts.collect())
        }
        _ => ("other", String::new()),
    }
}

fn essence_of_wire(event: &Value) -> (&'static str, String) {
    if let Some(id) = event["task"]["id"].as_str() {
        return ("task", id.to_owned());
    }
    if let Some(state) = event["statusUpdate"]["status"]["state"].as_str() {
        return ("status", state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-"));
    }
    ("artifact", text_of_artifact(&event["artifactUpdate"]["artifact"]))
}

/// What a task says, in all its artifacts.
pub(crate) fn text_of(task: &Task) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts.filter_map(|part| part.as_text()).collect()
}
