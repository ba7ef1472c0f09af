//! Three server processes on the same tasks, of which one goes down in the middle of its work in each round.
//!
//! ```text
//! cargo test --test replicas                         three rounds
//! REPLICA_ROUNDS=100 cargo test --test replicas      as many as one likes
//! REPLICA_SEED=7 ...                                 the same work again, though never the same moments
//! A2A_STORES=postgres ...                            not on SQLite as well; A2A_POSTGRES says which one
//! ```
//!
//! In each round several clients send work to one replica, as streams, with `returnImmediately` and as sends that wait;
//! others follow the same tasks on the other two, are cut off and go on elsewhere with `Last-Event-ID`; some tasks are
//! canceled on another replica than theirs; conversations go on on another replica with each message. Meanwhile one
//! replica is killed, or told to stop. In the end
//!
//! - everyone who followed a task has its whole log, each event once and in order, wherever they read it;
//! - what a stream begins with after a cursor is what its reader has seen so far;
//! - no task stays at work, and lost runs end in time, as failed with a reason, or as if nothing had happened if they
//!   may be begun again;
//! - only tasks of the replica that went down have failed;
//! - a task that was canceled stays so, and its agent has stopped;
//! - all replicas give and list the same tasks.

mod check;
#[path = "../durable/mod.rs"]
#[allow(dead_code, reason = "others use the rest of it")]
mod durable;
mod work;

use std::{sync::Arc, time::Duration};

use a2a_layers::{task::TaskStore, types::Timestamp};
use tokio::time::sleep;

use self::{
    check::{Round, Seen},
    durable::{
        Outcome, Random,
        check::nothing_stays_at_work,
        fleet::Fleet,
        number,
        place::{Place, with_store},
        server::Orders,
    },
    work::{Job, Known},
};

const REPLICAS: usize = 3;
/// Long enough for a busy machine to renew it, and short enough to wait for.
const LEASE: Duration = Duration::from_secs(2);
/// After so many rounds all replicas are new ones, with the other setting for lost runs.
const ROUNDS_OF_A_FLEET: u64 = 10;

fn main() -> Outcome<()> {
    durable::run("replicas", test())
}

async fn test() -> Outcome<()> {
    let rounds = number("REPLICA_ROUNDS")?.unwrap_or(3);
    let (random, seed) = Random::from_environment("REPLICA_SEED")?;
    println!("replicas: {rounds} rounds, REPLICA_SEED={seed}");
    for place in Place::all("replicas on Postgres")? {
        let told = with_store!(&place, |builder| on(&place, builder.open().await?, rounds, random.clone()).await);
        place.clear();
        let (seen, played) = told?;
        println!("replicas: {}: {seen} over {played} rounds; nothing was lost", place.name());
    }
    Ok(())
}

async fn on<T: TaskStore>(place: &Place, store: T, rounds: u64, mut random: Random) -> Outcome<(Seen, u64)> {
    let mut orders = Orders::new(place, LEASE);
    let mut fleet = Arc::new(Fleet::start(&vec![orders.clone(); REPLICAS]).await?);
    let mut seen = Seen::default();
    let fleets = ROUNDS_OF_A_FLEET.min(rounds.div_ceil(2)).max(1);
    let mut round = 0;
    while seen.goes_on(round, rounds)? {
        if round > 0 && round.is_multiple_of(fleets) {
            orders.reruns ^= 1;
            fleet = Arc::new(Fleet::start(&vec![orders.clone(); REPLICAS]).await?);
        }
        let victim = round as usize % REPLICAS;
        let played = play(&fleet, &orders, victim, &mut random).await;
        let failed = |error| format!("round {round}, in which {victim} went down: {error}");
        let (known, down) = played.map_err(failed)?;
        let over = Round { fleet: &fleet, victim, down, reruns: orders.reruns > 0 };
        seen.round(&store, over, known).await.map_err(failed)?;
        round += 1;
    }
    Ok((seen, round))
}

/// One round: what everyone knows after it, and when the replica went down.
async fn play(
    fleet: &Arc<Fleet>,
    orders: &Orders,
    victim: usize,
    random: &mut Random,
) -> Outcome<(Vec<Known>, Timestamp)> {
    let jobs = Job::of_a_round().map(|job| {
        let (fleet, random) = (Arc::clone(fleet), Random::new(random.next()));
        tokio::spawn(work::work(job, fleet, victim, random))
    });
    let jobs: Vec<_> = jobs.collect();
    sleep(Duration::from_millis(50 + random.below(450))).await;
    let down = Timestamp::now();
    if random.below(3) == 0 {
        fleet.stop(victim).await?;
    } else {
        fleet.kill(victim).await?;
    }
    // Either the one that comes back finds what was lost, or another one does.
    let comes_back_at_once = random.below(2) == 0;
    if comes_back_at_once {
        fleet.start_again(victim, orders).await?;
    }
    let mut known = Vec::new();
    for job in jobs {
        known.extend(job.await??);
    }
    nothing_stays_at_work(&fleet.url(victim + 1), LEASE).await?;
    if !comes_back_at_once {
        fleet.start_again(victim, orders).await?;
    }
    Ok((known, down))
}
