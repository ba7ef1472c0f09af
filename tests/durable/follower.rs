//! Somebody who reads a task to its end, wherever that is possible.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use a2a_layers::{
    task::LogEntry,
    types::{Event, Role},
};

use super::{
    Outcome, Random,
    check::shown_is_kept,
    client::{Connection, Events, Said, is_at_rest, is_retryable, state, text_of_artifact, text_of_task},
    fleet::Fleet,
};

/// How long a task may take to its end, whatever happens.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait before another replica is tried.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) id: String,
    /// The number and the content of each event, in the order in which they came.
    pub(crate) events: Vec<(u64, Value)>,
    /// How often it went on after it was cut off.
    pub(crate) cuts: usize,
    /// True if the task was over before the last events were read, so that it had to be got instead.
    pub(crate) was_late: bool,
    /// Where in them the current turn begins.
    turn: usize,
    /// What the events say so far.
    text: String,
}

impl Follower {
    pub(crate) fn of(id: impl Into<String>) -> Self {
        Self { id: id.into(), events: Vec::new(), cuts: 0, was_late: false, turn: 0, text: String::new() }
    }

    /// Sends a message as a stream, which begins with the task; `None` if it was cut before.
    pub(crate) async fn send(url: &str, params: Value) -> Outcome<Option<(Self, Events)>> {
        let Ok(mut connection) = Connection::to(url).await else { return Ok(None) };
        let Ok(mut events) = connection.events("SendStreamingMessage", params, None).await else { return Ok(None) };
        match events.next().await? {
            Said::Event(number, event) => {
                let mut follower = Self::of(event["task"]["id"].as_str().ok_or("a stream begins with its task")?);
                follower.hear(number, event);
                Ok(Some((follower, events)))
            }
            // It was stopped just now, or has no store.
            Said::Error(error) if is_retryable(&error) => Ok(None),
            Said::Error(error) => Err(format!("a send is refused: {error}").into()),
            Said::End | Said::Cut => Ok(None),
        }
    }

    fn last(&self) -> u64 {
        self.events.last().map_or(0, |(number, _)| *number)
    }

    fn hear(&mut self, number: u64, event: Value) {
        match &event["task"] {
            Value::Null => self.text += &text_of_artifact(&event["artifactUpdate"]["artifact"]),
            // The beginning, or the beginning of another try.
            task => self.text = text_of_task(task),
        }
        self.events.push((number, event));
    }

    /// The task is given another message: what came so far is no longer its last word.
    pub(crate) fn next_turn(&mut self) {
        self.turn = self.events.len();
    }

    fn is_at_rest(&self) -> bool {
        self.events[self.turn..].iter().rev().find_map(|(_, event)| state(event)).is_some_and(is_at_rest)
    }

    /// Reads a stream until it ends, is cut, or so many more events have come.
    pub(crate) async fn read(&mut self, events: &mut Events, at_most: u64) -> Outcome<()> {
        for _ in 0..at_most {
            match events.next().await? {
                Said::Event(number, event) => self.hear(number, event),
                Said::Error(error) if is_retryable(&error) => break,
                Said::Error(error) => return Err(format!("{}: {error}", self.id).into()),
                Said::End | Said::Cut => break,
            }
            if self.is_at_rest() {
                break;
            }
        }
        Ok(())
    }

    /// Reads on to the end, on one replica after the other, and leaves each after a while.
    pub(crate) async fn read_on(mut self, fleet: &Fleet, mut replica: usize, random: &mut Random) -> Outcome<Self> {
        let until = Instant::now() + PATIENCE;
        while !self.is_at_rest() {
            if Instant::now() > until {
                return Err(format!("{} is not read to its end: {:?}", self.id, self.events.last()).into());
            }
            // Some are cut off by their network, others only by a replica that goes down. Whoever has read much stays for
            // longer, since to come back costs the more.
            let some = 1 + random.below(40) + self.events.len() as u64;
            let at_most = if random.below(2) == 0 { some } else { u64::MAX };
            match self.subscribe(&fleet.url(replica), at_most).await? {
                Outlook::More => self.cuts += usize::from(!self.is_at_rest()),
                Outlook::Down => sleep(PAUSE).await,
                Outlook::Over => break,
            }
            replica += 1;
        }
        Ok(self)
    }

    /// It has the whole log, but for what it was too late for.
    pub(crate) fn has_all(&self, log: &[LogEntry]) -> Outcome<()> {
        shown_is_kept(&self.events, log)?;
        let is_shown = |entry: &&LogEntry| !matches!(entry.event(), Event::Message(said) if said.role == Role::User);
        let (seen, shown) = (self.events.len(), log.iter().filter(is_shown).count());
        if seen == shown || self.was_late {
            Ok(())
        } else {
            Err(format!("somebody saw {seen} events of {shown} and thought that was all").into())
        }
    }

    async fn subscribe(&mut self, url: &str, at_most: u64) -> Outcome<Outlook> {
        let Ok(mut connection) = Connection::to(url).await else { return Ok(Outlook::Down) };
        let (last, ask) = (self.last(), json!({ "id": self.id }));
        let Ok(mut events) = connection.events("SubscribeToTask", ask, Some(last)).await else {
            return Ok(Outlook::Down);
        };
        match events.next().await? {
            // With a cursor the stream begins with the task as of the cursor, under the cursor's number.
            Said::Event(number, event) if last > 0 => {
                let text = text_of_task(&event["task"]);
                if number != last || text != self.text {
                    let (id, seen) = (&self.id, &self.text);
                    return Err(
                        format!("{id}: after {last} a stream begins at {number} with {text}, not {seen}").into()
                    );
                }
            }
            Said::Event(number, event) => self.hear(number, event),
            Said::Error(error) if error["code"] == -32004 => {
                self.was_late = true;
                return Ok(Outlook::Over);
            }
            Said::Error(error) if is_retryable(&error) => return Ok(Outlook::Down),
            Said::Error(error) => return Err(format!("{}: {error}", self.id).into()),
            Said::End | Said::Cut => return Ok(Outlook::Down),
        }
        self.read(&mut events, at_most).await?;
        Ok(Outlook::More)
    }
}

/// What came of a subscription.
enum Outlook {
    /// Something was read.
    More,
    /// The replica is not there.
    Down,
    /// The task is.
    Over,
}
