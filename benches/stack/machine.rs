//! Threads, cores and clocks.

use std::{
    fs,
    net::SocketAddr,
    path::PathBuf,
    sync::OnceLock,
    thread::{self, JoinHandle},
    time::Duration,
};

use core_affinity::CoreId;
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    sync::oneshot,
};

/// Pins this thread to a core: the servers to the first, the load to the second. With one core there is nothing to pin.
pub(crate) fn pin_to(index: usize) {
    // Asked once, before the first thread is pinned: a pinned thread and its children see their own core only.
    static CORES: OnceLock<Vec<CoreId>> = OnceLock::new();
    let cores = CORES.get_or_init(|| core_affinity::get_core_ids().unwrap_or_default());
    if cores.len() > 1
        && let Some(core) = cores.get(index)
    {
        core_affinity::set_for_current(*core);
    }
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A thread on the first core, on which servers run.
pub(crate) struct Servers {
    clock: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Servers {
    /// Starts the thread; what `start` gives back comes from within its runtime.
    pub(crate) fn start<T, F>(start: impl FnOnce() -> F + Send + 'static) -> (Self, T)
    where
        T: Send + 'static,
        F: Future<Output = T>,
    {
        let (stop, stopped) = oneshot::channel();
        let (ready, started) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            pin_to(0);
            let link = fs::read_link("/proc/thread-self").unwrap_or_default();
            runtime().block_on(async {
                let _ = ready.send((PathBuf::from("/proc").join(link), start().await));
                let _ = stopped.await;
            });
        });
        let (clock, given) = started.recv().expect("the servers start");
        (Self { clock, stop: Some(stop), thread: Some(thread) }, given)
    }

    /// How long the thread has been at work, where the system says so.
    pub(crate) fn busy(&self) -> Option<Duration> {
        let fine = fs::read_to_string(self.clock.join("schedstat")).ok();
        let fine = fine.as_deref().and_then(|line| line.split(' ').next()?.parse().ok()).filter(|nanos| *nanos > 0);
        fine.map(Duration::from_nanos).or_else(|| {
            let line = fs::read_to_string(self.clock.join("stat")).ok()?;
            let mut fields = line.rsplit(')').next()?.split_whitespace().skip(11);
            let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
            Some(Duration::from_millis(ticks * 10))
        })
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A port of its own.
pub(crate) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// How many files this process may have open.
pub(crate) fn max_files() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    line.and_then(|line| line.split_whitespace().nth(3)?.parse().ok()).unwrap_or(1024)
}

/// What the figures were measured on, in one line.
pub(crate) fn facts() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let build = if cfg!(debug_assertions) { "with debug assertions" } else { "optimized" };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "{} ({} {}), {cores} cores, {build}, load {}; server on core 0, load on core 1",
        model.unwrap_or("unknown processor"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        load.split(' ').next().unwrap_or_default(),
    )
}
