//! The ways in which a database can be away.

use std::{path::Path, time::Duration};

use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgConnection, sqlite::SqliteConnectOptions};
use tokio::{process::Command, time::sleep};

use super::{
    HASTY, PATIENT,
    cluster::Cluster,
    durable::{Outcome, fleet::Fleet, place::Place},
    tally::Tallies,
};

/// How much longer than it was told to a fault goes on at most, until it is felt.
const FELT_WITHIN: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another program has the file of SQLite to itself.
    Lock,
    /// There is no room on the disk of the servers, where SQLite's file is.
    Full,
    /// All of Postgres stands still.
    Pause,
    /// Postgres is not there, and connections to it are refused.
    Stop,
    /// Postgres is killed, and comes back at once.
    Restart,
    /// Connections to Postgres are cut, again and again.
    Cut,
}

impl Fault {
    pub(crate) fn of(place: &Place) -> Vec<Self> {
        match place {
            Place::Sqlite(_) => vec![Self::Lock, Self::Full],
            Place::Postgres { .. } => vec![Self::Pause, Self::Stop, Self::Restart, Self::Cut],
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Full => "full",
            Self::Pause => "pause",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Cut => "cut",
        }
    }

    /// True if waiting does not help: whatever is written meanwhile fails at once.
    pub(crate) fn refuses_writes(self) -> bool {
        self == Self::Full
    }

    /// True if whoever does not wait is refused something, sooner or later: when it gives up depends on what it was doing.
    fn is_felt(self) -> bool {
        !matches!(self, Self::Restart | Self::Cut)
    }

    /// Lasts for so long, and until it is felt.
    async fn last(self, length: Duration, tallies: &Tallies) -> Outcome<()> {
        let before = tallies.refused(HASTY);
        sleep(length).await;
        if self.is_felt() { tallies.has_refused(HASTY, before, FELT_WITHIN).await } else { Ok(()) }
    }

    /// Begins it, and ends it after this time.
    pub(crate) async fn play(
        self,
        place: &Place,
        cluster: Option<&mut Cluster>,
        fleet: &Fleet,
        tallies: &Tallies,
        length: Duration,
    ) -> Outcome<()> {
        let lasts = self.last(length, tallies);
        match (place, cluster) {
            (Place::Sqlite(file), _) if self == Self::Lock => lock(file, lasts).await,
            (Place::Sqlite(_), _) => fill(fleet, lasts).await,
            (Place::Postgres { .. }, Some(cluster)) => self.play_on(cluster, lasts, length).await,
            (Place::Postgres { .. }, None) => Err("no cluster".into()),
        }
    }

    async fn play_on(
        self,
        cluster: &mut Cluster,
        lasts: impl Future<Output = Outcome<()>>,
        length: Duration,
    ) -> Outcome<()> {
        let mut order = |order| tokio::task::block_in_place(|| cluster.order(order));
        match self {
            Self::Pause => {
                order("pause")?;
                lasts.await?;
                order("resume")
            }
            Self::Stop => {
                order("stop")?;
                lasts.await?;
                order("start")
            }
            Self::Restart => order("restart"),
            _ => cut(cluster.url(), length).await,
        }
    }
}

/// Ten times, all connections but its own.
async fn cut(url: &str, length: Duration) -> Outcome<()> {
    let mut connection = PgConnection::connect(url).await?;
    for _ in 0..10 {
        let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
        connection.execute(others).await?;
        sleep(length / 10).await;
    }
    Ok(connection.close().await?)
}

async fn lock(file: &Path, lasts: impl Future<Output = Outcome<()>>) -> Outcome<()> {
    let patient = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(30));
    let mut connection = patient.connect().await?;
    connection.execute("BEGIN EXCLUSIVE").await?;
    lasts.await?;
    connection.execute("ROLLBACK").await?;
    Ok(connection.close().await?)
}

async fn fill(fleet: &Fleet, lasts: impl Future<Output = Outcome<()>>) -> Outcome<()> {
    for server in [PATIENT, HASTY] {
        limit_files(fleet.pid(server).await?, "4096").await?;
    }
    lasts.await?;
    for server in [PATIENT, HASTY] {
        limit_files(fleet.pid(server).await?, "unlimited").await?;
    }
    Ok(())
}

/// No file of the process may become larger than this, in bytes.
async fn limit_files(pid: u32, size: &str) -> Outcome<()> {
    let limit = Command::new("prlimit").args([format!("--pid={pid}"), format!("--fsize={size}:unlimited")]).status();
    if limit.await?.success() { Ok(()) } else { Err("prlimit does not work".into()) }
}
