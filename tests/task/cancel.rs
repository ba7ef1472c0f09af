use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    time::Duration,
};

use a2a_layers::{
    agent::Update,
    task::{CancelMode, CancelScope, MemoryTaskStore, TaskLayer},
    types::{TaskState, TaskStatus, TaskStatusUpdateEvent},
};
use futures_util::FutureExt;
use tokio::time::{Instant, sleep, timeout};
use tower::{limit::ConcurrencyLimitLayer, service_fn};

use super::{probe::Probe, *};

/// Tells when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// An agent that hears of a cancel and pays no heed to it, and two flags: it was told, it was dropped.
fn stubborn() -> (impl Agent, Arc<AtomicBool>, Arc<AtomicBool>) {
    let (told, gone) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let flags = (Arc::clone(&told), Arc::clone(&gone));
    let agent = service_fn(move |request: Request<Arc<Message>>| {
        let (told, gone) = (Arc::clone(&flags.0), Dropped(Arc::clone(&flags.1)));
        async move {
            let _gone = gone;
            request.cancellation().canceled().await;
            told.store(true, SeqCst);
            std::future::pending::<Result<Reply, BoxError>>().await
        }
    });
    (agent, told, gone)
}

#[tokio::test]
async fn v048_v053_v057_v058_f68_a_cancel_ends_the_task_and_its_streams() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    let stream = server.stream("go").await.unwrap();
    let run = runs.recv().await.unwrap();
    let task = server.cancel(&run.id()).await.unwrap();
    assert_eq!(task.status.state, TaskState::Canceled);
    assert_eq!(states(&rest(stream).await).last(), Some(&TaskState::Canceled));
    assert!(run.request.cancellation().is_canceled());
    // What it says now does not count (B107).
    run.say("too late");
    drop(run);
    quiet().await;
    let task = server.get(&task.id).await.unwrap();
    assert_eq!((task.status.state, task.artifacts.len()), (TaskState::Canceled, 0));
}

#[tokio::test]
async fn b100_a_cancel_right_after_the_first_event_works() {
    let (agent, _runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    let mut stream = server.stream("go").await.unwrap();
    let Event::Task(task) = next(&mut stream).await.to_event() else { panic!() };
    assert_eq!(server.cancel(&task.id).await.unwrap().status.state, TaskState::Canceled);
}

#[tokio::test]
async fn b102_a_blocking_send_ends_with_the_canceled_task() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    let (view, ()) = tokio::join!(server.send("go"), async {
        let run = runs.recv().await.unwrap();
        server.cancel(&run.id()).await.unwrap();
    });
    assert_eq!(view.unwrap().task().status.state, TaskState::Canceled);
}

#[tokio::test]
async fn b104_b124_a_task_that_is_over_cannot_be_canceled() {
    for update in [Update::completed(), Update::failed("no"), Update::canceled(), Update::rejected("no")] {
        let server = Server::new(TaskLayer::new(), saying(vec![update.clone()]));
        let before = Arc::clone(server.send("go").await.unwrap().task());
        assert_eq!(code(server.cancel(&before.id).await), -32002, "{update:?}");
        assert_eq!(server.get(&before.id).await.unwrap(), before);
    }
}

