//! Many appends in one trip to SQLite, which is in a thread of its own.

use std::{collections::HashSet, fmt::Write as _, sync::OnceLock};

use sqlx::{Executor as _, SqliteConnection};

use crate::task::store::durable::{Append, Asked, Write};

/// How many share a trip, so that few statements are enough for any number.
const SIZES: [usize; 6] = [64, 32, 16, 8, 4, 2];

/// Those that leave their task's status as it is, by their places; none if one task is named twice, as then whoever came first
/// has to go first: a cancel could otherwise be overtaken again and again.
pub(super) fn plain(asked: &[Asked]) -> Vec<(usize, &Append)> {
    let appends = asked.iter().enumerate().filter_map(|(place, asked)| match &asked.write {
        Write::Append(append) => Some((place, append)),
        _ => None,
    });
    let mut tasks = HashSet::with_capacity(asked.len());
    let mut plain = Vec::with_capacity(asked.len());
    for (place, append) in appends {
        if !tasks.insert(append.seq) {
            return Vec::new();
        }
        if append.moves.is_none() && append.snapshot.is_none() {
            plain.push((place, append));
        }
    }
    plain
}

/// Does as many of these as can share trips, and gives back how many those were; the rest is to be done one by one.
///
/// # Errors
/// [`sqlx::Error::RowNotFound`] if a task was not as expected, nobody knows which: then all are to be undone, as after any
/// error.
pub(super) async fn append(
    connection: &mut SqliteConnection,
    appends: &[(usize, &Append)],
) -> Result<usize, sqlx::Error> {
    let mut done = 0;
    for (size, statements) in SIZES.into_iter().zip(statements()) {
        while appends.len() - done >= size {
            let mut query = sqlx::query(statements);
            for (_, append) in &appends[done..done + size] {
                query = query.bind(append.seq).bind(append.expected).bind(append.revision).bind(&*append.events);
            }
            // A row of the log and one of `tasks` for each.
            if connection.execute(query).await?.rows_affected() != 2 * size as u64 {
                return Err(sqlx::Error::RowNotFound);
            }
            done += size;
        }
    }
    Ok(done)
}

/// One for each size.
fn statements() -> impl Iterator<Item = &'static str> {
    static STATEMENTS: OnceLock<[String; SIZES.len()]> = OnceLock::new();
    STATEMENTS.get_or_init(|| SIZES.map(statement)).iter().map(String::as_str)
}

pub(super) fn statement(size: usize) -> String {
    let rows = |columns: usize| {
        let mut rows = String::new();
        for row in 0..size {
            let comma = if row > 0 { ", " } else { "" };
            let values: Vec<_> = (1..=columns).map(|column| format!("${}", 4 * row + column)).collect();
            let _ = write!(rows, "{comma}({})", values.join(", "));
        }
        rows
    };
    format!(
        "INSERT INTO log (task, last, first, events) \
         SELECT v.column1, v.column3, v.column2 + 1, v.column4 FROM (VALUES {}) AS v \
         CROSS JOIN tasks AS t WHERE t.seq = v.column1 AND t.revision = v.column2; \
         UPDATE tasks SET revision = v.column3 FROM (VALUES {}) AS v \
         WHERE tasks.seq = v.column1 AND tasks.revision = v.column2",
        rows(4),
        rows(3),
    )
}
