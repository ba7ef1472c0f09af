//! Several stores on the same tables: what they tell each other, and what they find where nobody told them.

use std::{sync::Arc, time::Duration};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, StoreError, TaskStore},
    types::{Event, Task, TaskState},
};
use futures_util::{StreamExt as _, future::join_all};
use sqlx::Executor as _;
use tokio::time::{sleep, timeout};

use super::{Schema, ann, made, status, task, word};

/// Long enough for a slow machine; nothing here waits for it unless it fails.
const SOON: Duration = Duration::from_secs(20);
/// So seldom that it plays no part.
const NEVER: Duration = Duration::from_secs(3_600);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_writes_the_others_are_told() {
    let Some(schema) = Schema::new("notifications") else { return };
    let (here, there) = (schema.builder().poll(NEVER).open().await.unwrap(), schema.builder().poll(NEVER));
    let there = there.open().await.unwrap();
    for id in ["plain", "in words, and \0"] {
        made(&here, id).await;
        let mut follow = Box::pin(there.clone().follow(ann(), Arc::from(id), 0));
        for number in 1..=20 {
            let entry = timeout(SOON, follow.next()).await.unwrap().unwrap().unwrap();
            assert_eq!(entry.number(), number);
            here.append(&ann(), id, number, vec![word("x")]).await.unwrap();
        }
    }
    let mut ended = Box::pin(here.ended_elsewhere());
    let listens = tokio::spawn(async move { ended.next().await });
    while !listens.is_finished() {
        // A stream listens from its first poll on.
        let id = format!("ended-{}", rand());
        made(&here, &id).await;
        there.append(&ann(), &id, 1, vec![status(TaskState::Canceled)]).await.unwrap();
        sleep(Duration::from_millis(20)).await;
    }
    assert!(listens.await.unwrap().unwrap().starts_with("ended-"));
}

