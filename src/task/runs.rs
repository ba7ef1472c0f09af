//! Which agents run in this process.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, PoisonError},
};

use crate::agent::Cancellation;

/// The runs of this process, by task. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs(Arc<Mutex<HashMap<Arc<str>, RunHandle>>>);

/// What others may know of a run.
#[derive(Clone, Debug)]
pub(super) struct RunHandle {
    pub(super) cancellation: Cancellation,
    pub(super) streaming: bool,
}

/// Why a run may not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The task has a run already.
    Busy,
    /// There are as many runs as there may be.
    Full,
}

/// A task's one place to run; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct RunSlot {
    runs: Runs,
    task_id: Arc<str>,
}

impl Runs {
    pub(super) fn begin(&self, task_id: &Arc<str>, handle: RunHandle, limit: usize) -> Result<RunSlot, Refused> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = runs.len() >= limit;
        match runs.entry(Arc::clone(task_id)) {
            Entry::Occupied(_) => return Err(Refused::Busy),
            Entry::Vacant(_) if is_full => return Err(Refused::Full),
            Entry::Vacant(place) => place.insert(handle),
        };
        Ok(RunSlot { runs: self.clone(), task_id: Arc::clone(task_id) })
    }

    pub(super) fn get(&self, task_id: &str) -> Option<RunHandle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(task_id).cloned()
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        self.runs.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.task_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle() -> RunHandle {
        RunHandle { cancellation: Cancellation::new(), streaming: false }
    }

    #[test]
    fn a_task_runs_once_at_a_time_and_the_limit_holds_at_its_edge() {
        let runs = Runs::default();
        let (a, b, c) = (Arc::from("a"), Arc::from("b"), Arc::from("c"));
        let first = runs.begin(&a, handle(), 2).unwrap();
        assert_eq!(runs.begin(&a, handle(), 2).unwrap_err(), Refused::Busy);
        let _second = runs.begin(&b, handle(), 2).unwrap();
        assert_eq!(runs.begin(&c, handle(), 2).unwrap_err(), Refused::Full);
        drop(first);
        assert!(runs.get("a").is_none() && runs.get("b").is_some());
        assert!(runs.begin(&a, handle(), 2).is_ok());
    }
}