#[tokio::test]
async fn c10_a_task_that_waits_for_its_caller_can_be_canceled() {
    let server = Server::new(TaskLayer::new(), asking());
    let id = server.send("go").await.unwrap().task().id.clone();
    let task = server.cancel(&id).await.unwrap();
    assert_eq!(task.status.state, TaskState::Canceled);
    // The question is not lost.
    assert_eq!(texts(&task), ["go", "which?"]);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_agent_whose_task_was_ended_elsewhere() {
    let (agent, mut runs) = driven();
    let store = MemoryTaskStore::new();
    let server = Server::new(TaskLayer::with_store(store.clone()).cancel_grace(Duration::from_secs(60)), agent);
    let began = Instant::now();
    let (view, _run) = tokio::join!(server.send("go"), async {
        let run = runs.recv().await.unwrap();
        run.say("a");
        quiet().await;
        let (owner, id) = (Owner::anonymous(), run.id());
        let snapshot = store.get(&owner, &id).await.unwrap();
        let ids = (snapshot.task.id.clone(), snapshot.task.context_id.clone());
        let update = TaskStatusUpdateEvent::new(ids.0, ids.1, TaskStatus::new(TaskState::Failed));
        store.append(&owner, &id, snapshot.revision, vec![Event::StatusUpdate(update)]).await.unwrap();
        // The run finds out when it next writes; its agent has its grace.
        run.say("b");
        run
    });
    assert_eq!(view.unwrap().task().status.state, TaskState::Failed);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn f69_a_canceled_agent_is_told_and_dropped_after_its_grace() {
    let (agent, told, gone) = stubborn();
    let server = Server::new(TaskLayer::new().cancel_grace(Duration::from_secs(3)), agent);
    let id = server.send(at_once("go")).await.unwrap().task().id.clone();
    server.cancel(&id).await.unwrap();
    sleep(Duration::from_millis(2_999)).await;
    assert!(told.load(SeqCst) && !gone.load(SeqCst));
    sleep(Duration::from_millis(2)).await;
    assert!(gone.load(SeqCst));
}

#[tokio::test]
async fn f69_an_agent_that_has_not_begun_never_does() {
    let (agent, mut runs) = driven();
    let one = tower::ServiceBuilder::new()
        .layer(ConcurrencyLimitLayer::new(1))
        .service(service_fn(|_| async { std::future::pending::<Result<Reply, BoxError>>().await }));
    drop(agent);
    assert!(runs.recv().await.is_none());
    let server = Server::new(TaskLayer::new(), one);
    let first = server.send(at_once("a")).await.unwrap().task().id.clone();
    let second = server.send(at_once("b")).await.unwrap().task().id.clone();
    assert_eq!(server.state(&second).await, TaskState::Submitted);
    assert_eq!(server.cancel(&second).await.unwrap().status.state, TaskState::Canceled);
    assert_eq!(server.state(&first).await, TaskState::Working);
}

#[tokio::test(start_paused = true)]
async fn f69_an_agent_that_is_never_silent_is_stopped_after_its_grace_too() {
    for mode in [CancelMode::Final, CancelMode::Attempt] {
        let gone = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&gone);
        let agent = replying(move |_| {
            let gone = Dropped(Arc::clone(&flag));
            let words = streams::repeat_with(move || {
                let _ = &gone;
                Ok::<_, BoxError>(Update::text("x"))
            });
            Reply::stream(words)
        });
        let layer = TaskLayer::new().cancel(mode).cancel_grace(Duration::from_secs(3)).max_events(u64::MAX);
        let server = Server::new(layer, agent);
        let id = server.send(at_once("go")).await.unwrap().task().id.clone();
        assert_eq!(server.cancel(&id).await.unwrap().status.state, TaskState::Canceled);
        quiet().await;
        assert!(!gone.load(SeqCst), "{mode:?}");
        // Time does not pass by itself while somebody is busy.
        tokio::time::advance(Duration::from_secs(4)).await;
        quiet().await;
        assert!(gone.load(SeqCst), "{mode:?}");
        assert_eq!(server.state(&id).await, TaskState::Canceled);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn f67_in_1000_races_of_cancel_against_completion_exactly_one_wins() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    let (canceled, completed) = (AtomicU32::new(0), AtomicU32::new(0));
    for round in 0..1_000 {
        let stream = server.stream("go").await.unwrap();
        let run = runs.recv().await.unwrap();
        let id = run.id();
        let sending = tokio::spawn(rest(stream));
        let completing = tokio::spawn(async move {
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            run.say("done");
        });
        let canceling = tokio::spawn({
            let (server, id) = (server.clone(), Arc::clone(&id));
            async move { server.cancel(&id).await }
        });
        let answer = canceling.await.unwrap();
        completing.await.unwrap();
        let events = sending.await.unwrap();
        let stored = server.get(&id).await.unwrap();
        let terminal: Vec<_> = states(&events).into_iter().filter(|state| state.is_terminal()).collect();
        assert_eq!(terminal, [stored.status.state]);
        assert_eq!(events.last().unwrap().to_event().state(), Some(stored.status.state));
        match answer {
            Ok(task) => {
                assert_eq!(*task, *stored);
                assert_eq!(stored.status.state, TaskState::Canceled);
                canceled.fetch_add(1, SeqCst);
            }
            Err(error) => {
                assert_eq!((error.code(), stored.status.state), (-32002, TaskState::Completed));
                completed.fetch_add(1, SeqCst);
            }
        }
    }
    assert_eq!(canceled.load(SeqCst) + completed.load(SeqCst), 1_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn f67_of_many_cancels_at_once_one_wins() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    for _ in 0..50 {
        server.send(at_once("go")).await.unwrap();
        let run = runs.recv().await.unwrap();
        let cancels: Vec<_> = (0..8)
            .map(|_| {
                let (server, id) = (server.clone(), run.id());
                tokio::spawn(async move { server.cancel(&id).await.is_ok() })
            })
            .collect();
        let mut won = 0;
        for cancel in cancels {
            won += u32::from(cancel.await.unwrap());
        }
        assert_eq!(won, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_comes_through_although_the_run_writes_all_the_time() {
    let agent = replying(|_| {
        let words = streams::unfold((), |()| async {
            sleep(Duration::from_millis(1)).await;
            Some((Ok::<_, BoxError>(Update::text("x")), ()))
        });
        Reply::stream(words)
    });
    let probe = probe::Probe::default();
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    let id = server.send(at_once("go")).await.unwrap().task().id.clone();
    // A write is always in flight, so whoever reads first and then writes is always late.
    *probe.plan.delay.lock().unwrap() = Duration::from_millis(10);
    let began = Instant::now();
    assert_eq!(server.cancel(&id).await.unwrap().status.state, TaskState::Canceled);
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(server.state(&id).await, TaskState::Canceled);
}

#[tokio::test]
async fn an_agent_that_cancels_itself_does_not_leave_its_task_at_work() {
    let agent = service_fn(|request: Request<Arc<Message>>| async move {
        request.cancellation().cancel();
        std::future::pending::<Result<Reply, BoxError>>().await
    });
    let server = Server::new(TaskLayer::new(), agent);
    assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::Canceled);
}

#[tokio::test]
async fn b105_b106_b107_an_attempt_is_answered_at_once_and_true_once_the_run_unwinds() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new().cancel(CancelMode::Attempt), agent);
    let stream = server.stream("go").await.unwrap();
    let run = runs.recv().await.unwrap();
    let id = run.id();
    assert_eq!(server.cancel(&id).await.unwrap().status.state, TaskState::Canceled);
    // The log does not say so yet.
    assert_eq!(server.state(&id).await, TaskState::Working);
    assert!(run.request.cancellation().is_canceled());
    run.fail("RUN_CANCELLED");
    assert_eq!(states(&rest(stream).await).last(), Some(&TaskState::Canceled));
    assert_eq!(server.state(&id).await, TaskState::Canceled);
}

#[tokio::test]
async fn b134_an_agent_that_ignores_an_attempt_ends_completed() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new().cancel(CancelMode::Attempt), agent);
    let stream = server.stream("go").await.unwrap();
    let run = runs.recv().await.unwrap();
    let id = run.id();
    server.cancel(&id).await.unwrap();
    run.say("all the same");
    drop(run);
    assert_eq!(states(&rest(stream).await).last(), Some(&TaskState::Completed));
    assert_eq!(code(server.cancel(&id).await), -32002);
}

#[tokio::test(start_paused = true)]
async fn b105_an_attempt_takes_effect_after_the_grace_at_the_latest() {
    let (agent, told, gone) = stubborn();
    let layer = TaskLayer::new().cancel(CancelMode::Attempt).cancel_grace(Duration::from_secs(3));
    let server = Server::new(layer, agent);
    let id = server.send(at_once("go")).await.unwrap().task().id.clone();
    server.cancel(&id).await.unwrap();
    sleep(Duration::from_millis(2_999)).await;
    assert!(told.load(SeqCst));
    assert_eq!(server.state(&id).await, TaskState::Working);
    sleep(Duration::from_millis(2)).await;
    assert!(gone.load(SeqCst));
    assert_eq!(server.state(&id).await, TaskState::Canceled);
}

#[tokio::test]
async fn b099_b103_only_own_streams_that_are_live_where_that_is_asked_for() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new().cancel_scope(CancelScope::OwnStreams), agent);
    server.send(at_once("go")).await.unwrap();
    let sent = runs.recv().await.unwrap();
    assert_eq!(code(server.cancel(&sent.id()).await), -32002);
    assert_eq!(server.state(&sent.id()).await, TaskState::Working);
    let _stream = server.stream("go").await.unwrap();
    let streamed = runs.recv().await.unwrap();
    assert_eq!(server.cancel(&streamed.id()).await.unwrap().status.state, TaskState::Canceled);
    assert_eq!(code(server.cancel("nope").await), -32001);
}