fn rand() -> String {
    super::database::schema()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_told_while_nobody_listened_is_looked_for() {
    let Some(schema) = Schema::new("a listener that was cut off") else { return };
    let (here, there) = (schema.open().await, schema.builder().poll(NEVER).open().await.unwrap());
    made(&here, "t").await;
    let mut follow = Box::pin(there.clone().follow(ann(), Arc::from("t"), 1));
    let mut connection = schema.connect().await;
    for revision in 1..=10 {
        // By the time it listens again the notification is gone, or it comes after all.
        let listens = format!("LISTEN \"{}\"", schema.name);
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = $1";
        sqlx::query(sql).bind(listens).fetch_all(&mut connection).await.unwrap();
        here.append(&ann(), "t", revision, vec![word("x")]).await.unwrap();
        let entry = timeout(SOON, follow.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(entry.number(), revision + 1);
    }
}

/// As from one that is killed between the commit and the notification.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_tells_is_found_by_looking() {
    let Some(schema) = Schema::new("notifications that never come") else { return };
    let store = schema.builder().poll(Duration::from_millis(50)).open().await.unwrap();
    let _other = schema.open().await;
    made(&store, "t").await;
    made(&store, "gone").await;
    let mut follow = Box::pin(store.clone().follow(ann(), Arc::from("t"), 1));
    let mut of_gone = Box::pin(store.clone().follow(ann(), Arc::from("gone"), 1));
    assert!(
        timeout(Duration::from_millis(100), futures_util::future::select(follow.next(), of_gone.next())).await.is_err()
    );
    let mut connection = schema.connect().await;
    let write = "WITH t AS (UPDATE tasks SET revision = 2 WHERE id = 't' RETURNING seq) \
         INSERT INTO log (task, last, first, tag, events) SELECT t.seq, 2, 2, 0, l.events FROM t \
         CROSS JOIN LATERAL (SELECT convert_to('[{\"status\":{\"status\":{\"state\":\"working\"}}}]', 'UTF8') AS events) l; \
         DELETE FROM tasks WHERE id = 'gone'";
    connection.execute(write).await.unwrap();
    let entry = timeout(SOON, follow.next()).await.unwrap().unwrap().unwrap();
    assert_eq!((entry.number(), entry.event().state()), (2, Some(TaskState::Working)));
    let gone = timeout(SOON, of_gone.next()).await.unwrap().unwrap();
    assert!(matches!(gone, Err(StoreError::NotFound)), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_connections_are_made_than_may_be() {
    let Some(schema) = Schema::new("the number of connections") else { return };
    for (readers, writers) in [(1, 1), (3, 2)] {
        let name = format!("bounded-{}-{readers}", schema.name);
        let url = format!("{}?application_name={name}", schema.url);
        let builder = a2a_layers::task::PostgresTaskStore::builder(url).schema(&*schema.name);
        let store = builder.readers(readers).writers(writers).open().await.unwrap();
        let _other = schema.open().await;
        let work = (0..300).map(|n| {
            let (store, id) = (store.clone(), format!("{readers}-{n}"));
            tokio::spawn(async move {
                made(&store, &id).await;
                store.append(&ann(), &id, 1, vec![word("x")]).await.unwrap();
                store.read(&ann(), &id, 0, 10).await.unwrap();
                store.list(&ann(), &ListQuery::new(5)).await.unwrap();
            })
        });
        let work: Vec<_> = work.collect();
        let (mut connection, mut most) = (schema.connect().await, 0);
        while work.iter().any(|work| !work.is_finished()) {
            let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
            let count: i64 = sqlx::query_scalar(sql).bind(&name).fetch_one(&mut connection).await.unwrap();
            most = most.max(count);
        }
        for work in work {
            work.await.unwrap();
        }
        assert!((2..=i64::from(readers + writers + 2)).contains(&most), "{most}");
    }
}

/// Cancels cross each other and the runs' own words, in transactions of many tasks.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replicas_that_write_to_the_same_tasks_stop_nobody_for_long() {
    let Some(schema) = Schema::new("replicas that write to the same tasks") else { return };
    let stores = join_all((0..3).map(|_| schema.open())).await;
    let ids: Vec<_> = (0..60).map(|n| format!("task-{n}")).collect();
    for id in &ids {
        made(&stores[0], id).await;
    }
    let work = stores.iter().enumerate().map(|(at, store)| {
        let (store, ids) = (store.clone(), ids.clone());
        tokio::spawn(async move {
            let each = ids.iter().enumerate().map(|(n, id)| {
                let store = &store;
                async move {
                    let mut written = 0;
                    for turn in 0..10 {
                        let Ok(seen) = store.get(&ann(), id).await else { panic!("a task is gone") };
                        let event = if (turn, n % 3) == (9, at) { status(TaskState::Canceled) } else { word("x") };
                        match store.append(&ann(), id, seen.revision, vec![event]).await {
                            Ok(_) => written += 1,
                            Err(StoreError::Conflict | StoreError::Terminal) => {}
                            Err(error) => panic!("{error:?}: {:?}", std::error::Error::source(&error)),
                        }
                    }
                    written
                }
            });
            join_all(each).await
        })
    });
    let mut written = vec![0; ids.len()];
    for work in timeout(SOON * 2, join_all(work.collect::<Vec<_>>())).await.unwrap() {
        for (sum, one) in written.iter_mut().zip(work.unwrap()) {
            *sum += one;
        }
    }
    for (id, written) in ids.iter().zip(written) {
        let log = stores[1].read(&ann(), id, 0, 1_000).await.unwrap();
        assert_eq!(log.len(), written + 1, "what was acknowledged is there, and nothing else");
        assert!(log.iter().zip(1..).all(|(entry, number)| entry.number() == number));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_owners_each_sees_how_many_there_are_whoever_writes_and_sums_up() {
    let Some(schema) = Schema::new("counts of many owners") else { return };
    let keeping = || schema.builder().max_finished(1_000_000).max_interrupted(10);
    let stores = join_all((0..3).map(|_| async { keeping().open().await.unwrap() })).await;
    let owner = |n: usize| Owner::new(format!("owner-{}", n % 50));
    let work = (0..600).map(|n| {
        let store = stores[n % 3].clone();
        let owner = owner(n);
        tokio::spawn(async move {
            let id = format!("{n}");
            let before = store.list(&owner, &ListQuery::new(1)).await.unwrap().total_size;
            store.create(&owner, Arc::new(Task::new(&*id, "c", TaskState::Submitted))).await.unwrap();
            assert!(store.list(&owner, &ListQuery::new(1)).await.unwrap().total_size > before.min(11));
            let end = if n % 2 == 0 { TaskState::Completed } else { TaskState::Failed };
            store.append(&owner, &id, 1, vec![status(TaskState::Working)]).await.unwrap();
            store.append(&owner, &id, 2, vec![status(end)]).await.unwrap();
            if n % 40 == 0 {
                store.retain().await.unwrap();
            }
        })
    });
    for work in work.collect::<Vec<_>>() {
        work.await.unwrap();
    }
    for n in 0..50 {
        let mut query = ListQuery::new(20);
        // By the index, and by what was counted.
        assert_eq!(stores[0].list(&owner(n), &query).await.unwrap().tasks.len(), 12);
        assert_eq!(stores[1].list(&owner(n), &query).await.unwrap().total_size, 12);
        for (state, count) in
            [(TaskState::Completed, 12 * (1 - n % 2)), (TaskState::Failed, 12 * (n % 2)), (TaskState::Working, 0)]
        {
            query.status = Some(state);
            assert_eq!(stores[2].list(&owner(n), &query).await.unwrap().total_size, count as u64);
        }
    }
    for store in &stores {
        store.retain().await.unwrap();
    }
    let mut connection = schema.connect().await;
    let rows: (i64, i64) = sqlx::query_as("SELECT (SELECT count(*) FROM count_changes), (SELECT count(*) FROM counts)")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(rows, (0, 50), "summed up, each owner's tasks are in one state");
    // Of those that wait for their callers ten are kept.
    for n in 0..30 {
        let id = format!("asks-{n}");
        stores[0].create(&owner(n), task(&id)).await.unwrap();
        let asks = vec![Event::clone(&status(TaskState::InputRequired))];
        stores[0].append(&owner(n), &id, 1, asks).await.unwrap();
    }
    join_all(stores.iter().map(|store| async { store.retain().await.unwrap() })).await;
    let mut left = 0;
    for n in 0..30 {
        let mut query = ListQuery::new(100);
        query.status = Some(TaskState::InputRequired);
        let page = stores[1].list(&owner(n), &query).await.unwrap();
        assert_eq!(page.tasks.len() as u64, page.total_size);
        left += page.total_size;
    }
    assert_eq!(left, 10);
    let orphans: i64 = sqlx::query_scalar("SELECT count(*) FROM log WHERE task NOT IN (SELECT seq FROM tasks)")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(orphans, 0);
}
