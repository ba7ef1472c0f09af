//! Which database, and how a connection to it is made.

use std::{str::FromStr as _, time::Duration};

use sqlx::{
    ConnectOptions as _, Executor as _, PgConnection, Row as _,
    postgres::{PgConnectOptions, PgDatabaseError, PgSeverity},
};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::{error::BoxError, task::StoreError, task::store::durable::unavailable};

/// How long to wait before a database that is away is tried again: a restart takes some seconds.
pub(super) const RETRY: Duration = Duration::from_millis(50);
/// How much longer than the database itself a client waits, which is to say first that it gives up.
const GRACE: Duration = Duration::from_secs(1);

/// The server's process behind a connection, and when that was started, since such numbers come again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backend {
    pub(super) pid: i32,
    pub(super) started: i64,
}

#[derive(Debug)]
pub(super) struct Place {
    options: PgConnectOptions,
    pub(super) schema: String,
    pub(super) patience: Duration,
    /// What each connection begins with.
    session: String,
}

impl Place {
    pub(super) fn new(url: &str, schema: String, patience: Duration, is_relaxed: bool) -> Result<Self, BoxError> {
        let is_name = |name: &str| {
            let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            (1..=63).contains(&name.len()) && name.bytes().all(is_part) && !name.as_bytes()[0].is_ascii_digit()
        };
        if !is_name(&schema) {
            return Err("a schema's name is 1 to 63 of a-z, 0-9 and _, and begins with no digit".into());
        }
        if !(url.starts_with("postgres:") || url.starts_with("postgresql:")) {
            return Err("this is no URL of a Postgres: postgres://user@host/database".into());
        }
        let mut options = PgConnectOptions::from_str(url)?.disable_statement_logging();
        if options.get_application_name().is_none() {
            options = options.application_name("a2a-layers");
        }
        let milliseconds = patience.as_millis().clamp(1, i32::MAX as u128);
        // Each statement is written for one way through the indexes. What is known of a table that grows fast is never of
        // today, so that is not left to estimates.
        let session = format!(
            "SET search_path TO \"{schema}\"; SET statement_timeout TO {milliseconds}; SET lock_timeout TO {milliseconds}; \
             SET idle_in_transaction_session_timeout TO {milliseconds}; SET synchronous_commit TO {}; \
             SET plan_cache_mode TO force_generic_plan; SET jit TO off; SET enable_seqscan TO off; \
             SET enable_bitmapscan TO off; SET enable_sort TO off; SET enable_hashjoin TO off; SET enable_mergejoin TO off; \
             SELECT pid, (extract(epoch FROM backend_start) * 1000000)::bigint FROM pg_stat_get_activity(pg_backend_pid())",
            if is_relaxed { "off" } else { "on" }
        );
        Ok(Self { options, schema, patience, session })
    }

    pub(super) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// What notifications go through: one channel for each schema.
    pub(super) fn channel(&self) -> &str {
        &self.schema
    }

    /// For people, without the password.
    pub(super) fn name(&self) -> String {
        let (host, port) = (self.options.get_host(), self.options.get_port());
        let database = self.options.get_database().unwrap_or_else(|| self.options.get_username());
        format!("{host}:{port}/{database}, schema {}", self.schema)
    }

    pub(super) async fn begin_session(&self, connection: &mut PgConnection) -> Result<Backend, sqlx::Error> {
        let row = connection.fetch_one(&*self.session).await?;
        Ok(Backend { pid: row.try_get(0)?, started: row.try_get(1)? })
    }

    /// Tries until there is a connection, at most until then.
    pub(super) async fn connect(&self, deadline: Instant) -> Result<(PgConnection, Backend), BoxError> {
        loop {
            let connecting = async {
                let mut connection = self.options.connect().await?;
                self.begin_session(&mut connection).await.map(|backend| (connection, backend))
            };
            match timeout_at(deadline, connecting).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(error)) if is_lost(&error) && Instant::now() + RETRY < deadline => sleep(RETRY).await,
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => return Err("the database has not answered in time".into()),
            }
        }
    }

    /// When a statement of something that has to be done by then is given up.
    pub(super) fn end(deadline: Instant) -> Instant {
        deadline + GRACE
    }
}

/// Does something that takes no longer than that, or else counts as failed.
pub(super) async fn within<T>(
    patience: Duration,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, StoreError> {
    match timeout(patience + GRACE, work).await {
        Ok(done) => done.map_err(unavailable),
        Err(_) => Err(unavailable("the database has not answered in time")),
    }
}

/// True if the connection is no longer good, or the server behind it: another one may be.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => error.try_downcast_ref::<PgDatabaseError>().is_some_and(|error| {
            // A standby takes no writes; its name may soon be another server's.
            matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic) && !is_refusal(error.code())
                || error.code() == "25006"
        }),
        _ => false,
    }
}

/// Wrong password, no such user or database: nothing that time heals.
fn is_refusal(code: &str) -> bool {
    code.starts_with("28") || code.starts_with("3D") || code.starts_with("42")
}

/// True if the server has undone it for the sake of others, and would do it the next time.
pub(super) fn is_conflict(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| ["40001", "40P01"].contains(&&*code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str, schema: &str) -> Result<Place, BoxError> {
        Place::new(url, schema.into(), Duration::from_secs(1), false)
    }

    #[test]
    fn a_place_is_a_url_and_a_plain_name() {
        let good = place("postgres://ann:secret@db:5433/tasks", "a2a").unwrap();
        assert_eq!(good.name(), "db:5433/tasks, schema a2a");
        assert!(place("postgresql://ann@db/tasks", &"a".repeat(63)).is_ok());
        for url in ["", "db", "mysql://db/tasks", "postgres://db:port/"] {
            assert!(place(url, "a2a").is_err(), "{url}");
        }
        for schema in ["", "1a", "A", "a b", "a\"", "ä", &"a".repeat(64)] {
            assert!(place("postgres://db/tasks", schema).is_err(), "{schema}");
        }
    }
}
