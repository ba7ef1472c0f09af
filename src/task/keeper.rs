//! What a process does for the runs that it holds, and about those that others have lost.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use tokio::{
    task::AbortHandle,
    time::{MissedTickBehavior, interval},
};

use super::{LostRun, StoreError, TaskStore, narrator::Narrator, runs::Runs};
use crate::error::{Error, ErrorKind};

/// How often a lease is renewed while it lasts, so that one renewal that fails, and another one that is slow, do no harm.
const RENEWALS: u32 = 3;
/// How many lost runs are looked at in one go.
const LOST_AT_ONCE: usize = 100;
/// What is said of a run whose process is gone. Callers see it.
const LOST: &str = "the process that worked on the task is gone";

/// Renews the lease, ends what others have lost, and stops runs whose tasks were ended elsewhere, until it is dropped.
#[derive(Debug)]
pub(super) struct Keeper(AbortHandle);

impl Keeper {
    /// # Panics
    /// Outside of a runtime.
    pub(super) fn start<T: TaskStore>(store: T, runs: Runs, lease: Duration) -> Self {
        Self(tokio::spawn(keep(store, runs, lease)).abort_handle())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn keep<T: TaskStore>(store: T, runs: Runs, lease: Duration) {
    // One that ends has nothing more to say.
    let mut ended = pin!(store.ended_elsewhere().chain(futures_util::stream::pending()));
    let mut renewal = interval((lease / RENEWALS).max(Duration::from_millis(1)));
    renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            Some(id) = ended.next() => {
                if let Some(run) = runs.get(&id) {
                    run.cancellation.cancel();
                }
            }
            _ = renewal.tick() => {
                if let Err(error) = tend(&store).await {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::warn!(%error, cause, "leases are not seen to just now");
                }
            }
        }
    }
}

/// The own lease goes first: whoever is late with it must not take others for dead.
async fn tend<T: TaskStore>(store: &T) -> Result<(), StoreError> {
    store.renew_lease().await?;
    loop {
        let lost = store.lost_runs(LOST_AT_ONCE).await?;
        let is_all = lost.len() < LOST_AT_ONCE;
        for run in lost {
            end(store, run).await?;
        }
        if is_all {
            break;
        }
    }
    store.retain().await
}

/// Fails the task, unless somebody else was faster.
async fn end<T: TaskStore>(store: &T, run: LostRun) -> Result<(), StoreError> {
    let LostRun { owner, snapshot } = run;
    let (task, revision) = (snapshot.task, snapshot.revision);
    let (id, context_id) = (Arc::clone(&task.id), Arc::clone(&task.context_id));
    let mut events = Vec::new();
    let error = Error::new(ErrorKind::Internal).with_detail(LOST);
    Narrator::new(Arc::clone(&id), context_id, Some(&task)).fails(&error, &mut events);
    drop(task);
    match store.append(&owner, &id, revision, events).await {
        Ok(_) => tracing::error!(task_id = &*id, "{LOST}"),
        Err(error @ StoreError::Unavailable(_)) => return Err(error),
        Err(_) => {}
    }
    Ok(())
}
