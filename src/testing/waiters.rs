//! Whoever waits for a log to grow is woken, and a follower gets every entry once and in order.

use std::sync::Arc;

use futures_util::{StreamExt as _, future::join_all, poll};

use super::{
    Subject,
    make::{ann, appended, made, soon, status, word, word_of},
};
use crate::{task::TaskStore, types::TaskState};

pub(super) async fn check<S: Subject>(subject: &S) {
    let store = subject.empty().await;
    growth_is_told(&store, &store).await;
    followers_miss_nothing(&store, &store).await;
    if let Some(replica) = subject.replica(&store).await {
        let store = subject.empty().await;
        drop(replica);
        let replica = subject.replica(&store).await.expect("a replica as before");
        growth_is_told(&store, &replica).await;
        followers_miss_nothing(&store, &replica).await;
    }
    if let Some(store) = subject.keeping(1).await {
        who_waits_for_a_task_that_goes_is_told(&store).await;
    }
}

async fn growth_is_told<T: TaskStore>(writer: &T, reader: &T) {
    made(writer, &ann(), "grows").await;
    let owner = ann();
    soon("what is there need not be waited for", reader.grown(&owner, "grows", 0)).await.expect("there is one");
    let mut waits: Vec<_> = (0..10).map(|_| Box::pin(reader.grown(&owner, "grows", 1))).collect();
    for wait in &mut waits {
        assert!(poll!(wait).is_pending(), "nothing has grown yet");
    }
    // One that leaves takes nobody's place.
    drop(waits.pop());
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    appended(writer, "grows", 1, vec![word("grows", "x")]).await;
    for result in soon("all who wait are woken", join_all(waits)).await {
        assert_eq!(word_of(result), "done");
    }
    assert_eq!(word_of(reader.grown(&owner, "none", 0).await), "not found");
}

async fn followers_miss_nothing<T: TaskStore>(writer: &T, reader: &T) {
    const EVENTS: u64 = 300;
    made(writer, &ann(), "followed").await;
    let followers: Vec<_> = (0..8_u64)
        .map(|after| {
            let mut entries = Box::pin(reader.clone().follow(ann(), Arc::from("followed"), after % 4));
            tokio::spawn(async move {
                for number in after % 4 + 1..=EVENTS {
                    let entry = entries.next().await.expect("a log that goes on").expect("an entry");
                    assert_eq!(entry.number(), number, "each entry once and in order");
                }
            })
        })
        .collect();
    let mut revision = 1;
    while revision < EVENTS {
        let more = (EVENTS - revision).min(1 + revision % 7);
        let words = (0..more).map(|_| word("followed", "w ")).collect();
        revision = appended(writer, "followed", revision, words).await.revision;
        tokio::task::yield_now().await;
    }
    for follower in soon("followers get to the end", join_all(followers)).await {
        follower.expect("a follower that is content");
    }
    let mut none = Box::pin(reader.clone().follow(ann(), Arc::from("none"), 0));
    let last = soon("there is nothing to follow", none.next()).await.expect("an error");
    assert_eq!(word_of(last), "not found");
    assert!(none.next().await.is_none(), "an error is the last item");
}

async fn who_waits_for_a_task_that_goes_is_told<T: TaskStore>(store: &T) {
    for id in ["old", "new"] {
        made(store, &ann(), id).await;
    }
    let owner = ann();
    appended(store, "old", 1, vec![status("old", TaskState::Completed)]).await;
    let mut wait = Box::pin(store.grown(&owner, "old", 2));
    assert!(poll!(&mut wait).is_pending(), "nothing has grown");
    appended(store, "new", 1, vec![status("new", TaskState::Completed)]).await;
    store.retain().await.expect("retention");
    assert_eq!(word_of(soon("a task that goes wakes who waits for it", wait).await), "not found");
}
