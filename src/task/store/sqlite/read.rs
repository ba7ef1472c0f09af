//! Reading tasks and logs.

use futures_util::TryStreamExt as _;
use sqlx::{QueryBuilder, Row as _, sqlite::SqliteRow};

use super::Sqlite;
use crate::{
    owner::Owner,
    task::{
        ListQuery, StoreError,
        store::{
            durable::{
                Backend, LostRow, Part, Row, Stored, number, owner_text, read_owner, state_number, stored, unavailable,
            },
            index::Key,
        },
    },
};

impl Backend for Sqlite {
    async fn row(&self, owner: &Owner, id: &str) -> Result<Option<Row>, StoreError> {
        let query = sqlx::query("SELECT seq, revision, phase FROM tasks WHERE id = $1 AND owner = $2");
        let owner = owner_text(owner);
        let query = query.bind(id).bind(&*owner).fetch_optional(&self.readers);
        query.await.map_err(unavailable)?.map(|found| row(&found)).transpose().map_err(unavailable)
    }

    async fn task(&self, owner: &Owner, id: &str) -> Result<Option<Stored>, StoreError> {
        let query = sqlx::query(
            "SELECT t.seq, t.revision, t.phase, t.id, t.context, t.moment, s.revision, s.body \
             FROM tasks t LEFT JOIN snapshots s ON s.task = t.seq WHERE t.id = $1 AND t.owner = $2",
        );
        let owner = owner_text(owner);
        let query = query.bind(id).bind(&*owner).fetch_optional(&self.readers);
        query.await.map_err(unavailable)?.map(|found| whole(&found)).transpose().map_err(unavailable)
    }

    async fn unfolded(
        &self,
        parts: &[Part],
        mut show: impl FnMut(usize, &str) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        for (at, part) in parts.iter().enumerate() {
            let query =
                sqlx::query("SELECT events FROM log WHERE task = $1 AND last > $2 AND last <= $3 ORDER BY last");
            let query = query.bind(part.seq).bind(stored(part.after)).bind(stored(part.until));
            let mut rows = query.fetch(&self.readers);
            while let Some(found) = rows.try_next().await.map_err(unavailable)? {
                show(at, found.try_get(0).map_err(unavailable)?)?;
            }
        }
        Ok(())
    }

    async fn log(
        &self,
        owner: &Owner,
        id: &str,
        after: u64,
        limit: usize,
        mut show: impl FnMut(u64, &str, &str) -> Result<bool, StoreError> + Send,
    ) -> Result<(), StoreError> {
        if limit == 0 {
            return Ok(());
        }
        let query = sqlx::query(
            "SELECT l.first, l.events, t.context FROM tasks t JOIN log l ON l.task = t.seq \
             WHERE t.id = $1 AND t.owner = $2 AND l.last > $3 ORDER BY l.last",
        );
        let owner = owner_text(owner);
        let mut rows = query.bind(id).bind(&*owner).bind(stored(after)).fetch(&self.readers);
        while let Some(found) = rows.try_next().await.map_err(unavailable)? {
            let columns = || Ok::<_, sqlx::Error>((found.try_get(0)?, found.try_get(2)?, found.try_get(1)?));
            let (first, context, events) = columns().map_err(unavailable)?;
            if !show(number(first), context, events)? {
                break;
            }
        }
        Ok(())
    }

