//! The whole stack over loopback sockets, beside the limit: a bare hyper server that does the same without any A2A.
//!
//! ```text
//! cargo bench --bench stack                     the whole table, some minutes
//! cargo bench --bench stack -- --quick          the same in less than a minute, with figures that mean little
//! cargo bench --bench stack -- get              the row of this name, else those whose names have it in them
//! cargo bench --features grpc --bench stack     with the rows of gRPC, whose limit is a bare service of tonic's
//! cargo bench --bench stack -- --profile get    the stack's side of that row alone, for a profiler
//! ```
//!
//! The servers share one thread, pinned to the first core; only one of them is under load at a time. The load is pinned
//! to the second. A ratio is ours to the limit in the same round, so that what else the machine does hits both. Where the
//! load's core is the slower one the ratio of requests is blind; "by CPU" is the ratio of the server thread's time per
//! request, and holds all the same.

mod calls;
mod durable;
mod growth;
#[cfg(feature = "grpc")]
mod grpc;
mod heap;
#[cfg(feature = "grpc")]
mod http2;
mod limit;
mod load;
mod machine;
mod ours;
mod postgres;
mod sqlite;
mod subscribers;
mod table;
mod throughput;

use std::{io, time::Duration};

use tokio::runtime::Runtime;

use crate::{
    table::{Line, Reach},
    throughput::Pair,
};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// How much is measured.
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
    /// How long one side is under load in a round.
    pub(crate) round: Duration,
    /// How many requests it gets at most.
    pub(crate) most: u64,
    /// Over how many requests heap calls are counted.
    pub(crate) counted: u64,
}

impl Plan {
    fn new(quick: bool) -> Self {
        if quick {
            Self { quick, rounds: 3, round: Duration::from_millis(60), most: 5_000, counted: 200 }
        } else {
            Self { quick, rounds: 11, round: Duration::from_millis(500), most: 100_000, counted: 2_000 }
        }
    }
}

/// How a row is measured.
enum How {
    /// Throughput beside another server.
    Beside(fn() -> Pair),
    /// Heap calls per request.
    Heap(fn() -> Pair),
    /// In its own way, as lines of its own.
    Own(fn(&Plan, &Runtime) -> io::Result<Vec<Line>>),
}

struct Row {
    name: &'static str,
    reach: Reach,
    how: How,
}

const fn row(name: &'static str, reach: Reach, how: How) -> Row {
    Row { name, reach, how }
}

const ROWS: &[Row] = &[
    row("send → message", Reach::AtLeast(0.9), How::Beside(throughput::message)),
    row("send → task", Reach::AtLeast(0.75), How::Beside(throughput::send)),
    row("REST send → message", Reach::AtLeast(0.85), How::Beside(|| throughput::rest(false))),
    row("REST send → task", Reach::AtLeast(0.75), How::Beside(|| throughput::rest(true))),
    row("get", Reach::AtLeast(0.9), How::Beside(throughput::get)),
    row("stream of 100, yielding", Reach::AtLeast(0.9), How::Beside(|| throughput::stream(true))),
    row("stream of 100, ready", Reach::AtLeast(0.5), How::Beside(|| throughput::stream(false))),
    row("send of a 1 MiB file", Reach::AtLeast(0.8), How::Beside(throughput::file)),
    row("peak memory of files", Reach::AtMost(2.5), How::Own(throughput::file_peak)),
    row("agent card", Reach::AtLeast(0.95), How::Beside(|| throughput::card(false))),
    row("agent card, 304", Reach::AtLeast(0.95), How::Beside(|| throughput::card(true))),
    row("0.3 to 1.0: send", Reach::AtLeast(0.95), How::Beside(|| throughput::versions("send"))),
    row("0.3 to 1.0: get", Reach::AtLeast(0.95), How::Beside(|| throughput::versions("get"))),
    row("0.3 to 1.0: stream", Reach::AtLeast(0.95), How::Beside(|| throughput::versions("stream"))),
    row("heap calls: send → message", Reach::AtMost(30.0), How::Heap(throughput::message)),
    row("heap calls: send → task", Reach::AtMost(30.0), How::Heap(throughput::send)),
    row("heap calls: REST send → message", Reach::AtMost(30.0), How::Heap(|| throughput::rest(false))),
    row("heap calls: get", Reach::AtMost(25.0), How::Heap(throughput::get)),
    row("heap calls: stream of 100, yielding", Reach::AtMost(500.0), How::Heap(|| throughput::stream(true))),
    row("heap calls: stream of 100, ready", Reach::AtMost(500.0), How::Heap(|| throughput::stream(false))),
    #[cfg(feature = "grpc")]
    row("gRPC: send → message", Reach::AtLeast(0.8), How::Beside(grpc::message)),
    #[cfg(feature = "grpc")]
    row("gRPC: send → task", Reach::AtLeast(0.7), How::Beside(grpc::send)),
    #[cfg(feature = "grpc")]
    row("gRPC: stream of 100, yielding", Reach::AtLeast(0.8), How::Beside(|| grpc::stream(true))),
    #[cfg(feature = "grpc")]
    row("gRPC: stream of 100, ready", Reach::AtLeast(0.5), How::Beside(|| grpc::stream(false))),
    #[cfg(feature = "grpc")]
    row("heap calls: gRPC send → task", Reach::Shown, How::Heap(grpc::send)),
    row("fan-out, ready", Reach::Shown, How::Own(|plan, runtime| subscribers::fan_out(plan, runtime, false))),
    row("fan-out, one by one", Reach::Shown, How::Own(|plan, runtime| subscribers::fan_out(plan, runtime, true))),
    row("idle subscribers", Reach::Shown, How::Own(subscribers::idle)),
    row("memory of finished tasks", Reach::Shown, How::Own(growth::finished_tasks)),
    row("long artifact", Reach::Shown, How::Own(growth::artifact)),
    row("long history", Reach::Shown, How::Own(growth::history)),
    row("long list", Reach::Shown, How::Own(growth::list)),
    row("SQLite: writes", Reach::Shown, How::Own(sqlite::writes)),
    row("SQLite: list", Reach::Shown, How::Own(sqlite::list)),
    row("Postgres: writes", Reach::Shown, How::Own(postgres::writes)),
    row("Postgres: list", Reach::Shown, How::Own(postgres::list)),
];

