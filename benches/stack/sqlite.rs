//! The store in a file, beside the same statements given to SQLite by hand.

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, SqliteTaskStore, TaskStore, stored},
    types::{
        Artifact, Event, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
    },
};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::runtime::Runtime;

use crate::{
    Plan,
    table::{Line, Reach, median, short},
};

/// How many tasks are worked on at once; by hand, how many share a transaction.
const AT_ONCE: usize = 32;
/// What the store is to reach of what is done by hand.
const REACH: Reach = Reach::AtLeast(0.7);

const MAKE: &str = "\
    INSERT INTO tasks (id, owner, context, state, phase, moment, revision, holder) VALUES ($1, '', $1, 0, 0, $2, 1, 1); \
    INSERT INTO log (task, last, first, events) SELECT last_insert_rowid(), 1, 1, $3";
const WHOLE: &str = "\
    INSERT INTO tasks (id, owner, context, state, phase, moment, revision) VALUES ($1, '', $1, 2, 2, $2, 4); \
    INSERT INTO log (task, last, first, events) SELECT last_insert_rowid(), 4, 1, $3; \
    INSERT INTO snapshots (task, revision, body) SELECT seq, 4, $4 FROM tasks WHERE id = $1";
const SAY: &str = "\
    UPDATE tasks SET revision = $2 + 1 WHERE seq = $1 AND revision = $2; \
    INSERT INTO log (task, last, first, events) VALUES ($1, $2 + 1, $2 + 1, $3)";

/// A file that goes with the row.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let file = Self(std::env::temp_dir().join(format!("a2a-layers-bench-{}-{name}.db", std::process::id())));
        file.remove();
        file
    }

    fn remove(&self) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }

    /// Made by the store, so that both have the same tables.
    async fn store(&self) -> SqliteTaskStore {
        SqliteTaskStore::builder(self.0.to_string_lossy()).relaxed(true).open().await.expect("a store")
    }

    async fn connection(&self) -> SqliteConnection {
        let options =
            SqliteConnectOptions::new().filename(&self.0).synchronous(sqlx::sqlite::SqliteSynchronous::Normal);
        options.disable_statement_logging().connect().await.expect("a connection")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.remove();
    }
}

fn begun(id: &str) -> Task {
    let mut task = Task::new(id, id, TaskState::Submitted);
    task.history.push(Arc::new(Message::user("What is the weather like in the mountains?")));
    task
}

fn status(id: &str, state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent::new(id.into(), id.into(), TaskStatus::new(state)))
}

fn word(id: &str) -> Event {
    let artifact = Artifact::new("artifact-1", vec![Part::text("a few words ")]);
    let mut update = TaskArtifactUpdateEvent::new(id.into(), id.into(), artifact);
    update.append = true;
    Event::ArtifactUpdate(update)
}

fn answer(id: &str) -> Vec<Event> {
    vec![status(id, TaskState::Working), word(id), status(id, TaskState::Completed)]
}

/// From the message to the end in one write, many at once. Gives the time of each.
async fn tasks_by_store(store: &SqliteTaskStore, round: usize, tasks: usize) -> Vec<Duration> {
    let workers = (0..AT_ONCE).map(|worker| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut times = Vec::new();
            for n in 0..tasks / AT_ONCE {
                let (id, begin) = (format!("{round}-{worker}-{n}"), Instant::now());
                let owner = Owner::anonymous();
                let made = store.create_with(&owner, Arc::new(begun(&id)), &mut answer(&id)).await.expect("a task");
                assert_eq!(made.revision, 4, "a whole task");
                times.push(begin.elapsed());
            }
            times
        })
    });
    let mut times = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        times.extend(worker.await.expect("a worker"));
    }
    times
}

async fn tasks_by_hand(connection: &mut SqliteConnection, round: usize, tasks: usize) {
    for n in 0..tasks / AT_ONCE {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.expect("a transaction");
        for worker in 0..AT_ONCE {
            let id = format!("hand-{round}-{worker}-{n}");
            let mut task = begun(&id);
            let mut events = vec![Event::Task(Arc::new(task.clone()))];
            events.extend(answer(&id));
            for event in &events[1..] {
                a2a_layers::task::fold(&mut task, event).expect("a task that goes on");
            }
            let (text, body) = (stored::write_events(&id, &id, &events), stored::write_task(&task));
            let query = sqlx::query(WHOLE).bind(&id).bind(1_i64).bind(text).bind(body);
            transaction.execute(query).await.expect("a task");
        }
        transaction.commit().await.expect("a commit");
    }
}

