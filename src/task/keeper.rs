//! What a process does for the runs that it holds, and about those that others have lost.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use tokio::{
    sync::Notify,
    task::AbortHandle,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{LostRun, Snapshot, StoreError, TaskStore, narrator::Narrator, rerun::Rerun, runs::Runs};
use crate::{
    agent::TaskContext,
    error::{Error, ErrorKind},
    types::{Event, StateKind, Task},
};

/// How often a lease is renewed while it lasts, so that one renewal that fails, and another one that is slow, do no harm.
const RENEWALS: u32 = 3;
/// How many lost runs are looked at in one go.
const LOST_AT_ONCE: usize = 100;
/// What is said of a run whose process is gone. Callers see it.
const LOST: &str = "the process that worked on the task is gone";
/// What is said of a run that is not over when its process stops. Callers see it.
const STOPPED: &str = "the server was stopped before the work was done";
/// How many are failed at once when the process stops, so that a store shared with others is not flooded.
const STOPPED_AT_ONCE: usize = 32;
/// How long a store may take with the last words of a process, and with the end of its lease. Whoever waits for longer is
/// killed, and the lease runs out all the same.
const FAREWELL: Duration = Duration::from_secs(5);

/// Has a lost run begun again, where the layer does that.
pub(super) type BeginAgain =
    Box<dyn FnMut(LostRun) -> Pin<Box<dyn Future<Output = Result<Rerun, StoreError>> + Send>> + Send>;

/// Renews the lease, ends what others have lost, and stops runs whose tasks were ended elsewhere, until it is dropped.
#[derive(Debug)]
pub(super) struct Keeper(AbortHandle);

impl Keeper {
    /// # Panics
    /// Outside of a runtime.
    pub(super) fn start<T: TaskStore>(store: T, runs: Runs, lease: Duration, again: Option<BeginAgain>) -> Self {
        Self(tokio::spawn(keep(store, runs, lease, again)).abort_handle())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn keep<T: TaskStore>(store: T, runs: Runs, lease: Duration, again: Option<BeginAgain>) {
    let renewed = Notify::new();
    // None of them may have to wait for the others, least of all the renewal: there may be much that others have lost, or
    // that is to be let go of.
    tokio::join!(renew(&store, &runs, lease, &renewed), tend(&store, again, &renewed), stop_ended(&store, &runs));
}

/// Stops the runs whose tasks end elsewhere.
async fn stop_ended<T: TaskStore>(store: &T, runs: &Runs) {
    let mut ended = pin!(store.ended_elsewhere());
    while let Some(id) = ended.next().await {
        if let Some(run) = runs.get(&id) {
            run.context.cancellation().cancel();
        }
    }
}

async fn renew<T: TaskStore>(store: &T, runs: &Runs, lease: Duration, renewed: &Notify) {
    let mut renewal = interval((lease / RENEWALS).max(Duration::from_millis(1)));
    renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        renewal.tick().await;
        // A lease that was given up in a shutdown is not taken up again. Until then it is needed.
        if runs.are_given_up() {
            continue;
        }
        match store.renew_lease().await {
            Ok(()) => renewed.notify_one(),
            Err(error) => warn(&error),
        }
    }
}

fn warn(error: &StoreError) {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::warn!(%error, cause, "leases are not seen to just now");
}

/// Whenever the own lease was renewed: whoever is late with it must not take others for dead.
async fn tend<T: TaskStore>(store: &T, mut again: Option<BeginAgain>, renewed: &Notify) {
    loop {
        renewed.notified().await;
        if let Err(error) = see_to_lost(store, &mut again).await {
            warn(&error);
        } else if let Err(error) = store.retain().await {
            warn(&error);
        }
    }
}

async fn see_to_lost<T: TaskStore>(store: &T, again: &mut Option<BeginAgain>) -> Result<(), StoreError> {
    loop {
        let lost = store.lost_runs(LOST_AT_ONCE).await?;
        let is_all = lost.len() < LOST_AT_ONCE;
        let mut has_ended = false;
        for run in lost {
            let outcome = match again {
                Some(again) => again(run.clone()).await?,
                None => Rerun::GivenUp,
            };
            if outcome == Rerun::GivenUp {
                end(store, run).await?;
                has_ended = true;
            }
        }
        // Those that could not be begun again just now would only be seen again.
        if is_all || !has_ended {
            return Ok(());
        }
    }
}

/// Fails the task, unless somebody else was faster.
async fn end<T: TaskStore>(store: &T, run: LostRun) -> Result<(), StoreError> {
    let LostRun { owner, snapshot: Snapshot { task, revision } } = run;
    let (id, failure) = (Arc::clone(&task.id), failure(&task, LOST));
    drop(task);
    match store.append(&owner, &id, revision, failure).await {
        Ok(_) => tracing::error!(task_id = &*id, "{LOST}"),
        Err(error @ StoreError::Unavailable(_)) => return Err(error),
        Err(_) => {}
    }
    Ok(())
}

/// What is said of a run that nobody goes on with.
fn failure(task: &Task, reason: &'static str) -> Vec<Event> {
    let mut events = Vec::new();
    let error = Error::new(ErrorKind::Internal).with_detail(reason);
    Narrator::new(Arc::clone(&task.id), Arc::clone(&task.context_id), Some(task)).fails(&error, &mut events);
    events
}

/// Takes no more runs, waits for those that there are, fails the rest or leaves them to others, and gives the lease up.
pub(super) async fn shut_down<T: TaskStore>(store: &T, runs: &Runs, patience: Duration, hands_over: bool) {
    runs.close();
    if timeout(patience, runs.idle()).await.is_err() {
        if !hands_over {
            let stopped = stream::iter(runs.all())
                .for_each_concurrent(STOPPED_AT_ONCE, |run| async move { stop(store, &run.context).await });
            if timeout(FAREWELL, stopped).await.is_err() {
                tracing::warn!("the store is not there; tasks at work fail when their lease has run out");
            }
        }
        // Those that wait for somebody would otherwise be canceled with their runs.
        runs.hand_over();
        for run in runs.all() {
            run.context.cancellation().cancel();
        }
    }
    runs.give_up();
    match timeout(FAREWELL, store.release_lease()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the lease was not given up; it runs out by itself"),
        Err(_) => tracing::warn!("the lease was not given up in time; it runs out by itself"),
    }
}

/// Fails a task that is at work, wherever its run has got to. One that waits for its caller can be gone on with elsewhere.
async fn stop<T: TaskStore>(store: &T, context: &TaskContext) {
    let (owner, id) = (context.owner(), &**context.task_id());
    let Ok(Snapshot { task, .. }) = store.get(owner, id).await else { return };
    if task.status.state.kind() != StateKind::Active {
        return;
    }
    for event in failure(&task, STOPPED) {
        let Event::StatusUpdate(update) = event else { continue };
        if let Err(error @ StoreError::Unavailable(_)) = store.end(owner, id, update).await {
            tracing::warn!(%error, task_id = id, "a task could not be ended");
        }
    }
}
