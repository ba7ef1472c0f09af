//! Kills a server at any moment, again and again, and looks at what is left in its file.
//!
//! ```text
//! cargo test --test crash                       five rounds
//! CRASH_ROUNDS=200 cargo test --test crash      as many as one likes
//! CRASH_SEED=7 ...                              the same work again, though never the same moments
//! ```
//!
//! Each round starts a server on the same file, sends work over several connections, and kills the process. Then a fresh
//! one is started, and everyone who had been cut off reads on from the last event it saw. In the end
//!
//! - every event that anybody was shown is in its log, under the number that it was shown with;
//! - logs have no gaps, and tasks are what their logs fold into;
//! - no task stays at work;
//! - what was read before the crash and after it is the whole log, each event once and in order.

mod check;
mod client;
mod server;

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, SystemTime},
};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use self::client::{Done, Reader};

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Tells this program that it is the server, and which file is its own.
const SERVER: &str = "CRASH_SERVER";
/// Tells the server how often it may begin a lost run again.
const RERUNS: &str = "CRASH_RERUNS";
/// How many connections stream, and how many wait for whole answers.
const STREAMS: usize = 6;
const SENDERS: usize = 3;
/// How long a lease lasts here, so that nobody has to wait for long.
pub(crate) const LEASE: Duration = Duration::from_millis(400);

fn main() -> Outcome<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    if let Ok(file) = env::var(SERVER) {
        let reruns = env::var(RERUNS)?.parse()?;
        return runtime.block_on(server::serve_on(&file, reruns));
    }
    // A test is asked for its name by some who run them.
    if env::args().any(|argument| argument == "--list") {
        println!("crash: test");
        return Ok(());
    }
    runtime.block_on(rounds())
}

async fn rounds() -> Outcome<()> {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>()).transpose();
    let rounds = number("CRASH_ROUNDS")?.unwrap_or(5);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let seed = number("CRASH_SEED")?.unwrap_or(now.subsec_nanos().into());
    println!("crash: {rounds} rounds, CRASH_SEED={seed}");
    let file = File::new();
    let (mut random, mut seen) = (Random(seed | 1), check::Seen::default());
    for round in 0..rounds {
        let (mut process, url) = start(&file.0, 0).await?;
        let work = (0..STREAMS).map(|_| tokio::spawn(client::stream_on(url.clone(), random.next())));
        let work: Vec<_> = work.collect();
        let sends = (0..SENDERS).map(|_| tokio::spawn(client::send_on(url.clone(), random.next())));
        let sends: Vec<_> = sends.collect();
        tokio::time::sleep(Duration::from_millis(30 + random.next() % 400)).await;
        process.kill().await?;
        let mut readers: Vec<Reader> = Vec::new();
        for work in work {
            readers.extend(work.await??);
        }
        let mut done: Vec<Done> = Vec::new();
        for sent in sends {
            done.extend(sent.await??);
        }
        // Every other time what was lost is begun again.
        let (mut process, url) = start(&file.0, round % 2).await?;
        let readers = client::read_on(&url, readers).await?;
        check::nothing_stays_at_work(&url).await?;
        process.kill().await?;
        seen.round(&file.0, readers, done).await.map_err(|error| format!("round {round}: {error}"))?;
    }
    println!("crash: {seen} over {rounds} kills; nothing was lost");
    seen.is_enough(rounds)
}

/// A server process on the file, and where it serves.
async fn start(file: &Path, reruns: u64) -> Outcome<(Child, String)> {
    let mut process = Command::new(env::current_exe()?)
        .env(SERVER, file)
        .env(RERUNS, reruns.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = process.stdout.take().ok_or("no output")?;
    let line = BufReader::new(stdout).lines().next_line().await?.ok_or("the server did not start")?;
    Ok((process, line))
}

/// The file that all rounds share.
struct File(PathBuf);

impl File {
    fn new() -> Self {
        Self(env::temp_dir().join(format!("a2a-layers-crash-{}.db", std::process::id())))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }
}

/// Numbers that look like any others (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
