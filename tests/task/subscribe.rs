use std::sync::atomic::Ordering::SeqCst;

use a2a_layers::{
    agent::Update,
    operation::{OperationRequest, SubscribeToTask},
    task::{FirstEvent, MemoryTaskStore, Replay, TaskLayer},
    types::TaskState,
};
use futures_util::FutureExt;

use super::*;

/// A task at work whose log has five events: the task, working, "a", "b", "c".
async fn at_work(layer: TaskLayer) -> (Server, Run) {
    let (agent, mut runs) = driven();
    let server = Server::new(layer, agent);
    server.send(at_once("go")).await.unwrap();
    let run = runs.recv().await.unwrap();
    for text in ["a", "b", "c"] {
        run.say(text);
    }
    quiet().await;
    (server, run)
}

fn subscription(server: &Server, id: &str, uri: &str, header: Option<&str>) -> Request<Operation> {
    let mut request = server.request(OperationRequest::SubscribeToTask(SubscribeToTask::new(id)));
    *request.uri_mut() = uri.parse().unwrap();
    if let Some(header) = header {
        request.headers_mut().insert("last-event-id", header.parse().unwrap());
    }
    request
}

#[tokio::test]
async fn b091_the_header_goes_before_the_query_and_the_query_before_the_start() {
    let (server, run) = at_work(TaskLayer::new()).await;
    let server = server.v0_3();
    for (uri, header, first) in
        [("/?after=2", Some("3"), 4), ("/?after=2", None, 3), ("/", None, 1), ("/", Some("0"), 1)]
    {
        let mut stream = server.open(subscription(&server, &run.id(), uri, header)).await.unwrap();
        assert_eq!(next(&mut stream).await.number(), Some(first), "{uri} {header:?}");
    }
}

#[tokio::test]
async fn b121_a_malformed_cursor_is_refused_and_so_is_one_from_the_future() {
    let (server, run) = at_work(TaskLayer::new()).await;
    for (uri, header) in [("/", Some("abc")), ("/?after=x", None), ("/?after=2", Some("-1")), ("/", Some("6"))] {
        let opened = server.open(subscription(&server, &run.id(), uri, header)).await;
        assert_eq!(code(opened), -32602, "{uri} {header:?}");
    }
    assert!(server.open(subscription(&server, &run.id(), "/", Some("5"))).await.is_ok());
    for (uri, header, name) in [("/", Some("6"), "Last-Event-ID"), ("/?after=6", None, "after")] {
        let error = server.open(subscription(&server, &run.id(), uri, header)).await.err().unwrap();
        assert_eq!(error.violations()[0].field, name);
    }
}

#[tokio::test]
async fn b091_c12_without_a_cursor_0_3_replays_the_log_and_1_0_begins_with_the_task() {
    let (server, run) = at_work(TaskLayer::new()).await;
    let old = server.v0_3().subscribe(&run.id()).await.unwrap();
    let new = server.subscribe(&run.id()).await.unwrap();
    run.say("d");
    drop(run);
    assert_eq!(numbers(&rest(old).await), [1, 2, 3, 4, 5, 6, 7]);
    let events = rest(new).await;
    assert_eq!(numbers(&events), [5, 6, 7]);
    let StreamEvent::Snapshot(view, 5) = &events[0] else { panic!("{events:?}") };
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("abc"));
    assert_eq!(text_of(&events[1]), "d");
}

#[tokio::test]
async fn s02_with_a_cursor_a_reader_gets_exactly_what_it_missed() {
    let (server, run) = at_work(TaskLayer::new()).await;
    let old = server.v0_3().subscribe_after(&run.id(), 3).await.unwrap();
    let new = server.subscribe_after(&run.id(), 3).await.unwrap();
    let nothing_missed = server.subscribe_after(&run.id(), 5).await.unwrap();
    run.say("d");
    drop(run);
    assert_eq!(numbers(&rest(old).await), [4, 5, 6, 7]);
    let events = rest(new).await;
    // The snapshot is the task as the reader last knew it, so that nothing is shown twice.
    let StreamEvent::Snapshot(view, 3) = &events[0] else { panic!("{events:?}") };
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("a"));
    assert_eq!(numbers(&events[1..]), [4, 5, 6, 7]);
    let events = rest(nothing_missed).await;
    let StreamEvent::Snapshot(view, 5) = &events[0] else { panic!("{events:?}") };
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("abc"));
    assert_eq!(numbers(&events[1..]), [6, 7]);
}

#[tokio::test]
async fn b091_where_a_subscription_begins_is_a_setting() {
    let (server, run) = at_work(TaskLayer::new().replay(Replay::FromStart)).await;
    assert_eq!(next(&mut server.subscribe(&run.id()).await.unwrap()).await.number(), Some(1));
    let (server, run) = at_work(TaskLayer::new().replay(Replay::Snapshot)).await;
    assert_eq!(next(&mut server.v0_3().subscribe(&run.id()).await.unwrap()).await.number(), Some(5));
    let (server, run) = at_work(TaskLayer::new().first_event(FirstEvent::StatusOnly)).await;
    let mut stream = server.subscribe(&run.id()).await.unwrap();
    run.say("d");
    quiet().await;
    assert_eq!(text_of(&next(&mut stream).await), "d");
}

#[tokio::test]
async fn b095_b125_a_task_that_is_over_cannot_be_subscribed_to() {
    for (update, state) in [
        (Update::completed(), TaskState::Completed),
        (Update::failed("no"), TaskState::Failed),
        (Update::canceled(), TaskState::Canceled),
        (Update::rejected("no"), TaskState::Rejected),
    ] {
        let server = Server::new(TaskLayer::new(), saying(vec![update]));
        let id = server.send("go").await.unwrap().task().id.clone();
        assert_eq!(server.state(&id).await, state);
        assert_eq!(code(server.subscribe(&id).await), -32004, "{state}");
        assert_eq!(code(server.subscribe_after(&id, 1).await), -32004, "{state}");
    }
}

