//! The ways in which a database can be away.

use std::{path::Path, time::Duration};

use sqlx::{ConnectOptions as _, Connection as _, Executor as _, sqlite::SqliteConnectOptions};
use tokio::{process::Command, time::sleep};

use super::{
    HASTE, HASTY, PATIENT,
    durable::{Outcome, fleet::Fleet, place::Place},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another program has the file of SQLite to itself.
    Lock,
    /// There is no room on the disk.
    Full,
}

impl Fault {
    pub(crate) fn of_sqlite() -> [Self; 2] {
        [Self::Lock, Self::Full]
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Full => "full",
        }
    }

    /// True if waiting does not help: whatever is written meanwhile fails at once.
    pub(crate) fn refuses_writes(self) -> bool {
        self == Self::Full
    }

    /// True if whoever does not wait must have been refused something.
    pub(crate) fn is_felt(self, length: Duration) -> bool {
        length > HASTE * 2
    }

    /// Begins it, and ends it after this time.
    pub(crate) async fn play(self, place: &Place, fleet: &Fleet, length: Duration) -> Outcome<()> {
        match self {
            Self::Lock => lock(place.file(), length).await,
            Self::Full => {
                for server in [PATIENT, HASTY] {
                    limit_files(fleet.pid(server).await?, "4096").await?;
                }
                sleep(length).await;
                for server in [PATIENT, HASTY] {
                    limit_files(fleet.pid(server).await?, "unlimited").await?;
                }
                Ok(())
            }
        }
    }
}

async fn lock(file: &Path, length: Duration) -> Outcome<()> {
    let patient = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(30));
    let mut connection = patient.connect().await?;
    connection.execute("BEGIN EXCLUSIVE").await?;
    sleep(length).await;
    connection.execute("ROLLBACK").await?;
    Ok(connection.close().await?)
}

/// No file of the process may become larger than this, in bytes.
async fn limit_files(pid: u32, size: &str) -> Outcome<()> {
    let limit = Command::new("prlimit").args([format!("--pid={pid}"), format!("--fsize={size}:unlimited")]).status();
    if limit.await?.success() { Ok(()) } else { Err("prlimit does not work".into()) }
}
