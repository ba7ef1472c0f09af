//! The tables, and how a database of an earlier version comes to have them.

use sqlx::{Connection as _, Executor as _, PgConnection};

use crate::error::BoxError;

/// Each brings the schema from the version before to its own. What was published is never changed, only added to.
const MIGRATIONS: [&str; 1] = [include_str!("schema_1.sql")];

/// Looking and changing are one transaction under a lock, so that any number of replicas may start at once. Where there is
/// nothing to change, nothing but reading is asked of the database.
pub(super) async fn migrate(connection: &mut PgConnection, schema: &str) -> Result<(), BoxError> {
    if version(connection).await? == Some(MIGRATIONS.len()) {
        return Ok(());
    }
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended('a2a-layers schema ' || $1, 0))")
        .bind(schema)
        .execute(&mut *transaction)
        .await?;
    let is_there = sqlx::query_scalar("SELECT to_regnamespace(quote_ident($1)) IS NOT NULL");
    if !is_there.bind(schema).fetch_one(&mut *transaction).await? {
        transaction.execute(&*format!("CREATE SCHEMA \"{schema}\"")).await?;
    }
    transaction.execute("CREATE TABLE IF NOT EXISTS version (number INTEGER NOT NULL)").await?;
    let done = version(&mut transaction).await?.unwrap_or_default();
    let Some(missing) = MIGRATIONS.get(done..) else {
        let known = MIGRATIONS.len();
        return Err(format!("the tables are of version {done}, this process knows {known} at most").into());
    };
    for migration in missing {
        transaction.execute(*migration).await?;
    }
    sqlx::query("DELETE FROM version").execute(&mut *transaction).await?;
    let query = sqlx::query("INSERT INTO version VALUES ($1)").bind(i32::try_from(MIGRATIONS.len())?);
    query.execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(())
}

/// How far the schema on the connection's search path is.
async fn version(connection: &mut PgConnection) -> Result<Option<usize>, BoxError> {
    let is_there: bool =
        sqlx::query_scalar("SELECT to_regclass('version') IS NOT NULL").fetch_one(&mut *connection).await?;
    if !is_there {
        return Ok(None);
    }
    let number: Option<i32> = sqlx::query_scalar("SELECT max(number) FROM version").fetch_one(&mut *connection).await?;
    Ok(number.map(usize::try_from).transpose()?)
}
