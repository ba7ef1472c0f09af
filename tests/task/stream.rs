use std::{sync::Arc, time::Duration};

use a2a_layers::{
    agent::{ArtifactUpdate, Update},
    operation::ListTasks,
    task::{CloseOn, FirstEvent, TaskLayer},
    types::{Artifact, Part, TaskState},
};
use futures_util::{FutureExt, StreamExt};

use super::*;

#[tokio::test]
async fn f42_f43_v044_v045_v046_a_stream_shows_the_whole_log_and_ends_with_the_task() {
    let server = Server::new(TaskLayer::new(), saying(vec!["a".into(), "b".into()]));
    let events = rest(server.stream("hi").await.unwrap()).await;
    // B092: each has its number.
    assert_eq!(numbers(&events), [1, 2, 3, 4, 5]);
    assert!(matches!(events[0].to_event(), Event::Task(_)));
    assert_eq!(states(&events), [TaskState::Submitted, TaskState::Working, TaskState::Completed]);
}

#[tokio::test]
async fn b074_b075_b076_text_is_one_artifact_and_v030_the_task_holds_it_whole() {
    let server = Server::new(TaskLayer::new(), saying(vec!["Hello, ".into(), "wor".into(), "ld".into()]));
    let events = rest(server.stream("hi").await.unwrap()).await;
    let pieces: Vec<_> = events
        .iter()
        .filter_map(|event| match event.to_event() {
            // B078: the end of the stream is the status, not a last chunk.
            Event::ArtifactUpdate(update) => {
                Some((update.artifact.artifact_id.clone(), update.append, update.last_chunk))
            }
            _ => None,
        })
        .collect();
    let id = pieces[0].0.clone();
    assert_eq!(pieces, [(id.clone(), false, false), (id.clone(), true, false), (id, true, false)]);
    let Event::Task(task) = events[0].to_event() else { panic!() };
    let task = server.get(&task.id).await.unwrap();
    // V051, F71.
    assert_eq!((task.artifacts.len(), task.artifacts[0].parts.len()), (1, 1));
    assert_eq!(task.artifacts[0].parts[0].as_text(), Some("Hello, world"));
}

#[tokio::test]
async fn b070_b071_b072_files_and_data_are_shown_as_they_come() {
    let file = Update::file(Part::url("https://x/y"));
    let data = Update::data(serde_json::json!([1]));
    let server = Server::new(TaskLayer::new(), saying(vec!["a".into(), file, data]));
    let events = rest(server.stream("hi").await.unwrap()).await;
    let parts: Vec<_> = events[2..5]
        .iter()
        .map(|event| match event.to_event() {
            Event::ArtifactUpdate(update) => update.artifact.parts[0].clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(parts[0].as_text().is_some() && parts[1].is_file() && parts[2].as_data().is_some());
    assert_eq!(events[5].to_event().state(), Some(TaskState::Completed));
}

#[tokio::test]
async fn f71_f72_pieces_of_an_artifact_join_and_a_first_piece_that_appends_is_not_lost() {
    let piece =
        |text: &str| Update::Artifact(ArtifactUpdate::new(Artifact::new("doc", vec![Part::text(text)])).appended());
    let server = Server::new(TaskLayer::new(), saying(vec![piece("a"), piece("b"), piece("c")]));
    let task = Arc::clone(server.send("hi").await.unwrap().task());
    assert_eq!(task.artifacts.len(), 1);
    assert_eq!(task.artifacts[0].parts[0].as_text(), Some("abc"));
}

#[tokio::test]
async fn b073_c14_a_stream_may_begin_at_work() {
    let server = Server::new(TaskLayer::new().first_event(FirstEvent::Working), saying(vec!["a".into()]));
    let events = rest(server.stream("hi").await.unwrap()).await;
    assert!(matches!(events[0].to_event(), Event::Task(_)));
    assert_eq!(states(&events), [TaskState::Working, TaskState::Completed]);
}

#[tokio::test]
async fn c03_a_stream_may_begin_with_a_status_and_no_task() {
    let server = Server::new(TaskLayer::new().first_event(FirstEvent::StatusOnly), saying(vec!["a".into()]));
    for request in ["hi".into_send(), with_history(Message::user("hi"), Some(0))] {
        let events = rest(server.stream(request).await.unwrap()).await;
        assert_eq!(numbers(&events), [1, 2, 3, 4]);
        assert!(events.iter().all(|event| !matches!(event.to_event(), Event::Task(_))));
        assert_eq!(states(&events), [TaskState::Submitted, TaskState::Working, TaskState::Completed]);
    }
}

#[tokio::test]
async fn b080_input_required_is_seen_live_and_closes_a_stream_by_default() {
    let server = Server::new(TaskLayer::new(), asking());
    let events = rest(server.stream("hi").await.unwrap()).await;
    assert_eq!(states(&events).last(), Some(&TaskState::InputRequired));
}

#[tokio::test]
async fn f64_auth_required_leaves_a_stream_open_by_default() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    let stream = server.stream("hi").await.unwrap();
    let run = runs.recv().await.unwrap();
    run.say(Update::auth_required("log in"));
    quiet().await;
    run.say(Update::working());
    drop(run);
    let seen = states(&rest(stream).await);
    assert_eq!(seen[2..], [TaskState::AuthRequired, TaskState::Working, TaskState::Completed]);
}

#[tokio::test]
async fn what_closes_a_stream_is_a_setting() {
    for (close_on, update, closes) in [
        (CloseOn::InputRequired, Update::input_required("?"), true),
        (CloseOn::InputRequired, Update::auth_required("?"), false),
        (CloseOn::Interrupted, Update::input_required("?"), true),
        (CloseOn::Interrupted, Update::auth_required("?"), true),
        (CloseOn::Terminal, Update::input_required("?"), false),
        (CloseOn::Terminal, Update::auth_required("?"), false),
    ] {
        let server = Server::new(TaskLayer::new().close_on(close_on), saying(vec![update.clone()]));
        let mut stream = server.stream("hi").await.unwrap();
        for _ in 0..3 {
            next(&mut stream).await;
        }
        let end = stream.next().now_or_never();
        assert_eq!(matches!(end, Some(None)), closes, "{close_on:?} {update:?}");
        assert_eq!(end.is_none(), !closes, "{close_on:?} {update:?}");
    }
}

#[tokio::test]
async fn a_stream_that_an_interruption_does_not_close_shows_the_next_turn_too() {
    let server = Server::new(TaskLayer::new().close_on(CloseOn::Terminal), asking());
    let mut stream = server.stream("hi").await.unwrap();
    let Event::Task(task) = next(&mut stream).await.to_event() else { panic!() };
    server.send(follow_up(&task.id, "b")).await.unwrap();
    let seen = states(&rest(stream).await);
    assert_eq!(seen[..], [TaskState::Working, TaskState::InputRequired, TaskState::Working, TaskState::Completed]);
}

#[tokio::test]
async fn f46_a_reader_that_leaves_changes_nothing() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    let mut stream = server.stream("hi").await.unwrap();
    next(&mut stream).await;
    drop(stream);
    let run = runs.recv().await.unwrap();
    let id = run.id();
    run.say("a");
    quiet().await;
    assert_eq!(server.state(&id).await, TaskState::Working);
    // It can be taken up again.
    let again = server.subscribe(&id).await.unwrap();
    drop(run);
    assert_eq!(states(&rest(again).await).last(), Some(&TaskState::Completed));
    assert_eq!(server.get(&id).await.unwrap().artifacts[0].parts[0].as_text(), Some("a"));
}

