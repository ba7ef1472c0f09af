//! Rows that set two servers beside each other under the same load.

use std::{io, net::SocketAddr, time::Duration};

use a2a_layers::{
    server::{A2aService, serve},
    task::MemoryTaskStore,
};
use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use tokio::runtime::Runtime;
use tower::ServiceExt;

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

/// How large a file is, in bytes.
const FILE: usize = 1 << 20;
/// Keep-alive connections of a load.
pub(crate) const CONNECTIONS: usize = 32;

/// The sides take turns so many times in a round, so that whatever else the machine does hits both.
const SLICES: usize = 5;

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

/// A send over HTTP+JSON, answered with a message or with a task.
pub(crate) fn rest(task: bool) -> Pair {
    let post = || calls::post_to("/message:send", Version::V1_0, &calls::rest_send());
    let work = move || Work::new(vec![post()], "You said: What is");
    pair(async move || {
        if task {
            (of_ours(ours::send(), work()).await, of_limit(limit::rest_send, work()).await)
        } else {
            (of_ours(ours::message(), work()).await, of_limit(limit::rest_message, work()).await)
        }
    })
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

/// The card, or, to one who has it already, word that it is still the same.
pub(crate) fn card(fresh: bool) -> Pair {
    pair(async move || {
        let path = "/.well-known/agent-card.json";
        let request = http::Request::get(path).header("a2a-version", "1.0").body(Full::<Bytes>::default());
        let answer = ours::send().oneshot(request.expect("a request")).await.unwrap_or_else(|never| match never {});
        let headers = answer.headers().clone();
        let card = answer.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
        let tag = headers.get(http::header::ETAG).and_then(|tag| tag.to_str().ok()).expect("an entity tag");
        let more = if fresh { format!("if-none-match: {tag}\r\n") } else { String::new() };
        let work = Work::new(vec![calls::get(path, &more)], if fresh { "" } else { "skills" });
        let work = Work { status: if fresh { 304 } else { 200 }, ..work };
        (of_ours(ours::send(), work.clone()).await, of_limit(limit::card(card, headers), work).await)
    })
}

/// A send of 1 MiB. Few tasks are kept, so that their memory is not measured here.
pub(crate) fn file() -> Pair {
    files(64)
}

fn files(tasks: usize) -> Pair {
    pair(async move || {
        let work = Work::new(vec![calls::post(Version::V1_0, &calls::file(FILE))], "You said: ");
        (of_ours(ours::file(tasks), work.clone()).await, of_limit(limit::file(), work).await)
    })
}

/// How much memory is taken at once, beyond what is kept, in bodies in flight.
pub(crate) fn file_peak(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    const IN_FLIGHT: usize = 8;
    let Pair { servers, subject, measure } = file();
    let mut peaks = Vec::new();
    for side in [subject, measure] {
        // Until as much is kept as ever will be.
        let long = Duration::from_secs(30);
        let kept = (ours::KEPT_BYTES / FILE) as u64;
        Load::connect(runtime, side.address, IN_FLIGHT, side.work.clone())?.run(runtime, long, kept + kept / 4)?;
        let body = side.work.requests[0].len();
        let mut load = Load::connect(runtime, side.address, IN_FLIGHT, side.work)?;
        heap::start();
        load.run(runtime, long, plan.counted / 5)?;
        peaks.push(heap::stop().peak as f64 / (IN_FLIGHT * body) as f64);
    }
    drop(servers);
    let Pair { servers, subject, .. } = files(MemoryTaskStore::DEFAULT_MAX_FINISHED);
    let mut load = Load::connect(runtime, subject.address, 1, subject.work)?;
    let (long, kept) = (Duration::from_secs(30), (ours::KEPT_BYTES / FILE) as u64);
    load.run(runtime, long, kept + kept / 4)?;
    heap::start();
    let done = load.run(runtime, long, plan.counted / 20)?;
    let each = heap::stop().live as f64 / done.requests as f64;
    drop(servers);
    let note = format!("bodies of {IN_FLIGHT} in flight; bare hyper: {}", short(peaks[1]));
    Ok(vec![
        Line::new("peak memory of 1 MiB files", Reach::AtMost(2.5), peaks[0], note),
        Line::new(
            "a finished task whose file is in the store",
            Reach::AtMost(16384.0),
            each,
            "bytes in the task store",
        ),
    ])
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
        let mut sums = [Sums::default(); 2];
        for turn in 0..2 * SLICES {
            let side = (round + turn) % 2;
            let before = servers.busy().unwrap_or_default();
            let done = loads[side].run(runtime, plan.round / SLICES as u32, plan.most / SLICES as u64)?;
            let sums = &mut sums[side];
            sums.busy += servers.busy().unwrap_or_default().saturating_sub(before).as_secs_f64();
            sums.requests += done.requests as f64;
            sums.elapsed += done.elapsed.as_secs_f64();
            seen[side].bytes = done.bytes / done.requests.max(1);
        }
        for (seen, sums) in seen.iter_mut().zip(&sums) {
            seen.rates.push(sums.rate());
            seen.costs.push(sums.cost() * 1e6);
            seen.used.push(sums.busy / sums.elapsed * 100.0);
        }
        ratios.push(sums[0].rate() / sums[1].rate());
        cpu_ratios.push(sums[1].cost() / sums[0].cost());
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

/// What one side did in a round.
#[derive(Clone, Copy, Default)]
struct Sums {
    requests: f64,
    /// Seconds.
    elapsed: f64,
    /// Seconds of the server's thread.
    busy: f64,
}

impl Sums {
    fn rate(&self) -> f64 {
        self.requests / self.elapsed
    }

    fn cost(&self) -> f64 {
        self.busy / self.requests
    }
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