/// One event after the other, on many tasks at once.
async fn events_by_store(store: &SqliteTaskStore, round: usize, events: usize) -> Vec<Duration> {
    let workers = (0..AT_ONCE).map(|worker| {
        let store = store.clone();
        tokio::spawn(async move {
            let (mut times, id, owner) = (Vec::new(), format!("{round}-{worker}"), Owner::anonymous());
            store.create(&owner, Arc::new(begun(&id))).await.expect("a task");
            for revision in 1..=(events / AT_ONCE) as u64 {
                let begin = Instant::now();
                store.append_one(&owner, &id, revision, word(&id)).await.expect("an event");
                times.push(begin.elapsed());
            }
            times
        })
    });
    let mut times = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        times.extend(worker.await.expect("a worker"));
    }
    times
}

async fn events_by_hand(connection: &mut SqliteConnection, round: usize, events: usize) {
    let mut rows = Vec::new();
    for worker in 0..AT_ONCE {
        let id = format!("hand-{round}-{worker}");
        let query = sqlx::query(MAKE).bind(&id).bind(1_i64).bind("[]");
        rows.push((connection.execute(query).await.expect("a row").last_insert_rowid(), id));
    }
    for revision in 1..=(events / AT_ONCE) as i64 {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.expect("a transaction");
        for (row, id) in &rows {
            let text = stored::write_events(id, id, &[word(id)]);
            transaction.execute(sqlx::query(SAY).bind(row).bind(revision).bind(text)).await.expect("an event");
        }
        transaction.commit().await.expect("a commit");
    }
}

/// Whole tasks, and then single events: per second by the store, of that by hand.
pub(crate) fn writes(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let count = if plan.quick { 320 } else { 6_400 };
    runtime.block_on(async {
        let (ours, theirs) = (File::new("store"), File::new("hand"));
        let store = ours.store().await;
        drop(theirs.store().await);
        let mut connection = theirs.connection().await;
        let mut lines = Vec::new();
        for (what, is_tasks) in [("tasks", true), ("events", false)] {
            let (mut ratios, mut rates, mut times) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..plan.rounds {
                let name = 2 * round + usize::from(is_tasks);
                let begin = Instant::now();
                times.extend(match is_tasks {
                    true => tasks_by_store(&store, name, count).await,
                    false => events_by_store(&store, name, count).await,
                });
                let by_store = begin.elapsed();
                let begin = Instant::now();
                match is_tasks {
                    true => tasks_by_hand(&mut connection, name, count).await,
                    false => events_by_hand(&mut connection, name, count).await,
                }
                ratios.push(begin.elapsed().as_secs_f64() / by_store.as_secs_f64());
                rates.push(count as f64 / by_store.as_secs_f64());
            }
            times.sort();
            let p99 = times[times.len() * 99 / 100].as_secs_f64() * 1e3;
            let note = format!("{} {what}/s, p99 {} ms at {AT_ONCE} at once", short(median(&rates)), short(p99));
            lines.push(Line { work: format!("SQLite: {what}"), reach: REACH, figures: ratios, note });
        }
        Ok(lines)
    })
}

/// A page far behind, to the first one.
pub(crate) fn list(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let tasks: i64 = if plan.quick { 20_000 } else { 1_000_000 };
    runtime.block_on(async {
        let file = File::new("list");
        let store = file.store().await;
        let owner = Owner::anonymous();
        let first = Arc::new(begun("first"));
        store.create(&owner, Arc::clone(&first)).await.expect("a task");
        store.append(&owner, "first", 1, answer("first")).await.expect("an answer");
        // The others are copies of it, of other moments.
        file.connection()
            .await
            .execute(&*format!(
                "BEGIN; INSERT INTO tasks (id, owner, context, state, phase, moment, revision) \
                 WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < {tasks}) \
                 SELECT 'task-' || n, '', 'context-' || (n % 1000), 2, 2, 1700000000000 + n * 7919 % {tasks}, 4 FROM n; \
                 INSERT INTO snapshots SELECT seq, 4, (SELECT body FROM snapshots) FROM tasks WHERE seq > 1; COMMIT"
            ))
            .await
            .expect("many tasks");
        let mut query = ListQuery::new(50);
        // Somewhere behind the middle.
        query.page_token = Some(format!("{:x}.{:x}", 1_700_000_000_000 + tasks / 3, 0));
        let (mut ratios, mut pages) = (Vec::new(), Vec::new());
        for _ in 0..plan.rounds {
            let mut times = Vec::new();
            for query in [&ListQuery::new(50), &query] {
                let begin = Instant::now();
                for _ in 0..20 {
                    let page = store.list(&owner, query).await.expect("a page");
                    assert_eq!((page.tasks.len(), page.total_size), (50, tasks.unsigned_abs()), "a full page");
                }
                times.push(begin.elapsed().as_secs_f64() / 20.0);
            }
            ratios.push(times[1] / times[0]);
            pages.push(times[0] * 1e6);
        }
        let note = format!("{} tasks, the first page of 50 in {} µs", short(tasks as f64), short(median(&pages)));
        Ok(vec![Line { work: "SQLite: page n to page 1".into(), reach: Reach::AtMost(2.0), figures: ratios, note }])
    })
}
