//! The store in a file, beside the same statements given to SQLite by hand.

use std::{io, path::PathBuf};

use a2a_layers::task::SqliteTaskStore;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::runtime::Runtime;

use crate::{
    Plan,
    durable::{self, ByHand, Whole},
    table::Line,
};

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

impl ByHand for SqliteConnection {
    async fn tasks(&mut self, tasks: &[Whole]) {
        let mut transaction = self.begin_with("BEGIN IMMEDIATE").await.expect("a transaction");
        for Whole { id, events, body } in tasks {
            let query = sqlx::query(WHOLE).bind(id).bind(1_i64).bind(events).bind(body);
            transaction.execute(query).await.expect("a task");
        }
        transaction.commit().await.expect("a commit");
    }

    async fn begin(&mut self, ids: &[String]) -> Vec<i64> {
        let mut rows = Vec::new();
        for id in ids {
            let query = sqlx::query(MAKE).bind(id).bind(1_i64).bind("[]");
            rows.push(self.execute(query).await.expect("a row").last_insert_rowid());
        }
        rows
    }

    async fn events(&mut self, rows: &[i64], revision: i64, events: &[String]) {
        let mut transaction = self.begin_with("BEGIN IMMEDIATE").await.expect("a transaction");
        for (row, event) in rows.iter().zip(events) {
            transaction.execute(sqlx::query(SAY).bind(row).bind(revision).bind(event)).await.expect("an event");
        }
        transaction.commit().await.expect("a commit");
    }
}

/// Whole tasks, and then single events: per second by the store, of that by hand.
pub(crate) fn writes(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    runtime.block_on(async {
        let (ours, theirs) = (File::new("store"), File::new("hand"));
        let store = ours.store().await;
        drop(theirs.store().await);
        durable::writes(plan, "SQLite", &store, &mut theirs.connection().await).await
    })
}

/// A page far behind, to the first one.
pub(crate) fn list(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let tasks = durable::listed(plan);
    runtime.block_on(async {
        let file = File::new("list");
        let store = file.store().await;
        durable::first_listed(&store).await;
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
        durable::list(plan, "SQLite", &store).await
    })
}
