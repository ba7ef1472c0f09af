//! Reading tasks and logs.

use std::str::from_utf8;

use sqlx::{Arguments as _, Encode, Row as _, Type, postgres::PgArguments, postgres::PgRow};
use tokio::time::{Instant, sleep, timeout_at};

use super::{
    Postgres,
    place::{Place, RETRY, is_lost},
};
use crate::{
    error::BoxError,
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

/// What is asked for of a task; what is not asked for of one is left out at the end.
const COLUMNS: &str = "t.seq, t.revision, t.phase, coalesce(t.long_id, t.id), coalesce(t.long_context, t.context), \
    t.moment, s.revision, s.body FROM tasks t LEFT JOIN snapshots s ON s.task = t.seq";

/// The values of a statement, in their order.
#[derive(Clone, Default)]
pub(super) struct Values(PgArguments);

impl Values {
    pub(super) fn with<'q, T: Encode<'q, sqlx::Postgres> + Type<sqlx::Postgres> + 'q>(
        mut self,
        value: T,
    ) -> Result<Self, sqlx::Error> {
        self.0.add(value).map_err(sqlx::Error::Encode)?;
        Ok(self)
    }

    pub(super) fn into_arguments(self) -> PgArguments {
        self.0
    }

    fn place(&self) -> String {
        format!("${}", self.0.len())
    }
}

impl Postgres {
    /// Asks a reader, and another one if that one was cut off. A question may be asked twice.
    pub(super) async fn ask(&self, sql: &str, values: Result<Values, sqlx::Error>) -> Result<Vec<PgRow>, StoreError> {
        let values = values.map_err(unavailable)?;
        let deadline = Instant::now() + self.place.patience;
        loop {
            let error = match self.ask_once(sql, values.clone(), deadline).await {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            if !is_lost(&error) || Instant::now() + RETRY >= deadline {
                return Err(unavailable(error));
            }
            sleep(RETRY).await;
        }
    }

    async fn ask_once(&self, sql: &str, values: Values, deadline: Instant) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut reader = self.readers.acquire().await?;
        let query = sqlx::query_with(sql, values.into_arguments()).fetch_all(&mut *reader);
        let late = || sqlx::Error::Protocol("the database has not answered in time".to_owned());
        let asked = timeout_at(Place::end(deadline), query).await.unwrap_or_else(|_| Err(late()));
        if asked.as_ref().is_err_and(is_lost) {
            reader.close_on_drop();
        }
        asked
    }
}

impl Backend for Postgres {
    async fn row(&self, owner: &Owner, id: &str) -> Result<Option<Row>, StoreError> {
        let sql = "SELECT seq, revision, phase FROM tasks WHERE id = index_key($1) AND owner = index_key($2)";
        let rows = self.ask(sql, of_task(owner, id)).await?;
        rows.first().map(row).transpose().map_err(unavailable)
    }

    async fn task(&self, owner: &Owner, id: &str) -> Result<Option<Stored>, StoreError> {
        let sql = format!("SELECT {COLUMNS} WHERE t.id = index_key($1) AND t.owner = index_key($2)");
        let rows = self.ask(&sql, of_task(owner, id)).await?;
        rows.first().map(whole).transpose().map_err(unavailable)
    }

