//! Logs: numbers, conflicts, ends, and the task beside them.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Subject,
    make::{ann, appended, made, said, status, task_at, word, word_of},
};
use crate::{
    owner::Owner,
    task::{TaskStore, fold},
    types::{Artifact, Event, Json, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus},
};

/// How many write to one log at once.
const WRITERS: usize = 100;

pub(super) async fn check<S: Subject>(subject: &S) {
    one_append_wins_and_is_whole(&subject.empty().await).await;
    a_terminal_state_is_final(&subject.empty().await).await;
    an_id_is_taken(&subject.empty().await).await;
    reading_begins_anywhere(&subject.empty().await).await;
    a_task_is_made_with_what_comes_next(subject).await;
    the_task_is_what_its_log_folds_into(subject).await;
    what_was_given_out_does_not_change(&subject.empty().await).await;
    many_writers_leave_no_gap(subject).await;
    what_was_acknowledged_is_seen(subject).await;
}

async fn numbers<T: TaskStore>(store: &T, id: &str, after: u64, limit: usize) -> Vec<u64> {
    let entries = store.read(&ann(), id, after, limit).await.expect("a log can be read");
    entries.iter().map(|entry| entry.number()).collect()
}

async fn one_append_wins_and_is_whole<T: TaskStore>(store: &T) {
    made(store, &ann(), "t").await;
    for expected in [0, 2, u64::MAX] {
        let result = store.append(&ann(), "t", expected, vec![said("x")]).await;
        assert_eq!(word_of(result), "conflict", "an append that expects revision {expected} of 1");
    }
    let beyond = vec![said("x"), status("t", TaskState::Completed), said("y")];
    assert_eq!(word_of(store.append(&ann(), "t", 1, beyond).await), "terminal", "an append beyond the end");
    assert_eq!(numbers(store, "t", 0, 10).await, [1], "what was refused left nothing behind");
    let owner = ann();
    let (one, two) = tokio::join!(
        store.append(&owner, "t", 1, vec![said("x"), said("x")]),
        store.append(&owner, "t", 1, vec![said("y"), said("y")]),
    );
    let mut words = [word_of(one), word_of(two)];
    words.sort_unstable();
    assert_eq!(words, ["conflict", "done"], "of two that expect the same revision one succeeds");
    assert_eq!(numbers(store, "t", 0, 10).await, [1, 2, 3]);
    let single = store.append_one(&ann(), "t", 3, said("z")).await.expect("one event can be appended");
    assert_eq!(single.revision, 4);
    assert_eq!(word_of(store.append_one(&ann(), "t", 3, said("z")).await), "conflict");
}

async fn a_terminal_state_is_final<T: TaskStore>(store: &T) {
    for (at, state) in TaskState::ALL.into_iter().filter(|state| state.is_terminal()).enumerate() {
        let id = format!("t{at}");
        made(store, &ann(), &id).await;
        let over = appended(store, &id, 1, vec![said("x"), status(&id, state)]).await;
        assert_eq!(over.task.status.state, state);
        for late in TaskState::ALL {
            for expected in [3, 1] {
                let result = store.append(&ann(), &id, expected, vec![status(&id, late)]).await;
                assert_eq!(word_of(result), "terminal", "{late} at {expected} after {state}");
            }
        }
        assert_eq!(numbers(store, &id, 0, 10).await, [1, 2, 3], "nothing follows {state}");
    }
}

async fn an_id_is_taken<T: TaskStore>(store: &T) {
    made(store, &ann(), "t").await;
    for owner in [ann(), Owner::new("bob"), Owner::anonymous()] {
        let again = store.create(&owner, Arc::new(Task::new("t", "d", TaskState::Submitted))).await;
        assert_eq!(word_of(again), "conflict", "an id is taken whoever has it");
    }
    assert_eq!(&*store.get(&ann(), "t").await.expect("the first one stays").task.context_id, "c");
}

