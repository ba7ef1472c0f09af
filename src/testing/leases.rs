//! Leases: what a holder that is gone leaves behind is found, and what ends elsewhere is told.

use std::time::Duration;

use futures_util::{StreamExt as _, poll};
use tokio::time::{Instant, sleep};

use super::{
    Subject,
    make::{ann, appended, made, said, soon, status, word},
};
use crate::{
    owner::Owner,
    task::{ListQuery, LostRun, StoreError, TaskStore},
    types::{Event, TaskState},
};

pub(super) async fn check<S: Subject>(subject: &S) {
    let store = subject.empty().await;
    let Some(lease) = store.lease() else {
        assert!(store.lost_runs(10).await.expect("runs").is_empty(), "without leases nothing is lost");
        return;
    };
    let Some(other) = subject.replica(&store).await else { return };
    assert_eq!(other.lease(), Some(lease), "all holders have leases of the same length");
    a_holder_that_is_gone_is_noticed(&store, &other, lease).await;
    a_lease_that_is_given_up_is_over_at_once(&store, &other).await;
    let store = subject.empty().await;
    if let Some(other) = subject.replica(&store).await {
        an_end_from_elsewhere_is_told(&store, &other).await;
    }
}

async fn ids<T: TaskStore>(store: &T) -> Vec<String> {
    let runs = store.lost_runs(100).await.expect("lost runs");
    let mut ids: Vec<_> = runs.iter().map(|LostRun { snapshot, .. }| snapshot.task.id.to_string()).collect();
    ids.sort_unstable();
    ids
}

async fn a_holder_that_is_gone_is_noticed<T: TaskStore>(gone: &T, other: &T, lease: Duration) {
    for store in [gone, other] {
        store.renew_lease().await.expect("a renewal");
    }
    for id in ["submitted", "working", "asks", "over", "taken over"] {
        made(gone, &ann(), id).await;
    }
    appended(gone, "working", 1, vec![status("working", TaskState::Working), word("working", "x")]).await;
    appended(gone, "asks", 1, vec![status("asks", TaskState::InputRequired)]).await;
    appended(gone, "over", 1, vec![status("over", TaskState::Completed)]).await;
    appended(gone, "taken over", 1, vec![status("taken over", TaskState::InputRequired)]).await;
    appended(other, "taken over", 2, vec![said("x"), status("taken over", TaskState::Working)]).await;
    // A holder that renews its lease loses nothing, however long it takes.
    let begun = Instant::now();
    while begun.elapsed() < lease + lease / 2 {
        for store in [gone, other] {
            store.renew_lease().await.expect("a renewal");
        }
        assert_eq!(ids(other).await, [] as [String; 0], "a lease that is renewed does not run out");
        sleep(lease / 5).await;
    }
    let last = Instant::now();
    gone.renew_lease().await.expect("a renewal");
    let lost = soon("a lease runs out", async {
        loop {
            other.renew_lease().await.expect("a renewal");
            match ids(other).await {
                ids if ids.is_empty() => sleep(lease / 10).await,
                ids => break ids,
            }
        }
    })
    .await;
    assert!(last.elapsed() >= lease * 9 / 10, "a lease lasts as long as it says, not {:?}", last.elapsed());
    assert_eq!(lost, ["submitted", "working"], "active tasks are lost, those at rest are not");
    let limited = other.lost_runs(1).await.expect("lost runs");
    assert_eq!(limited.len(), 1, "no more than were asked for");
    let run = &limited[0];
    let seen = other.get(&run.owner, &run.snapshot.task.id).await.expect("a lost task can be read");
    assert_eq!((seen.revision, &seen.task), (run.snapshot.revision, &run.snapshot.task), "as it stands");
    for id in lost {
        let revision = other.get(&ann(), &id).await.expect("a lost task can be read").revision;
        appended(other, &id, revision, vec![status(&id, TaskState::Failed)]).await;
    }
    assert_eq!(ids(other).await, [] as [String; 0], "what has ended is lost no more");
}

async fn a_lease_that_is_given_up_is_over_at_once<T: TaskStore>(store: &T, other: &T) {
    store.renew_lease().await.expect("a renewal");
    made(store, &ann(), "given up").await;
    assert_eq!(ids(other).await, [] as [String; 0]);
    store.release_lease().await.expect("a release");
    assert_eq!(ids(other).await, ["given up"], "a lease that was given up");
    // Whoever takes the task over holds it.
    appended(other, "given up", 1, vec![status("given up", TaskState::Working)]).await;
    assert_eq!(ids(other).await, [] as [String; 0], "what was taken over is lost no more");
    store.renew_lease().await.expect("a renewal");
    assert_eq!(ids(store).await, [] as [String; 0], "nor is it for whoever lost it");
}

async fn an_end_from_elsewhere_is_told<T: TaskStore>(store: &T, other: &T) {
    let mut ended = Box::pin(store.ended_elsewhere());
    let mut others = Box::pin(other.ended_elsewhere());
    assert!(poll!(ended.next()).is_pending() && poll!(others.next()).is_pending(), "nothing has ended yet");
    for id in ["own end", "canceled"] {
        made(store, &ann(), id).await;
    }
    appended(store, "own end", 1, vec![status("own end", TaskState::Completed)]).await;
    appended(other, "canceled", 1, vec![status("canceled", TaskState::Canceled)]).await;
    let id = soon("a cancel from elsewhere is told", ended.next()).await.expect("an id");
    assert_eq!(&*id, "canceled", "what a holder ends itself it need not be told");
    assert!(poll!(others.next()).is_pending(), "nor what it ends for others");
    // While it waits for an authorization its run goes on.
    made(store, &ann(), "logging in").await;
    appended(store, "logging in", 1, vec![status("logging in", TaskState::AuthRequired)]).await;
    appended(other, "logging in", 2, vec![status("logging in", TaskState::Canceled)]).await;
    let id = soon("a cancel of a run that waits is told", ended.next()).await.expect("an id");
    assert_eq!(&*id, "logging in");
    // Wherever its log has got to.
    made(store, &ann(), "busy").await;
    appended(store, "busy", 1, vec![word("busy", "x"), word("busy", "y")]).await;
    let Event::StatusUpdate(update) = status("busy", TaskState::Canceled) else { unreachable!() };
    for stranger in [Owner::anonymous(), Owner::new("bob")] {
        let refused = other.end(&stranger, "busy", update.clone()).await;
        assert!(matches!(refused, Err(StoreError::NotFound)), "only its owner ends a task: {refused:?}");
    }
    let snapshot = other.end(&ann(), "busy", update.clone()).await.expect("an end");
    assert_eq!((snapshot.revision, snapshot.task.status.state), (4, TaskState::Canceled), "an end is one event more");
    let log = store.read(&ann(), "busy", 3, 9).await.expect("a log");
    assert_eq!(
        log.iter().map(|entry| (entry.number(), entry.event().state())).collect::<Vec<_>>(),
        [(4, Some(TaskState::Canceled))]
    );
    let id = soon("an end is told", ended.next()).await.expect("an id");
    assert_eq!(&*id, "busy");
    let again = other.end(&ann(), "busy", update).await;
    assert!(matches!(again, Err(StoreError::Terminal)), "a task ends once: {again:?}");
    let canceled = ListQuery { status: Some(TaskState::Canceled), ..ListQuery::new(10) };
    let page = other.list(&ann(), &canceled).await.expect("a list");
    assert_eq!((page.tasks.len(), page.total_size), (3, 3), "all of them are counted as what they are");
}