    async fn unfolded(
        &self,
        parts: &[Part],
        mut show: impl FnMut(usize, &str) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        let column = |of: fn(&Part) -> i64| parts.iter().map(of).collect::<Vec<_>>();
        let values = Values::default()
            .with(column(|part| part.seq))
            .and_then(|values| values.with(column(|part| stored(part.after))))
            .and_then(|values| values.with(column(|part| stored(part.until))));
        // In the order in which an index gives them, part after part.
        let sql = "SELECT g.at, l.events FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY \
             AS g (task, after, until, at), LATERAL (SELECT l.events FROM log l \
             WHERE l.task = g.task AND l.last > g.after AND l.last <= g.until ORDER BY l.task, l.last) l";
        for found in self.ask(sql, values).await? {
            let at: i64 = found.try_get(0).map_err(unavailable)?;
            show(usize::try_from(at - 1).map_err(unavailable)?, text(&found, 1).map_err(unavailable)?)?;
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
        let sql = "SELECT l.first, coalesce(t.long_context, t.context), l.events \
             FROM tasks t JOIN log l ON l.task = t.seq \
             WHERE t.id = index_key($1) AND t.owner = index_key($2) AND l.last > $3 ORDER BY l.task, l.last LIMIT $4";
        let values = of_task(owner, id)
            .and_then(|values| values.with(stored(after)))
            .and_then(|values| values.with(stored(limit as u64)));
        for found in self.ask(sql, values).await? {
            let columns = || Ok::<_, BoxError>((found.try_get(0)?, text(&found, 1)?, text(&found, 2)?));
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
        let (total, page) = (self.total(owner, query), self.page(owner, query, before));
        let (total, page) = tokio::try_join!(total, page)?;
        Ok((page, total))
    }

    async fn others(&self) -> Result<Vec<(i64, i64)>, StoreError> {
        let hellos = self.told.hellos();
        let sql = "SELECT id, beat FROM holders WHERE beat >= 0 AND id <> $1";
        let rows = self.ask(sql, Values::default().with(self.holder)).await?;
        let others = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        let others: Vec<_> = others.collect::<Result<_, sqlx::Error>>().map_err(unavailable)?;
        self.told.found_others(!others.is_empty(), hellos);
        Ok(others)
    }

    async fn lost(&self, limit: usize) -> Result<Vec<LostRow>, StoreError> {
        let sql = "SELECT coalesce(t.long_owner, t.owner), coalesce(t.long_id, t.id), t.revision \
             FROM holders h JOIN tasks t ON t.holder = h.id AND t.phase = 0 WHERE h.beat < 0 AND h.id <> $1 LIMIT $2";
        let values = Values::default().with(self.holder).and_then(|values| values.with(stored(limit as u64)));
        let rows = self.ask(sql, values).await?;
        let read = |row: &PgRow| {
            let (owner, id) = (read_owner(text(row, 0)?), text(row, 1)?.to_owned());
            Ok(LostRow { owner, id, revision: number(row.try_get(2)?) })
        };
        rows.iter().map(read).collect::<Result<_, BoxError>>().map_err(unavailable)
    }
}

impl Postgres {
    /// Kept where it can be; with a conversation or a moment it has to be counted, in the index.
    async fn total(&self, owner: &Owner, query: &ListQuery) -> Result<u64, StoreError> {
        let (select, values) = if query.context_id.is_none() && query.status_timestamp_after.is_none() {
            // What was not summed up yet is part of it.
            let sql = match query.status {
                Some(_) => "AND state = $2",
                None => "",
            };
            let select = format!(
                "SELECT (SELECT coalesce(sum(tasks), 0) FROM counts WHERE owner = index_key($1) {sql})::bigint \
                 + (SELECT coalesce(sum(tasks), 0) FROM count_changes WHERE owner = index_key($1) {sql})::bigint"
            );
            let values = Values::default().with(owner_text(owner).as_bytes());
            let values = match query.status {
                Some(state) => values.and_then(|values| values.with(state_number(state) as i16)),
                None => values,
            };
            (select, values)
        } else {
            let mut select = "SELECT count(*) FROM tasks t WHERE".to_owned();
            let values = filter(&mut select, owner, query);
            (select, values)
        };
        let rows = self.ask(&select, values).await?;
        rows.first().map_or(Ok(0), |row| row.try_get(0).map(number)).map_err(unavailable)
    }

    async fn page(&self, owner: &Owner, query: &ListQuery, before: Option<Key>) -> Result<Vec<Stored>, StoreError> {
        let mut select = format!("SELECT {COLUMNS} WHERE");
        let mut values = filter(&mut select, owner, query).map_err(unavailable)?;
        if let Some(Key { millis, sequence }) = before {
            values = values.with(millis).map_err(unavailable)?;
            select = format!("{select} AND (t.moment, t.seq) < ({}, ", values.place());
            values = values.with(stored(sequence)).map_err(unavailable)?;
            select = format!("{select}{})", values.place());
        }
        let values = values.with(stored((query.page_size as u64).saturating_add(1))).map_err(unavailable)?;
        select = format!("{select} ORDER BY t.moment DESC, t.seq DESC LIMIT {}", values.place());
        let rows = self.ask(&select, Ok(values)).await?;
        rows.iter().map(whole).collect::<Result<_, _>>().map_err(unavailable)
    }
}

fn of_task(owner: &Owner, id: &str) -> Result<Values, sqlx::Error> {
    Values::default().with(id.as_bytes())?.with(owner_text(owner).as_bytes())
}

/// Which of the owner's tasks a query wants.
fn filter(select: &mut String, owner: &Owner, query: &ListQuery) -> Result<Values, sqlx::Error> {
    let mut values = Values::default().with(owner_text(owner).as_bytes())?;
    *select += " t.owner = index_key($1)";
    if let Some(context) = &query.context_id {
        values = values.with(context.as_bytes())?;
        *select += &format!(" AND t.context = index_key({})", values.place());
    }
    if let Some(state) = query.status {
        values = values.with(state_number(state) as i16)?;
        *select += &format!(" AND t.state = {}", values.place());
    }
    if let Some(after) = query.status_timestamp_after {
        values = values.with(after.as_millis())?;
        *select += &format!(" AND t.moment >= {}", values.place());
    }
    Ok(values)
}

/// The first three columns.
fn row(found: &PgRow) -> Result<Row, sqlx::Error> {
    let phase: i16 = found.try_get(2)?;
    Ok(Row { seq: found.try_get(0)?, revision: number(found.try_get(1)?), is_over: phase == 2 })
}

/// All columns.
fn whole(found: &PgRow) -> Result<Stored, BoxError> {
    let (folded, body): (Option<i64>, Option<Vec<u8>>) = (found.try_get(6)?, found.try_get(7)?);
    Ok(Stored {
        row: row(found)?,
        id: text(found, 3)?.to_owned(),
        context: text(found, 4)?.to_owned(),
        moment: found.try_get(5)?,
        folded: folded.map_or(0, number),
        body: body.map(String::from_utf8).transpose()?,
    })
}

/// Texts are kept as bytes.
pub(super) fn text(row: &PgRow, at: usize) -> Result<&str, BoxError> {
    Ok(from_utf8(row.try_get(at)?)?)
}