#[tokio::test]
async fn b101_c10_a_task_that_runs_elsewhere_can_be_canceled_and_its_run_hears_of_it() {
    let store = a2a_layers::task::MemoryTaskStore::new();
    let (agent, mut runs) = driven();
    let here = Server::new(TaskLayer::with_store(store.clone()), agent);
    let elsewhere = Server::new(TaskLayer::with_store(store.clone()), saying(vec![]));
    let own = Server::new(TaskLayer::with_store(store).cancel_scope(CancelScope::OwnStreams), saying(vec![]));
    let stream = here.stream("go").await.unwrap();
    let run = runs.recv().await.unwrap();
    assert_eq!(code(own.cancel(&run.id()).await), -32002);
    assert_eq!(elsewhere.cancel(&run.id()).await.unwrap().status.state, TaskState::Canceled);
    assert_eq!(states(&rest(stream).await).last(), Some(&TaskState::Canceled));
    // The run finds out when it has something to say.
    run.say("a");
    quiet().await;
    assert!(run.request.cancellation().is_canceled());
}

#[tokio::test]
async fn f52_a_cancel_that_comes_between_the_last_word_and_its_writing_wins_everywhere() {
    let probe = probe::Probe::default();
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    let stream = server.stream("go").await.unwrap();
    let run = runs.recv().await.unwrap();
    let id = run.id();
    let context = Arc::clone(run.request.context_id());
    let canceled = TaskStatusUpdateEvent::new(Arc::clone(&id), context, TaskStatus::new(TaskState::Canceled));
    *probe.plan.faster.lock().unwrap() = Some(Event::StatusUpdate(canceled));
    run.say(Update::completed());
    assert_eq!(states(&rest(stream).await)[2..], [TaskState::Canceled]);
    assert_eq!(server.state(&id).await, TaskState::Canceled);
    quiet().await;
    assert!(run.request.cancellation().is_canceled());
    assert!(server.subscribe(&id).now_or_never().is_some_and(|opened| opened.is_err()));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_whose_caller_leaves_is_carried_out_to_its_end() {
    let probe = Probe::default();
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    let id = server.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    quiet().await;
    *probe.plan.silent.lock().unwrap() = Duration::from_secs(5);
    assert!(timeout(Duration::from_secs(1), server.cancel(&id)).await.is_err());
    timeout(Duration::from_secs(5), run.request.cancellation().canceled()).await.expect("the run is told");
    assert_eq!(server.state(&id).await, TaskState::Canceled);
}
