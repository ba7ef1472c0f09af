//! The log of one task in memory.

use std::sync::Arc;

use crate::{
    task::{Batch, LogEntry},
    types::{Event, Few, Task, TaskStatus},
};

/// What happened to a task, beginning with the task as it was made.
#[derive(Debug)]
pub(super) struct Log {
    /// As long as nobody has asked for the first entry: most tasks are over before anybody does, and until then it can be
    /// told from the task itself.
    made: Option<Made>,
    /// In their order; none is empty.
    batches: Few<Batch>,
    revision: u64,
}

/// What a task was when it was made, as far as it may change.
#[derive(Debug)]
struct Made {
    status: TaskStatus,
    /// How many messages there were. Those never change, and more only join them.
    messages: usize,
}

impl Log {
    /// The log of a task that is new, before such events change it.
    pub(super) fn of(task: &Arc<Task>, events: &[Event]) -> Self {
        let made = Made { status: task.status.clone(), messages: task.history.len() };
        let mut log = Self { made: Some(made), batches: Few::new(), revision: 1 };
        if !task.artifacts.is_empty() || task.metadata.is_some() {
            log.write_first(|_| Arc::clone(task));
        }
        log.before(events, task);
        log
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// To be called before such events change the task.
    pub(super) fn before(&mut self, events: &[Event], task: &Arc<Task>) {
        // It may be another one afterwards.
        if events.iter().any(|event| matches!(event, Event::Task(_))) {
            self.write_first(|made| made.task(task));
        }
    }

    pub(super) fn extend(&mut self, events: impl IntoIterator<Item = Event>) {
        let batch = Batch::new(self.revision + 1, events);
        self.revision += batch.len() as u64;
        if batch.len() > 0 {
            self.batches.push(batch);
        }
    }

    /// The entries behind this number, of what this task is now.
    pub(super) fn entries(&mut self, after: u64, task: &Task) -> impl Iterator<Item = LogEntry> + '_ {
        if after == 0 {
            self.write_first(|made| made.task(task));
        }
        // The batch in which the next entry is, or all of them lie behind it: then it is the first.
        let behind =
            self.batches.partition_point(|batch| batch.first().is_some_and(|first| first <= after.saturating_add(1)));
        let batches = self.batches.get(behind.saturating_sub(1)..).unwrap_or_default();
        let skipped =
            batches.first().and_then(Batch::first).map_or(0, |first| after.saturating_add(1).saturating_sub(first));
        let mut from = usize::try_from(skipped).unwrap_or(usize::MAX);
        batches.iter().flat_map(move |batch| batch.entries(std::mem::take(&mut from)))
    }

    pub(super) fn forget_texts(&mut self) {
        self.batches.iter_mut().for_each(Batch::forget_texts);
    }

    fn write_first(&mut self, task: impl FnOnce(Made) -> Arc<Task>) {
        if let Some(made) = self.made.take() {
            let first = Batch::new(1, [Event::Task(task(made))]);
            self.batches = std::iter::once(first).chain(std::mem::take(&mut self.batches)).collect();
        }
    }
}

impl Made {
    /// The task as it was, told from what it is now.
    fn task(self, now: &Task) -> Arc<Task> {
        let mut task = Task::new(Arc::clone(&now.id), Arc::clone(&now.context_id), self.status.state);
        task.status = self.status;
        task.history = now.history.iter().take(self.messages).cloned().collect();
        Arc::new(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        task::fold,
        types::{
            Artifact, JsonObject, Message, Part, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent, Timestamp,
        },
    };

    fn made(change: impl FnOnce(&mut Task)) -> Arc<Task> {
        let mut task = Task::new("t", "c", TaskState::Submitted);
        task.status.timestamp = Some(Timestamp::from_millis(7));
        change(&mut task);
        Arc::new(task)
    }

    fn events() -> Vec<Event> {
        let (id, context) = (Arc::from("t"), Arc::from("c"));
        let status = |state, words: &str| {
            let status = crate::types::TaskStatus::new(state).with_message(Message::agent(words));
            Event::StatusUpdate(TaskStatusUpdateEvent::new(Arc::clone(&id), Arc::clone(&context), status))
        };
        let artifact = Artifact::new("a", vec![Part::text("x")]);
        vec![
            status(TaskState::Working, "on it"),
            Event::ArtifactUpdate(TaskArtifactUpdateEvent::new(Arc::clone(&id), Arc::clone(&context), artifact)),
            status(TaskState::InputRequired, "and?"),
            Event::Message(Arc::new(Message::user("go on"))),
            status(TaskState::Completed, "done"),
        ]
    }

    #[test]
    fn the_first_entry_is_the_task_as_it_was_made_whenever_it_is_asked_for() {
        let plain = made(|_| {});
        let talked = made(|task| task.history.extend([1, 2].map(|_| Arc::new(Message::user("hi")))));
        let asked = made(|task| task.status.message = Some(Arc::new(Message::agent("?"))));
        let rich = made(|task| task.artifacts.push(Arc::new(Artifact::new("old", vec![Part::text("y")]))));
        let replacement = Event::Task(made(|task| task.metadata = Some(JsonObject::from(serde_json::Map::new()))));
        for first in [plain, talked, asked, rich] {
            let mut with_another = events();
            with_another.insert(2, replacement.clone());
            for all in [events(), with_another] {
                for at_once in 0..=all.len() {
                    let mut log = Log::of(&first, &all[..at_once]);
                    log.extend(all[..at_once].to_vec());
                    let mut task = first.clone();
                    all[..at_once].iter().for_each(|event| fold(Arc::make_mut(&mut task), event).unwrap());
                    for event in &all[at_once..] {
                        log.before(std::slice::from_ref(event), &task);
                        fold(Arc::make_mut(&mut task), event).unwrap();
                        log.extend([event.clone()]);
                    }
                    assert_eq!(log.revision(), all.len() as u64 + 1);
                    let mut numbers = |after| log.entries(after, &task).map(|entry| entry.number()).collect::<Vec<_>>();
                    let last = all.len() as u64 + 1;
                    for after in (1..=last).chain([0, last + 1, u64::MAX - 1, u64::MAX]) {
                        assert_eq!(numbers(after), (after.saturating_add(1)..=last).collect::<Vec<_>>(), "{after}");
                    }
                    let told: Vec<_> = log.entries(0, &task).map(|entry| entry.event().clone()).collect();
                    assert_eq!((&told[0], &told[1..]), (&Event::Task(Arc::clone(&first)), &all[..]));
                }
            }
        }
    }
}