impl Row {
    fn run(&self, plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
        match self.how {
            How::Beside(pair) => Ok(vec![throughput::run(plan, runtime, self.name, self.reach, pair())?]),
            How::Heap(pair) => Ok(vec![throughput::heap_calls(plan, runtime, self.name, self.reach, pair())?]),
            How::Own(run) => run(plan, runtime),
        }
    }
}

/// What the command line asks for.
#[derive(Default)]
struct Arguments {
    quick: bool,
    first_only: bool,
    profile: bool,
    limit: bool,
    requests: Option<u64>,
    filter: String,
}

impl Arguments {
    fn read() -> Option<Self> {
        let mut arguments = Self { quick: std::env::var_os("A2A_BENCH_QUICK").is_some(), ..Self::default() };
        let mut bench = false;
        for argument in std::env::args().skip(1) {
            match argument.as_str() {
                "--bench" => bench = true,
                // Asked for the names of tests, of which there are none.
                "--list" => return None,
                "--quick" => arguments.quick = true,
                "--profile" => arguments.profile = true,
                "--limit" => arguments.limit = true,
                other if other.starts_with("--requests=") => {
                    arguments.requests = other["--requests=".len()..].parse().ok()
                }
                other if other.starts_with('-') => {}
                words => words.clone_into(&mut arguments.filter),
            }
        }
        if !bench && !arguments.profile {
            // `cargo test --benches` only wants to see that it runs.
            (arguments.quick, arguments.first_only) = (true, true);
        }
        Some(arguments)
    }
}

fn main() -> io::Result<()> {
    let Some(arguments) = Arguments::read() else { return Ok(()) };
    let facts = machine::facts();
    machine::pin_to(1);
    let runtime = machine::runtime();
    let plan = Plan::new(arguments.quick);
    let exact = ROWS.iter().any(|row| row.name == arguments.filter);
    let is_meant = |name: &str| if exact { name == arguments.filter } else { name.contains(&arguments.filter) };
    let rows = ROWS.iter().filter(|row| is_meant(row.name));
    if arguments.profile {
        for row in rows {
            if let How::Beside(pair) = row.how {
                let Pair { servers, subject, measure } = pair();
                let side = if arguments.limit { measure } else { subject };
                let requests = arguments.requests.unwrap_or(100_000);
                println!("{}: {}", row.name, throughput::profile(&runtime, side, &servers, requests)?);
            }
        }
        return Ok(());
    }
    println!("{}\n\n{}", facts, table::HEAD);
    for row in rows.take(if arguments.first_only { 1 } else { usize::MAX }) {
        for line in row.run(&plan, &runtime)? {
            println!("{line}");
        }
    }
    Ok(())
}
