//! What each layer costs: alone, over a service that does nothing, in time and allocations.
//!
//! - `cargo bench --bench layers` measures everything (less than a minute), with a table at the end that compares each layer
//!   to its floor: the least code that does the same with the same bytes;
//! - `cargo bench --bench layers -- json_rpc` measures what has this in its name, without the table;
//! - `cargo bench --bench layers -- --summary` prints the table alone (seconds), with one more word only
//!   the lines that have it in them, which is also what to run under a profiler;
//! - `cargo bench --bench layers -- --quick` runs everything once (seconds), so that nothing here can rot.

mod case;
mod data;
mod summary;

mod agent_card;
mod blob;
mod body;
mod capability;
mod extension;
mod json_rpc;
mod media_type;
mod part;
mod rest;
mod sse;
mod task;
mod version;

#[path = "../stack/heap.rs"]
#[expect(dead_code, reason = "how much is held is for the other bench to ask")]
mod heap;

use std::env;

use divan::{AllocProfiler, Divan};

use self::{case::Case, summary::Effort};

/// Counts twice: for divan's tables, and for the summary.
#[global_allocator]
static ALLOCATOR: AllocProfiler<heap::Counting> = AllocProfiler::new(heap::Counting);

/// In the order in which a request meets them.
const LAYERS: &[(&str, &[Case])] = &[
    ("agent_card", agent_card::CASES),
    ("sse", sse::CASES),
    ("body", body::CASES),
    ("json_rpc", json_rpc::CASES),
    ("rest", rest::CASES),
    ("version", version::CASES),
    ("capability", capability::CASES),
    ("extension", extension::CASES),
    ("media_type", media_type::CASES),
    ("task", task::CASES),
    ("blob", blob::CASES),
    ("part", part::CASES),
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--quick"] => {
            Divan::default().sample_count(1).sample_size(1).run_benches();
            summary::print(Effort::QUICK, "");
        }
        ["--summary"] => summary::print(Effort::FULL, ""),
        ["--summary", filter] => summary::print(Effort::FULL, filter),
        [] if env::args().any(|argument| argument == "--bench") => {
            divan::main();
            summary::print(Effort::FULL, "");
        }
        _ => divan::main(),
    }
}
