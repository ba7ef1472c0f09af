//! What must hold of the file after each crash.

use std::{collections::BTreeMap, fmt, path::Path, time::Duration};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, LogEntry, SqliteTaskStore, TaskStore, fold},
    types::{Event, Task},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    LEASE, Outcome,
    client::{Done, Reader, result},
};

/// How much was seen in all rounds, so that one can tell whether it was anything.
#[derive(Default)]
pub(crate) struct Seen {
    tasks: usize,
    events: usize,
    /// Streams that were cut in the middle, and read on.
    cut: usize,
    /// Whole answers.
    answers: usize,
    /// Runs that were begun again.
    reruns: usize,
    /// What each task's log was at the end of an earlier round.
    ended: BTreeMap<String, u64>,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, events, cut, answers, reruns, .. } = self;
        write!(f, "{tasks} tasks, {events} events shown, {cut} streams cut and read on, {answers} whole answers, ")?;
        write!(f, "{reruns} lost runs begun again")
    }
}

/// Two leases after the start there is nothing left of the old process.
pub(crate) async fn nothing_stays_at_work(url: &str) -> Outcome<()> {
    let until = Instant::now() + LEASE * 2 + Duration::from_secs(10);
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
        sleep(LEASE / 10).await;
    }
}

impl Seen {
    pub(crate) async fn round(&mut self, file: &Path, readers: Vec<Reader>, done: Vec<Done>) -> Outcome<()> {
        let store = SqliteTaskStore::open(file.to_string_lossy()).await?;
        let mut revisions = self.all_logs(&store).await?;
        for reader in readers {
            let log = store.read(&Owner::anonymous(), &reader.id, 0, usize::MAX).await?;
            shown_is_kept(&reader, &log).map_err(|error| format!("task {}: {error}", reader.id))?;
            self.events += reader.events.len();
            self.cut += usize::from(reader.events.len() > reader.before);
        }
        for Done { task } in done {
            let id = task["id"].as_str().unwrap_or_default();
            let kept = store.get(&Owner::anonymous(), id).await?.task;
            if text_of_wire(&task) != text_of(&kept) {
                return Err(format!("an answer that was given is not what is kept: {task} and {kept:?}").into());
            }
            self.answers += 1;
        }
        self.tasks = revisions.len();
        self.ended.append(&mut revisions);
        Ok(())
    }

    /// Every task there is: a log without gaps that folds into the snapshot, and ends as it ended before.
    async fn all_logs(&mut self, store: &SqliteTaskStore) -> Outcome<BTreeMap<String, u64>> {
        let (owner, mut query, mut revisions) = (Owner::anonymous(), ListQuery::new(100), BTreeMap::new());
        loop {
            let page = store.list(&owner, &query).await?;
            for listed in &page.tasks {
                let snapshot = store.get(&owner, &listed.id).await?;
                if snapshot.task != *listed {
                    return Err(format!("a list shows another task: {listed:?}").into());
                }
                // What has ended in an earlier round was looked at then.
                if self.ended.get(&*listed.id) != Some(&snapshot.revision) {
                    let log = store.read(&owner, &listed.id, 0, usize::MAX).await?;
                    self.reruns += log.iter().skip(1).filter(|entry| matches!(entry.event(), Event::Task(_))).count();
                    folds_into(&log, &snapshot.task, snapshot.revision)
                        .map_err(|error| format!("task {}: {error}", listed.id))?;
                    if self.ended.contains_key(&*listed.id) {
                        return Err(format!("task {} went on after its end", listed.id).into());
                    }
                }
                revisions.insert(listed.id.to_string(), snapshot.revision);
            }
            match page.next_page_token {
                Some(token) => query.page_token = Some(token),
                None if revisions.len() as u64 != page.total_size => return Err("a list without some tasks".into()),
                None => break,
            }
        }
        if let Some(id) = self.ended.keys().find(|id| !revisions.contains_key(*id)) {
            return Err(format!("task {id} is gone").into());
        }
        Ok(revisions)
    }

    /// A run in which nobody was ever cut off shows nothing.
    pub(crate) fn is_enough(&self, rounds: u64) -> Outcome<()> {
        if self.cut as u64 >= rounds && self.answers as u64 >= rounds {
            Ok(())
        } else {
            Err(format!("too little happened: {self}").into())
        }
    }
}

fn folds_into(log: &[LogEntry], task: &Task, revision: u64) -> Outcome<()> {
    if !log.iter().map(LogEntry::number).eq(1..=revision) {
        return Err(format!("the log has gaps, or is not as long as {revision}").into());
    }
    let Some(Event::Task(first)) = log.first().map(LogEntry::event) else { return Err("no task at the head".into()) };
    let mut folded = Task::clone(first);
    for entry in &log[1..] {
        fold(&mut folded, entry.event())?;
    }
    if folded != *task || task.status.state.kind() == a2a_layers::types::StateKind::Active {
        return Err(format!("the log folds into {folded:?}, the snapshot is {task:?}").into());
    }
    Ok(())
}

/// The events from the first on, each once, none but those of the log.
fn shown_is_kept(reader: &Reader, log: &[LogEntry]) -> Outcome<()> {
    let numbers = reader.events.iter().map(|(number, _)| *number);
    if !numbers.eq(1..=reader.events.len() as u64) {
        let numbers: Vec<_> = reader.events.iter().map(|(number, _)| number).collect();
        return Err(format!("shown were {numbers:?}").into());
    }
    if reader.events.len() > log.len() {
        return Err(format!("{} events were shown, {} are kept", reader.events.len(), log.len()).into());
    }
    for ((number, shown), entry) in reader.events.iter().zip(log) {
        let (shown, kept) = (essence_of_wire(shown), essence(entry.event()));
        if shown != kept {
            return Err(format!("event {number} was shown as {shown:?} and is kept as {kept:?}").into());
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
    let parts = event["artifactUpdate"]["artifact"]["parts"].as_array().into_iter().flatten();
    ("artifact", parts.filter_map(|part| part["text"].as_str()).collect())
}

fn text_of(task: &Task) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts.filter_map(|part| part.as_text()).collect()
}

fn text_of_wire(task: &Value) -> String {
    let parts = task["artifacts"].as_array().into_iter().flatten();
    let parts = parts.flat_map(|artifact| artifact["parts"].as_array().into_iter().flatten());
    parts.filter_map(|part| part["text"].as_str()).collect()
}