    async fn list(
        &self,
        owner: &Owner,
        query: &ListQuery,
        before: Option<Key>,
    ) -> Result<(Vec<Stored>, u64), StoreError> {
        let owner = owner_text(owner);
        let total = self.total(&owner, query).await.map_err(unavailable)?;
        // The index is the one whose order is that of the list; SQLite cannot know that it will stop early.
        let index = match (&query.context_id, query.status) {
            (Some(_), _) => "tasks_of_context",
            (None, Some(_)) => "tasks_in_state",
            (None, None) => "tasks_of_owner",
        };
        let mut select = QueryBuilder::new(
            "SELECT t.seq, t.revision, t.phase, t.id, t.context, t.moment, s.revision, s.body FROM tasks t INDEXED BY ",
        );
        select.push(index).push(" LEFT JOIN snapshots s ON s.task = t.seq WHERE t.owner = ").push_bind(&*owner);
        filter(&mut select, query);
        if let Some(Key { millis, sequence }) = before {
            select
                .push(" AND (t.moment, t.seq) < (")
                .push_bind(millis)
                .push(", ")
                .push_bind(stored(sequence))
                .push(")");
        }
        select
            .push(" ORDER BY t.moment DESC, t.seq DESC LIMIT ")
            .push_bind(stored((query.page_size as u64).saturating_add(1)));
        let rows = select.build().fetch_all(&self.readers).await.map_err(unavailable)?;
        let tasks = rows.iter().map(whole).collect::<Result<_, _>>().map_err(unavailable)?;
        Ok((tasks, total))
    }

    async fn others(&self) -> Result<Vec<(i64, i64)>, StoreError> {
        let query = sqlx::query_as("SELECT id, beat FROM holders WHERE beat >= 0 AND id <> $1");
        query.bind(self.holder).fetch_all(&self.readers).await.map_err(unavailable)
    }

    async fn lost(&self, limit: usize) -> Result<Vec<LostRow>, StoreError> {
        let query = sqlx::query(
            "SELECT t.owner, t.id, t.revision FROM holders h CROSS JOIN tasks t INDEXED BY tasks_held \
             ON t.holder = h.id AND t.phase = 0 WHERE h.beat < 0 AND h.id <> $1 LIMIT $2",
        );
        let rows = query.bind(self.holder).bind(stored(limit as u64)).fetch_all(&self.readers);
        let read = |row: SqliteRow| {
            let (owner, id, revision) = (read_owner(row.try_get(0)?), row.try_get(1)?, number(row.try_get(2)?));
            Ok(LostRow { owner, id, revision })
        };
        rows.await.map_err(unavailable)?.into_iter().map(read).collect::<Result<_, sqlx::Error>>().map_err(unavailable)
    }
}

impl Sqlite {
    /// Kept where it can be; with a conversation or a moment it has to be counted, in the index.
    async fn total(&self, owner: &str, query: &ListQuery) -> Result<u64, sqlx::Error> {
        let mut select = if query.context_id.is_none() && query.status_timestamp_after.is_none() {
            QueryBuilder::new("SELECT coalesce(sum(t.tasks), 0) FROM counts t WHERE t.owner = ")
        } else {
            QueryBuilder::new("SELECT count(*) FROM tasks t WHERE t.owner = ")
        };
        select.push_bind(owner);
        filter(&mut select, query);
        select.build_query_scalar().fetch_one(&self.readers).await.map(number)
    }
}

/// The first three columns.
fn row(found: &SqliteRow) -> Result<Row, sqlx::Error> {
    let phase: i64 = found.try_get(2)?;
    Ok(Row { seq: found.try_get(0)?, revision: number(found.try_get(1)?), is_over: phase == 2 })
}

/// All columns.
fn whole(found: &SqliteRow) -> Result<Stored, sqlx::Error> {
    let folded: Option<i64> = found.try_get(6)?;
    Ok(Stored {
        row: row(found)?,
        id: found.try_get(3)?,
        context: found.try_get(4)?,
        moment: found.try_get(5)?,
        folded: folded.map_or(0, number),
        body: found.try_get(7)?,
    })
}

fn filter<'a>(select: &mut QueryBuilder<'a, sqlx::Sqlite>, query: &'a ListQuery) {
    if let Some(context) = &query.context_id {
        select.push(" AND t.context = ").push_bind(&**context);
    }
    if let Some(state) = query.status {
        select.push(" AND t.state = ").push_bind(state_number(state));
    }
    if let Some(after) = query.status_timestamp_after {
        select.push(" AND t.moment >= ").push_bind(after.as_millis());
    }
}
