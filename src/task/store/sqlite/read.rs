//! Reading tasks and logs.

use std::{borrow::Cow, sync::Arc};

use futures_util::TryStreamExt as _;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqlitePool};

use crate::{
    error::BoxError,
    owner::Owner,
    task::{
        ListQuery, LogEntry, StoreError, StoredPage, fold,
        store::index::Key,
        stored::{read_events, read_task},
    },
    types::{Event, Task, TaskState},
};

/// What is known of a task without its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) seq: i64,
    pub(super) revision: u64,
    pub(super) is_over: bool,
}

/// How an owner is written: the one without a name differs from the one whose name is empty.
pub(super) fn owner_text(owner: &Owner) -> Cow<'static, str> {
    owner.name().map_or(Cow::Borrowed(""), |name| Cow::Owned(format!("={name}")))
}

fn read_owner(text: &str) -> Owner {
    text.strip_prefix('=').map_or_else(Owner::anonymous, Owner::new)
}

pub(super) fn unavailable(error: impl Into<BoxError>) -> StoreError {
    StoreError::Unavailable(error.into())
}

/// Numbers of events are those that this store gave, so they fit.
pub(super) fn number(stored: i64) -> u64 {
    stored.unsigned_abs()
}

pub(super) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A task's place in [`TaskState::ALL`], which only ever grows at its end.
pub(super) fn state_number(state: TaskState) -> i64 {
    TaskState::ALL.iter().position(|one| *one == state).map_or(-1, |at| at as i64)
}

pub(super) async fn row(readers: &SqlitePool, owner: &Owner, id: &str) -> Result<Row, StoreError> {
    let query = sqlx::query("SELECT seq, revision, phase FROM tasks WHERE id = $1 AND owner = $2");
    let row = query.bind(id).bind(&*owner_text(owner)).fetch_optional(readers).await.map_err(unavailable)?;
    let row = row.ok_or(StoreError::NotFound)?;
    let get = |at| row.try_get::<i64, usize>(at).map_err(unavailable);
    Ok(Row { seq: get(0)?, revision: number(get(1)?), is_over: get(2)? == 2 })
}

/// A task as it stands, and of which revision its kept snapshot is.
pub(super) async fn task(readers: &SqlitePool, owner: &Owner, id: &str) -> Result<(Row, u64, Task), StoreError> {
    let query = sqlx::query(
        "SELECT t.seq, t.revision, t.phase, t.context, s.revision, s.body \
         FROM tasks t LEFT JOIN snapshots s ON s.task = t.seq WHERE t.id = $1 AND t.owner = $2",
    );
    let row = query.bind(id).bind(&*owner_text(owner)).fetch_optional(readers).await.map_err(unavailable)?;
    let found = row.ok_or(StoreError::NotFound)?;
    let (context, folded, body) = columns(&found, 3).map_err(unavailable)?;
    let get = |at| found.try_get::<i64, usize>(at).map_err(unavailable);
    let row = Row { seq: get(0)?, revision: number(get(1)?), is_over: get(2)? == 2 };
    let task = whole(readers, row, id, &context, folded, body.as_deref()).await?;
    Ok((row, folded, task))
}

/// The context, and the snapshot beside the log, from this column on.
fn columns(row: &sqlx::sqlite::SqliteRow, at: usize) -> Result<(String, u64, Option<String>), sqlx::Error> {
    let folded: Option<i64> = row.try_get(at + 1)?;
    Ok((row.try_get(at)?, folded.map_or(0, number), row.try_get(at + 2)?))
}

/// The task at this row's revision: its snapshot, and what came later.
async fn whole(
    readers: &SqlitePool,
    row: Row,
    id: &str,
    context: &str,
    folded: u64,
    body: Option<&str>,
) -> Result<Task, StoreError> {
    let mut task = body.map(read_task).transpose().map_err(unavailable)?;
    let mut revision = folded;
    if revision < row.revision {
        let query =
            sqlx::query("SELECT first, events FROM log WHERE task = $1 AND last > $2 AND last <= $3 ORDER BY last");
        let mut rows = query.bind(row.seq).bind(stored(folded)).bind(stored(row.revision)).fetch(readers);
        while let Some(found) = rows.try_next().await.map_err(unavailable)? {
            let text: &str = found.try_get(1).map_err(unavailable)?;
            for event in read_events(id, context, text).map_err(unavailable)? {
                match (&mut task, event) {
                    (Some(task), event) => fold(task, &event).map_err(unavailable)?,
                    (task @ None, Event::Task(first)) => *task = Some(Arc::unwrap_or_clone(first)),
                    (None, _) => return Err(unavailable("a log does not begin with its task")),
                }
                revision += 1;
            }
        }
    }
    match task {
        Some(task) if revision == row.revision => Ok(task),
        // It went away between the two reads.
        _ => Err(StoreError::NotFound),
    }
}

