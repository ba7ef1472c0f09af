//! Claims: of two messages that are the same, one is told of the other.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::sleep;

use super::{
    Subject,
    make::{ann, appended, made, status, word, word_of},
};
use crate::{
    owner::Owner,
    task::{Claim, TaskStore},
    types::TaskState,
};

const WINDOW: Duration = Duration::from_secs(600);
/// One that is over within a test.
const SHORT: Duration = Duration::from_millis(300);

pub(super) async fn check<S: Subject>(subject: &S) {
    let store = subject.empty().await;
    if !store.takes_claims() {
        let refused = store.claim(&ann(), &Claim::new("k", 1, "t"), WINDOW).await;
        assert_eq!(word_of(refused), "unavailable", "without claims none is taken");
        return;
    }
    a_claim_is_told_to_all_that_come_later(subject, &store).await;
    a_claim_is_over_after_its_time(&store).await;
    a_claim_can_be_given_up(&store).await;
    of_many_at_once_one_succeeds(subject).await;
    if let Some(store) = subject.keeping(1).await {
        a_claim_goes_with_its_task(&store).await;
    }
    let store = subject.empty().await;
    if store.lease().is_some()
        && let Some(other) = subject.replica(&store).await
    {
        a_claim_goes_with_its_holder(&store, &other).await;
    }
}

/// True if the claim was taken.
async fn takes<T: TaskStore>(store: &T, owner: &Owner, claim: &Claim) -> bool {
    store.claim(owner, claim, WINDOW).await.expect("a claim").is_none()
}

async fn a_claim_is_told_to_all_that_come_later<S: Subject>(subject: &S, store: &S::Store) {
    // Numbers are kept to the last bit, and keys and ids as they are, however alike they look.
    let first = Claim::new("key", u64::MAX - 1, "task").behind(7);
    assert!(takes(store, &ann(), &first).await, "the first claim of a key is taken");
    let second = Claim::new("key", 2, "another");
    for _ in 0..2 {
        let told = store.claim(&ann(), &second, WINDOW).await.expect("a claim");
        assert_eq!(told.as_ref(), Some(&first), "the second is told of the first");
    }
    for key in ["KEY", "key ", "", "k\u{e9}y"] {
        assert!(takes(store, &ann(), &Claim::new(key, 1, "t")).await, "{key:?} is another key");
    }
    for owner in [Owner::anonymous(), Owner::new(""), Owner::new("Ann")] {
        assert!(takes(store, &owner, &second).await, "{owner:?} has claims of its own");
    }
    if let Some(other) = subject.replica(store).await {
        let told = other.claim(&ann(), &second, WINDOW).await.expect("a claim");
        assert_eq!(told.as_ref(), Some(&first), "so it is elsewhere");
    }
}

async fn a_claim_is_over_after_its_time<T: TaskStore>(store: &T) {
    let (first, second) = (Claim::new("short", 1, "s1"), Claim::new("short", 1, "s2"));
    assert!(takes(store, &ann(), &first).await);
    sleep(SHORT + SHORT / 3).await;
    assert!(!takes(store, &ann(), &second).await, "who asks says how old a claim may be");
    let told = store.claim(&ann(), &second, SHORT).await.expect("a claim");
    assert_eq!(told, None, "a claim that is too old makes room");
    let told = store.claim(&ann(), &first, SHORT).await.expect("a claim");
    assert_eq!(told, Some(second), "and the new one is told of");
}

async fn a_claim_can_be_given_up<T: TaskStore>(store: &T) {
    let (first, second) = (Claim::new("given up", 1, "g"), Claim::new("given up", 1, "other"));
    assert!(takes(store, &ann(), &first).await);
    store.release(&ann(), &second).await.expect("a release");
    store.release(&Owner::new("bob"), &first).await.expect("a release");
    assert!(!takes(store, &ann(), &second).await, "nobody gives up the claim of somebody else");
    store.release(&ann(), &first).await.expect("a release");
    store.release(&ann(), &first).await.expect("a release of nothing");
    assert!(takes(store, &ann(), &second).await, "what was given up is free");

    // That the task has moved on says nothing about who has moved it.
    made(store, &ann(), "turn").await;
    let (early, late) = (Claim::new("turn", 1, "turn").behind(1), Claim::new("turn", 1, "turn").behind(2));
    assert!(takes(store, &ann(), &early).await);
    appended(store, "turn", 1, vec![word("turn", "x")]).await;
    store.release(&ann(), &late).await.expect("a release");
    assert!(!takes(store, &ann(), &late).await, "a claim behind another revision is another claim");
    store.release(&ann(), &early).await.expect("a release");
    assert!(takes(store, &ann(), &late).await, "a claim can be given up whose task has moved on");
}

async fn of_many_at_once_one_succeeds<S: Subject>(subject: &S) {
    let store = subject.empty().await;
    let other = subject.replica(&store).await;
    for round in 0..10 {
        let claims = (0..20_u64).map(|number| {
            let store = if number % 2 == 0 { &store } else { other.as_ref().unwrap_or(&store) };
            async move {
                let claim = Claim::new(format!("race {round}"), number, format!("t{number}"));
                (claim.clone(), store.claim(&ann(), &claim, WINDOW).await.expect("a claim"))
            }
        });
        let (won, lost): (Vec<_>, Vec<_>) = join_all(claims).await.into_iter().partition(|(_, told)| told.is_none());
        assert_eq!(won.len(), 1, "one claim is taken");
        assert!(lost.iter().all(|(_, told)| told.as_ref() == Some(&won[0].0)), "all others are told of that one");
    }
}

async fn a_claim_goes_with_its_task<T: TaskStore>(store: &T) {
    let (first, last) = (Claim::new("kept 1", 1, "kept 1"), Claim::new("kept 2", 1, "kept 2"));
    for (claim, id) in [(&first, "kept 1"), (&last, "kept 2")] {
        assert!(takes(store, &ann(), claim).await);
        made(store, &ann(), id).await;
        appended(store, id, 1, vec![status(id, TaskState::Completed)]).await;
        sleep(Duration::from_millis(2)).await;
    }
    store.retain().await.expect("retention");
    assert_eq!(word_of(store.get(&ann(), "kept 1").await), "not found", "the older task has gone");
    assert!(takes(store, &ann(), &Claim::new("kept 1", 2, "new")).await, "a claim goes with its task");
    assert!(!takes(store, &ann(), &last).await, "others stay");
}

async fn a_claim_goes_with_its_holder<T: TaskStore>(store: &T, other: &T) {
    for store in [store, other] {
        store.renew_lease().await.expect("a renewal");
    }
    let (early, good) = (Claim::new("early", 1, "early"), Claim::new("late", 1, "late"));
    let own = Claim::new("own", 1, "own");
    assert!(takes(store, &ann(), &early).await && takes(store, &ann(), &good).await);
    assert!(takes(other, &ann(), &own).await);
    made(store, &ann(), "late").await;
    store.release_lease().await.expect("a release");
    assert!(takes(other, &ann(), &Claim::new("early", 1, "again")).await, "what came to nothing is free");
    assert!(!takes(other, &ann(), &good).await, "a good claim outlives its holder");
    assert!(!takes(other, &ann(), &own).await, "nor does anybody else's go");
    other.release(&ann(), &good).await.expect("a release");
    assert!(takes(other, &ann(), &good).await, "and others can give it up");
}
