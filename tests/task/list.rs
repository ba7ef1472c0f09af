use std::collections::HashSet;

use a2a_layers::{
    operation::ListTasks,
    owner::Owner,
    task::{MemoryTaskStore, TaskLayer, TaskStore},
    types::{Task, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp},
};

use super::*;

/// A server over a store of tasks that each have a name, a context, a state, and a moment of their status.
async fn stocked(tasks: &[(&str, &str, TaskState, i64)]) -> (Server, MemoryTaskStore) {
    let store = MemoryTaskStore::new().max_age(std::time::Duration::MAX).max_interrupted_age(std::time::Duration::MAX);
    for (id, context, state, millis) in tasks {
        let mut task = Task::new(*id, *context, *state);
        task.status.timestamp = Some(Timestamp::from_millis(*millis));
        store.create(&Owner::anonymous(), Arc::new(task)).await.unwrap();
    }
    (Server::new(TaskLayer::with_store(store.clone()), saying(vec![])), store)
}

fn ids(page: &ListTasksPage) -> Vec<&str> {
    page.tasks.iter().map(|view| &*view.task().id).collect()
}

fn paged(size: u32, token: &str) -> ListTasks {
    let mut request = ListTasks::default();
    request.page_size = Some(size);
    request.page_token = Some(token.to_owned());
    request
}

async fn pages(server: &Server, size: u32) -> Vec<Vec<String>> {
    let (mut all, mut token) = (Vec::new(), String::new());
    loop {
        let page = server.list(paged(size, &token)).await.unwrap();
        all.push(ids(&page).into_iter().map(str::to_owned).collect());
        if page.next_page_token.is_empty() {
            return all;
        }
        token = page.next_page_token;
    }
}

const WORKING: TaskState = TaskState::Working;

#[tokio::test]
async fn f77_f78_an_empty_list_and_one_of_a_task() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    let page = server.list(ListTasks::default()).await.unwrap();
    assert_eq!((page.tasks.len(), &*page.next_page_token, page.page_size, page.total_size), (0, "", 50, 0));
    let id = server.send("go").await.unwrap().task().id.clone();
    let page = server.list(ListTasks::default()).await.unwrap();
    assert_eq!((ids(&page), page.total_size), (vec![&*id], 1));
}

#[tokio::test]
async fn f79_artifacts_are_left_out_unless_they_are_asked_for() {
    let server = Server::new(TaskLayer::new(), saying(vec!["a".into()]));
    server.send("go").await.unwrap();
    let mut request = ListTasks::default();
    assert!(server.list(request.clone()).await.unwrap().tasks[0].artifacts().is_none());
    request.include_artifacts = true;
    assert_eq!(server.list(request).await.unwrap().tasks[0].artifacts().map(<[_]>::len), Some(1));
}

#[tokio::test]
async fn the_latest_status_comes_first_and_of_ties_the_latest_made() {
    let (server, _) = stocked(&[("a", "c", WORKING, 2), ("b", "c", WORKING, 1), ("d", "c", WORKING, 2)]).await;
    assert_eq!(ids(&server.list(ListTasks::default()).await.unwrap()), ["d", "a", "b"]);
}

#[tokio::test]
async fn a_new_status_moves_a_task_to_the_front() {
    let (server, store) = stocked(&[("a", "c", WORKING, 1), ("b", "c", WORKING, 2)]).await;
    let status = TaskStatus::new(TaskState::InputRequired);
    let update = Event::StatusUpdate(TaskStatusUpdateEvent::new("a".into(), "c".into(), status));
    store.append(&Owner::anonymous(), "a", 1, vec![update]).await.unwrap();
    assert_eq!(ids(&server.list(ListTasks::default()).await.unwrap()), ["a", "b"]);
    assert_eq!(pages(&server, 1).await, [["a"], ["b"]]);
}

#[tokio::test]
async fn f80_pages_of_ties_hold_every_task_once() {
    let same: Vec<_> = ["a", "b", "c", "d", "e"].map(|id| (id, "x", WORKING, 7)).to_vec();
    let (server, _) = stocked(&same).await;
    assert_eq!(pages(&server, 2).await, [vec!["e", "d"], vec!["c", "b"], vec!["a"]]);
    // A page that is just full is the last one.
    assert_eq!(pages(&server, 5).await.len(), 1);
    assert_eq!(pages(&server, 1).await.len(), 5);
}

#[tokio::test]
async fn f80_a_token_outlives_the_task_it_was_made_of() {
    let store = MemoryTaskStore::new().max_finished(3);
    let server = Server::new(TaskLayer::with_store(store), saying(vec![]));
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(server.send("go").await.unwrap().task().id.to_string());
    }
    let first = server.list(paged(1, "")).await.unwrap();
    assert_eq!(ids(&first), [made[2].as_str()]);
    let second = server.list(paged(1, &first.next_page_token)).await.unwrap();
    assert_eq!(ids(&second), [made[1].as_str()]);
    // Two more, and the two oldest are gone: the one that the token was made of and the one it led to.
    for _ in 0..2 {
        server.send("go").await.unwrap();
    }
    assert_eq!(code(server.get(&made[1]).await), -32001);
    let third = server.list(paged(1, &second.next_page_token)).await.unwrap();
    assert_eq!((third.tasks.len(), &*third.next_page_token, third.total_size), (0, "", 3));
    assert_eq!(ids(&server.list(paged(5, &first.next_page_token)).await.unwrap()), Vec::<&str>::new());
}

