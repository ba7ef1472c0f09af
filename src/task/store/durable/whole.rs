//! From what the database has to whole tasks.

use std::sync::Arc;

use super::{Backend, Part, Stored, unavailable};
use crate::{
    task::{
        FoldError, StoreError, fold,
        stored::{StoredError, read_events, read_task},
    },
    types::{Event, Task},
};

/// A task on its way from its snapshot to its row's revision.
struct Folding {
    stored: Stored,
    task: Option<Task>,
    revision: u64,
}

impl Folding {
    fn new(stored: Stored) -> Result<Self, StoreError> {
        let task = stored.body.as_deref().map(read_task).transpose().map_err(unavailable)?;
        Ok(Self { revision: stored.folded, stored, task })
    }

    fn part(&self) -> Option<Part> {
        let (seq, after, until) = (self.stored.row.seq, self.revision, self.stored.row.revision);
        (after < until).then_some(Part { seq, after, until })
    }

    fn append(&mut self, text: &str) -> Result<(), StoreError> {
        for event in read_events(&self.stored.id, &self.stored.context, text).map_err(unavailable)? {
            match (&mut self.task, event) {
                (Some(task), event) => fold(task, &event).map_err(unavailable)?,
                (task @ None, Event::Task(first)) => *task = Some(Arc::unwrap_or_clone(first)),
                (None, _) => return Err(unavailable(StoredError::new("a log does not begin with its task"))),
            }
            self.revision += 1;
        }
        Ok(())
    }

    /// `None` if it went away between two reads.
    fn whole(self) -> Option<Task> {
        self.task.filter(|_| self.revision == self.stored.row.revision)
    }
}

/// True if it is about what is written, and not about the database.
pub(super) fn is_unreadable(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable(cause) if cause.is::<StoredError>() || cause.is::<FoldError>())
}

/// The task at its row's revision; `None` if it went away meanwhile.
pub(super) async fn one<B: Backend>(backend: &B, stored: Stored) -> Result<Option<Task>, StoreError> {
    let mut folding = Folding::new(stored)?;
    if let Some(part) = folding.part() {
        backend.unfolded(&[part], |_, text| folding.append(text)).await?;
    }
    Ok(folding.whole())
}

/// The same for many, whose logs are asked for at once.
pub(super) async fn all<B: Backend>(backend: &B, stored: Vec<Stored>) -> Result<Vec<Option<Task>>, StoreError> {
    let mut all = stored.into_iter().map(Folding::new).collect::<Result<Vec<_>, _>>()?;
    let (places, parts): (Vec<_>, Vec<_>) =
        all.iter().enumerate().filter_map(|(at, folding)| Some((at, folding.part()?))).unzip();
    if !parts.is_empty() {
        backend.unfolded(&parts, |part, text| all[places[part]].append(text)).await?;
    }
    Ok(all.into_iter().map(Folding::whole).collect())
}
