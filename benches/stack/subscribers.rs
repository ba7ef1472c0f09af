//! Rows of many subscribers: those that get every event, and those that wait for one.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use a2a_layers::server::serve;
use bytes::Bytes;
use tokio::{runtime::Runtime, sync::watch};

use crate::{
    Plan,
    calls::{self, Version},
    heap,
    limit::{self, AsyncHandler},
    load::Connection,
    machine::{Servers, listen, max_files},
    ours,
    table::{Line, Reach, short},
};

/// About what an event of the run looks like on the wire.
fn event() -> Bytes {
    let ids = r#""taskId":"d9d6f4eb-6a5c-479d-81cd-7d855df4b0a7","contextId":"128e402b-5fe5-4756-a2f1-df51f6a72d7d""#;
    let artifact = format!(r#"{{"artifactId":"artifact-1","parts":[{{"text":"{}"}}]}}"#, ours::CHUNK);
    let result = format!(r#"{{"artifactUpdate":{{{ids},"artifact":{artifact},"append":true}}}}"#);
    format!("id: 1000\ndata: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}\n\n").into()
}

/// One run, many subscribers, many events: the server's time for each event that is delivered, beside that of writing
/// as many ready bytes to as many bodies of hyper.
pub(crate) fn fan_out(plan: &Plan, runtime: &Runtime, yields: bool) -> io::Result<Vec<Line>> {
    // One by one each delivery is a write of its own, so fewer tell as much.
    let (subscribers, events) = if plan.quick { (50, 50) } else { (1_000, if yields { 200 } else { 1_000 }) };
    let rounds = if plan.quick { 3 } else { 5 };
    let (mut ratios, mut costs, mut bytes) = (Vec::new(), [0.0; 2], [0; 2]);
    for _ in 0..rounds {
        for (side, cost) in costs.iter_mut().enumerate() {
            let (open, gate) = watch::channel(false);
            let (servers, address) = Servers::start(async move || {
                let (listener, address) = listen().await;
                if side == 0 {
                    tokio::spawn(serve(listener, ours::gated(gate, events, yields)));
                } else {
                    tokio::spawn(limit::gated(gate, event(), events, yields).serve(listener));
                }
                address
            });
            let task = if side == 0 { start(runtime, address)? } else { String::new() };
            let subscribe = calls::post(Version::V1_0, &calls::subscribe(&task));
            let (busy, length) = deliver(runtime, &servers, address, &subscribe, subscribers, open)?;
            *cost = busy.as_secs_f64() / (subscribers * events) as f64;
            bytes[side] = length / events;
        }
        ratios.push(costs[0] / costs[1]);
    }
    let pace = if yields { "one by one" } else { "all ready" };
    let work = format!("fan-out of {} × {}, {pace}", short(subscribers as f64), short(events as f64));
    let [ours, limit] = costs.map(|cost| short(cost * 1e6));
    let note = format!("{ours} / {limit} µs CPU an event; {} / {} bytes", bytes[0], bytes[1]);
    Ok(vec![Line { work, reach: Reach::AtMost(2.0), figures: ratios, note }])
}

fn deliver(
    runtime: &Runtime,
    servers: &Servers,
    address: SocketAddr,
    subscribe: &[u8],
    subscribers: usize,
    open: watch::Sender<bool>,
) -> io::Result<(Duration, usize)> {
    runtime.block_on(async {
        let mut reading = Vec::new();
        for index in 0..subscribers {
            let mut connection = Connection::open(address, index).await?;
            let (status, framing) = connection.begin(subscribe).await?;
            if status != 200 {
                return Err(io::Error::other(format!("not subscribed: {status}")));
            }
            reading.push(tokio::spawn(async move { connection.finish(framing, false).await }));
        }
        // Until all of them wait.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let before = servers.busy().unwrap_or_default();
        let _ = open.send(true);
        let mut length = 0;
        for connection in reading {
            length = connection.await.map_err(io::Error::other)??;
        }
        Ok((servers.busy().unwrap_or_default().saturating_sub(before), length))
    })
}

/// Starts a run and gives the task's id.
fn start(runtime: &Runtime, address: SocketAddr) -> io::Result<String> {
    runtime.block_on(async { starts(address, 1).await.map(|mut ids| ids.swap_remove(0)) })
}

async fn starts(address: SocketAddr, count: usize) -> io::Result<Vec<String>> {
    let mut connection = Connection::open(address, 0).await?;
    let request = calls::post(Version::V1_0, &calls::start());
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        connection.exchange(&request, true).await?;
        let answer = String::from_utf8_lossy(&connection.sample);
        ids.push(calls::field(&answer, "id").map(str::to_owned).ok_or_else(|| io::Error::other(answer.into_owned()))?);
    }
    Ok(ids)
}

/// What a subscriber takes while nothing happens, beyond a connection of bare hyper whose body never ends.
pub(crate) fn idle(plan: &Plan, runtime: &Runtime) -> io::Result<Vec<Line>> {
    let wanted = if plan.quick { 500 } else { 10_000 };
    // Both ends of each connection are in this process.
    let count = wanted.min(max_files().saturating_sub(256) / 2);
    let limit = {
        let (_servers, address) = Servers::start(async || {
            let (listener, address) = listen().await;
            tokio::spawn(limit::silent.serve(listener));
            address
        });
        heap::start();
        let clients = wait(address, (0..count).map(|_| calls::subscribe("d9d6f4eb-6a5c-479d-81cd-7d855df4b0a7")))?;
        let each = heap::stop().live as f64 / count as f64;
        drop(clients);
        each
    };
    let mut lines = Vec::new();
    for tasks in [1, count] {
        let (_open, gate) = watch::channel(false);
        let (_servers, address) = Servers::start(async move || {
            let (listener, address) = listen().await;
            tokio::spawn(serve(listener, ours::gated(gate, 1, false)));
            address
        });
        heap::start();
        let ids = runtime.block_on(starts(address, tasks))?;
        let task = heap::stop().live as f64 / tasks as f64;
        heap::start();
        let clients = wait(address, (0..count).map(|index| calls::subscribe(&ids[index % tasks])))?;
        let each = heap::stop().live as f64 / count as f64;
        drop(clients);
        let many = if tasks == 1 { "one task".to_owned() } else { format!("{} tasks", short(tasks as f64)) };
        let work = format!("idle subscriber, {} on {many}", short(count as f64));
        let mut note = format!("bytes beyond bare hyper's {}", short(limit));
        if tasks > 1 {
            note += &format!("; a task at work takes {}", short(task));
        }
        if count < wanted {
            note += &format!("; no more than {count}, because few files may be open");
        }
        lines.push(Line::new(work, Reach::AtMost(4096.0), each - limit, note));
    }
    Ok(lines)
}

/// Subscribes with sockets that take nothing of the heap, and reads until the first event is there.
fn wait(address: SocketAddr, bodies: impl ExactSizeIterator<Item = String>) -> io::Result<Vec<TcpStream>> {
    let mut clients = Vec::with_capacity(bodies.len());
    let mut buffer = [0; 4096];
    for body in bodies {
        let mut client = TcpStream::connect(address)?;
        client.write_all(&calls::post(Version::V1_0, &body))?;
        let mut end = 0;
        while !buffer[..end].windows(6).any(|window| window == b"data: ") || !buffer[..end].ends_with(b"\n\n\r\n") {
            match client.read(&mut buffer[end..])? {
                0 => return Err(io::Error::other(String::from_utf8_lossy(&buffer[..end]).into_owned())),
                read => end += read,
            }
        }
        clients.push(client);
    }
    Ok(clients)
}