#[tokio::test]
async fn f80_a_token_of_another_making_is_refused() {
    let (server, _) = stocked(&[("a", "c", WORKING, 1)]).await;
    for token in ["x", "1", "-1.1", "1.1 ", "%00", "zz.zz", "1.1.1", "..", "00.1"] {
        let error = server.list(paged(1, token)).await.unwrap_err();
        assert_eq!((error.code(), &*error.violations()[0].field), (-32602, "pageToken"), "{token}");
    }
}

#[tokio::test]
async fn f81_a_page_has_1_to_100_tasks() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    for _ in 0..101 {
        server.send("go").await.unwrap();
    }
    for (size, expected) in [(Some(1), 1), (Some(100), 100), (None, 50)] {
        let mut request = ListTasks::default();
        request.page_size = size;
        let page = server.list(request).await.unwrap();
        assert_eq!((page.tasks.len(), page.page_size, page.total_size), (expected, expected as u32, 101));
        assert!(!page.next_page_token.is_empty());
    }
    for size in [0, 101, u32::MAX] {
        assert_eq!(code(server.list(paged(size, "")).await), -32602, "{size}");
    }
}

#[tokio::test]
async fn filters_by_context_state_and_time_and_their_totals() {
    use TaskState::{Completed, InputRequired};
    let (server, _) = stocked(&[
        ("a", "x", Completed, 10),
        ("b", "x", WORKING, 20),
        ("c", "y", Completed, 30),
        ("d", "x", Completed, 40),
        ("e", "x", InputRequired, 40),
    ])
    .await;
    type Case<'a> = (Option<&'a str>, Option<TaskState>, Option<i64>, &'a [&'a str]);
    let cases: [Case<'_>; 12] = [
        (Some("x"), None, None, &["e", "d", "b", "a"]),
        (Some("nope"), None, None, &[]),
        (None, Some(Completed), None, &["d", "c", "a"]),
        (None, Some(TaskState::Failed), None, &[]),
        (None, None, Some(30), &["e", "d", "c"]),
        (None, None, Some(31), &["e", "d"]),
        (None, None, Some(41), &[]),
        (None, None, Some(i64::MIN), &["e", "d", "c", "b", "a"]),
        (Some("x"), Some(Completed), None, &["d", "a"]),
        (Some("x"), None, Some(20), &["e", "d", "b"]),
        (None, Some(Completed), Some(11), &["d", "c"]),
        (Some("x"), Some(Completed), Some(10), &["d", "a"]),
    ];
    for (context, status, after, expected) in cases {
        let mut request = ListTasks::default();
        request.context_id = context.map(Into::into);
        request.status = status;
        request.status_timestamp_after = after.map(Timestamp::from_millis);
        let page = server.list(request.clone()).await.unwrap();
        assert_eq!(ids(&page), expected, "{request:?}");
        assert_eq!(page.total_size, expected.len() as u64, "{request:?}");
        // The total is of all pages.
        request.page_size = Some(1);
        let first = server.list(request.clone()).await.unwrap();
        assert_eq!(first.total_size, expected.len() as u64);
        assert_eq!(first.next_page_token.is_empty(), expected.len() < 2);
        request.page_token = Some(first.next_page_token).filter(|token| !token.is_empty());
        if request.page_token.is_some() {
            assert_eq!(ids(&server.list(request).await.unwrap()), expected[1..2]);
        }
    }
}

#[tokio::test]
async fn a_token_from_beyond_a_filter_leaves_nothing() {
    let (server, _) = stocked(&[("a", "x", WORKING, 10), ("b", "x", WORKING, 20), ("c", "x", WORKING, 30)]).await;
    let page = server.list(paged(2, "")).await.unwrap();
    let mut request = paged(2, &page.next_page_token);
    request.status_timestamp_after = Some(Timestamp::from_millis(25));
    let page = server.list(request).await.unwrap();
    assert_eq!((ids(&page), page.total_size), (vec![], 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_list_by_state_never_shows_another_state() {
    let (server, store) = stocked(&[("a", "c", WORKING, 1), ("b", "c", WORKING, 2), ("d", "c", WORKING, 3)]).await;
    let writing = tokio::spawn(async move {
        for revision in 1..5_000 {
            for id in ["a", "b", "d"] {
                let state = if revision % 2 == 0 { WORKING } else { TaskState::InputRequired };
                let update = TaskStatusUpdateEvent::new(id.into(), "c".into(), TaskStatus::new(state));
                store.append(&Owner::anonymous(), id, revision, vec![Event::StatusUpdate(update)]).await.unwrap();
            }
        }
    });
    let mut request = ListTasks::default();
    request.status = Some(WORKING);
    while !writing.is_finished() {
        let page = server.list(request.clone()).await.unwrap();
        assert!(page.tasks.iter().all(|view| view.task().status.state == WORKING));
    }
    writing.await.unwrap();
}

#[tokio::test]
async fn f80_a_walk_through_pages_while_tasks_are_added_repeats_and_skips_none() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    let mut old = HashSet::new();
    for _ in 0..20 {
        old.insert(server.send("go").await.unwrap().task().id.to_string());
    }
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = server.list(paged(3, &token)).await.unwrap();
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        server.send("go").await.unwrap();
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(seen.len(), 20);
    assert_eq!(seen.into_iter().collect::<HashSet<_>>(), old);
}
