//! The store in Postgres, beside the same rows given to Postgres by hand: a statement for all that share a transaction,
//! through arrays, as nothing takes fewer round trips.

#[path = "../../tests/postgres/database.rs"]
mod database;

use std::io;

use a2a_layers::task::PostgresTaskStore;
use sqlx::{ConnectOptions as _, Executor as _, PgConnection, postgres::PgConnectOptions};
use tokio::runtime::Runtime;

use crate::{
    Plan,
    durable::{self, ByHand, Whole},
    table::{Line, Reach},
};

const WHOLE: &str = "\
    WITH g AS MATERIALIZED (SELECT nextval('tasks_seq_seq') AS seq, g.* \
        FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) AS g (id, events, body)), \
    made AS (INSERT INTO tasks (seq, id, owner, context, state, phase, moment, revision) \
        SELECT seq, id, '', id, 2, 2, $4, 4 FROM g), \
    logged AS (INSERT INTO log (task, last, first, tag, events) SELECT seq, 4, 1, 0, events FROM g), \
    kept AS (INSERT INTO snapshots (task, revision, body) SELECT seq, 4, body FROM g) \
    INSERT INTO count_changes (owner, state, tasks) SELECT '', 2, count(*) FROM g";
const MAKE: &str = "\
    INSERT INTO tasks (id, owner, context, state, phase, moment, revision, holder) \
    SELECT id, '', id, 0, 0, 1, 1, 1 FROM unnest($1::bytea[]) AS g (id) RETURNING seq";
const SAY: &str = "\
    WITH moved AS (UPDATE tasks t SET revision = $2 + 1 FROM unnest($1::bigint[], $3::bytea[]) AS g (seq, events) \
        WHERE t.seq = g.seq AND t.revision = $2 RETURNING g.*) \
    INSERT INTO log (task, last, first, tag, events) SELECT seq, $2 + 1, $2 + 1, 0, events FROM moved";

/// A schema that goes with the row.
struct Schema {
    url: String,
    name: String,
}

impl Schema {
    /// One connection writes, as by hand, so that both write the same at once.
    async fn store(&self) -> PostgresTaskStore {
        let builder = PostgresTaskStore::builder(&*self.url).schema(&*self.name);
        builder.relaxed(true).writers(1).open().await.expect("a store")
    }

    async fn connection(&self) -> PgConnection {
        let options: PgConnectOptions = self.url.parse().expect("a URL");
        let mut connection = options.disable_statement_logging().connect().await.expect("a connection");
        let session = format!(
            "SET search_path TO {}; SET synchronous_commit TO off; SET plan_cache_mode TO force_generic_plan; \
             SET enable_seqscan TO off",
            self.name
        );
        connection.execute(&*session).await.expect("a session");
        connection
    }

    async fn drop(self) {
        let drop = format!("DROP SCHEMA {} CASCADE", self.name);
        self.connection().await.execute(&*drop).await.expect("an end");
    }
}

fn bytes(texts: &[String]) -> Vec<&[u8]> {
    texts.iter().map(String::as_bytes).collect()
}

impl ByHand for PgConnection {
    async fn tasks(&mut self, tasks: &[Whole]) {
        let column = |of: fn(&Whole) -> &String| tasks.iter().map(|task| of(task).as_bytes()).collect::<Vec<_>>();
        let query = sqlx::query(WHOLE).bind(column(|task| &task.id)).bind(column(|task| &task.events));
        self.execute(query.bind(column(|task| &task.body)).bind(1_i64)).await.expect("tasks");
    }

    async fn begin(&mut self, ids: &[String]) -> Vec<i64> {
        sqlx::query_scalar(MAKE).bind(bytes(ids)).fetch_all(self).await.expect("rows")
    }

    async fn events(&mut self, rows: &[i64], revision: i64, events: &[String]) {
        let done = self.execute(sqlx::query(SAY).bind(rows).bind(revision).bind(bytes(events))).await;
        assert_eq!(done.expect("events").rows_affected(), rows.len() as u64);
    }
}

/// Two schemas, if there is a Postgres; or else what is said of these rows.
fn schemas(rows: &[&str]) -> Result<(Schema, Schema), Vec<Line>> {
    let schema = |url| Schema { url, name: database::schema() };
    match database::url("the rows of Postgres") {
        Some(url) => Ok((schema(url.clone()), schema(url))),
        None => Err(rows
            .iter()
            .map(|row| Line {
                work: format!("Postgres: {row}"),
                reach: Reach::Shown,
                figures: Vec::new(),
                note: "left out, as there is no Postgres".into(),
            })
            .collect()),
    }
}

/// Whole tasks, and then single events: per second by the store, of that by hand.
pub(crate) fn writes(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let (ours, theirs) = match schemas(&["tasks", "events"]) {
        Ok(schemas) => schemas,
        Err(lines) => return Ok(lines),
    };
    runtime.block_on(async {
        let store = ours.store().await;
        drop(theirs.store().await);
        let lines = durable::writes(plan, "Postgres", &store, &mut theirs.connection().await).await;
        drop(store);
        ours.drop().await;
        theirs.drop().await;
        lines
    })
}

/// A page far behind, to the first one.
pub(crate) fn list(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let (schema, _) = match schemas(&["page n to page 1"]) {
        Ok(schemas) => schemas,
        Err(lines) => return Ok(lines),
    };
    let tasks = durable::listed(plan);
    runtime.block_on(async {
        let store = schema.store().await;
        durable::first_listed(&store).await;
        schema
            .connection()
            .await
            .execute(&*format!(
                "BEGIN; INSERT INTO tasks (id, owner, context, state, phase, moment, revision) \
                 SELECT convert_to('task-' || n, 'UTF8'), '', convert_to('context-' || (n % 1000), 'UTF8'), 2, 2, \
                 1700000000000 + n * 7919 % {tasks}, 4 FROM generate_series(2::bigint, {tasks}) AS n; \
                 WITH first AS MATERIALIZED (SELECT * FROM snapshots) INSERT INTO snapshots \
                 SELECT t.seq, 4, first.body FROM first JOIN tasks t ON t.seq > first.task; \
                 INSERT INTO count_changes (owner, state, tasks) VALUES ('', 2, {tasks} - 1); COMMIT"
            ))
            .await
            .expect("many tasks");
        let lines = durable::list(plan, "Postgres", &store).await;
        drop(store);
        schema.drop().await;
        lines
    })
}
