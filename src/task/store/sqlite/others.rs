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
}

impl Watching {
    pub(super) async fn new(connection: SqliteConnection, holder: i64) -> Result<Self, sqlx::Error> {
        let mut watching = Self { connection, holder, version: 0, had_others: true };
        watching.has_changed().await?;
        Ok(watching)
    }

    async fn has_changed(&mut self) -> Result<bool, sqlx::Error> {
        let version = sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut self.connection).await?;
        Ok(std::mem::replace(&mut self.version, version) != version)
    }

    /// Most files have one process, and then there is nothing to look for. One that has gone may have written before.
    async fn may_be_others(&mut self) -> Result<bool, sqlx::Error> {
        let query = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM holders WHERE id <> $1 AND beat >= 0)");
        let has_others = query.bind(self.holder).fetch_one(&mut self.connection).await?;
        Ok(std::mem::replace(&mut self.had_others, has_others) || has_others)
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
    if ids.is_empty() && !is_asked || !watching.has_changed().await? || !watching.may_be_others().await? {
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
