//! Stores over a database, beside the same transactions given to the database by hand.

use std::{
    future::Future,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, TaskStore, fold, stored},
    types::{
        Artifact, Event, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
    },
};

use crate::{
    Plan,
    table::{Line, Reach, median, short},
};

/// How many tasks are worked on at once; by hand, how many share a transaction.
pub(crate) const AT_ONCE: usize = 32;
/// What a store is to reach of what is done by hand.
const REACH: Reach = Reach::AtLeast(0.7);

/// Does by hand what a store does.
pub(crate) trait ByHand {
    /// Writes whole tasks, as many at once as there are.
    fn tasks(&mut self, tasks: &[Whole]) -> impl Future<Output = ()>;

    /// Begins these tasks, and gives the numbers of their rows.
    fn begin(&mut self, ids: &[String]) -> impl Future<Output = Vec<i64>>;

    /// Appends an event to each of these, which are at that revision.
    fn events(&mut self, rows: &[i64], revision: i64, events: &[String]) -> impl Future<Output = ()>;
}

/// A task of four events, from the message to its end.
pub(crate) struct Whole {
    pub(crate) id: String,
    pub(crate) events: String,
    pub(crate) body: String,
}

pub(crate) fn begun(id: &str) -> Task {
    let mut task = Task::new(id, id, TaskState::Submitted);
    task.history.push(Arc::new(Message::user("What is the weather like in the mountains?")));
    task
}

fn status(id: &str, state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent::new(id.into(), id.into(), TaskStatus::new(state)))
}

fn word(id: &str) -> Event {
    let artifact = Artifact::new("artifact-1", vec![Part::text("a few words ")]);
    let mut update = TaskArtifactUpdateEvent::new(id.into(), id.into(), artifact);
    update.append = true;
    Event::ArtifactUpdate(update)
}

pub(crate) fn answer(id: &str) -> Vec<Event> {
    vec![status(id, TaskState::Working), word(id), status(id, TaskState::Completed)]
}

/// From the message to the end in one write, many at once. Gives the time of each.
async fn tasks_by_store<T: TaskStore>(store: &T, round: usize, tasks: usize) -> Vec<Duration> {
    let workers = (0..AT_ONCE).map(|worker| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut times = Vec::new();
            for n in 0..tasks / AT_ONCE {
                let (id, begin) = (format!("{round}-{worker}-{n}"), Instant::now());
                let owner = Owner::anonymous();
                let made = store.create_with(&owner, Arc::new(begun(&id)), &mut answer(&id)).await.expect("a task");
                assert_eq!(made.revision, 4, "a whole task");
                times.push(begin.elapsed());
            }
            times
        })
    });
    let mut times = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        times.extend(worker.await.expect("a worker"));
    }
    times
}

async fn tasks_by_hand(hand: &mut impl ByHand, round: usize, tasks: usize) {
    for n in 0..tasks / AT_ONCE {
        let whole = |worker| {
            let id = format!("hand-{round}-{worker}-{n}");
            let mut task = begun(&id);
            let mut events = vec![Event::Task(Arc::new(task.clone()))];
            events.extend(answer(&id));
            for event in &events[1..] {
                fold(&mut task, event).expect("a task that goes on");
            }
            Whole { events: stored::write_events(&id, &id, &events), body: stored::write_task(&task), id }
        };
        hand.tasks(&(0..AT_ONCE).map(whole).collect::<Vec<_>>()).await;
    }
}

/// One event after the other, on many tasks at once.
async fn events_by_store<T: TaskStore>(store: &T, round: usize, events: usize) -> Vec<Duration> {
    let workers = (0..AT_ONCE).map(|worker| {
        let store = store.clone();
        tokio::spawn(async move {
            let (mut times, id, owner) = (Vec::new(), format!("{round}-{worker}"), Owner::anonymous());
            store.create(&owner, Arc::new(begun(&id))).await.expect("a task");
            for revision in 1..=(events / AT_ONCE) as u64 {
                let begin = Instant::now();
                store.append_one(&owner, &id, revision, word(&id)).await.expect("an event");
                times.push(begin.elapsed());
            }
            times
        })
    });
    let mut times = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        times.extend(worker.await.expect("a worker"));
    }
    times
}

