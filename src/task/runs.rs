//! Which agents run in this process.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio::sync::Notify;

use crate::{agent::Cancellation, owner::Owner};

/// The runs of this process, by task. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    places: Mutex<Places>,
    /// How many there are, with those that have left their place and are about to end.
    alive: AtomicUsize,
    /// Told when none is left.
    idle: Notify,
    /// True if what is not over is to be left as it stands, for others to go on with.
    are_handed_over: AtomicBool,
    /// True if this process no longer holds anything.
    are_given_up: AtomicBool,
}

#[derive(Debug, Default)]
struct Places {
    runs: HashMap<Arc<str>, RunHandle>,
    is_closed: bool,
}

/// What others may know of a run.
#[derive(Clone, Debug)]
pub(super) struct RunHandle {
    pub(super) owner: Owner,
    pub(super) cancellation: Cancellation,
    pub(super) streaming: bool,
}

/// Why a run may not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The task has a run already.
    Busy,
    /// There are as many runs as there may be, or none may begin any more.
    Full,
}

/// A task's one place to run; it is free again when this is dropped, or [left](Self::leave).
#[derive(Debug)]
pub(super) struct RunSlot {
    runs: Runs,
    task_id: Arc<str>,
    has_left: bool,
}

impl Runs {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, task_id: &Arc<str>, handle: RunHandle, limit: usize) -> Result<RunSlot, Refused> {
        let mut places = self.places();
        let is_full = places.runs.len() >= limit || places.is_closed;
        match places.runs.entry(Arc::clone(task_id)) {
            Entry::Occupied(_) => return Err(Refused::Busy),
            Entry::Vacant(_) if is_full => return Err(Refused::Full),
            Entry::Vacant(place) => place.insert(handle),
        };
        self.0.alive.fetch_add(1, Ordering::Relaxed);
        Ok(RunSlot { runs: self.clone(), task_id: Arc::clone(task_id), has_left: false })
    }

    pub(super) fn get(&self, task_id: &str) -> Option<RunHandle> {
        self.places().runs.get(task_id).cloned()
    }

    /// No more may begin.
    pub(super) fn close(&self) {
        self.places().is_closed = true;
    }

    /// From here on no run writes anything.
    pub(super) fn hand_over(&self) {
        self.0.are_handed_over.store(true, Ordering::Release);
    }

    pub(super) fn are_handed_over(&self) -> bool {
        self.0.are_handed_over.load(Ordering::Acquire)
    }

    /// The lease is not renewed any more.
    pub(super) fn give_up(&self) {
        self.0.are_given_up.store(true, Ordering::Release);
    }

    pub(super) fn are_given_up(&self) -> bool {
        self.0.are_given_up.load(Ordering::Acquire)
    }

    /// Those that there are.
    pub(super) fn all(&self) -> Vec<(Arc<str>, RunHandle)> {
        self.places().runs.iter().map(|(id, handle)| (Arc::clone(id), handle.clone())).collect()
    }

    /// Waits until there is none.
    pub(super) async fn idle(&self) {
        loop {
            let told = self.0.idle.notified();
            if self.0.alive.load(Ordering::Acquire) == 0 {
                return;
            }
            told.await;
        }
    }
}

impl RunSlot {
    /// Lets the task's next run begin, although this one has a last word to say.
    pub(super) fn leave(&mut self) {
        if !std::mem::replace(&mut self.has_left, true) {
            self.runs.places().runs.remove(&self.task_id);
        }
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        self.leave();
        if self.runs.0.alive.fetch_sub(1, Ordering::Release) == 1 {
            self.runs.0.idle.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn handle() -> RunHandle {
        RunHandle { owner: Owner::anonymous(), cancellation: Cancellation::new(), streaming: false }
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
    #[test]
    fn a_run_that_has_left_its_place_is_still_waited_for() {
        let runs = Runs::default();
        assert!(runs.idle().now_or_never().is_some());
        let mut first = runs.begin(&Arc::from("a"), handle(), 1).unwrap();
        first.leave();
        assert!(runs.get("a").is_none());
        let second = runs.begin(&Arc::from("a"), handle(), 1).unwrap();
        runs.close();
        assert_eq!(runs.begin(&Arc::from("b"), handle(), 9).unwrap_err(), Refused::Full);
        let mut idle = Box::pin(runs.idle());
        assert!((&mut idle).now_or_never().is_none());
        drop(first);
        assert!(runs.get("a").is_some(), "the place is another one's");
        assert!((&mut idle).now_or_never().is_none());
        drop(second);
        assert!(idle.now_or_never().is_some() && runs.all().is_empty());
    }
}