#[tokio::test]
async fn f49_a_burst_of_10000_events_reaches_a_reader_that_had_stopped() {
    let words = (0..10_000).map(|n| Update::text(format!("{n} "))).collect();
    let server = Server::new(TaskLayer::new(), saying(words));
    let mut stream = server.stream("hi").await.unwrap();
    let first = next(&mut stream).await;
    let Event::Task(task) = first.to_event() else { panic!() };
    while !server.state(&task.id).await.is_terminal() {
        tokio::task::yield_now().await;
    }
    let events = rest(stream).await;
    assert_eq!(numbers(&events), (2..=10_003).collect::<Vec<_>>());
    assert_eq!(text_of(&events[10_000]), "9999 ");
}

#[tokio::test]
async fn f86_5000_pieces_and_10000_words_of_progress_are_written_in_batches() {
    let probe = probe::Probe::default();
    let words = (0..5_000).map(|n| Update::text(format!("{n} ")));
    let progress = (0..10_000).map(|n| Update::progress(format!("{n}")));
    let server = Server::new(TaskLayer::with_store(probe.clone()), saying(words.chain(progress).collect()));
    let view = server.send("hi").await.unwrap();
    let expected: String = (0..5_000).map(|n| format!("{n} ")).collect();
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some(&*expected));
    assert_eq!(view.task().history.len(), 10_001);
    let batches = probe.plan.batches.lock().unwrap().clone();
    assert_eq!(batches.iter().sum::<usize>(), 15_002);
    assert!(batches.len() < 300, "{}", batches.len());
}

#[tokio::test(start_paused = true)]
async fn f86_events_gather_while_a_write_is_in_flight_and_an_idle_agent_waits_for_nothing() {
    let (agent, mut runs) = driven();
    let probe = probe::Probe::default();
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    let mut stream = server.stream("hi").await.unwrap();
    let run = runs.recv().await.unwrap();
    quiet().await;
    *probe.plan.delay.lock().unwrap() = Duration::from_secs(1);
    probe.plan.batches.lock().unwrap().clear();
    run.say("a");
    quiet().await;
    for text in ["b", "c", "d"] {
        run.say(text);
        quiet().await;
    }
    drop(run);
    let mut text = String::new();
    for _ in 0..2 {
        next(&mut stream).await;
    }
    for _ in 0..4 {
        text += &text_of(&next(&mut stream).await);
    }
    assert_eq!(text, "abcd");
    assert_eq!(next(&mut stream).await.to_event().state(), Some(TaskState::Completed));
    assert_eq!(*probe.plan.batches.lock().unwrap(), [1, 4]);
}

#[tokio::test]
async fn b079_two_streams_are_two_tasks() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    for _ in 0..2 {
        rest(server.stream("hi").await.unwrap()).await;
    }
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 2);
}

#[tokio::test]
async fn an_agent_that_yields_lets_readers_go_on() {
    const WORDS: usize = 50;
    let said = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = Arc::clone(&said);
    let server = Server::new(
        TaskLayer::new(),
        service_fn(move |_: Request<Arc<Message>>| {
            let counter = Arc::clone(&counter);
            let words = streams::iter(0..WORDS).then(move |_| {
                let counter = Arc::clone(&counter);
                async move {
                    tokio::task::yield_now().await;
                    counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    Ok::<_, BoxError>("word ")
                }
            });
            async move { Ok::<_, BoxError>(Reply::stream(words)) }
        }),
    );
    let mut events = server.stream("hi").await.unwrap();
    while let Some(event) = events.next().await {
        if matches!(event.unwrap().to_event(), Event::ArtifactUpdate(_)) {
            break;
        }
    }
    let ahead = said.load(std::sync::atomic::Ordering::Relaxed);
    assert!(ahead <= 5, "{ahead} of {WORDS} words were said before the first was read");
    assert_eq!(rest(events).await.len(), WORDS, "the other words, and the end");
}
