//! What the other replicas are told.
//!
//! A notification is no part of the transaction that it tells of: the server lets those that notify commit one after the
//! other, and so all writers would wait for each other's disk. It follows at once, in a transaction that writes nothing; if
//! it is lost, with the process or the connection, the others find out when they next look.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use sqlx::{Connection as _, PgConnection};
use tokio::{
    sync::mpsc::{self, error::TrySendError},
    time::{Instant, timeout},
};

use super::place::Place;
use crate::error::BoxError;

/// How many bytes a notification has at most: the server takes 7,999.
const PAYLOAD: usize = 7_900;
/// How long an id may be to be named, in bytes. A task that is not named is looked for.
const NAMED: usize = 100;
/// How many transactions may wait to be told of.
const UNTOLD: usize = 1_024;

/// Whoever heard this looks for all that it waits for.
pub(super) const LOOK: &str = "look";
/// There is a holder, of this number.
const HELLO: &str = "hello";
/// A task of that holder was ended by another one.
const ENDED: &str = "ended";
/// That task has got to that revision.
const GROWN: &str = "grown";

/// One line of a notification.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News<'a> {
    Look,
    Hello(i64),
    Ended(i64),
    Grown { id: &'a str, revision: u64 },
}

impl<'a> News<'a> {
    /// What a replica of a later version may say beside, this one does not know.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            LOOK => Some(Self::Look),
            HELLO => rest.parse().ok().map(Self::Hello),
            ENDED => rest.parse().ok().map(Self::Ended),
            GROWN => {
                let (revision, id) = rest.split_once(' ')?;
                Some(Self::Grown { id, revision: revision.parse().ok()? })
            }
            _ => None,
        }
    }
}

/// What a write has done to a task.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) id: Arc<str>,
    pub(super) revision: i64,
    /// The holder that it was taken from by its end.
    pub(super) ended: Option<i64>,
}

/// Where changes go that others are to be told of.
#[derive(Debug)]
pub(super) struct Told {
    changes: mpsc::Sender<Vec<Change>>,
    /// False if this is the only replica, which need not tell anybody.
    has_others: AtomicBool,
    /// How often one said that it is there.
    hellos: AtomicU64,
    /// True if there was more to tell than could be.
    has_missed: AtomicBool,
}

impl Told {
    /// Tells until the last one who has something to tell is gone.
    pub(super) fn start(place: Arc<Place>, holder: i64) -> Arc<Self> {
        let (changes, untold) = mpsc::channel(UNTOLD);
        let told = Arc::new(Self {
            changes,
            // Until it was looked.
            has_others: AtomicBool::new(true),
            hellos: AtomicU64::new(0),
            has_missed: AtomicBool::new(false),
        });
        tokio::spawn(tell(place, holder, untold, Arc::downgrade(&told)));
        told
    }

    pub(super) fn tell(&self, changes: Vec<Change>) {
        if !changes.is_empty()
            && self.has_others()
            && let Err(TrySendError::Full(_)) = self.changes.try_send(changes)
        {
            self.has_missed.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn has_others(&self) -> bool {
        self.has_others.load(Ordering::Relaxed)
    }

    pub(super) fn hellos(&self) -> u64 {
        self.hellos.load(Ordering::Acquire)
    }

    /// There is one, or may be.
    pub(super) fn heard_hello(&self) {
        self.hellos.fetch_add(1, Ordering::AcqRel);
        self.has_others.store(true, Ordering::Relaxed);
    }

    /// What was found after so many hellos; whoever said one since then may not have been among them.
    pub(super) fn found_others(&self, are_there: bool, hellos: u64) {
        self.has_others.store(are_there, Ordering::Relaxed);
        if self.hellos() != hellos {
            self.has_others.store(true, Ordering::Relaxed);
        }
    }
}

async fn tell(place: Arc<Place>, holder: i64, mut untold: mpsc::Receiver<Vec<Change>>, told: std::sync::Weak<Told>) {
    let (mut connection, mut gathered, mut has_missed) = (None, Vec::new(), false);
    while untold.recv_many(&mut gathered, UNTOLD).await > 0 {
        has_missed |= told.upgrade().is_some_and(|told| told.has_missed.swap(false, Ordering::Relaxed));
        let changes = gathered.drain(..).flatten();
        let payloads = if has_missed { vec![LOOK.to_owned()] } else { payloads(changes, holder) };
        has_missed = match timeout(place.patience, send(&place, &mut connection, &payloads)).await {
            Ok(Ok(())) => false,
            failed => {
                tracing::debug!(?failed, "other replicas were not told of a change and will see it when they look");
                connection = None;
                true
            }
        };
    }
    if let Some(connection) = connection {
        let _ = connection.close().await;
    }
}

async fn send(place: &Place, connection: &mut Option<PgConnection>, payloads: &[String]) -> Result<(), BoxError> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(place.connect(Instant::now() + place.patience).await?.0),
    };
    let query = sqlx::query("SELECT pg_notify($1, g.payload) FROM unnest($2::text[]) AS g (payload)");
    query.bind(place.channel()).bind(payloads).execute(connection).await?;
    Ok(())
}

