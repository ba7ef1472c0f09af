//! Rows that ask what becomes of time and memory when there is more of everything. They need no sockets.

use std::{io, time::Instant};

use a2a_layers::server::A2aService;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Collected, Full};
use tokio::runtime::Runtime;
use tower::ServiceExt;

use crate::{
    Plan, calls, heap, ours,
    table::{Line, Reach, median, short},
};

type Service = A2aService<Full<Bytes>>;

/// What is still linear, with some room for caches.
const LINEAR: Reach = Reach::AtMost(1.25);
const MIB: f64 = (1 << 20) as f64;

async fn ask(service: &Service, body: String) -> Bytes {
    let request = Request::post("/").header("content-type", "application/json").header("a2a-version", "1.0");
    let request = request.body(Full::from(body)).expect("a request");
    let answer = service.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
    answer.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default()
}

/// Asks, and reads a field of the answer.
async fn ask_for(service: &Service, body: String, key: &str) -> Option<String> {
    let answer = ask(service, body).await;
    calls::field(std::str::from_utf8(&answer).unwrap_or_default(), key).map(str::to_owned)
}

fn ratio(work: &str, fewer: f64, more: f64, each: &str) -> Line {
    let note = format!("{} against {} µs {each}", short(more * 1e6), short(fewer * 1e6));
    Line::new(work, LINEAR, more / fewer, note)
}

/// Live memory at each quarter of many finished tasks.
pub(crate) fn finished_tasks(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let (tasks, service): (u64, Service) =
        if plan.quick { (20_000, ours::forgetful(2_000)) } else { (1_000_000, ours::send()) };
    let send = calls::send(calls::Version::V1_0);
    heap::start();
    let mut quarters = Vec::new();
    for done in 1..=tasks {
        runtime.block_on(ask(&service, send.clone()));
        if done % (tasks / 4) == 0 {
            quarters.push(heap::now().live as f64 / MIB);
        }
    }
    drop(service);
    let left = heap::stop().live as f64 / MIB;
    let at: Vec<_> = quarters.iter().copied().map(short).collect();
    let note = format!("MiB at each quarter: {}; {} after all is dropped", at.join(", "), short(left));
    let work = format!("memory, second half to first, of {} finished tasks", short(tasks as f64));
    Ok(vec![Line::new(work, Reach::AtMost(1.05), quarters[3] / quarters[1], note)])
}

/// A long artifact: the stream of its chunks, and reading it.
pub(crate) fn artifact(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let measure = |chunks: usize| {
        let service: Service = ours::long(chunks);
        let (mut told, mut read) = (Vec::new(), Vec::new());
        for _ in 0..plan.rounds.max(7) {
            let began = Instant::now();
            let stream = calls::stream(calls::Version::V1_0);
            let id = runtime.block_on(ask_for(&service, stream, "taskId")).unwrap_or_default();
            told.push(began.elapsed().as_secs_f64() / chunks as f64);
            let began = Instant::now();
            let task = runtime.block_on(ask(&service, calls::get_task(calls::Version::V1_0, &id)));
            read.push(began.elapsed().as_secs_f64() / chunks as f64);
            assert!(task.len() > chunks * ours::CHUNK.len(), "a whole task");
        }
        (median(&told), median(&read))
    };
    let (few, many) = (measure(500), measure(5_000));
    Ok(vec![
        ratio("5,000 chunks of an artifact to 500: stream", few.0, many.0, "a chunk"),
        ratio("5,000 chunks of an artifact to 500: get", few.1, many.1, "a chunk"),
    ])
}

/// A long history: one more message, and reading it all.
pub(crate) fn history(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let (few, many) = if plan.quick { (100, 1_000) } else { (1_000, 10_000) };
    let service: Service = ours::asking();
    let id = runtime.block_on(ask_for(&service, calls::send(calls::Version::V1_0), "id")).unwrap_or_default();
    let more = calls::go_on(&id);
    let mut said = 1;
    let mut reach = |messages: usize| {
        // The last tenth is timed. Both what the caller and what the agent says is a message.
        let mut took = Vec::new();
        let last = messages / 10;
        while said * 2 < messages {
            let began = Instant::now();
            let answer = runtime.block_on(ask(&service, more.clone()));
            if said * 2 >= messages - last {
                took.push(began.elapsed().as_secs_f64());
            }
            debug_assert!(String::from_utf8_lossy(&answer).contains("INPUT_REQUIRED"));
            said += 1;
        }
        let mut read = Vec::new();
        for _ in 0..plan.rounds.max(7) {
            let began = Instant::now();
            let task = runtime.block_on(ask(&service, calls::get_task(calls::Version::V1_0, &id)));
            read.push(began.elapsed().as_secs_f64() / messages as f64);
            assert!(task.len() > messages / 2 * calls::WORDS.len(), "a whole task");
        }
        (median(&took), median(&read))
    };
    let (few_took, many_took) = (reach(few), reach(many));
    let words = format!("history of {} messages to {}", short(many as f64), short(few as f64));
    Ok(vec![
        ratio(&format!("{words}: one more"), few_took.0, many_took.0, "a send"),
        ratio(&format!("{words}: get"), few_took.1, many_took.1, "a message"),
    ])
}

/// A long list: what its first pages cost, what its last ones do, and what they do where there are few tasks.
pub(crate) fn list(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    const PAGE: usize = 100;
    let (few, many) = if plan.quick { (2_000, 20_000) } else { (10_000, 1_000_000) };
    let walk = |tasks: usize| {
        let (service, ids): (Service, _) = runtime.block_on(ours::with_tasks(tasks));
        let (pages, mut token) = (tasks / PAGE, String::new());
        let (mut first, mut last, counted) = (Vec::new(), Vec::new(), (pages / 4).min(100));
        let mut took = |page: usize, time: f64| match page {
            page if page < counted => first.push(time),
            page if page >= pages - counted => last.push(time),
            _ => {}
        };
        for page in 0..pages {
            let began = Instant::now();
            let next = runtime.block_on(ask_for(&service, calls::list(PAGE, &token), "nextPageToken"));
            took(page, began.elapsed().as_secs_f64());
            token = next.unwrap_or_default();
            assert_eq!(token.is_empty(), page + 1 == pages, "one page after the other, to the last");
        }
        drop(ids);
        (median(&first), median(&last))
    };
    let (small, large) = (walk(few), walk(many));
    let of = short(many as f64);
    // Where there are many tasks, they are no longer in the processor's caches: that is shown, and proves nothing.
    let first = ratio(
        &format!("first pages of {of} tasks to those of {}", short(few as f64)),
        small.0,
        large.0,
        "a page of 100",
    );
    Ok(vec![
        ratio(&format!("last pages of {of} tasks to the first"), large.0, large.1, "a page of 100"),
        Line { reach: Reach::Shown, ..first },
    ])
}
