//! Connections that are lost, at any moment and at the worst, and a database that does not answer.

use std::{sync::atomic::Ordering, time::Duration};

use a2a_layers::{
    owner::Owner,
    task::{Claim, PostgresTaskStore, StoreError, TaskStore},
};
use sqlx::Executor as _;
use tokio::time::Instant;

use super::{
    Schema, ann, made,
    proxy::{Fault, Proxy},
    task, word,
};

/// A store that reaches its database through a proxy.
async fn behind(schema: &Schema, proxy: &Proxy, patience: Duration) -> PostgresTaskStore {
    let builder = PostgresTaskStore::builder(proxy.url(&schema.url)).schema(&*schema.name);
    builder.patience(patience).open().await.unwrap()
}

/// The log is what was acknowledged: every event once, under its number.
async fn check_log(store: &PostgresTaskStore, id: &str, words: u64) {
    let log = store.read(&ann(), id, 0, usize::MAX >> 1).await.unwrap();
    let numbers: Vec<_> = log.iter().map(|entry| entry.number()).collect();
    assert_eq!(numbers, (1..=words + 1).collect::<Vec<_>>());
    for (entry, number) in log.iter().skip(1).zip(0..) {
        assert_eq!(entry.event(), &word(&format!("{number} ")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_lost_at_the_commit_costs_nothing_and_writes_nothing_twice() {
    let Some(schema) = Schema::new("connections lost at a commit") else { return };
    let proxy = Proxy::new(&schema.url).await;
    let store = behind(&schema, &proxy, Duration::from_secs(15)).await;
    for (number, fault) in [Fault::Answer, Fault::Request, Fault::Answer, Fault::Answer].into_iter().enumerate() {
        let id = format!("task-{number}");
        proxy.set(fault);
        store.create(&ann(), task(&id)).await.unwrap();
        assert!(matches!(store.create(&ann(), task(&id)).await, Err(StoreError::Conflict)));
        for said in 0..20 {
            if said % 2 == 0 {
                proxy.set(fault);
            }
            let appended = store.append(&ann(), &id, said + 1, vec![word(&format!("{said} "))]).await.unwrap();
            assert_eq!(appended.revision, said + 2);
        }
        check_log(&store, &id, 20).await;
    }
    assert!(proxy.cuts.load(Ordering::SeqCst) >= 30, "there were faults");
}

/// What becomes of it within a while.
async fn soon(mut is_so: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never is so");
    }
}

/// A store with one connection that writes, behind a proxy, and nothing else that it would say through it just now.
async fn with_one_writer(schema: &Schema, proxy: &Proxy) -> PostgresTaskStore {
    let builder = PostgresTaskStore::builder(proxy.url(&schema.url)).schema(&*schema.name).writers(1);
    let store = builder.patience(Duration::from_millis(300)).poll(Duration::from_secs(600)).open().await.unwrap();
    // It knows that it is alone, and has said everything once.
    store.lost_runs(1).await.unwrap();
    made(&store, "t").await;
    let claim = Claim::new("first", 1, "t");
    assert!(store.claim(&ann(), &claim, WINDOW).await.unwrap().is_none());
    store.release(&ann(), &claim).await.unwrap();
    store
}

const WINDOW: Duration = Duration::from_secs(600);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_was_written_though_its_writer_never_heard_of_it_is_lost() {
    let Some(schema) = Schema::new("a write whose outcome is not known") else { return };
    let proxy = Proxy::new(&schema.url).await;
    let store = with_one_writer(&schema, &proxy).await;
    proxy.set(Fault::LastAnswer);
    let created = store.create(&ann(), task("late")).await;
    assert!(matches!(created, Err(StoreError::Unavailable(_))), "{created:?}");
    let other = schema.open().await;
    assert_eq!(other.get(&ann(), "late").await.unwrap().revision, 1, "it is there");
    proxy.set(Fault::None);
    // Its writer is there as well, and works on all but this one.
    soon(async || match &*other.lost_runs(9).await.unwrap() {
        [] => false,
        [lost] => lost.snapshot.task.id == "late".into(),
        more => panic!("{more:?}"),
    })
    .await;
    soon(async || store.append(&ann(), "t", 1, vec![word("x")]).await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_was_written_though_its_writer_never_heard_of_it_is_given_up() {
    let Some(schema) = Schema::new("a claim whose outcome is not known") else { return };
    let proxy = Proxy::new(&schema.url).await;
    let store = with_one_writer(&schema, &proxy).await;
    let (first, again) = (Claim::new("k", 1, "first"), Claim::new("k", 1, "again"));
    proxy.set(Fault::LastAnswer);
    let claimed = store.claim(&ann(), &first, WINDOW).await;
    assert!(matches!(claimed, Err(StoreError::Unavailable(_))), "{claimed:?}");
    let other = schema.open().await;
    assert_eq!(other.claim(&ann(), &again, WINDOW).await.unwrap(), Some(first), "it is there");
    proxy.set(Fault::None);
    soon(async || other.claim(&ann(), &again, WINDOW).await.unwrap().is_none()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backends_that_are_killed_at_any_moment_lose_nothing_that_was_acknowledged() {
    let Some(schema) = Schema::new("backends killed at any moment") else { return };
    let name = format!("victim-{}", schema.name);
    let url = format!("{}?application_name={name}", schema.url);
    let store = PostgresTaskStore::builder(url).schema(&*schema.name).open().await.unwrap();
    let mut killer = schema.connect().await;
    let killing = tokio::spawn(async move {
        let mut killed = 0;
        loop {
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
            killed += sqlx::query(sql).bind(&name).fetch_all(&mut killer).await.unwrap().len();
            tokio::time::sleep(Duration::from_millis(5 + killed as u64 % 17)).await;
        }
    });
    let tasks = (0..8).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let id = format!("task-{n}");
            store.create(&ann(), task(&id)).await.unwrap();
            for said in 0..50 {
                let appended = store.append(&ann(), &id, said + 1, vec![word(&format!("{said} "))]).await.unwrap();
                assert_eq!(appended.revision, said + 2);
                store.get(&ann(), &id).await.unwrap();
            }
            id
        })
    });
    let mut ids = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        ids.push(task.await.unwrap());
    }
    killing.abort();
    for id in ids {
        check_log(&store, &id, 50).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_waited_for_and_then_given_up() {
    let Some(schema) = Schema::new("a database that is away") else { return };
    let proxy = Proxy::new(&schema.url).await;
    let patience = Duration::from_millis(800);
    let store = behind(&schema, &proxy, patience).await;
    made(&store, "t").await;
    let (mut revision, mut words) = (1, 0);
    for fault in [Fault::Down, Fault::Silence] {
        // Back in time: nobody notices.
        proxy.set(fault);
        let back = tokio::spawn({
            let proxy = proxy.clone();
            async move {
                tokio::time::sleep(patience / 4).await;
                proxy.set(Fault::None);
            }
        });
        revision = store.append(&ann(), "t", revision, vec![word(&format!("{words} "))]).await.unwrap().revision;
        words += 1;
        back.await.unwrap();
        // Not back: everybody is told within bounds, however many they are.
        proxy.set(fault);
        let begun = Instant::now();
        let refused: Vec<_> = (0..400)
            .map(|n| {
                let store = store.clone();
                tokio::spawn(async move {
                    match n % 4 {
                        0 => store.get(&Owner::anonymous(), "t").await.map(drop),
                        1 => store.renew_lease().await,
                        2 => store.lost_runs(1).await.map(drop),
                        _ => store.create(&ann(), task(&format!("{fault:?}-{n}"))).await.map(drop),
                    }
                })
            })
            .collect();
        for refused in refused {
            let refused = refused.await.unwrap();
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{fault:?}: {refused:?}");
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        proxy.set(Fault::None);
        // What was under way may have been written, or not; whoever is refused looks.
        let begun = Instant::now();
        while store.get(&ann(), "t").await.is_err() {
            assert!(begun.elapsed() < Duration::from_secs(10), "it recovers by itself");
        }
        revision = store.append(&ann(), "t", revision, vec![word(&format!("{words} "))]).await.unwrap().revision;
        words += 1;
    }
    check_log(&store, "t", words).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_another_one_holds_is_waited_for_and_then_given_up() {
    let Some(schema) = Schema::new("a table that is locked") else { return };
    let store = schema.builder().patience(Duration::from_millis(300)).open().await.unwrap();
    made(&store, "t").await;
    let mut other = schema.connect().await;
    other.execute("BEGIN; LOCK TABLE tasks IN SHARE MODE").await.unwrap();
    let begun = Instant::now();
    let refused = store.append(&ann(), "t", 1, vec![word("x")]).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(store.get(&ann(), "t").await.unwrap().revision, 1, "reads go on");
    other.execute("ROLLBACK").await.unwrap();
    assert_eq!(store.append(&ann(), "t", 1, vec![word("x")]).await.unwrap().revision, 2);
    // One that lets go in time is only waited for.
    other.execute("BEGIN; LOCK TABLE tasks IN SHARE MODE").await.unwrap();
    let owner = ann();
    let (appended, ()) = tokio::join!(store.append(&owner, "t", 2, vec![word("y")]), async {
        assert_eq!(store.get(&owner, "t").await.unwrap().revision, 2);
        other.execute("ROLLBACK").await.unwrap();
    });
    assert_eq!(appended.unwrap().revision, 3);
}
