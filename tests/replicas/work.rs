//! What clients do in a round.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::durable::{
    Outcome, Random,
    client::{Connection, is_at_rest, message, result, text_of_task},
    fleet::Fleet,
    follower::Follower,
};

/// How long an agent may go on whose task was canceled on another replica.
const STOPS_WITHIN: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Job {
    /// A stream from the replica that goes down, followed on the others as well.
    Stream,
    /// A send that does not wait, to any replica; then it is followed on another and asked for on the third.
    Immediate,
    /// Sends that wait, one after the other.
    Wait,
    /// A stream, canceled on another replica.
    Cancel,
    /// Several messages to one task, each to another replica.
    Conversation,
}

impl Job {
    pub(crate) fn of_a_round() -> impl Iterator<Item = Self> {
        [Self::Stream, Self::Stream, Self::Stream, Self::Immediate, Self::Immediate].into_iter().chain([
            Self::Wait,
            Self::Wait,
            Self::Cancel,
            Self::Cancel,
            Self::Conversation,
            Self::Conversation,
        ])
    }
}

/// What somebody knows of a task.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) id: String,
    /// Which replica had its last message.
    pub(crate) replica: usize,
    pub(crate) followers: Vec<Follower>,
    /// An answer that says how it ended.
    pub(crate) answer: Option<Value>,
    /// True if a cancel was acknowledged.
    pub(crate) canceled: bool,
    /// What it has to say if nobody disturbs it.
    pub(crate) text: String,
}

fn words(count: u64) -> String {
    (0..count).map(|word| format!("{word} ")).collect()
}

pub(crate) async fn work(job: Job, fleet: Arc<Fleet>, victim: usize, mut random: Random) -> Outcome<Vec<Known>> {
    let known = match job {
        Job::Stream => stream(&fleet, victim, &mut random).await?,
        Job::Immediate => immediate(&fleet, &mut random).await?,
        Job::Wait => return wait(&fleet, victim, &mut random).await,
        Job::Cancel => cancel(&fleet, &mut random).await?,
        Job::Conversation => conversation(&fleet, victim, &mut random).await?,
    };
    Ok(known.into_iter().collect())
}

async fn stream(fleet: &Fleet, victim: usize, random: &mut Random) -> Outcome<Option<Known>> {
    let (count, pause) = (50 + random.below(150), 1 + random.below(8));
    let sent = Follower::send(&fleet.url(victim), message(format!("say {count} {pause}"))).await?;
    let Some((mut first, mut events)) = sent else { return Ok(None) };
    let others = [1, 2].map(|step| {
        let (follower, mut random) = (Follower::of(&*first.id), Random::new(random.next()));
        async move { follower.read_on(fleet, victim + step, &mut random).await }
    });
    let until_cut = if random.below(2) == 0 { random.below(count) } else { u64::MAX };
    let sender = async {
        first.read(&mut events, until_cut).await?;
        drop(events);
        first.read_on(fleet, victim + 1, random).await
    };
    let [second, third] = others;
    let (first, second, third) = tokio::try_join!(sender, second, third)?;
    Ok(Some(Known {
        id: first.id.clone(),
        replica: victim,
        followers: vec![first, second, third],
        answer: None,
        canceled: false,
        text: words(count),
    }))
}

async fn immediate(fleet: &Fleet, random: &mut Random) -> Outcome<Option<Known>> {
    let (replica, count, pause) = (random.below(3) as usize, random.below(60), random.below(8));
    let mut params = message(format!("say {count} {pause}"));
    params["configuration"] = json!({ "returnImmediately": true });
    let Ok(task) = result(&fleet.url(replica), "SendMessage", params).await else { return Ok(None) };
    let id = task["task"]["id"].as_str().ok_or("no task")?.to_owned();
    let follower = Follower::of(&*id).read_on(fleet, replica + 1, random).await?;
    let answer = get(fleet, replica + 2, &id).await?;
    if !is_at_rest(answer["status"]["state"].as_str().unwrap_or_default()) {
        return Err(format!("a stream showed the end of {id}, and then a get says {}", answer["status"]).into());
    }
    let (followers, answer, text) = (vec![follower], Some(answer), words(count));
    Ok(Some(Known { id, replica, followers, answer, canceled: false, text }))
}

/// From whichever replica is there, this one first.
async fn get(fleet: &Fleet, first: usize, id: &str) -> Outcome<Value> {
    let mut last = None;
    for replica in first..first + 3 {
        match result(&fleet.url(replica), "GetTask", json!({ "id": id })).await {
            Ok(task) => return Ok(task),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| "no replica".into()))
}

async fn wait(fleet: &Fleet, victim: usize, random: &mut Random) -> Outcome<Vec<Known>> {
    let (replica, mut known) = (random.below(3) as usize, Vec::new());
    for _ in 0..3 {
        let count = random.below(30);
        let sent =
            result(&fleet.url(replica), "SendMessage", message(format!("say {count} {}", random.below(8)))).await;
        let mut answer = match sent {
            Ok(answer) => answer,
            // Who was cut off from an answer knows of no task.
            Err(_) if replica == victim => break,
            Err(error) => return Err(format!("a send to a replica that is there fails: {error}").into()),
        };
        let (answer, text) = (answer["task"].take(), words(count));
        let id = answer["id"].as_str().ok_or("no task")?.to_owned();
        let followers = Vec::new();
        known.push(Known { id, replica, followers, answer: Some(answer), canceled: false, text });
    }
    Ok(known)
}

