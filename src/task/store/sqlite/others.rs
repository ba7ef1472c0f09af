//! What other processes do to the same file.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use sqlx::{Row as _, SqliteConnection};
use tokio::time::{MissedTickBehavior, interval};

use super::{Sqlite, writer::json};
use crate::task::store::durable::{Durable, Inner};

/// How many logs are asked for at once.
const AT_ONCE: usize = 1_000;

/// A connection that sees whether others have written.
#[derive(Debug)]
pub(super) struct Watching {
    connection: SqliteConnection,
    holder: i64,
    /// Changes with every commit of another connection.
    version: i64,
    /// Whether anybody else had the file open when it was last looked.
    had_others: bool,
    /// The last one who had opened it by then.
    newest: i64,
}

impl Watching {
    pub(super) async fn new(connection: SqliteConnection, holder: i64) -> Result<Self, sqlx::Error> {
        let mut watching = Self { connection, holder, version: 0, had_others: true, newest: holder };
        watching.has_changed().await?;
        Ok(watching)
    }

    async fn has_changed(&mut self) -> Result<bool, sqlx::Error> {
        let version = sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut self.connection).await?;
        Ok(std::mem::replace(&mut self.version, version) != version)
    }

    /// Most files have one process, and then there is nothing to look for. One that has gone may have written before, and
    /// one may have come and gone.
    async fn may_be_others(&mut self) -> Result<bool, sqlx::Error> {
        let sql = "SELECT EXISTS (SELECT 1 FROM holders WHERE id <> $1 AND beat >= 0), (SELECT max(id) FROM holders)";
        let (has_others, newest): (bool, i64) =
            sqlx::query_as(sql).bind(self.holder).fetch_one(&mut self.connection).await?;
        let had_others = std::mem::replace(&mut self.had_others, has_others);
        Ok(std::mem::replace(&mut self.newest, newest) != newest || had_others || has_others)
    }
}

/// Looks now and then, as long as there is the store.
pub(super) fn watch_others(store: &Durable<Sqlite>, poll: Duration, mut watching: Watching) {
    let inner = Arc::downgrade(store.inner());
    tokio::spawn(async move {
        let mut ticks = interval(poll);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_down = false;
        loop {
            ticks.tick().await;
            let Some(inner) = Weak::upgrade(&inner) else { return };
            match look(&inner, &mut watching).await {
                Ok(()) => is_down = false,
                Err(error) if !is_down => {
                    is_down = true;
                    tracing::warn!(%error, "cannot see what other processes write");
                }
                Err(_) => {}
            }
        }
    });
}

async fn look(inner: &Inner<Sqlite>, watching: &mut Watching) -> Result<(), sqlx::Error> {
    let ids = inner.topics.ids();
    let is_asked = inner.hears_of_ends();
    if ids.is_empty() && !is_asked {
        return Ok(());
    }
    if let Err(error) = look_closer(inner, watching, &ids, is_asked).await {
        // Whatever was missed is to be looked for again.
        watching.version = -1;
        return Err(error);
    }
    Ok(())
}

async fn look_closer(
    inner: &Inner<Sqlite>,
    watching: &mut Watching,
    ids: &[Arc<str>],
    is_asked: bool,
) -> Result<(), sqlx::Error> {
    if !watching.has_changed().await? || !watching.may_be_others().await? {
        return Ok(());
    }
    for ids in ids.chunks(AT_ONCE) {
        let mut revisions: HashMap<&str, Option<u64>> = ids.iter().map(|id| (&**id, None)).collect();
        let query = sqlx::query("SELECT id, revision FROM tasks WHERE id IN (SELECT value FROM json_each($1))");
        let rows = query.bind(json(ids)).fetch_all(&mut watching.connection).await?;
        for row in &rows {
            let revision: i64 = row.try_get(1)?;
            revisions.insert(row.try_get(0)?, Some(revision.unsigned_abs()));
        }
        for (id, revision) in revisions {
            inner.topics.grown(id, revision);
        }
    }
    if is_asked {
        let query = sqlx::query_scalar("SELECT id FROM tasks WHERE holder = $1 AND phase = 2");
        let ids: Vec<String> = query.bind(watching.holder).fetch_all(&mut watching.connection).await?;
        inner.have_ended(ids).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions as _;
    use tokio::time::timeout;

    use super::*;
    use crate::{
        owner::Owner,
        task::{SqliteTaskStore, TaskStore as _},
        types::{Event, Message, Task, TaskState},
    };

    #[tokio::test]
    async fn what_one_has_written_that_was_there_for_a_moment_is_seen() {
        let file = std::env::temp_dir().join(format!("a2a-layers-others-{}.db", std::process::id()));
        let builder =
            || SqliteTaskStore::builder(file.to_str().unwrap()).relaxed(true).poll(Duration::from_secs(3_600));
        let (store, owner) = (builder().open().await.unwrap(), Owner::anonymous());
        let said = || vec![Event::Message(Arc::new(Message::agent("x")))];
        store.create(&owner, Arc::new(Task::new("t", "c", TaskState::Working))).await.unwrap();
        let inner = store.0.inner();
        let connection = inner.backend.readers.connect_options().connect().await.unwrap();
        let mut watching = Watching::new(connection, inner.backend.holder).await.unwrap();
        let writing = async {
            store.append(&owner, "t", 1, said()).await.unwrap();
            look(inner, &mut watching).await.unwrap();
            assert!(!watching.had_others);
            let other = builder().open().await.unwrap();
            other.append(&owner, "t", 2, said()).await.unwrap();
            other.release_lease().await.unwrap();
            look(inner, &mut watching).await.unwrap();
        };
        let (grown, ()) = tokio::join!(timeout(Duration::from_secs(5), store.grown(&owner, "t", 2)), writing);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", file.display()));
        }
        grown.expect("it is told").unwrap();
    }
}
