//! The tables, and how a file of an earlier version comes to have them.

use sqlx::{Connection as _, Executor as _, SqliteConnection};

use crate::error::BoxError;

/// Each brings the file from the version before to its own. What was published is never changed, only added to.
const MIGRATIONS: [&str; 2] = [include_str!("schema_1.sql"), include_str!("schema_2.sql")];

/// The file says in `user_version` how far it is. Looking and changing are one transaction that nobody else can write
/// beside, so that any number of processes may start at once.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<(), BoxError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    let Some(missing) = MIGRATIONS.get(done..) else {
        return Err(format!("the file is of version {version}, this process knows {} at most", MIGRATIONS.len()).into());
    };
    for (at, migration) in missing.iter().enumerate() {
        transaction.execute(*migration).await?;
        transaction.execute(&*format!("PRAGMA user_version = {}", done + at + 1)).await?;
    }
    transaction.commit().await?;
    Ok(())
}
