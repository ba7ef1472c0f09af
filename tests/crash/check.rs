//! What must hold of the tasks after each crash.

use std::{collections::BTreeMap, fmt};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, TaskStore},
    types::Event,
};

use super::{
    client::{Done, Reader},
    durable::{
        Outcome,
        check::{folds_into, goes_on, shown_is_kept, text_of},
        client::text_of_task,
    },
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

impl Seen {
    pub(crate) async fn round<T: TaskStore>(&mut self, store: T, readers: Vec<Reader>, done: Vec<Done>) -> Outcome<()> {
        let mut revisions = self.all_logs(&store).await?;
        for reader in readers {
            let log = store.read(&Owner::anonymous(), &reader.id, 0, usize::MAX).await?;
            shown_is_kept(&reader.events, &log).map_err(|error| format!("task {}: {error}", reader.id))?;
            self.events += reader.events.len();
            self.cut += usize::from(reader.events.len() > reader.before);
        }
        for Done { task } in done {
            let id = task["id"].as_str().unwrap_or_default();
            let kept = store.get(&Owner::anonymous(), id).await?.task;
            if text_of_task(&task) != text_of(&kept) {
                return Err(format!("an answer that was given is not what is kept: {task} and {kept:?}").into());
            }
            self.answers += 1;
        }
        self.tasks = revisions.len();
        self.ended.append(&mut revisions);
        Ok(())
    }

    /// Every task there is: a log without gaps that folds into the snapshot, and ends as it ended before.
    async fn all_logs<T: TaskStore>(&mut self, store: &T) -> Outcome<BTreeMap<String, u64>> {
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

    /// A run in which nobody was ever cut off shows nothing, so there are some more rounds if so many were not enough.
    pub(crate) fn goes_on(&self, round: u64, rounds: u64) -> Outcome<bool> {
        let is_enough = [self.cut, self.answers].into_iter().all(|count| count as u64 >= round.max(rounds));
        goes_on(round, rounds, is_enough).map_err(|error| format!("{error}: {self}").into())
    }
}