async fn reading_begins_anywhere<T: TaskStore>(store: &T) {
    made(store, &ann(), "t").await;
    appended(store, "t", 1, vec![said("2"), said("3")]).await;
    appended(store, "t", 3, vec![word("t", "4")]).await;
    appended(store, "t", 4, vec![word("t", "5"), word("t", "6"), said("7")]).await;
    let all: Vec<u64> = (1..=7).collect();
    for after in 0..=8_usize {
        for limit in 1..=8 {
            let rest = all.get(after..).unwrap_or_default();
            let found = numbers(store, "t", after as u64, limit).await;
            assert_eq!(found, rest[..limit.min(rest.len())], "{limit} after {after}");
        }
    }
    assert_eq!(numbers(store, "t", u64::MAX, 1).await, [] as [u64; 0]);
    assert_eq!(numbers(store, "t", 0, usize::MAX).await, all);
    assert_eq!(word_of(store.read(&ann(), "u", 0, 1).await), "not found");
}

/// Whatever an agent and a caller can say.
fn everything(id: &str) -> Vec<Event> {
    let artifact = |artifact: Artifact, append| {
        let mut update = TaskArtifactUpdateEvent::new(id.into(), "c".into(), artifact);
        (update.append, update.last_chunk) = (append, append);
        update.metadata = Some(serde_json::Map::new().into());
        Event::ArtifactUpdate(update)
    };
    let object = Json::parse("{\"k\": [1.50, null]}").and_then(Json::into_object).expect("an object");
    let parts = vec![
        Part::text("text \u{2028} \"quoted\"\n"),
        Part::raw(vec![0, 0xff]).with_filename("f").with_media_type("x/y"),
        Part::url("https://example.com/f"),
        Part::data(Json::parse("{\"a\":\n 1e3}").expect("a value")).with_metadata(object.clone()),
        Part::data(Json::parse("null").expect("a value")),
    ];
    let mut message = Message::user("more").with_task_id(id).with_context_id("c").with_metadata(object.clone());
    message.parts.extend(parts.clone());
    message.reference_task_ids = vec!["other".into()];
    message.extensions = vec!["https://example.com/x".into()];
    let mut asking = status(id, TaskState::InputRequired);
    if let Event::StatusUpdate(update) = &mut asking {
        update.status = TaskStatus::new(TaskState::InputRequired).with_message(Message::agent("which?"));
        update.metadata = Some(object.clone());
    }
    vec![
        status(id, TaskState::Working),
        artifact(Artifact::new("a", parts).with_name("n").with_description("d").with_metadata(object), false),
        word(id, "one "),
        word(id, "two"),
        word(id, ""),
        artifact(Artifact::new("a", vec![Part::text("end")]), true),
        asking,
        Event::Message(Arc::new(message)),
        status(id, TaskState::Working),
        status(id, TaskState::Completed),
    ]
}

async fn the_task_is_what_its_log_folds_into<S: Subject>(subject: &S) {
    // All at once, and one by one.
    for at_once in [true, false] {
        let store = subject.empty().await;
        let mut task = Task::clone(&made(&store, &ann(), "t").await.task);
        let events = everything("t");
        let batches: Vec<Vec<Event>> =
            if at_once { vec![events.clone()] } else { events.iter().cloned().map(|event| vec![event]).collect() };
        let mut revision = 1;
        for batch in batches {
            for event in &batch {
                fold(&mut task, event).expect("the task is not over");
            }
            let snapshot = appended(&store, "t", revision, batch).await;
            revision = snapshot.revision;
            assert_eq!(*snapshot.task, task, "what an append gives back at {revision}");
            agrees(&store, &task, revision).await;
            if let Some(replica) = subject.replica(&store).await {
                agrees(&replica, &task, revision).await;
            }
        }
        let log = store.read(&ann(), "t", 1, usize::MAX).await.expect("a log can be read");
        let log: Vec<_> = log.iter().map(|entry| entry.event().clone()).collect();
        assert_eq!(log, events, "a log says what was said");
    }
}