async fn cancel(fleet: &Fleet, random: &mut Random) -> Outcome<Option<Known>> {
    let (replica, pause) = (random.below(3) as usize, random.below(5));
    // Some three seconds of work. It may be that nobody hears of the task, and then it goes on to its end.
    let count = 3_000_u64.checked_div(pause).unwrap_or(20_000);
    let sent = Follower::send(&fleet.url(replica), message(format!("say {count} {pause}"))).await?;
    let Some((mut first, mut events)) = sent else { return Ok(None) };
    let id = first.id.clone();
    let (mut second, pause) = (Random::new(random.next()), Duration::from_millis(20 + random.below(200)));
    let second = Follower::of(&*id).read_on(fleet, replica + 1, &mut second);
    let sender = async {
        first.read(&mut events, u64::MAX).await?;
        first.read_on(fleet, replica + 2, random).await
    };
    let canceling = async {
        sleep(pause).await;
        let canceled = cancel_on(fleet, [replica + 1, replica + 2, replica], &id).await?;
        if canceled {
            has_stopped(&fleet.url(replica), &id).await?;
        }
        Outcome::Ok(canceled)
    };
    let (first, second, canceled) = tokio::try_join!(sender, second, canceling)?;
    let followers = vec![first, second];
    Ok(Some(Known { id, replica, followers, answer: None, canceled, text: words(count) }))
}

/// Whether it was canceled by this: its replica may have been gone before.
async fn cancel_on(fleet: &Fleet, replicas: [usize; 3], id: &str) -> Outcome<bool> {
    let mut may_be_done = false;
    for replica in replicas {
        let Ok(mut connection) = Connection::to(&fleet.url(replica)).await else { continue };
        let Ok(answer) = connection.answer("CancelTask", json!({ "id": id })).await else {
            // It may have gone after it has done so, or while the database does so still.
            may_be_done = true;
            continue;
        };
        return match (answer["result"]["status"]["state"].as_str(), answer["error"]["code"].as_i64()) {
            (Some("TASK_STATE_CANCELED"), _) => Ok(true),
            (_, Some(-32002)) if may_be_done => {
                Ok(get(fleet, replica, id).await?["status"]["state"] == "TASK_STATE_CANCELED")
            }
            (_, Some(-32002)) => Ok(false),
            _ => Err(format!("{id}: a cancel is answered with {answer}").into()),
        };
    }
    Err(format!("{id}: no replica takes a cancel").into())
}

/// The replica's agent is no longer at work on the task; one that is gone has no agent.
async fn has_stopped(url: &str, id: &str) -> Outcome<()> {
    let until = Instant::now() + STOPS_WITHIN;
    while let Ok(census) = result(url, "SendMessage", message("census")).await {
        if !text_of_task(&census["task"]).contains(id) {
            break;
        }
        if Instant::now() > until {
            return Err(format!("{id} was canceled, and its agent goes on").into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn conversation(fleet: &Fleet, victim: usize, random: &mut Random) -> Outcome<Option<Known>> {
    let (mut replica, mut count) = (random.below(3) as usize, 1 + random.below(10));
    let sent = Follower::send(&fleet.url(replica), message(format!("ask {count} {}", random.below(8)))).await?;
    let Some((mut follower, mut events)) = sent else { return Ok(None) };
    let id = follower.id.clone();
    follower.read(&mut events, u64::MAX).await?;
    let mut follower = follower.read_on(fleet, replica + 1, random).await?;
    let mut text = words(count);
    for turn in 1..=3 {
        let task = get(fleet, replica + 1, &id).await?;
        if task["status"]["state"] != "TASK_STATE_INPUT_REQUIRED" {
            break;
        }
        replica = (replica + 1) % 3;
        count = 1 + random.below(20);
        let kind = if turn == 3 { "say" } else { "ask" };
        let mut params = message(format!("{kind} {count} {}", random.below(8)));
        params["message"]["taskId"] = json!(id);
        let url = fleet.url(replica);
        let send = result(&url, "SendMessage", params);
        follower.next_turn();
        if replica == victim {
            let turns = |task: &Value| task["history"].as_array().map_or(0, Vec::len);
            if send.await.is_err() && turns(&get(fleet, replica + 1, &id).await?) == turns(&task) {
                // It went down before it took the message, which anybody may send again.
                break;
            }
            follower = follower.read_on(fleet, replica + 1, random).await?;
        } else {
            // Those who look on may come before the message, or after it.
            follower = tokio::try_join!(send, follower.read_on(fleet, replica + 1, random))
                .map_err(|error| format!("{id}: a message to a replica that is there fails: {error}"))?
                .1;
        }
        text += &words(count);
    }
    let followers = vec![follower];
    Ok(Some(Known { id, replica, followers, answer: None, canceled: false, text }))
}
