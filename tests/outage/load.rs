//! What clients do all the while.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    HASTY, PATIENT,
    durable::{
        Outcome, Random,
        client::{Connection, is_retryable, message},
        fleet::Fleet,
        follower::Follower,
    },
    probe,
    tally::{Kind, Tallies},
};

/// How many do each, on each server.
const SENDERS: usize = 6;
const STREAMERS: usize = 4;
/// How many leave before they have an answer, and after how long.
const LEAVERS: usize = 4;
const LEAVES_AFTER: Duration = Duration::from_millis(30);
/// How long whoever was refused waits.
const PAUSE: Duration = Duration::from_millis(50);

/// A task that somebody was told of.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) id: String,
    /// Which server has its run.
    pub(crate) server: usize,
    pub(crate) follower: Option<Follower>,
}

pub(crate) struct Load {
    shared: Arc<Shared>,
    pub(crate) tallies: Arc<Tallies>,
    clients: Vec<JoinHandle<Outcome<Vec<Known>>>>,
}

struct Shared {
    fleet: Arc<Fleet>,
    tallies: Arc<Tallies>,
    has_ended: AtomicBool,
}

impl Load {
    pub(crate) fn start(fleet: &Arc<Fleet>) -> Self {
        let tallies = Arc::<Tallies>::default();
        let shared =
            Shared { fleet: Arc::clone(fleet), tallies: Arc::clone(&tallies), has_ended: AtomicBool::new(false) };
        let (shared, mut clients) = (Arc::new(shared), Vec::new());
        for server in [PATIENT, HASTY] {
            let shared = || Arc::clone(&shared);
            clients.extend((0..SENDERS).map(|_| tokio::spawn(send(shared(), server))));
            clients.extend((0..STREAMERS).map(|at| tokio::spawn(stream(shared(), server, Random::new(at as u64)))));
            clients.extend((0..LEAVERS).map(|_| tokio::spawn(leave(shared(), server))));
            clients.push(tokio::spawn(look(shared(), server)));
            clients.push(tokio::spawn(rest(shared(), server)));
            clients.push(tokio::spawn(grpc(shared(), server)));
        }
        Self { shared, tallies, clients }
    }

    /// Waits for all that was begun.
    pub(crate) async fn stop(self) -> Outcome<(Arc<Tallies>, Vec<Known>)> {
        self.shared.has_ended.store(true, Relaxed);
        let mut known = Vec::new();
        for client in self.clients {
            known.extend(client.await??);
        }
        Ok((self.tallies, known))
    }
}

impl Shared {
    fn goes_on(&self) -> bool {
        !self.has_ended.load(Relaxed)
    }

    /// Counts an answer, and waits if it was a refusal in due form. Gives back the result, if there was one.
    async fn note(&self, server: usize, kind: Kind, began: Instant, mut answer: Value) -> Outcome<Option<Value>> {
        let is_done = !answer["result"].is_null();
        if !is_done && !is_retryable(&answer["error"]) {
            return Err(format!("{kind:?} on {server} is answered with {answer}").into());
        }
        self.tallies.note(server, kind, began, is_done);
        if is_done {
            return Ok(Some(answer["result"].take()));
        }
        sleep(PAUSE).await;
        Ok(None)
    }
}

async fn send(shared: Arc<Shared>, server: usize) -> Outcome<Vec<Known>> {
    let (mut connection, mut known) = (Connection::to(&shared.fleet.url(server)).await?, Vec::new());
    while shared.goes_on() {
        let began = Instant::now();
        let answer = connection.answer("SendMessage", message("say 3 1")).await?;
        if let Some(result) = shared.note(server, Kind::Send, began, answer).await? {
            let id = result["task"]["id"].as_str().ok_or("no task")?.to_owned();
            known.push(Known { id, server, follower: None });
        }
    }
    Ok(known)
}

async fn stream(shared: Arc<Shared>, server: usize, mut random: Random) -> Outcome<Vec<Known>> {
    let mut known = Vec::new();
    while shared.goes_on() {
        let (began, words) = (Instant::now(), 5 + random.below(100));
        let sent = Follower::send(&shared.fleet.url(server), message(format!("say {words} 3"))).await?;
        shared.tallies.note(server, Kind::Stream, began, sent.is_some());
        let Some((mut follower, mut events)) = sent else {
            sleep(PAUSE).await;
            continue;
        };
        // Every other one leaves somewhere on the way, and comes back.
        let at_most = if random.below(2) == 0 { random.below(words) } else { u64::MAX };
        follower.read(&mut events, at_most).await?;
        drop(events);
        let follower = follower.read_on(&shared.fleet, server, &mut random).await?;
        known.push(Known { id: follower.id.clone(), server, follower: Some(follower) });
    }
    Ok(known)
}

/// Sends, and is gone before there is an answer. Its tasks go on, and nobody asks for them.
async fn leave(shared: Arc<Shared>, server: usize) -> Outcome<Vec<Known>> {
    while shared.goes_on() {
        let mut connection = Connection::to(&shared.fleet.url(server)).await?;
        let _ = timeout(LEAVES_AFTER, connection.answer("SendMessage", message("say 20 3"))).await;
    }
    Ok(Vec::new())
}

async fn look(shared: Arc<Shared>, server: usize) -> Outcome<Vec<Known>> {
    let mut connection = Connection::to(&shared.fleet.url(server)).await?;
    let mut id = Value::Null;
    while shared.goes_on() {
        let began = Instant::now();
        let answer = connection.answer("ListTasks", json!({ "pageSize": 1 })).await?;
        if let Some(result) = shared.note(server, Kind::List, began, answer).await? {
            id = result["tasks"][0]["id"].clone();
        }
        if !id.is_null() {
            let began = Instant::now();
            let answer = connection.answer("GetTask", json!({ "id": id })).await?;
            shared.note(server, Kind::Get, began, answer).await?;
        }
        sleep(PAUSE / 10).await;
    }
    Ok(Vec::new())
}

async fn rest(shared: Arc<Shared>, server: usize) -> Outcome<Vec<Known>> {
    while shared.goes_on() {
        let began = Instant::now();
        let done = probe::rest(&shared.fleet.url(server)).await?;
        shared.tallies.note(server, Kind::Rest, began, done);
        sleep(PAUSE / 10).await;
    }
    Ok(Vec::new())
}

async fn grpc(shared: Arc<Shared>, server: usize) -> Outcome<Vec<Known>> {
    while shared.goes_on() {
        let began = Instant::now();
        let done = probe::grpc(&shared.fleet.url(server)).await?;
        shared.tallies.note(server, Kind::Grpc, began, done);
        sleep(PAUSE / 10).await;
    }
    Ok(Vec::new())
}