async fn a_task_is_made_with_what_comes_next<S: Subject>(subject: &S) {
    let (store, owner) = (subject.empty().await, ann());
    let first = Arc::new(Task::new("t", "c", TaskState::Submitted));
    let mut task = Task::clone(&first);
    let mut events = everything("t");
    for event in &events {
        fold(&mut task, event).expect("the task is not over");
    }
    let all = events.len();
    let made = store.create_with(&owner, first, &mut events).await.expect("a task can be made");
    let written = 1 + (all - events.len()) as u64;
    assert_eq!(made.revision, written, "what was taken out of the list was written");
    let snapshot = if events.is_empty() { made } else { appended(&store, "t", written, events).await };
    assert_eq!(*snapshot.task, task, "what is left in the list is appended afterwards");
    agrees(&store, &task, 1 + all as u64).await;
    let again = Arc::new(Task::new("t", "d", TaskState::Submitted));
    let result = store.create_with(&owner, again, &mut vec![status("t", TaskState::Working)]).await;
    assert_eq!(word_of(result), "conflict", "an id is taken");
    agrees(&store, &task, 1 + all as u64).await;
    // One that goes on after it was made is like any other.
    let other = Arc::new(Task::new("u", "c", TaskState::Submitted));
    let mut begun = vec![status("u", TaskState::Working), word("u", "x")];
    let made = store.create_with(&owner, other, &mut begun).await.expect("a task can be made");
    begun.push(word("u", "y"));
    let next = appended(&store, "u", made.revision, begun).await;
    assert_eq!((next.revision, next.task.status.state), (4, TaskState::Working));
    assert_eq!(numbers(&store, "u", 0, 9).await, [1, 2, 3, 4]);
}

/// The snapshot is this, and so is what its log folds into.
async fn agrees<T: TaskStore>(store: &T, task: &Task, revision: u64) {
    let snapshot = store.get(&ann(), "t").await.expect("a task can be read");
    assert_eq!((snapshot.revision, &*snapshot.task), (revision, task), "the snapshot");
    let log = store.read(&ann(), "t", 0, usize::MAX).await.expect("a log can be read");
    let Some(Event::Task(first)) = log.first().map(|entry| entry.event()) else {
        panic!("a log begins with the task: {log:?}")
    };
    let mut folded = Task::clone(first);
    for entry in &log[1..] {
        fold(&mut folded, entry.event()).expect("nothing follows a terminal state");
    }
    assert_eq!((log.len() as u64, &folded), (revision, task), "what the log folds into");
}

async fn what_was_given_out_does_not_change<T: TaskStore>(store: &T) {
    let given = made(store, &ann(), "t").await.task;
    appended(store, "t", 1, vec![said("x"), status("t", TaskState::Working)]).await;
    assert_eq!((given.history.len(), given.status.state), (0, TaskState::Submitted), "a snapshot that was given out");
}

async fn many_writers_leave_no_gap<S: Subject>(subject: &S) {
    let store = subject.empty().await;
    made(&store, &ann(), "t").await;
    let replica = subject.replica(&store).await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            // Half of them are elsewhere, where there is an elsewhere.
            let store = replica.as_ref().filter(|_| writer % 2 == 1).unwrap_or(&store).clone();
            tokio::spawn(async move {
                loop {
                    let revision = store.get(&ann(), "t").await.expect("a task can be read").revision;
                    tokio::task::yield_now().await;
                    let words = writer.to_string();
                    let result = store.append(&ann(), "t", revision, vec![said(&words), said(&words)]).await;
                    if let Ok(snapshot) = &result {
                        return assert_eq!(snapshot.revision, revision + 2);
                    }
                    assert_eq!(word_of(result), "conflict", "all that can go wrong among writers");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("a writer gets through");
    }
    let all: Vec<u64> = (1..=2 * WRITERS as u64 + 1).collect();
    assert_eq!(numbers(&store, "t", 0, usize::MAX).await, all, "the numbers of a log have no gaps");
    let history = store.get(&ann(), "t").await.expect("a task can be read").task.history.clone();
    let texts: Vec<_> = history.iter().map(|message| message.text()).collect();
    assert!(texts.chunks(2).all(|pair| pair[0] == pair[1]), "what one append said stands together");
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), WRITERS, "each is there once");
}

async fn what_was_acknowledged_is_seen<S: Subject>(subject: &S) {
    let store = subject.empty().await;
    let others = [Some(store.clone()), subject.replica(&store).await];
    let task = Arc::new(task_at("t", "c", TaskState::Working, 7));
    store.create(&ann(), Arc::clone(&task)).await.expect("a task can be made");
    for revision in 1..=20 {
        for other in others.iter().flatten() {
            let seen = other.get(&ann(), "t").await.expect("a task that was made is seen");
            assert_eq!(seen.revision, revision, "what was acknowledged is seen by a get");
            assert_eq!(numbers(other, "t", revision - 1, 2).await, [revision], "and by a read");
        }
        appended(&store, "t", revision, vec![word("t", "x")]).await;
    }
}