/// The latest of each task, in as few notifications as it takes.
fn payloads(changes: impl Iterator<Item = Change>, holder: i64) -> Vec<String> {
    let (mut latest, mut ended, mut has_unnamed) = (HashMap::new(), Vec::new(), false);
    for Change { id, revision, ended: from } in changes {
        ended.extend(from.filter(|from| *from != holder && !ended.contains(from)));
        if id.len() <= NAMED && id.bytes().all(|byte| byte.is_ascii_graphic()) {
            let known = latest.entry(id).or_insert(revision);
            *known = revision.max(*known);
        } else {
            has_unnamed = true;
        }
    }
    let lines = has_unnamed.then(|| LOOK.to_owned()).into_iter();
    let lines = lines.chain(ended.into_iter().map(|holder| format!("{ENDED} {holder}")));
    let lines = lines.chain(latest.into_iter().map(|(id, revision)| format!("{GROWN} {revision} {id}")));
    let mut payloads = vec![String::new()];
    for line in lines {
        if payloads.last().is_some_and(|last| last.len() + line.len() >= PAYLOAD) {
            payloads.push(String::new());
        }
        if let Some(last) = payloads.last_mut() {
            let _ = writeln!(last, "{line}");
        }
    }
    payloads
}

/// Makes a holder, of whom all others hear in the same moment.
pub(super) async fn hello(connection: &mut PgConnection, place: &Place) -> Result<i64, sqlx::Error> {
    let sql = "WITH made AS (INSERT INTO holders (beat) VALUES (0) RETURNING id) \
         SELECT id, pg_notify($1, $2 || ' ' || id)::text FROM made";
    let (holder, _): (i64, Option<String>) =
        sqlx::query_as(sql).bind(place.channel()).bind(HELLO).fetch_one(connection).await?;
    Ok(holder)
}

/// The holder is alive. It may be news that it is.
pub(super) async fn beat(connection: &mut PgConnection, place: &Place, holder: i64) -> Result<(), sqlx::Error> {
    let sql = "WITH beat AS (INSERT INTO holders (id, beat) VALUES ($3, 1) \
         ON CONFLICT (id) DO UPDATE SET beat = greatest(holders.beat, 0) + 1 RETURNING id) \
         SELECT pg_notify($1, $2 || ' ' || id) FROM beat";
    sqlx::query(sql).bind(place.channel()).bind(HELLO).bind(holder).execute(connection).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(id: &str, revision: i64, ended: Option<i64>) -> Change {
        Change { id: id.into(), revision, ended }
    }

    fn news(payloads: &[String]) -> Vec<News<'_>> {
        payloads.iter().flat_map(|payload| payload.lines()).map(|line| News::read(line).unwrap()).collect()
    }

    #[test]
    fn what_is_told_is_read_again() {
        let told = payloads(
            [change("a", 3, None), change("urn:b:1", 7, Some(5)), change("a", 2, None), change("c", 1, Some(9))]
                .into_iter(),
            9,
        );
        let mut news = news(&told);
        news.sort_by_key(|news| format!("{news:?}"));
        let a = News::Grown { id: "a", revision: 3 };
        let b = News::Grown { id: "urn:b:1", revision: 7 };
        assert_eq!(news, [News::Ended(5), a, News::Grown { id: "c", revision: 1 }, b]);
        assert_eq!(News::read("hello 7"), Some(News::Hello(7)));
        for unknown in ["", "hello", "hello x", "grown", "grown 1", "grown x a", "sung 1"] {
            assert_eq!(News::read(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn ids_that_fit_no_line_are_looked_for() {
        for id in ["a b", "a\nb", "a\0", "ä", "", &"x".repeat(NAMED + 1)] {
            let told = payloads([change(id, 1, None)].into_iter(), 1);
            assert_eq!(news(&told).len(), 1, "{id:?}");
            let expected = if id.is_empty() { News::Grown { id: "", revision: 1 } } else { News::Look };
            assert_eq!(news(&told), [expected], "{id:?}");
        }
    }

    #[test]
    fn a_notification_is_no_longer_than_it_may_be() {
        let changes = || (0..1_000).map(|n| change(&format!("{n:0>width$}", width = NAMED), i64::MAX, None));
        let told = payloads(changes(), 1);
        assert!(told.len() > 1 && told.iter().all(|payload| payload.len() < 8_000));
        assert_eq!(news(&told).len(), 1_000);
    }

    #[tokio::test]
    async fn whoever_says_hello_while_it_is_looked_is_not_overlooked() {
        let place = Place::new("postgres://nobody@127.0.0.1:1/none", "a2a".into(), std::time::Duration::ZERO, false);
        let told = Told::start(Arc::new(place.unwrap()), 1);
        assert!(told.has_others());
        let before = told.hellos();
        told.found_others(false, before);
        assert!(!told.has_others());
        told.heard_hello();
        told.found_others(false, before);
        assert!(told.has_others());
    }
}