pub(super) async fn entries(
    readers: &SqlitePool,
    owner: &Owner,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<LogEntry>, StoreError> {
    let query = sqlx::query(
        "SELECT l.first, l.events, t.context FROM tasks t JOIN log l ON l.task = t.seq \
         WHERE t.id = $1 AND t.owner = $2 AND l.last > $3 ORDER BY l.last",
    );
    let owner_name = owner_text(owner);
    let mut rows = query.bind(id).bind(&*owner_name).bind(stored(after)).fetch(readers);
    let mut entries = Vec::new();
    while entries.len() < limit
        && let Some(found) = rows.try_next().await.map_err(unavailable)?
    {
        let first = number(found.try_get(0).map_err(unavailable)?);
        let (text, context): (&str, &str) =
            (found.try_get(1).map_err(unavailable)?, found.try_get(2).map_err(unavailable)?);
        let events = read_events(id, context, text).map_err(unavailable)?;
        let events = (first..).zip(events).filter(|(number, _)| *number > after);
        entries.extend(events.take(limit - entries.len()).map(|(number, event)| LogEntry::new(number, event)));
    }
    drop(rows);
    if entries.is_empty() {
        row(readers, owner, id).await?;
    }
    Ok(entries)
}

pub(super) async fn list(readers: &SqlitePool, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
    let before = match &query.page_token {
        Some(token) => Some(Key::from_token(token).ok_or(StoreError::BadToken)?),
        None => None,
    };
    let owner = owner_text(owner);
    let total = total(readers, &owner, query).await?;
    // The index is the one whose order is that of the list; SQLite cannot know that it will stop early.
    let index = match (&query.context_id, query.status) {
        (Some(_), _) => "tasks_of_context",
        (None, Some(_)) => "tasks_in_state",
        (None, None) => "tasks_of_owner",
    };
    let mut select = QueryBuilder::<Sqlite>::new(
        "SELECT t.seq, t.revision, t.phase, t.context, s.revision, s.body, t.id, t.moment FROM tasks t INDEXED BY ",
    );
    select.push(index).push(" LEFT JOIN snapshots s ON s.task = t.seq WHERE t.owner = ").push_bind(&*owner);
    filter(&mut select, query);
    if let Some(Key { millis, sequence }) = before {
        select.push(" AND (t.moment, t.seq) < (").push_bind(millis).push(", ").push_bind(stored(sequence)).push(")");
    }
    select
        .push(" ORDER BY t.moment DESC, t.seq DESC LIMIT ")
        .push_bind(stored((query.page_size as u64).saturating_add(1)));
    let rows = select.build().fetch_all(readers).await.map_err(unavailable)?;
    let (mut tasks, mut last, mut next) = (Vec::new(), None, None);
    for found in rows {
        if tasks.len() == query.page_size {
            next = last;
            break;
        }
        let get = |at| found.try_get::<i64, usize>(at).map_err(unavailable);
        let row = Row { seq: get(0)?, revision: number(get(1)?), is_over: get(2)? == 2 };
        let (context, folded, body) = columns(&found, 3).map_err(unavailable)?;
        let id: &str = found.try_get(6).map_err(unavailable)?;
        match whole(readers, row, id, &context, folded, body.as_deref()).await {
            Ok(task) => tasks.push(Arc::new(task)),
            Err(StoreError::NotFound) => continue,
            Err(error) => return Err(error),
        }
        last = Some(Key { millis: get(7)?, sequence: number(row.seq) });
    }
    Ok(StoredPage { tasks, next_page_token: next.map(Key::to_token), total_size: total })
}

fn filter<'a>(select: &mut QueryBuilder<'a, Sqlite>, query: &'a ListQuery) {
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

/// Kept where it can be; with a conversation or a moment it has to be counted, in the index.
async fn total(readers: &SqlitePool, owner: &str, query: &ListQuery) -> Result<u64, StoreError> {
    let mut select = if query.context_id.is_none() && query.status_timestamp_after.is_none() {
        let mut select = QueryBuilder::new("SELECT coalesce(sum(t.tasks), 0) FROM counts t WHERE t.owner = ");
        select.push_bind(owner);
        select
    } else {
        let mut select = QueryBuilder::new("SELECT count(*) FROM tasks t WHERE t.owner = ");
        select.push_bind(owner);
        select
    };
    filter(&mut select, query);
    let total: i64 = select.build_query_scalar().fetch_one(readers).await.map_err(unavailable)?;
    Ok(number(total))
}

/// Whose tasks those holders have lost that are known to be gone.
pub(super) async fn lost(readers: &SqlitePool, own: i64, limit: usize) -> Result<Vec<(Owner, String)>, StoreError> {
    let query = sqlx::query(
        "SELECT t.owner, t.id FROM holders h CROSS JOIN tasks t INDEXED BY tasks_held ON t.holder = h.id AND t.phase = 0 \
         WHERE h.beat < 0 AND h.id <> $1 LIMIT $2",
    );
    let rows = query.bind(own).bind(stored(limit as u64)).fetch_all(readers).await.map_err(unavailable)?;
    let read = |row: sqlx::sqlite::SqliteRow| Ok((read_owner(row.try_get(0)?), row.try_get(1)?));
    rows.into_iter().map(read).collect::<Result<_, sqlx::Error>>().map_err(unavailable)
}
