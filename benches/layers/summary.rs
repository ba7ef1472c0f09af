//! The table at the end: what each layer costs above its floor.

use std::time::Instant;

use crate::{
    LAYERS,
    case::{Case, Work},
    heap,
};

/// What a synchronous layer may cost above its floor.
const REACH_NANOS: f64 = 300.0;
const REACH_ALLOCATIONS: f64 = 1.0;

/// How hard to measure.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    rounds: u32,
    nanos_per_round: f64,
}

impl Effort {
    /// Long enough for figures that repeat.
    pub(crate) const FULL: Self = Self { rounds: 60, nanos_per_round: 1e6 };
    /// Just enough to see that everything runs.
    pub(crate) const QUICK: Self = Self { rounds: 1, nanos_per_round: 1.0 };
}

#[derive(Clone, Copy)]
struct Figures {
    nanos: f64,
    allocations: f64,
}

pub(crate) fn print(effort: Effort, filter: &str) {
    println!("\nFastest of {} rounds; a piece is a call, or a frame or event where the name says so.", effort.rounds);
    println!("Reach of a synchronous layer above its floor: {REACH_NANOS} ns, {REACH_ALLOCATIONS} allocation.\n");
    println!("| layer | work | floor ns | layer ns | more ns | floor allocs | layer allocs | more allocs | in reach |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for (layer, cases) in LAYERS {
        for case in cases.iter().filter(|case| format!("{layer} {case}").contains(filter)) {
            print_case(layer, case, effort);
        }
    }
}

fn print_case(layer: &str, case: &Case, effort: Effort) {
    let [floor, with] = measure(case, effort);
    let (nanos, allocations) = (with.nanos - floor.nanos, with.allocations - floor.allocations);
    let verdict = match (case.in_reach, nanos <= REACH_NANOS, allocations <= REACH_ALLOCATIONS) {
        (false, ..) => "",
        (_, true, true) => "yes",
        (_, false, true) => "no: time",
        (_, true, false) => "no: allocations",
        (_, false, false) => "no: both",
    };
    println!(
        "| {layer} | {} | {:.0} | {:.0} | {nanos:+.0} | {:.1} | {:.1} | {allocations:+.1} | {verdict} |",
        case.name, floor.nanos, with.nanos, floor.allocations, with.allocations,
    );
}

/// Floor and layer take turns, so that whatever else the machine does hits both.
fn measure(case: &Case, effort: Effort) -> [Figures; 2] {
    let mut works = [(case.floor)(), (case.layer)()];
    let calls = works.each_mut().map(|work| calls_per_round(work, effort));
    let mut fastest = [f64::INFINITY; 2];
    for _ in 0..effort.rounds {
        for (at, work) in works.iter_mut().enumerate() {
            fastest[at] = fastest[at].min(nanos(work, calls[at]) / f64::from(calls[at]));
        }
    }
    let pieces = f64::from(case.pieces);
    let [floor, layer] = works.each_mut().map(allocations);
    [(fastest[0], floor), (fastest[1], layer)]
        .map(|(nanos, allocations)| Figures { nanos: nanos / pieces, allocations: allocations / pieces })
}

fn calls_per_round(work: &mut Work, effort: Effort) -> u32 {
    let once = nanos(work, 1).min(nanos(work, 1)).max(1.0);
    (effort.nanos_per_round / once).ceil().clamp(1.0, 100_000.0) as u32
}

fn nanos(work: &mut Work, calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        work();
    }
    start.elapsed().as_nanos() as f64
}

/// How often one call asks the heap for memory, growing what it has included. The fewest of a few calls count: the first
/// ones may fill caches, and other threads may ask as well.
fn allocations(work: &mut Work) -> f64 {
    let fewest = (0..5).map(|_| {
        heap::start();
        work();
        heap::stop().calls
    });
    fewest.min().unwrap_or_default() as f64
}
