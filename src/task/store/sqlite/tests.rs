mod lost;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use futures_util::{FutureExt as _, StreamExt as _};

use super::*;
use crate::{
    testing::{Subject, conformance},
    types::{Artifact, Message, Part, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent},
};

/// A file of its own that goes with the test.
#[derive(Default)]
struct Folder(Mutex<Vec<PathBuf>>);

impl Folder {
    fn file(&self) -> String {
        static FILES: AtomicU64 = AtomicU64::new(0);
        let name = format!("a2a-layers-{}-{}.db", std::process::id(), FILES.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        self.0.lock().unwrap().push(path.clone());
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for path in self.0.get_mut().unwrap() {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{end}", path.display()));
            }
        }
    }
}

#[derive(Default)]
struct Files {
    folder: Folder,
    /// Which file a store is of, by its holder's address.
    opened: Mutex<HashMap<usize, String>>,
}

impl Files {
    async fn open(
        &self,
        file: String,
        set: impl FnOnce(SqliteTaskStoreBuilder) -> SqliteTaskStoreBuilder,
    ) -> SqliteTaskStore {
        let builder = SqliteTaskStore::builder(&*file).relaxed(true).poll(Duration::from_millis(5));
        let store = set(builder.lease(Duration::from_secs(1))).open().await.unwrap();
        self.opened.lock().unwrap().insert(Arc::as_ptr(store.0.inner()) as usize, file);
        store
    }
}

impl Subject for Files {
    type Store = SqliteTaskStore;

    async fn empty(&self) -> SqliteTaskStore {
        self.open(self.folder.file(), |builder| builder).await
    }

    async fn replica(&self, of: &SqliteTaskStore) -> Option<SqliteTaskStore> {
        let file = self.opened.lock().unwrap()[&(Arc::as_ptr(of.0.inner()) as usize)].clone();
        Some(self.open(file, |builder| builder).await)
    }

