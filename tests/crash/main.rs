//! Kills a server at any moment, again and again, and looks at what is left in its store.
//!
//! ```text
//! cargo test --test crash                       three rounds
//! CRASH_ROUNDS=200 cargo test --test crash      as many as one likes
//! CRASH_SEED=7 ...                              the same work again, though never the same moments
//! A2A_STORES=postgres ...                       not on SQLite as well; A2A_POSTGRES says which one
//! ```
//!
//! Each round starts a server on the same tasks, sends work over several connections, and kills the process. Then a fresh
//! one is started, and everyone who had been cut off reads on from the last event it saw. In the end
//!
//! - every event that anybody was shown is in its log, under the number that it was shown with;
//! - logs have no gaps, and tasks are what their logs fold into;
//! - no task stays at work;
//! - what was read before the crash and after it is the whole log, each event once and in order.

mod check;
mod client;
#[path = "../durable/mod.rs"]
#[allow(dead_code, reason = "others use the rest of it")]
mod durable;

use std::time::Duration;

use self::{
    client::{Done, Reader},
    durable::{
        Outcome, Random,
        check::nothing_stays_at_work,
        number,
        place::{Place, with_store},
        server::{Orders, Server},
    },
};

/// How many connections stream, and how many wait for whole answers.
const STREAMS: usize = 6;
const SENDERS: usize = 3;
/// How long a lease lasts here, so that nobody has to wait for long.
const LEASE: Duration = Duration::from_millis(400);

fn main() -> Outcome<()> {
    durable::run("crash", test())
}

async fn test() -> Outcome<()> {
    let rounds = number("CRASH_ROUNDS")?.unwrap_or(3);
    let (random, seed) = Random::from_environment("CRASH_SEED")?;
    println!("crash: {rounds} rounds, CRASH_SEED={seed}");
    for place in Place::all("crashes on Postgres")? {
        let told = on(&place, rounds, random.clone()).await;
        place.clear();
        let (seen, kills) = told?;
        println!("crash: {}: {seen} over {kills} kills; nothing was lost", place.name());
    }
    Ok(())
}

async fn on(place: &Place, rounds: u64, mut random: Random) -> Outcome<(check::Seen, u64)> {
    let (mut orders, mut seen) = (Orders::new(place, LEASE), check::Seen::default());
    let mut round = 0;
    while seen.goes_on(round, rounds)? {
        orders.reruns = 0;
        let mut server = Server::start(&orders).await?;
        let work = (0..STREAMS).map(|_| tokio::spawn(client::stream_on(server.url.clone(), random.next())));
        let work: Vec<_> = work.collect();
        let sends = (0..SENDERS).map(|_| tokio::spawn(client::send_on(server.url.clone(), random.next())));
        let sends: Vec<_> = sends.collect();
        tokio::time::sleep(Duration::from_millis(30 + random.below(400))).await;
        server.kill().await?;
        let mut readers: Vec<Reader> = Vec::new();
        for work in work {
            readers.extend(work.await??);
        }
        let mut done: Vec<Done> = Vec::new();
        for sent in sends {
            done.extend(sent.await??);
        }
        // Every other time what was lost is begun again.
        orders.reruns = u32::from(!round.is_multiple_of(2));
        let mut server = Server::start(&orders).await?;
        let readers = client::read_on(&server.url, readers).await?;
        nothing_stays_at_work(&server.url, LEASE).await?;
        server.kill().await?;
        let looked = with_store!(place, |builder| seen.round(builder.open().await?, readers, done).await);
        looked.map_err(|error| format!("round {round}: {error}"))?;
        round += 1;
    }
    Ok((seen, round))
}
