//! Counts what was done and what was refused.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::{HASTY, PATIENT, durable::Outcome};

/// What clients do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Send,
    Stream,
    Get,
    List,
    Rest,
    Grpc,
}

const KINDS: [Kind; 6] = [Kind::Send, Kind::Stream, Kind::Get, Kind::List, Kind::Rest, Kind::Grpc];

/// How long to wait before the counts are looked at again.
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    done: u64,
    refused: u64,
    /// When the last call began that was done.
    last: Option<Instant>,
    /// The longest time that one took.
    longest: Duration,
}

/// For each server and kind.
#[derive(Debug, Default)]
pub(crate) struct Tallies(Mutex<[[Count; KINDS.len()]; 2]>);

impl Tallies {
    fn change(&self, server: usize, kind: Kind, change: impl FnOnce(&mut Count)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)[server][kind as usize]);
    }

    fn count(&self, server: usize, kind: Kind) -> Count {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[server][kind as usize]
    }

    /// A call that began then is done, or was refused in due form.
    pub(crate) fn note(&self, server: usize, kind: Kind, began: Instant, done: bool) {
        self.change(server, kind, |count| {
            count.longest = count.longest.max(began.elapsed());
            if done {
                count.done += 1;
                count.last = count.last.max(Some(began));
            } else {
                count.refused += 1;
            }
        });
    }

    /// Waits until more than this was refused there.
    pub(crate) async fn has_refused(&self, server: usize, before: u64, within: Duration) -> Outcome<()> {
        let end = Instant::now() + within;
        while self.refused(server) == before {
            if Instant::now() > end {
                return Err(format!("server {server} refuses nothing; {self}").into());
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    pub(crate) fn refused(&self, server: usize) -> u64 {
        KINDS.iter().map(|kind| self.count(server, *kind).refused).sum()
    }

    /// Waits until a call of each kind was done on each server that had begun after this moment, and says how long
    /// that took.
    pub(crate) async fn recovered(&self, end: Instant, within: Duration) -> Outcome<Duration> {
        loop {
            let waits = [PATIENT, HASTY].into_iter().flat_map(|server| KINDS.map(|kind| (server, kind)));
            let mut waits =
                waits.filter(|(server, kind)| self.count(*server, *kind).last.is_none_or(|last| last < end));
            let Some((server, kind)) = waits.next() else { return Ok(end.elapsed()) };
            if end.elapsed() > within {
                return Err(format!("server {server} does no {kind:?} again; {self}").into());
            }
            sleep(PAUSE).await;
        }
    }
}

impl fmt::Display for Tallies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (server, name) in [(PATIENT, "patient"), (HASTY, "hasty")] {
            let counts = KINDS.map(|kind| self.count(server, kind));
            let done: u64 = counts.iter().map(|count| count.done).sum();
            let longest = counts.iter().map(|count| count.longest).max().unwrap_or_default();
            let refused = self.refused(server);
            let comma = if server == PATIENT { ", " } else { "" };
            write!(f, "{name}: {done} calls done and {refused} refused, {longest:.1?} at most{comma}")?;
        }
        Ok(())
    }
}
