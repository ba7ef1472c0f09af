//! Takes the database away from two servers that are at work, in every way there is, and gives it back.
//!
//! ```text
//! cargo test --all-features --test outage                        a second each
//! OUTAGE_SECONDS=10 cargo test --all-features --test outage      as long as one likes
//! OUTAGE=lock,pause ...                                          only these
//! A2A_STORES=postgres ...                                        not on SQLite as well
//! ```
//!
//! Both servers share the tasks. One waits for its database for 15 s, as is the default; the other gives up after 300 ms.
//! Clients send and wait, stream, get and list all the while, over JSON-RPC, HTTP+JSON and gRPC; some leave as soon as
//! they have sent. Then
//!
//! - whoever is refused is told so in the way of its binding, with the advice when to try again, and never otherwise;
//! - memory stays within bounds;
//! - all kinds of calls succeed again soon after the end, on the same processes;
//! - every stream is read to its end, on whichever server, each event once;
//! - no task stays at work. With the patient server none has failed either, unless its writes were refused outright.

mod cluster;
#[path = "../durable/mod.rs"]
#[allow(dead_code, reason = "others use the rest of it")]
mod durable;
mod fault;
mod load;
mod memory;
mod probe;
mod tally;

use std::{env, sync::Arc, time::Duration};

use a2a_layers::{owner::Owner, task::TaskStore, types::TaskState};
use tokio::time::{Instant, sleep};

use self::{
    cluster::Cluster,
    durable::{
        Outcome,
        check::{folds_into, nothing_stays_at_work},
        database,
        fleet::Fleet,
        number,
        place::{Place, with_store},
        server::Orders,
    },
    fault::Fault,
    load::{Known, Load},
    memory::Memory,
};

/// Shorter than most outages: who cannot say that it is alive is not gone.
const LEASE: Duration = Duration::from_secs(1);
/// The two servers.
const PATIENT: usize = 0;
const HASTY: usize = 1;
/// How long the hasty one waits.
const HASTE: Duration = Duration::from_millis(300);
/// How long the load goes on before and after.
const QUIET: Duration = Duration::from_millis(400);
/// How long after the end all must be well again.
const RECOVERS_WITHIN: Duration = Duration::from_secs(10);
/// How much memory a server may take beyond what it had, in KiB.
const MAX_GROWTH: u64 = 128 << 10;

fn main() -> Outcome<()> {
    durable::run("outage", test())
}

async fn test() -> Outcome<()> {
    let length = number("OUTAGE_SECONDS")?.map_or(Duration::from_secs(1), Duration::from_secs);
    let only = env::var("OUTAGE").ok();
    let is_wanted = |fault: &Fault| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == fault.name()));
    // It is stopped and killed, so it must be one that nobody else has.
    let mut cluster = None;
    let places = Place::all_with(|| match Cluster::start()? {
        Some(own) => Ok(Some(cluster.insert(own).url().to_owned())),
        None if database::url("outages of Postgres").is_some() => {
            println!("outage: Postgres is left out, as there are no programs to start one with that may be stopped");
            Ok(None)
        }
        // That was said.
        None => Ok(None),
    })?;
    for place in places {
        for fault in Fault::of(&place).into_iter().filter(is_wanted) {
            let told =
                with_store!(&place, |builder| play(&place, cluster.as_mut(), fault, length, builder.open().await?)
                    .await);
            let told = told.map_err(|error| format!("{}: {}: {error}", place.name(), fault.name()))?;
            println!("outage: {}: {}: {told}", place.name(), fault.name());
        }
        place.clear();
    }
    Ok(())
}

async fn play<T: TaskStore>(
    place: &Place,
    cluster: Option<&mut Cluster>,
    fault: Fault,
    length: Duration,
    store: T,
) -> Outcome<String> {
    let mut orders = vec![Orders::new(place, LEASE); 2];
    orders[HASTY].patience = HASTE;
    let fleet = Arc::new(Fleet::start(&orders).await?);
    let load = Load::start(&fleet);
    sleep(QUIET).await;
    let memory = [Memory::of(fleet.pid(PATIENT).await?)?, Memory::of(fleet.pid(HASTY).await?)?];
    fault.play(place, cluster, &fleet, &load.tallies, length).await?;
    let end = Instant::now();
    let recovered = load.tallies.recovered(end, RECOVERS_WITHIN).await?;
    sleep(QUIET).await;
    let (tallies, known) = load.stop().await?;
    let growth = memory.into_iter().map(Memory::growth).max().unwrap_or_default();
    if growth > MAX_GROWTH {
        return Err(format!("{growth} KiB more than before").into());
    }
    for server in [PATIENT, HASTY] {
        nothing_stays_at_work(&fleet.url(server), LEASE).await?;
    }
    let (mut failed, mut cut) = (0, 0);
    for task in &known {
        let reason = look(&store, task).await.map_err(|error| format!("task {}: {error}", task.id))?;
        if let Some(reason) = reason.as_ref().filter(|_| task.server == PATIENT && !fault.refuses_writes()) {
            return Err(format!("task {} has failed, though its server was patient: {reason}", task.id).into());
        }
        failed += usize::from(reason.is_some());
        cut += task.follower.as_ref().map_or(0, |follower| follower.cuts);
    }
    Ok(format!(
        "{} tasks, of which {failed} failed; {tallies}; {cut} streams cut and read on; well again after {recovered:?}; \
         {growth} KiB more memory",
        known.len(),
    ))
}

/// What was acknowledged is there, and whole. Gives back why it has failed, if it has.
async fn look<T: TaskStore>(store: &T, task: &Known) -> Outcome<Option<String>> {
    let owner = Owner::anonymous();
    let (log, snapshot) = (store.read(&owner, &task.id, 0, usize::MAX).await?, store.get(&owner, &task.id).await?);
    folds_into(&log, &snapshot.task, snapshot.revision)?;
    if let Some(follower) = &task.follower {
        follower.has_all(&log)?;
    }
    match snapshot.task.status.state {
        TaskState::Completed => Ok(None),
        TaskState::Failed => {
            let reason = snapshot.task.status.message.as_ref().map(|message| message.text()).unwrap_or_default();
            if reason.is_empty() { Err("it failed without a word".into()) } else { Ok(Some(reason)) }
        }
        state => Err(format!("it is {state}").into()),
    }
}
