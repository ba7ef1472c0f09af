//! Which agents run in this process.

use std::{
    borrow::Borrow,
    collections::HashSet,
    hash::{Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

use super::progress::{Begun, Reporter, Settled};
use crate::{agent::TaskContext, error::Error};

/// The runs of this process, by task. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    places: Mutex<Places>,
    /// Told when none is left.
    idle: Notify,
    /// True if what is not over is to be left as it stands, for others to go on with.
    are_handed_over: AtomicBool,
    /// True if this process no longer holds anything.
    are_given_up: AtomicBool,
}

#[derive(Debug, Default)]
struct Places {
    runs: HashSet<RunHandle>,
    /// How many take up a place, listed or not.
    taken: usize,
    /// How many there are, with those that have left their place and are about to end.
    alive: usize,
    is_closed: bool,
    /// True if somebody waits until there are none.
    is_awaited: bool,
}

/// What others may know of a run. It is found by its task's id.
#[derive(Clone, Debug)]
pub(super) struct RunHandle {
    pub(super) context: TaskContext,
    pub(super) streaming: bool,
}

impl Borrow<str> for RunHandle {
    fn borrow(&self) -> &str {
        self.context.task_id()
    }
}

impl Hash for RunHandle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Borrow::<str>::borrow(self).hash(state);
    }
}

impl PartialEq for RunHandle {
    fn eq(&self, other: &Self) -> bool {
        self.context.task_id() == other.context.task_id()
    }
}

impl Eq for RunHandle {}

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
    context: TaskContext,
    streaming: bool,
    place: Place,
    reporter: Reporter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nobody can look for it.
    Unlisted,
    Listed,
    Left,
}

impl Runs {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the task's place.
    pub(super) fn begin(&self, context: &TaskContext, streaming: bool, limit: usize) -> Result<RunSlot, Refused> {
        self.take(context, streaming, limit, Place::Listed)
    }

    /// Takes a place for a task whose id nobody knows yet. It is to be [listed](RunSlot::list) before anybody does.
    pub(super) fn begin_unlisted(
        &self,
        context: &TaskContext,
        streaming: bool,
        limit: usize,
    ) -> Result<RunSlot, Refused> {
        self.take(context, streaming, limit, Place::Unlisted)
    }

    fn take(&self, context: &TaskContext, streaming: bool, limit: usize, place: Place) -> Result<RunSlot, Refused> {
        let mut places = self.places();
        let is_listed = place == Place::Listed;
        if places.taken >= limit || places.is_closed {
            let is_busy = is_listed && places.runs.contains(&**context.task_id());
            return Err(if is_busy { Refused::Busy } else { Refused::Full });
        }
        if is_listed && !places.runs.insert(RunHandle { context: context.clone(), streaming }) {
            return Err(Refused::Busy);
        }
        places.taken += 1;
        places.alive += 1;
        Ok(RunSlot { runs: self.clone(), context: context.clone(), streaming, place, reporter: Reporter::default() })
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
    pub(super) fn all(&self) -> Vec<RunHandle> {
        self.places().runs.iter().cloned().collect()
    }

    /// Waits until there is none.
    pub(super) async fn idle(&self) {
        loop {
            let told = self.0.idle.notified();
            {
                let mut places = self.places();
                if places.alive == 0 {
                    return;
                }
                places.is_awaited = true;
            }
            told.await;
        }
    }
}

impl RunSlot {
    pub(super) fn context(&self) -> &TaskContext {
        &self.context
    }

    /// The run is over before there was a task.
    pub(super) fn answer(&mut self, answer: Result<Begun, Error>) {
        self.reporter.answer(answer, &self.context);
    }

    /// The run has begun.
    pub(super) fn begins(&mut self, begun: Begun) {
        self.reporter.begins(begun);
    }

    /// Tells how the run has begun, if that is not told yet.
    pub(super) fn tell(&mut self) {
        self.reporter.tell(&self.context);
    }

    /// Tells how it ended. What comes later is nobody's business.
    pub(super) fn settle(&mut self, settled: Settled) {
        self.reporter.settle(settled, &self.context);
    }

    /// Nothing more will be told.
    pub(super) fn falls_silent(&mut self) {
        self.reporter.close(&self.context);
    }

    /// From here on others can find it.
    pub(super) fn list(&mut self) {
        if self.place == Place::Unlisted {
            let run = RunHandle { context: self.context.clone(), streaming: self.streaming };
            if self.runs.places().runs.insert(run) {
                self.place = Place::Listed;
            }
        }
    }