#[tokio::test]
async fn b089_b094_b123_an_unknown_id_is_not_found() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    assert_eq!(code(server.subscribe("nope").await), -32001);
    assert_eq!(code(server.get("nope").await), -32001);
    assert_eq!(code(server.cancel("nope").await), -32001);
}

#[tokio::test]
async fn f48_two_readers_see_the_same_events_and_a_newcomer_alone_gets_a_snapshot() {
    let (server, run) = at_work(TaskLayer::new()).await;
    let mut first = server.subscribe(&run.id()).await.unwrap();
    next(&mut first).await;
    let mut second = server.subscribe(&run.id()).await.unwrap();
    next(&mut second).await;
    for text in ["d", "e", "f"] {
        run.say(text);
        quiet().await;
    }
    drop(run);
    let (first, second) = tokio::join!(rest(first), rest(second));
    assert_eq!(numbers(&first), [6, 7, 8, 9]);
    let events = |events: Vec<StreamEvent>| events.iter().map(StreamEvent::to_event).collect::<Vec<_>>();
    assert_eq!(events(first), events(second));
}

#[tokio::test]
async fn b093_the_ids_of_artifacts_are_the_same_on_every_connection() {
    let (server, run) = at_work(TaskLayer::new()).await;
    let server = server.v0_3();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut stream = server.subscribe_after(&run.id(), 3).await.unwrap();
        let Event::ArtifactUpdate(update) = next(&mut stream).await.to_event() else { panic!() };
        assert!(update.append);
        ids.push(update.artifact.artifact_id.clone());
    }
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test]
async fn b096_a_subscription_to_a_paused_task_is_open_and_shows_the_next_turn() {
    let server = Server::new(TaskLayer::new(), asking());
    let id = server.send("go").await.unwrap().task().id.clone();
    let mut old = server.v0_3().subscribe(&id).await.unwrap();
    for expected in [TaskState::Submitted, TaskState::Working, TaskState::InputRequired] {
        assert_eq!(next(&mut old).await.to_event().state(), Some(expected));
    }
    let mut new = server.subscribe(&id).await.unwrap();
    assert_eq!(next(&mut new).await.to_event().state(), Some(TaskState::InputRequired));
    let mut missed_nothing = server.v0_3().subscribe_after(&id, 3).await.unwrap();
    for stream in [&mut old, &mut new, &mut missed_nothing] {
        assert!(stream.next().now_or_never().is_none());
    }
    server.send(follow_up(&id, "b")).await.unwrap();
    for stream in [old, new, missed_nothing] {
        // The caller's own message has a number, but is no news to it.
        let events = rest(stream).await;
        assert_eq!(numbers(&events), [5, 6, 7]);
        assert_eq!(states(&events), [TaskState::Working, TaskState::Completed]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn f44_of_200_fast_tasks_a_subscription_right_after_the_send_misses_nothing() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    let mut followed = 0;
    for round in 0..200 {
        server.send(at_once("go")).await.unwrap();
        let run = runs.recv().await.unwrap();
        let id = run.id();
        let working = tokio::spawn(async move {
            for _ in 0..round % 64 {
                tokio::task::yield_now().await;
            }
            for _ in 0..5 {
                run.say("x");
                tokio::task::yield_now().await;
            }
        });
        match server.subscribe(&id).await {
            Ok(stream) => {
                followed += 1;
                let events = rest(stream).await;
                let numbers = numbers(&events);
                assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
                assert_eq!(numbers.last(), Some(&8));
                assert_eq!(states(&events).last(), Some(&TaskState::Completed));
            }
            // Only because it was over already.
            Err(error) => {
                assert_eq!(error.code(), -32004);
                assert_eq!(server.state(&id).await, TaskState::Completed);
            }
        }
        working.await.unwrap();
    }
    assert!(followed > 0);
}

#[tokio::test]
async fn f47_10000_streams_opened_and_dropped_leave_nobody_waiting() {
    let (agent, mut runs) = driven();
    let probe = probe::Probe::default();
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    server.send(at_once("go")).await.unwrap();
    let run = runs.recv().await.unwrap();
    quiet().await;
    let holders = Arc::strong_count(&probe.plan);
    let mut open = Vec::new();
    for _ in 0..10_000 {
        let mut stream = server.subscribe(&run.id()).await.unwrap();
        next(&mut stream).await;
        assert!(stream.next().now_or_never().is_none());
        open.push(stream);
    }
    assert_eq!(probe.plan.waiting.load(SeqCst), 10_000);
    drop(open);
    assert_eq!(probe.plan.waiting.load(SeqCst), 0);
    assert_eq!(Arc::strong_count(&probe.plan), holders);
    assert_eq!(probe.inner.len(), 1);
    drop(run);
}

#[tokio::test]
async fn f47_f84_10000_streams_of_their_own_tasks_dropped_leave_no_more_than_is_kept() {
    let probe = probe::Probe { inner: MemoryTaskStore::new().max_finished(100), ..probe::Probe::default() };
    let server = Server::new(TaskLayer::with_store(probe.clone()), saying(vec!["a".into()]));
    let holders = Arc::strong_count(&probe.plan);
    for _ in 0..10_000 {
        let mut stream = server.stream("go").await.unwrap();
        next(&mut stream).await;
    }
    assert_eq!(Arc::strong_count(&probe.plan), holders);
    assert_eq!((probe.plan.waiting.load(SeqCst), probe.inner.len()), (0, 100));
}
