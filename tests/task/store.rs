use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::Duration,
};

use a2a_layers::{
    agent::Update,
    operation::ListTasks,
    owner::Owner,
    task::{FoldError, ListQuery, MemoryTaskStore, StoreError, TaskLayer, TaskStore, fold},
    types::{Artifact, JsonObject, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent},
};
use futures_util::FutureExt;

use super::*;

fn ann() -> Owner {
    Owner::new("ann")
}

fn status(state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent::new("t".into(), "c".into(), TaskStatus::new(state)))
}

fn said(text: &str) -> Event {
    Event::Message(Arc::new(Message::agent(text)))
}

async fn with_task() -> MemoryTaskStore {
    let store = MemoryTaskStore::new();
    let made = store.create(&ann(), Arc::new(Task::new("t", "c", TaskState::Submitted))).await.unwrap();
    assert_eq!(made.revision, 1);
    store
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn f83_100_writers_on_one_task_leave_a_log_without_gaps() {
    let store = with_task().await;
    let conflicts = Arc::new(AtomicU32::new(0));
    let writers: Vec<_> = (0..100)
        .map(|writer| {
            let (store, conflicts) = (store.clone(), Arc::clone(&conflicts));
            tokio::spawn(async move {
                loop {
                    let revision = store.get(&ann(), "t").await.unwrap().revision;
                    tokio::task::yield_now().await;
                    let words = format!("{writer}");
                    match store.append(&ann(), "t", revision, vec![said(&words), said(&words)]).await {
                        Ok(written) => return assert_eq!(written.revision, revision + 2),
                        Err(StoreError::Conflict) => conflicts.fetch_add(1, SeqCst),
                        Err(error) => panic!("{error:?}"),
                    };
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let log = store.read(&ann(), "t", 0, usize::MAX).await.unwrap();
    assert_eq!(log.iter().map(|entry| entry.number()).collect::<Vec<_>>(), (1..=201).collect::<Vec<_>>());
    // What one append said stands together, and each is there once.
    let task = store.get(&ann(), "t").await.unwrap().task;
    let mut pairs: Vec<_> = texts(&task).chunks(2).map(|pair| (pair[0].clone(), pair[0] == pair[1])).collect();
    assert!(pairs.iter().all(|(_, same)| *same));
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), 100);
}

#[tokio::test]
async fn f67_an_append_is_all_or_nothing_and_a_terminal_state_is_final() {
    let store = with_task().await;
    let before = store.get(&ann(), "t").await.unwrap().task;
    let stale = store.append(&ann(), "t", 0, vec![said("x")]).await;
    assert!(matches!(stale, Err(StoreError::Conflict)));
    let early = store.append(&ann(), "t", 2, vec![said("x")]).await;
    assert!(matches!(early, Err(StoreError::Conflict)));
    let beyond = store.append(&ann(), "t", 1, vec![said("x"), status(TaskState::Completed), said("y")]).await;
    assert!(matches!(beyond, Err(StoreError::Terminal)));
    assert_eq!(store.get(&ann(), "t").await.unwrap().task, before);
    assert_eq!(store.read(&ann(), "t", 0, 10).await.unwrap().len(), 1);
    let over = store.append(&ann(), "t", 1, vec![said("x"), status(TaskState::Completed)]).await.unwrap();
    assert_eq!((over.revision, over.task.status.state), (3, TaskState::Completed));
    for state in TaskState::ALL {
        let late = store.append(&ann(), "t", 3, vec![status(state)]).await;
        assert!(matches!(late, Err(StoreError::Terminal)), "{state}");
    }
    assert_eq!(store.get(&ann(), "t").await.unwrap().revision, 3);
}

#[tokio::test]
async fn an_id_is_taken_whoever_has_it() {
    let store = with_task().await;
    for owner in [ann(), Owner::new("bob"), Owner::anonymous()] {
        let again = store.create(&owner, Arc::new(Task::new("t", "d", TaskState::Submitted))).await;
        assert!(matches!(again, Err(StoreError::Conflict)));
    }
    assert_eq!(store.len(), 1);
}

#[tokio::test]
async fn what_was_read_is_read_again_from_any_place() {
    let store = with_task().await;
    store.append(&ann(), "t", 1, (0..4).map(|n| said(&format!("{n}"))).collect()).await.unwrap();
    for (after, limit, expected) in
        [(0, 10, vec![1, 2, 3, 4, 5]), (0, 2, vec![1, 2]), (3, 10, vec![4, 5]), (5, 10, vec![]), (u64::MAX, 1, vec![])]
    {
        let log = store.read(&ann(), "t", after, limit).await.unwrap();
        assert_eq!(log.iter().map(|entry| entry.number()).collect::<Vec<_>>(), expected, "{after} {limit}");
    }
}

#[tokio::test]
async fn b084_the_task_is_what_its_log_folds_into() {
    let store = with_task().await;
    let update = |text: &str, append| {
        let mut update =
            TaskArtifactUpdateEvent::new("t".into(), "c".into(), Artifact::new("a", vec![Part::text(text)]));
        update.append = append;
        Event::ArtifactUpdate(update)
    };
    let mut events = vec![status(TaskState::Working), update("x", false), update("y", true), said("z")];
    events.push(Event::StatusUpdate(TaskStatusUpdateEvent::new(
        "t".into(),
        "c".into(),
        TaskStatus::new(TaskState::InputRequired).with_message(Message::agent("?")),
    )));
    store.append(&ann(), "t", 1, events).await.unwrap();
    let log = store.read(&ann(), "t", 0, 10).await.unwrap();
    let Event::Task(first) = log[0].event() else { panic!() };
    let mut folded = Task::clone(first);
    for entry in &log[1..] {
        fold(&mut folded, entry.event()).unwrap();
    }
    assert_eq!(folded, *store.get(&ann(), "t").await.unwrap().task);
    assert_eq!(folded.artifacts[0].parts[0].as_text(), Some("xy"));
    assert_eq!(fold(&mut Task::new("t", "c", TaskState::Failed), &said("x")), Err(FoldError::Terminal));
}

#[tokio::test]
async fn v030_parts_that_say_more_than_their_text_stay_apart() {
    let mut task = Task::new("t", "c", TaskState::Working);
    let mut add = |part: Part| {
        let mut update = TaskArtifactUpdateEvent::new("t".into(), "c".into(), Artifact::new("a", vec![part]));
        update.append = true;
        fold(&mut task, &Event::ArtifactUpdate(update)).unwrap();
    };
    add(Part::text("a"));
    add(Part::text("b"));
    add(Part::text("c").with_media_type("text/markdown"));
    add(Part::text("d"));
    add(Part::text("e"));
    add(Part::text("f").with_metadata(JsonObject::from(serde_json::Map::new())));
    add(Part::text("g").with_filename("g.txt"));
    add(Part::url("https://x/y"));
    add(Part::text("h"));
    let texts: Vec<_> = task.artifacts[0].parts.iter().map(|part| part.as_text().unwrap_or("file")).collect();
    assert_eq!(texts, ["ab", "c", "de", "f", "g", "file", "h"]);
}

#[tokio::test]
async fn f44_growth_is_told_at_once_later_and_to_all() {
    let store = with_task().await;
    assert!(store.grown(&ann(), "t", 0).now_or_never().is_some());
    let (owner, mut waits) = (ann(), Vec::new());
    for _ in 0..3 {
        waits.push(Box::pin(store.grown(&owner, "t", 1)));
    }
    for wait in &mut waits {
        assert!(wait.now_or_never().is_none());
    }
    store.append(&ann(), "t", 1, vec![said("x")]).await.unwrap();
    for wait in waits {
        assert!(wait.now_or_never().unwrap().is_ok());
    }
}

#[tokio::test]
async fn who_waits_for_a_task_that_goes_is_told() {
    let store = MemoryTaskStore::new().max_finished(1);
    for id in ["t", "u"] {
        store.create(&ann(), Arc::new(Task::new(id, "c", TaskState::Working))).await.unwrap();
    }
    let owner = ann();
    let mut wait = Box::pin(store.grown(&owner, "t", 2));
    assert!((&mut wait).now_or_never().is_none());
    for id in ["t", "u"] {
        let update = TaskStatusUpdateEvent::new(id.into(), "c".into(), TaskStatus::new(TaskState::Completed));
        store.append(&ann(), id, 1, vec![Event::StatusUpdate(update)]).await.unwrap();
    }
    assert!(matches!(wait.now_or_never(), Some(Err(StoreError::NotFound))));
}

#[tokio::test]
async fn f82_what_was_given_out_does_not_change_and_changes_nothing() {
    let store = with_task().await;
    let given = store.get(&ann(), "t").await.unwrap();
    store.append(&ann(), "t", 1, vec![said("x"), status(TaskState::Working)]).await.unwrap();
    assert_eq!((given.task.history.len(), given.task.status.state), (0, TaskState::Submitted));
    let mut own = Task::clone(&given.task);
    own.status.state = TaskState::Failed;
    assert_eq!(store.get(&ann(), "t").await.unwrap().task.status.state, TaskState::Working);
}

#[tokio::test]
async fn f98_the_tasks_of_others_do_not_exist_in_the_store() {
    let store = with_task().await;
    for other in [Owner::new("bob"), Owner::anonymous(), Owner::new("")] {
        assert!(matches!(store.get(&other, "t").await, Err(StoreError::NotFound)));
        assert!(matches!(store.append(&other, "t", 1, vec![said("x")]).await, Err(StoreError::NotFound)));
        assert!(matches!(store.read(&other, "t", 0, 1).await, Err(StoreError::NotFound)));
        assert!(matches!(store.grown(&other, "t", 0).await, Err(StoreError::NotFound)));
        assert_eq!(store.list(&other, &ListQuery::new(10)).await.unwrap().total_size, 0);
    }
}

#[tokio::test]
async fn f98_the_tasks_of_others_do_not_exist_for_any_operation() {
    let server = Server::new(TaskLayer::new(), asking());
    let (ann, bob) = (server.owned_by("ann"), server.owned_by("bob"));
    let before = Arc::clone(ann.send("secret").await.unwrap().task());
    let id = &before.id;
    for other in [bob, server] {
        let mut list = ListTasks::default();
        list.context_id = Some(before.context_id.clone());
        let results = [
            code(other.get(id).await),
            code(other.cancel(id).await),
            code(other.send(follow_up(id, "b")).await),
            code(other.stream(follow_up(id, "b")).await),
            code(other.subscribe(id).await),
            code(other.subscribe_after(id, 1).await),
        ];
        assert_eq!(results, [-32001; 6]);
        assert_eq!(other.list(ListTasks::default()).await.unwrap().total_size, 0);
        assert_eq!(other.list(list).await.unwrap().total_size, 0);
    }
    assert_eq!(ann.get(id).await.unwrap(), before);
    assert!(ann.send(follow_up(id, "b")).await.is_ok());
}

#[tokio::test]
async fn f98_an_error_about_anothers_task_is_that_about_none() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    server.owned_by("ann").send(at_once("a")).await.unwrap();
    let id = runs.recv().await.unwrap().id();
    let bob = server.owned_by("bob");
    let (theirs, none) =
        (bob.send(follow_up(&id, "b")).await.unwrap_err(), bob.send(follow_up("x", "b")).await.unwrap_err());
    assert_eq!((theirs.message(), theirs.code()), (none.message(), none.code()));
}

#[tokio::test]
async fn c09_v064_v065_a_store_outlives_the_layer() {
    let store = MemoryTaskStore::new();
    let id = {
        let server = Server::new(TaskLayer::with_store(store.clone()), asking());
        server.send("go").await.unwrap().task().id.clone()
    };
    let server = Server::new(TaskLayer::with_store(store), asking());
    assert_eq!(server.state(&id).await, TaskState::InputRequired);
    assert_eq!(server.send(follow_up(&id, "b")).await.unwrap().task().status.state, TaskState::Completed);
}

#[tokio::test]
async fn v061_v063_the_store_in_memory_is_the_default() {
    let (default, named) = (TaskLayer::new(), TaskLayer::with_store(MemoryTaskStore::default()));
    for layer in [default, named, TaskLayer::default()] {
        let server = Server::new(layer, saying(vec!["a".into()]));
        let id = server.send("go").await.unwrap().task().id.clone();
        assert_eq!(server.state(&id).await, TaskState::Completed);
    }
}

#[tokio::test]
async fn the_layers_of_one_layer_share_their_tasks_and_their_runs() {
    let layer = TaskLayer::new().max_runs(1);
    let (agent, mut runs) = driven();
    let (one, two) = (Server::new(layer.clone(), agent.clone()), Server::new(layer, agent));
    one.send(at_once("a")).await.unwrap();
    let run = runs.recv().await.unwrap();
    assert!(two.send(at_once("b")).await.is_err());
    assert_eq!(two.cancel(&run.id()).await.unwrap().status.state, TaskState::Canceled);
    assert!(run.request.cancellation().is_canceled());
}

#[tokio::test]
async fn retention_reaches_past_a_burst_and_leaves_no_index_behind() {
    let store = MemoryTaskStore::new().max_finished(10).max_age(Duration::from_secs(3600));
    let server = Server::new(TaskLayer::with_store(store.clone()), saying(vec![Update::completed()]));
    for n in 0..1_000 {
        server.owned_by(&format!("owner-{n}")).send("go").await.unwrap();
    }
    assert_eq!(store.len(), 10);
    assert!(!store.is_empty());
    assert_eq!(server.owned_by("owner-0").list(ListTasks::default()).await.unwrap().total_size, 0);
    assert_eq!(server.owned_by("owner-999").list(ListTasks::default()).await.unwrap().total_size, 1);
}

#[tokio::test]
async fn a_conversation_lists_its_tasks_be_they_one_or_many_and_forgets_those_that_went() {
    let store = MemoryTaskStore::new().max_finished(2);
    let begin = async |id: &str, context: &str| {
        store.create(&ann(), Arc::new(Task::new(id, context, TaskState::Submitted))).await.unwrap();
    };
    let end = async |id: &str| {
        store.append(&ann(), id, 1, vec![status(TaskState::Completed)]).await.unwrap();
    };
    let listed_in = async |context: &str, state: Option<TaskState>| {
        let mut query = ListQuery::new(10);
        (query.context_id, query.status) = (Some(context.into()), state);
        let page = store.list(&ann(), &query).await.unwrap();
        let ids = page.tasks.iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
        assert_eq!(page.total_size, ids.len() as u64);
        ids.join(" ")
    };
    let listed = async |state| listed_in("c", state).await;
    begin("one", "c").await;
    begin("other", "d").await;
    assert_eq!((listed(None).await, listed(Some(TaskState::Completed)).await), ("one".into(), String::new()));
    end("one").await;
    assert_eq!(listed(Some(TaskState::Completed)).await, "one");
    assert_eq!(listed(Some(TaskState::Submitted)).await, "");
    begin("two", "c").await;
    assert_eq!((listed(None).await, listed(Some(TaskState::Submitted)).await), ("two one".into(), "two".into()));
    end("two").await;
    assert_eq!(listed(Some(TaskState::Completed)).await, "two one");
    begin("three", "c").await;
    end("three").await;
    assert_eq!(listed(None).await, "three two", "the oldest has made room");
    end("other").await;
    assert_eq!(listed(None).await, "three");
    begin("alone", "e").await;
    end("alone").await;
    assert_eq!((listed(None).await, listed_in("e", None).await), (String::new(), "alone".into()));
    for id in ["last", "very last"] {
        begin(id, "d").await;
        end(id).await;
    }
    assert_eq!(listed_in("e", None).await, "");
}

#[test]
fn the_public_types_print_and_can_go_to_other_threads() {
    fn check<T: Send + Sync + Clone + std::fmt::Debug>(value: &T) -> String {
        format!("{value:?}")
    }
    fn sends<T: Send>(_: &T) {}
    let layer = TaskLayer::new();
    assert!(check(&layer).starts_with("TaskLayer"));
    assert!(check(&layer.layer(())).starts_with("Tasks"));
    let stream = EventStream::new(streams::empty());
    sends(&stream);
    assert_eq!(format!("{stream:?}"), "EventStream");
    for error in [StoreError::NotFound, StoreError::Unavailable("hunter2".into())] {
        assert!(!error.to_string().contains("hunter2"));
    }
}