async fn events_by_hand(hand: &mut impl ByHand, round: usize, events: usize) {
    let ids: Vec<_> = (0..AT_ONCE).map(|worker| format!("hand-{round}-{worker}")).collect();
    let rows = hand.begin(&ids).await;
    for revision in 1..=(events / AT_ONCE) as i64 {
        let texts: Vec<_> = ids.iter().map(|id| stored::write_events(id, id, &[word(id)])).collect();
        hand.events(&rows, revision, &texts).await;
    }
}

/// Whole tasks, and then single events: per second by the store, of that by hand.
pub(crate) async fn writes<T: TaskStore>(
    plan: &Plan,
    name: &str,
    store: &T,
    hand: &mut impl ByHand,
) -> io::Result<Vec<Line>> {
    let count = if plan.quick { 320 } else { 6_400 };
    let mut lines = Vec::new();
    for (what, is_tasks) in [("tasks", true), ("events", false)] {
        let (mut ratios, mut rates, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..plan.rounds {
            let number = 2 * round + usize::from(is_tasks);
            let begin = Instant::now();
            times.extend(match is_tasks {
                true => tasks_by_store(store, number, count).await,
                false => events_by_store(store, number, count).await,
            });
            let by_store = begin.elapsed();
            let begin = Instant::now();
            match is_tasks {
                true => tasks_by_hand(hand, number, count).await,
                false => events_by_hand(hand, number, count).await,
            }
            ratios.push(begin.elapsed().as_secs_f64() / by_store.as_secs_f64());
            rates.push(count as f64 / by_store.as_secs_f64());
        }
        times.sort();
        let p99 = times[times.len() * 99 / 100].as_secs_f64() * 1e3;
        let note = format!("{} {what}/s, p99 {} ms at {AT_ONCE} at once", short(median(&rates)), short(p99));
        lines.push(Line { work: format!("{name}: {what}"), reach: REACH, figures: ratios, note });
    }
    Ok(lines)
}

/// How many tasks there are to be listed.
pub(crate) const fn listed(plan: &Plan) -> i64 {
    if plan.quick { 20_000 } else { 1_000_000 }
}

/// A page far behind, to the first one.
pub(crate) async fn list<T: TaskStore>(plan: &Plan, name: &str, store: &T) -> io::Result<Vec<Line>> {
    let (tasks, owner) = (listed(plan), Owner::anonymous());
    let mut query = ListQuery::new(50);
    // Somewhere behind the middle.
    query.page_token = Some(format!("{:x}.{:x}", 1_700_000_000_000 + tasks / 3, 0));
    let (mut ratios, mut pages) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let mut times = Vec::new();
        for query in [&ListQuery::new(50), &query] {
            let begin = Instant::now();
            for _ in 0..20 {
                let page = store.list(&owner, query).await.expect("a page");
                assert_eq!((page.tasks.len(), page.total_size), (50, tasks.unsigned_abs()), "a full page");
            }
            times.push(begin.elapsed().as_secs_f64() / 20.0);
        }
        ratios.push(times[1] / times[0]);
        pages.push(times[0] * 1e6);
    }
    let note = format!("{} tasks, the first page of 50 in {} µs", short(tasks as f64), short(median(&pages)));
    Ok(vec![Line { work: format!("{name}: page n to page 1"), reach: Reach::AtMost(2.0), figures: ratios, note }])
}

/// The first of those that are listed, whole; the others are copies of it, of other moments.
pub(crate) async fn first_listed<T: TaskStore>(store: &T) {
    let owner = Owner::anonymous();
    store.create(&owner, Arc::new(begun("first"))).await.expect("a task");
    store.append(&owner, "first", 1, answer("first")).await.expect("an answer");
}
