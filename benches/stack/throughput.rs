//! Rows that set two servers beside each other under the same load.

use std::{io, net::SocketAddr, time::Duration};

use a2a_layers::server::{A2aService, serve};
use hyper::body::Incoming;
use tokio::runtime::Runtime;

use crate::{
    Plan,
    calls::{self, Version},
    heap,
    limit::{self, AsyncHandler},
    load::{Load, Work},
    machine::{Servers, listen},
    ours,
    table::{Line, Reach, median, short},
};

/// Keep-alive connections of a load.
const CONNECTIONS: usize = 32;

/// One of two servers.
pub(crate) struct Side {
    pub(crate) address: SocketAddr,
    pub(crate) work: Work,
    pub(crate) connections: usize,
}

/// Ours on a port of its own.
pub(crate) async fn of_ours(service: A2aService<Incoming>, work: Work) -> Side {
    let (listener, address) = listen().await;
    tokio::spawn(serve(listener, service));
    Side { address, work, connections: CONNECTIONS }
}

/// The limit on a port of its own.
pub(crate) async fn of_limit(handler: impl AsyncHandler, work: Work) -> Side {
    let (listener, address) = listen().await;
    tokio::spawn(handler.serve(listener));
    Side { address, work, connections: CONNECTIONS }
}

/// What is measured against what.
pub(crate) struct Pair {
    pub(crate) servers: Servers,
    pub(crate) subject: Side,
    pub(crate) measure: Side,
}

pub(crate) fn pair<F>(start: impl FnOnce() -> F + Send + 'static) -> Pair
where
    F: Future<Output = (Side, Side)>,
{
    let (servers, (subject, measure)) = Servers::start(start);
    Pair { servers, subject, measure }
}

fn send_work(version: Version) -> Work {
    Work::new(vec![calls::post(version, &calls::send(version))], "You said: What is")
}

fn stream_work(version: Version) -> Work {
    let work = Work::new(vec![calls::post(version, &calls::stream(version))], ours::CHUNK);
    Work { events: ours::CHUNKS + 3, ..work }
}

fn get_work(version: Version, ids: &[String]) -> Work {
    let requests = ids.iter().map(|id| calls::post(version, &calls::get_task(version, id))).collect();
    Work::new(requests, "You said: What is")
}

pub(crate) fn message() -> Pair {
    let work = || send_work(Version::V1_0);
    pair(async move || (of_ours(ours::message(), work()).await, of_limit(limit::message, work()).await))
}

pub(crate) fn send() -> Pair {
    let work = || send_work(Version::V1_0);
    pair(async move || (of_ours(ours::send(), work()).await, of_limit(limit::send, work()).await))
}

pub(crate) fn get() -> Pair {
    pair(async || {
        let (service, ids) = ours::with_tasks(1000).await;
        let work = get_work(Version::V1_0, &ids);
        (of_ours(service, work.clone()).await, of_limit(limit::get(), work).await)
    })
}

pub(crate) fn stream(yields: bool) -> Pair {
    let work = || stream_work(Version::V1_0);
    pair(async move || (of_ours(ours::stream(yields), work()).await, of_limit(limit::stream(yields), work()).await))
}

/// The same on both sides, in 0.3 and in 1.0.
pub(crate) fn versions(what: &'static str) -> Pair {
    pair(async move || {
        let side = async |version| match what {
            "send" => of_ours(ours::send(), send_work(version)).await,
            "stream" => of_ours(ours::stream(false), stream_work(version)).await,
            _ => {
                let (service, ids) = ours::with_tasks(1000).await;
                of_ours(service, get_work(version, &ids)).await
            }
        };
        (side(Version::V0_3).await, side(Version::V1_0).await)
    })
}

/// Interleaved rounds: subject and measure, then measure and subject.
pub(crate) fn run(plan: &Plan, runtime: &Runtime, work: &str, reach: Reach, pair: Pair) -> io::Result<Line> {
    let Pair { servers, subject, measure } = pair;
    let mut loads = Vec::new();
    for side in [subject, measure] {
        let mut load = Load::connect(runtime, side.address, side.connections, side.work)?;
        load.run(runtime, plan.round / 4, plan.most)?;
        loads.push(load);
    }
    let (mut ratios, mut cpu_ratios) = (Vec::new(), Vec::new());
    let mut seen = [(); 2].map(|()| Seen::default());
    for round in 0..plan.rounds {
        let mut rates = [0.0; 2];
        let mut costs = [f64::NAN; 2];
        for turn in 0..2 {
            let side = (round + turn) % 2;
            let before = servers.busy();
            let done = loads[side].run(runtime, plan.round, plan.most)?;
            let busy = servers.busy().zip(before).map(|(after, before)| after.saturating_sub(before));
            let requests = done.requests as f64;
            rates[side] = requests / done.elapsed.as_secs_f64();
            if let Some(busy) = busy {
                costs[side] = busy.as_secs_f64() / requests;
                seen[side].used.push(busy.as_secs_f64() / done.elapsed.as_secs_f64() * 100.0);
            }
            seen[side].rates.push(rates[side]);
            seen[side].costs.push(costs[side] * 1e6);
            seen[side].bytes = done.bytes / done.requests.max(1);
        }
        ratios.push(rates[0] / rates[1]);
        cpu_ratios.push(costs[1] / costs[0]);
    }
    let [ours, limit] = &seen;
    let both = |figure: fn(&Seen) -> f64| format!("{} / {}", short(figure(ours)), short(figure(limit)));
    let note = format!(
        "by CPU {}; {} requests/s; {} µs CPU each; core {} % busy; {} bytes",
        short(median(&cpu_ratios)),
        both(|seen| median(&seen.rates)),
        both(|seen| median(&seen.costs)),
        both(|seen| median(&seen.used)),
        both(|seen| seen.bytes as f64),
    );
    Ok(Line { work: work.to_owned(), reach, figures: ratios, note })
}

/// What was seen of one side.
#[derive(Default)]
struct Seen {
    rates: Vec<f64>,
    costs: Vec<f64>,
    used: Vec<f64>,
    bytes: u64,
}

/// Heap calls per request, of the whole process, on one connection.
pub(crate) fn heap_calls(plan: &Plan, runtime: &Runtime, work: &str, reach: Reach, pair: Pair) -> io::Result<Line> {
    let Pair { servers, subject, measure } = pair;
    let mut calls = Vec::new();
    for side in [subject, measure] {
        let mut load = Load::connect(runtime, side.address, 1, side.work)?;
        let long = Duration::from_secs(30);
        load.run(runtime, long, plan.counted / 4)?;
        heap::start();
        let done = load.run(runtime, long, plan.counted)?;
        let heap = heap::stop();
        calls.push(heap.calls as f64 / done.requests as f64);
    }
    drop(servers);
    Ok(Line::new(work, reach, calls[0], format!("bare hyper: {}", short(calls[1]))))
}

/// Loads one side alone, for a profiler to look at.
pub(crate) fn profile(runtime: &Runtime, side: Side, servers: &Servers, requests: u64) -> io::Result<String> {
    let mut load = Load::connect(runtime, side.address, side.connections, side.work)?;
    let before = servers.busy().unwrap_or_default();
    let done = load.run(runtime, Duration::from_secs(600), requests)?;
    let busy = servers.busy().unwrap_or_default().saturating_sub(before);
    let each = busy.as_secs_f64() * 1e6 / done.requests as f64;
    Ok(format!("{} requests in {:.2?}, {} µs CPU each", done.requests, done.elapsed, short(each)))
}