    async fn keeping(&self, tasks: usize) -> Option<SqliteTaskStore> {
        let tasks = tasks as u64;
        Some(self.open(self.folder.file(), |builder| builder.max_finished(tasks).max_interrupted(tasks)).await)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_store_in_a_file_keeps_the_contract() {
    conformance(&Files::default()).await;
}

fn ann() -> Owner {
    Owner::new("ann")
}

fn word(text: &str) -> Event {
    let mut update =
        TaskArtifactUpdateEvent::new("t".into(), "c".into(), Artifact::new("artifact-1", vec![Part::text(text)]));
    update.append = true;
    Event::ArtifactUpdate(update)
}

fn status(state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent::new("t".into(), "c".into(), TaskStatus::new(state)))
}

async fn made(store: &SqliteTaskStore) {
    store.create(&ann(), Arc::new(Task::new("t", "c", TaskState::Submitted))).await.unwrap();
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let folder = Folder::default();
    let file = folder.file();
    let (before, log) = {
        let store = SqliteTaskStore::open(&*file).await.unwrap();
        made(&store).await;
        store.append(&ann(), "t", 1, vec![status(TaskState::Working), word("a"), word("b")]).await.unwrap();
        store.append(&ann(), "t", 4, vec![word("c"), status(TaskState::InputRequired)]).await.unwrap();
        (store.get(&ann(), "t").await.unwrap(), store.read(&ann(), "t", 0, 100).await.unwrap())
    };
    let store = SqliteTaskStore::open(format!("sqlite:{file}")).await.unwrap();
    let after = store.get(&ann(), "t").await.unwrap();
    assert_eq!((&after.task, after.revision), (&before.task, 6));
    let again = store.read(&ann(), "t", 0, 100).await.unwrap();
    let same = |log: &[LogEntry]| log.iter().map(|entry| (entry.number(), entry.event().clone())).collect::<Vec<_>>();
    assert_eq!(same(&again), same(&log));
    assert_eq!(store.list(&ann(), &ListQuery::new(1)).await.unwrap().total_size, 1);
    store.append(&ann(), "t", 6, vec![Event::Message(Arc::new(Message::user("go on")))]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_may_start_at_once() {
    let folder = Folder::default();
    let file = folder.file();
    let starts = (0..16).map(|_| tokio::spawn(SqliteTaskStore::builder(&*file).relaxed(true).open()));
    for start in starts.collect::<Vec<_>>() {
        start.await.unwrap().unwrap();
    }
}

async fn execute(file: &str, sql: &str) {
    use sqlx::{ConnectOptions as _, Executor as _};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file).create_if_missing(true);
    options.connect().await.unwrap().execute(sql).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_none_of_this_version_is_left_alone() {
    let folder = Folder::default();
    let later = folder.file();
    SqliteTaskStore::open(&*later).await.unwrap();
    execute(&later, "PRAGMA user_version = 1000").await;
    let error = SqliteTaskStore::open(&*later).await.unwrap_err();
    let StoreError::Unavailable(cause) = error else { panic!("{error:?}") };
    assert!(cause.to_string().contains("version 1000"), "{cause}");
    let foreign = folder.file();
    execute(&foreign, "CREATE TABLE tasks (x)").await;
    assert!(matches!(SqliteTaskStore::open(&*foreign).await, Err(StoreError::Unavailable(_))));
    let text = folder.file();
    std::fs::write(&text, vec![b'x'; 10_000]).unwrap();
    assert!(matches!(SqliteTaskStore::open(&*text).await, Err(StoreError::Unavailable(_))));
    let error = SqliteTaskStore::open("/nowhere/at/all/tasks.db").await.unwrap_err();
    let StoreError::Unavailable(cause) = error else { panic!("{error:?}") };
    assert!(cause.to_string().starts_with("/nowhere/at/all/tasks.db: "), "{cause}");
    assert!(SqliteTaskStore::open("sqlite::memory:").await.is_err());
}

#[tokio::test]
async fn a_file_of_the_first_version_is_brought_up_to_this_one() {
    let folder = Folder::default();
    let file = folder.file();
    execute(&file, include_str!("schema_1.sql")).await;
    execute(&file, "PRAGMA user_version = 1").await;
    let store = SqliteTaskStore::open(&*file).await.unwrap();
    made(&store).await;
    let claim = Claim::new("k", 1, "t");
    assert_eq!(store.claim(&ann(), &claim, Duration::from_secs(60)).await.unwrap(), None);
    assert_eq!(store.claim(&ann(), &claim, Duration::from_secs(60)).await.unwrap(), Some(claim));
}

#[tokio::test]
async fn claims_that_are_over_do_not_pile_up() {
    let folder = Folder::default();
    let file = folder.file();
    let store = SqliteTaskStore::builder(&*file).relaxed(true).open().await.unwrap();
    for number in 0..1_200 {
        let claim = Claim::new(number.to_string(), 1, "t");
        assert_eq!(store.claim(&ann(), &claim, Duration::from_millis(1)).await.unwrap(), None);
    }
    let last = Claim::new("last", 1, "t");
    assert_eq!(store.claim(&ann(), &last, Duration::from_secs(60)).await.unwrap(), None);
    tokio::time::sleep(Duration::from_millis(5)).await;
    store.retain().await.unwrap();
    let left: Vec<String> =
        sqlx::query_scalar("SELECT key FROM claims").fetch_all(&store.0.inner().backend.readers).await.unwrap();
    assert_eq!(left, ["last"]);
}

#[tokio::test]
async fn a_clock_that_was_set_back_makes_no_claim_last_longer() {
    let folder = Folder::default();
    let file = folder.file();
    let store = SqliteTaskStore::builder(&*file).relaxed(true).open().await.unwrap();
    let (claim, window) = (Claim::new("k", 1, "t"), Duration::from_secs(60));
    assert_eq!(store.claim(&ann(), &claim, window).await.unwrap(), None);
    execute(&file, "UPDATE claims SET moment = moment + 3600000, until = until + 3600000").await;
    assert_eq!(store.claim(&ann(), &claim, window).await.unwrap(), None);
}

#[tokio::test]
async fn a_full_file_refuses_writes_and_goes_on_when_there_is_room() {
    let folder = Folder::default();
    let store = SqliteTaskStore::builder(folder.file()).relaxed(true).max_bytes(Some(200 << 10)).max_finished(0);
    let store = store.open().await.unwrap();
    made(&store).await;
    let mut revision = 1;
    let refused = loop {
        match store.append(&ann(), "t", revision, vec![word(&"x".repeat(8 << 10))]).await {
            Ok(snapshot) => revision = snapshot.revision,
            Err(error) => break error,
        }
        assert!(revision < 100, "the file grows beyond its limit");
    };
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    // What was acknowledged is there, and nothing else.
    assert_eq!(store.get(&ann(), "t").await.unwrap().revision, revision);
    assert_eq!(store.read(&ann(), "t", 0, 1_000).await.unwrap().len() as u64, revision);
    store.append(&ann(), "t", revision, vec![status(TaskState::Completed)]).await.unwrap_err();
    // There is no room even for the end of the task, but for letting go of others there is.
    let folder = Folder::default();
    let store = SqliteTaskStore::builder(folder.file()).relaxed(true).max_bytes(Some(400 << 10)).max_finished(0);
    let store = store.open().await.unwrap();
    let finished = |id: u64| {
        let mut task = Task::new(id.to_string(), "c", TaskState::Completed);
        task.history.push(Arc::new(Message::user("x".repeat(8 << 10))));
        Arc::new(task)
    };
    let mut made = 0;
    while store.create(&ann(), finished(made)).await.is_ok() {
        made += 1;
        assert!(made < 100, "the file grows beyond its limit");
    }
    store.retain().await.unwrap();
    for id in 0..made {
        store.create(&ann(), finished(id)).await.unwrap();
    }
}

#[tokio::test]
async fn a_write_that_cannot_be_is_no_reason_not_to_write_the_others() {
    let folder = Folder::default();
    let store = SqliteTaskStore::builder(folder.file()).relaxed(true).open().await.unwrap();
    execute(
        store.0.inner().backend.readers.connect_options().get_filename().to_str().unwrap(),
        "CREATE TRIGGER never BEFORE INSERT ON tasks WHEN NEW.id = 'never' BEGIN SELECT RAISE(ABORT, 'never'); END",
    )
    .await;
    let owner = ann();
    let create = |id: &str| store.create(&owner, Arc::new(Task::new(id, "c", TaskState::Working)));
    let (a, never, b) = tokio::join!(create("a"), create("never"), create("b"));
    assert!(a.is_ok() && b.is_ok());
    assert!(matches!(never, Err(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn a_file_that_another_one_holds_is_waited_for_and_then_given_up() {
    let folder = Folder::default();
    let file = folder.file();
    let builder = SqliteTaskStore::builder(&*file).patience(Duration::from_millis(300));
    let store = builder.relaxed(true).open().await.unwrap();
    made(&store).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let lock = sqlx::Connection::begin_with(&mut other, "BEGIN IMMEDIATE").await.unwrap();
    let refused = store.append(&ann(), "t", 1, vec![word("x")]).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert_eq!(store.get(&ann(), "t").await.unwrap().revision, 1, "reads go on");
    lock.rollback().await.unwrap();
    assert_eq!(store.append(&ann(), "t", 1, vec![word("x")]).await.unwrap().revision, 2);
    // One that lets go in time is only waited for.
    let lock = sqlx::Connection::begin_with(&mut other, "BEGIN IMMEDIATE").await.unwrap();
    let owner = ann();
    let (appended, ()) = tokio::join!(store.append(&owner, "t", 2, vec![word("y")]), async {
        assert_eq!(store.get(&owner, "t").await.unwrap().revision, 2);
        lock.rollback().await.unwrap();
    });
    assert_eq!(appended.unwrap().revision, 3);
}

#[tokio::test]
async fn a_write_is_done_whether_its_caller_stays_or_not() {
    let folder = Folder::default();
    let store = SqliteTaskStore::builder(folder.file()).relaxed(true).open().await.unwrap();
    made(&store).await;
    assert!(store.append(&ann(), "t", 1, vec![word("x")]).now_or_never().is_none());
    // The next write comes after it.
    assert!(matches!(store.append(&ann(), "t", 1, vec![word("y")]).await, Err(StoreError::Conflict)));
    assert_eq!(store.get(&ann(), "t").await.unwrap().revision, 2);
}

#[tokio::test]
async fn f86_a_long_artifact_costs_snapshots_no_longer_than_its_log() {
    let folder = Folder::default();
    let store = SqliteTaskStore::builder(folder.file()).relaxed(true).open().await.unwrap();
    made(&store).await;
    let text = "word ".repeat(100);
    for revision in 1..=1_000 {
        store.append(&ann(), "t", revision, vec![word(&text)]).await.unwrap();
    }
    let path = store.0.inner().backend.readers.connect_options().get_filename().to_owned();
    drop(store);
    let store = SqliteTaskStore::open(path.to_str().unwrap()).await.unwrap();
    let snapshot = store.get(&ann(), "t").await.unwrap();
    assert_eq!(snapshot.task.artifacts[0].parts[0].as_text().map(str::len), Some(500 * 1_000));
    // Half a megabyte of log and one snapshot; each append rewriting the task would be half a gigabyte of pages.
    let pages: i64 = sqlx::query_scalar("PRAGMA page_count").fetch_one(&store.0.inner().backend.readers).await.unwrap();
    assert!(pages * 4096 < 4 << 20, "{pages} pages");
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index() {
    let folder = Folder::default();
    let store = SqliteTaskStore::builder(folder.file()).relaxed(true).open().await.unwrap();
    for sql in [
        "SELECT seq FROM tasks WHERE id = 'x' AND owner = ''",
        "SELECT l.first FROM tasks t JOIN log l ON l.task = t.seq WHERE t.id = '' AND l.last > 3 ORDER BY l.last",
        "SELECT t.seq FROM tasks t INDEXED BY tasks_of_owner WHERE t.owner = '' AND (t.moment, t.seq) < (1, 1) \
         ORDER BY t.moment DESC, t.seq DESC LIMIT 5",
        "SELECT t.seq FROM tasks t INDEXED BY tasks_of_context WHERE t.owner = '' AND t.context = 'c' \
         ORDER BY t.moment DESC, t.seq DESC LIMIT 5",
        "SELECT t.seq FROM tasks t INDEXED BY tasks_in_state WHERE t.owner = '' AND t.state = 3 \
         ORDER BY t.moment DESC, t.seq DESC LIMIT 5",
        "SELECT id FROM tasks WHERE holder = 7 AND phase = 2",
        "SELECT seq FROM tasks WHERE phase = 2 AND phase > 0 ORDER BY moment, seq LIMIT 5",
        "SELECT count(*) FROM tasks t WHERE t.owner = '' AND t.moment >= 5",
        "SELECT task FROM claims WHERE owner = '' AND key = 'k'",
        "DELETE FROM claims WHERE (owner, key) IN (SELECT owner, key FROM claims WHERE until <= 5 LIMIT 5)",
        "DELETE FROM claims WHERE task = 't'",
        "DELETE FROM claims WHERE holder = 7 AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = claims.task AND \
         tasks.revision > claims.revision)",
    ] {
        for step in plan(&store, sql).await {
            assert!(!step.starts_with("SCAN") && !step.contains("TEMP B-TREE"), "{sql}: {step}");
        }
    }
    for sql in many::statement(64).split("; ") {
        let steps = plan(&store, sql).await;
        let is_found = |step: &String| step.starts_with("SEARCH t") && step.contains("INTEGER PRIMARY KEY");
        assert!(steps.iter().any(is_found), "{sql}: {steps:?}");
        assert!(!steps.iter().any(|step| step.starts_with("SCAN t")), "{sql}: {steps:?}");
    }
}

async fn plan(store: &SqliteTaskStore, sql: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let steps = sqlx::query_as::<_, (i64, i64, i64, String)>(&explain).fetch_all(&store.0.inner().backend.readers);
    steps.await.unwrap().into_iter().map(|(.., step)| step).collect()
}

#[tokio::test]
async fn a_follower_that_is_slow_gets_what_is_no_longer_at_hand() {
    let folder = Folder::default();
    let store = SqliteTaskStore::builder(folder.file()).relaxed(true).open().await.unwrap();
    made(&store).await;
    let mut follow = Box::pin(store.clone().follow(ann(), Arc::from("t"), 0));
    assert_eq!(follow.next().await.unwrap().unwrap().number(), 1);
    for revision in 0..100 {
        store.append(&ann(), "t", 1 + 10 * revision, vec![word("x"); 10]).await.unwrap();
    }
    for number in 2..=1_001 {
        assert_eq!(follow.next().await.unwrap().unwrap().number(), number);
    }
    assert!(follow.next().now_or_never().is_none());
}

#[tokio::test]
async fn each_of_many_appends_is_written_as_what_it_is() {
    let folder = Folder::default();
    let file = folder.file();
    let [store, other] = [(); 2].map(|()| SqliteTaskStore::builder(&*file).relaxed(true).open());
    let (store, other) = (store.await.unwrap(), other.await.unwrap());
    let (owner, long) = (ann(), "x".repeat(20_000));
    let ids: Vec<_> = (0..99).map(|n| n.to_string()).collect();
    for id in &ids {
        store.create(&owner, Arc::new(Task::new(&**id, "c", TaskState::Submitted))).await.unwrap();
    }
    let appends = ids.iter().enumerate().map(|(n, id)| {
        let event = match n % 4 {
            0 => word("short"),
            // Long enough for a snapshot.
            1 => word(&long),
            2 => status(TaskState::Working),
            _ => status(TaskState::Completed),
        };
        store.append_one(&owner, id, 1, event)
    });
    let appended: Vec<_> =
        futures_util::future::join_all(appends).await.into_iter().map(|done| done.unwrap().task).collect();
    for (id, task) in ids.iter().zip(&appended) {
        assert_eq!(other.get(&owner, id).await.unwrap().task, *task);
    }
    let count = async |state| {
        let mut query = ListQuery::new(99);
        query.status = Some(state);
        other.list(&owner, &query).await.unwrap().tasks.len()
    };
    assert_eq!(count(TaskState::Submitted).await, 50);
    assert_eq!((count(TaskState::Working).await, count(TaskState::Completed).await), (25, 24));
    let snapshots: i64 =
        sqlx::query_scalar("SELECT count(*) FROM snapshots").fetch_one(&other.0.inner().backend.readers).await.unwrap();
    assert_eq!(snapshots, 49);
}

#[tokio::test]
async fn what_was_not_expected_keeps_none_of_many_appends_from_being_written() {
    let folder = Folder::default();
    let file = folder.file();
    let [store, other] = [(); 2].map(|()| SqliteTaskStore::builder(&*file).relaxed(true).open());
    let (store, other) = (store.await.unwrap(), other.await.unwrap());
    let owner = ann();
    for tasks in [1, 2, 3, 63, 64, 65, 127, 200] {
        let ids: Vec<_> = (0..tasks).map(|n| format!("{tasks}-{n}")).collect();
        for id in &ids {
            store.create(&owner, Arc::new(Task::new(&**id, "c", TaskState::Working))).await.unwrap();
        }
        // The first round is as expected; in the second another process has been at one of the tasks meanwhile.
        for (round, late) in [(1, None), (2, Some(tasks / 2))] {
            if let Some(late) = late {
                other.append_one(&owner, &ids[late], round, word("before")).await.unwrap();
            }
            let appends = ids.iter().map(|id| store.append_one(&owner, id, round, word("x")));
            let done = futures_util::future::join_all(appends).await;
            for (n, (id, done)) in ids.iter().zip(done).enumerate() {
                match done {
                    Err(StoreError::Conflict) if late == Some(n) => {}
                    Ok(snapshot) if late != Some(n) => assert_eq!(snapshot.revision, round + 1),
                    done => panic!("{id} in round {round}: {done:?}"),
                }
                let log = other.read(&owner, id, 0, 9).await.unwrap();
                assert!(log.iter().map(LogEntry::number).eq(1..=round + 1), "{log:?}");
            }
        }
    }
}