    /// Lets the task's next run begin, although this one has a last word to say.
    pub(super) fn leave(&mut self) {
        Self::free(&mut self.place, &self.context, &mut self.runs.places());
    }

    fn free(place: &mut Place, context: &TaskContext, places: &mut Places) {
        match std::mem::replace(place, Place::Left) {
            Place::Listed => {
                places.runs.remove(&**context.task_id());
                places.taken -= 1;
            }
            Place::Unlisted => places.taken -= 1,
            Place::Left => {}
        }
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        let Self { runs, context, place, reporter, .. } = self;
        let mut places = runs.places();
        Self::free(place, context, &mut places);
        places.alive -= 1;
        // Nobody waits but where a server ends, and every message would pay for telling it.
        if places.alive == 0 && places.is_awaited {
            runs.0.idle.notify_waiters();
        }
        drop(places);
        reporter.close(context);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::task::progress::Observer;

    fn task(id: &str) -> TaskContext {
        TaskContext::builder(id, "c").build()
    }

    #[test]
    fn a_task_runs_once_at_a_time_and_the_limit_holds_at_its_edge() {
        let runs = Runs::default();
        let (a, b, c) = (task("a"), task("b"), task("c"));
        let first = runs.begin(&a, false, 2).unwrap();
        assert_eq!(runs.begin(&task("a"), false, 2).unwrap_err(), Refused::Busy);
        let _second = runs.begin(&b, false, 2).unwrap();
        assert_eq!(runs.begin(&a, false, 2).unwrap_err(), Refused::Busy);
        assert_eq!(runs.begin(&c, false, 2).unwrap_err(), Refused::Full);
        drop(first);
        assert!(runs.get("a").is_none() && runs.get("b").is_some());
        assert!(runs.begin(&a, false, 2).is_ok());
    }

    #[test]
    fn a_run_that_is_not_listed_counts_and_is_found_once_it_is() {
        let runs = Runs::default();
        let mut first = runs.begin_unlisted(&task("a"), true, 1).unwrap();
        assert!(runs.get("a").is_none() && runs.all().is_empty() && runs.idle().now_or_never().is_none());
        assert_eq!(runs.begin(&task("b"), false, 1).unwrap_err(), Refused::Full);
        first.list();
        assert!(runs.get("a").is_some_and(|run| run.streaming));
        assert_eq!(runs.begin(&task("a"), false, 9).unwrap_err(), Refused::Busy);
        first.leave();
        first.list();
        assert!(runs.get("a").is_none());
        let second = runs.begin(&task("a"), false, 1).unwrap();
        drop(first);
        assert!(runs.get("a").is_some() && runs.begin_unlisted(&task("b"), false, 1).is_err());
        drop(second);
        drop(runs.begin_unlisted(&task("b"), false, 1).unwrap());
        assert!(runs.begin(&task("a"), false, 1).is_ok() && runs.idle().now_or_never().is_some());
    }

    #[test]
    fn whoever_waits_for_a_run_that_is_dropped_is_told() {
        let (runs, context) = (Runs::default(), task("a"));
        let mut observer = Observer::new(context.clone());
        let slot = runs.begin_unlisted(&context, false, 1).unwrap();
        let mut waiting = Box::pin(observer.begun());
        assert!((&mut waiting).now_or_never().is_none());
        drop(slot);
        assert!(matches!(waiting.now_or_never(), Some(None)));
    }

    #[test]
    fn a_run_that_has_left_its_place_is_still_waited_for() {
        let runs = Runs::default();
        assert!(runs.idle().now_or_never().is_some());
        let mut first = runs.begin(&task("a"), false, 1).unwrap();
        first.leave();
        assert!(runs.get("a").is_none());
        let second = runs.begin(&task("a"), false, 1).unwrap();
        runs.close();
        assert_eq!(runs.begin(&task("b"), false, 9).unwrap_err(), Refused::Full);
        let mut idle = Box::pin(runs.idle());
        assert!((&mut idle).now_or_never().is_none());
        drop(first);
        assert!(runs.get("a").is_some(), "the place is another one's");
        assert!((&mut idle).now_or_never().is_none());
        drop(second);
        assert!(idle.now_or_never().is_some() && runs.all().is_empty());
    }
}
