//! How much memory a process takes.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{task::JoinHandle, time::sleep};

use super::durable::Outcome;

/// Looks at a process ten times a second until it is asked.
#[derive(Debug)]
pub(crate) struct Memory {
    before: u64,
    watching: JoinHandle<()>,
    most: Arc<AtomicU64>,
}

impl Memory {
    pub(crate) fn of(pid: u32) -> Outcome<Self> {
        let before = resident(pid)?;
        let most = Arc::new(AtomicU64::new(before));
        let watching = tokio::spawn({
            let most = Arc::clone(&most);
            async move {
                while let Ok(now) = resident(pid) {
                    most.fetch_max(now, Relaxed);
                    sleep(Duration::from_millis(100)).await;
                }
            }
        });
        Ok(Self { before, watching, most })
    }

    /// How much more it took at most than in the beginning, in KiB.
    pub(crate) fn growth(self) -> u64 {
        self.watching.abort();
        self.most.load(Relaxed) - self.before
    }
}

/// What is in memory of a process, in KiB.
fn resident(pid: u32) -> Outcome<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
