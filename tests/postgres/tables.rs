//! The tables: how they are made, what goes into them, what is refused.

use std::{sync::Arc, time::Duration};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, PostgresTaskStore, StoreError, TaskStore},
    types::{Artifact, Event, Part, Task, TaskArtifactUpdateEvent, TaskState},
};
use futures_util::FutureExt as _;
use sqlx::Executor as _;

use super::{Schema, ann, made, status, task, word};

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let Some(schema) = Schema::new("tasks over a restart") else { return };
    let (before, log) = {
        let store = schema.open().await;
        made(&store, "t").await;
        store.append(&ann(), "t", 1, vec![status(TaskState::Working), word("a"), word("b")]).await.unwrap();
        store.append(&ann(), "t", 4, vec![word("c"), status(TaskState::InputRequired)]).await.unwrap();
        (store.get(&ann(), "t").await.unwrap(), store.read(&ann(), "t", 0, 100).await.unwrap())
    };
    let store = schema.open().await;
    let after = store.get(&ann(), "t").await.unwrap();
    assert_eq!((&after.task, after.revision), (&before.task, 6));
    let again = store.read(&ann(), "t", 0, 100).await.unwrap();
    assert_eq!(again.len(), 6);
    assert!(again.iter().zip(&log).all(|(a, b)| a.number() == b.number() && a.event() == b.event()));
    assert_eq!(store.list(&ann(), &ListQuery::new(1)).await.unwrap().total_size, 1);
    store.append(&ann(), "t", 6, vec![word("go on")]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_may_start_at_once() {
    let Some(schema) = Schema::new("many starts at once") else { return };
    let starts = (0..16).map(|_| tokio::spawn(schema.builder().readers(1).writers(1).open()));
    for start in starts.collect::<Vec<_>>() {
        start.await.unwrap().unwrap();
    }
    let mut connection = schema.connect().await;
    let version: Vec<i32> = sqlx::query_scalar("SELECT number FROM version").fetch_all(&mut connection).await.unwrap();
    assert_eq!(version.len(), 1);
}

#[tokio::test]
async fn tables_that_are_none_of_this_version_are_left_alone() {
    let Some(schema) = Schema::new("tables of another version") else { return };
    schema.open().await;
    let mut connection = schema.connect().await;
    connection.execute("UPDATE version SET number = 1000").await.unwrap();
    let error = schema.builder().open().await.unwrap_err();
    let StoreError::Unavailable(cause) = error else { panic!("{error:?}") };
    let cause = cause.to_string();
    assert!(cause.contains("version 1000") && cause.contains(&schema.name), "{cause}");
    // Somebody else's.
    let foreign = Schema::new("").unwrap();
    let create = format!("CREATE SCHEMA {0}; CREATE TABLE {0}.tasks (x INT)", foreign.name);
    connection.execute(&*create).await.unwrap();
    assert!(matches!(foreign.builder().open().await, Err(StoreError::Unavailable(_))));
    connection.execute(&*format!("SELECT x FROM {}.tasks", foreign.name)).await.unwrap();
    for (url, schema) in [("postgres://nobody@127.0.0.1:1/none", "a2a"), ("sqlite:x", "a2a"), (&*foreign.url, "a b")] {
        let builder = PostgresTaskStore::builder(url).schema(schema).patience(Duration::from_millis(200));
        assert!(matches!(builder.open().await, Err(StoreError::Unavailable(_))), "{url} {schema}");
    }
    let secret = PostgresTaskStore::builder("postgres://ann:secret@127.0.0.1:1/none");
    assert!(!format!("{secret:?}").contains("secret"));
}

/// Postgres takes no U+0000 in a text, and no long text in an index.
#[tokio::test]
async fn any_text_may_be_an_id_a_name_or_a_word() {
    let Some(schema) = Schema::new("texts of every kind") else { return };
    let store = schema.open().await;
    let long = "long ".repeat(10_000);
    let (longer, other) = (format!("{long}x"), format!("{long}y"));
    let texts = ["", "\0", "a\0b", "ä\u{10ffff}", "'\"\\x00", "a b\n", &longer, &other];
    for (at, text) in texts.iter().enumerate() {
        let owner = Owner::new(*text);
        let mut task = Task::new(*text, *text, TaskState::Working);
        task.history.push(Arc::new(a2a_layers::types::Message::user(*text)));
        let made = store.create(&owner, Arc::new(task)).await.unwrap();
        let artifact = Artifact::new(*text, vec![Part::text(*text)]);
        let said = Event::ArtifactUpdate(TaskArtifactUpdateEvent::new((*text).into(), (*text).into(), artifact));
        store.append(&owner, text, 1, vec![said.clone()]).await.unwrap();
        assert_eq!(store.get(&owner, text).await.unwrap().task.history, made.task.history);
        // And from the database's own words.
        let replica = schema.open().await;
        let seen = replica.get(&owner, text).await.unwrap();
        assert_eq!((&*seen.task.id, &*seen.task.context_id, seen.revision), (*text, *text, 2));
        assert_eq!(replica.read(&owner, text, 1, 9).await.unwrap()[0].event(), &said);
        let mut query = ListQuery::new(10);
        for context in [None, Some(Arc::from(*text))] {
            query.context_id = context;
            let page = replica.list(&owner, &query).await.unwrap();
            assert_eq!((page.tasks.len(), page.total_size), (1, 1), "{at}");
        }
        query.context_id = Some("another".into());
        assert_eq!(replica.list(&owner, &query).await.unwrap().total_size, 0);
        assert!(matches!(replica.get(&Owner::new("x"), text).await, Err(StoreError::NotFound)));
        assert!(matches!(replica.create(&owner, Arc::clone(&made.task)).await, Err(StoreError::Conflict)));
        replica.release_lease().await.unwrap();
        store.release_lease().await.unwrap();
        let lost = schema.open().await.lost_runs(100).await.unwrap();
        assert!(lost.iter().any(|run| run.owner == owner && &*run.snapshot.task.id == *text), "{at}");
        store.renew_lease().await.unwrap();
    }
    for unknown in ["\0\0", &"z".repeat(5_000)] {
        assert!(matches!(store.get(&ann(), unknown).await, Err(StoreError::NotFound)));
    }
}

#[tokio::test]
async fn a_write_that_cannot_be_is_no_reason_not_to_write_the_others() {
    let Some(schema) = Schema::new("writes that cannot be") else { return };
    let store = schema.builder().writers(1).open().await.unwrap();
    made(&store, "before").await;
    let never = "CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''never''; END'; \
         CREATE TRIGGER never BEFORE INSERT ON tasks FOR EACH ROW WHEN (NEW.id = 'never') EXECUTE FUNCTION never()";
    schema.connect().await.execute(never).await.unwrap();
    let owner = ann();
    let create = |id: &str| store.create(&owner, task(id));
    let append = store.append(&owner, "before", 1, vec![word("x")]);
    let (a, never, b, appended) = tokio::join!(create("a"), create("never"), create("b"), append);
    assert!(a.is_ok() && b.is_ok() && appended.is_ok());
    assert!(matches!(never, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.get(&ann(), "never").await, Err(StoreError::NotFound)));
    assert_eq!(store.list(&ann(), &ListQuery::new(1)).await.unwrap().total_size, 3);
}

#[tokio::test]
async fn of_many_that_expect_the_same_one_succeeds_though_they_share_a_transaction() {
    let Some(schema) = Schema::new("conflicts within a transaction") else { return };
    let store = schema.builder().writers(1).open().await.unwrap();
    made(&store, "first").await;
    let owner = ann();
    let creates = futures_util::future::join_all((0..20).map(|_| store.create(&owner, task("t")))).await;
    assert_eq!(creates.iter().filter(|made| made.is_ok()).count(), 1);
    assert!(creates.iter().all(|made| matches!(made, Ok(_) | Err(StoreError::Conflict))));
    for revision in 1..20 {
        let events = || vec![word("x")];
        let appends = (0..20).map(|_| store.append(&owner, "t", revision, events()));
        let appends = futures_util::future::join_all(appends).await;
        assert_eq!(appends.iter().filter(|one| one.is_ok()).count(), 1);
        assert!(appends.iter().all(|one| matches!(one, Ok(_) | Err(StoreError::Conflict))));
    }
    assert_eq!(store.read(&owner, "t", 0, 100).await.unwrap().len(), 20);
}

#[tokio::test]
async fn a_write_is_done_whether_its_caller_stays_or_not() {
    let Some(schema) = Schema::new("callers that leave") else { return };
    let store = schema.builder().writers(1).open().await.unwrap();
    made(&store, "t").await;
    assert!(store.append(&ann(), "t", 1, vec![word("x")]).now_or_never().is_none());
    // The next write comes after it.
    assert!(matches!(store.append(&ann(), "t", 1, vec![word("y")]).await, Err(StoreError::Conflict)));
    assert_eq!(store.get(&ann(), "t").await.unwrap().revision, 2);
}
