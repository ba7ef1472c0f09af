//! The suite that every store passes, and that no statement of it went through a whole table.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use a2a_layers::{
    task::{PostgresTaskStore, PostgresTaskStoreBuilder},
    testing::{Subject, conformance},
};

use super::Schema;

#[derive(Default)]
struct InPostgres {
    /// Which schema a store is in, by what it says of itself.
    opened: Mutex<HashMap<String, Arc<Schema>>>,
}

impl InPostgres {
    async fn open(
        &self,
        schema: Arc<Schema>,
        set: impl FnOnce(PostgresTaskStoreBuilder) -> PostgresTaskStoreBuilder,
    ) -> PostgresTaskStore {
        let store = set(schema.builder().lease(Duration::from_secs(1))).open().await.unwrap();
        self.opened.lock().unwrap().insert(format!("{store:?}"), schema);
        store
    }

    fn schema() -> Arc<Schema> {
        Arc::new(Schema::new("the contract").unwrap())
    }
}

impl Subject for InPostgres {
    type Store = PostgresTaskStore;

    async fn empty(&self) -> PostgresTaskStore {
        self.open(Self::schema(), |builder| builder).await
    }

    async fn replica(&self, of: &PostgresTaskStore) -> Option<PostgresTaskStore> {
        let schema = Arc::clone(&self.opened.lock().unwrap()[&format!("{of:?}")]);
        Some(self.open(schema, |builder| builder).await)
    }

    async fn keeping(&self, tasks: usize) -> Option<PostgresTaskStore> {
        let tasks = tasks as u64;
        Some(self.open(Self::schema(), |builder| builder.max_finished(tasks).max_interrupted(tasks)).await)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_store_in_postgres_keeps_the_contract_and_finds_its_rows_by_indexes() {
    let Some(_) = Schema::new("the contract of task stores over Postgres") else { return };
    let subject = InPostgres::default();
    conformance(&subject).await;
    let opened = subject.opened.into_inner().unwrap();
    let mut connection = opened.values().next().unwrap().connect().await;
    let schemas: Vec<_> = opened.values().map(|schema| &*schema.name).collect();
    // To make an index on a table that is empty yet counts as going through it.
    let scans: Vec<(String, i64)> = sqlx::query_as(
        "SELECT relname::text, sum(seq_scan - (SELECT count(*) FROM pg_index WHERE indrelid = relid))::bigint \
         FROM pg_stat_user_tables WHERE schemaname = ANY($1) AND relname <> 'version' GROUP BY 1",
    )
    .bind(schemas)
    .fetch_all(&mut connection)
    .await
    .unwrap();
    assert!(scans.len() == 8 && scans.iter().all(|(_, scans)| *scans == 0), "{scans:?}");
}
