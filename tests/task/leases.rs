use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use a2a_layers::{
    error::ErrorKind,
    operation::ListTasks,
    task::{ReplyMode, TaskLayer, TaskStore},
    types::TaskState,
};
use tokio::time::sleep;

use super::{
    leased::{LEASE, Leased},
    *,
};

/// Two processes on one store, and the runs of the first.
fn two() -> (Leased, Server, mpsc::UnboundedReceiver<Run>, Server) {
    let first = Leased::new();
    let second = first.other();
    let (agent, runs) = driven();
    let one = Server::new(TaskLayer::with_store(first.clone()), agent.clone());
    let two = Server::new(TaskLayer::with_store(second), agent);
    (first, one, runs, two)
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_process_is_gone_ends_as_failed_and_says_so() {
    let (first, one, mut runs, two) = two();
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    run.say("half of ");
    quiet().await;
    first.is_dead.store(true, SeqCst);
    // A reader elsewhere sees all of it.
    let stream = two.subscribe_after(&id, 1).await.unwrap();
    sleep(LEASE * 9 / 10 - Duration::from_secs(10)).await;
    assert_eq!(two.state(&id).await, TaskState::Working, "its lease has not run out");
    let events = tokio::time::timeout(LEASE * 2, rest(stream)).await.unwrap();
    assert_eq!(states(&events).last(), Some(&TaskState::Failed));
    let task = two.get(&id).await.unwrap();
    let words = task.status.message.as_ref().unwrap().parts[0].as_text().unwrap().to_owned();
    assert_eq!(words, "Internal error: the process that worked on the task is gone");
    assert_eq!(task.artifacts[0].parts[0].as_text(), Some("half of "));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_renews_its_lease_keeps_its_runs_for_as_long_as_they_take() {
    let (_, one, mut runs, two) = two();
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    for _ in 0..10 {
        sleep(LEASE).await;
        run.say("x");
    }
    drop(run);
    quiet().await;
    assert_eq!(two.state(&id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_has_much_to_let_go_of_keeps_its_runs_and_hears_of_cancels() {
    let (first, one, mut runs, two) = two();
    first.retains.store(true, SeqCst);
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    sleep(LEASE * 5).await;
    assert_eq!(two.state(&id).await, TaskState::Working);
    two.cancel(&id).await.unwrap();
    quiet().await;
    assert!(run.request.cancellation().is_canceled());
}

#[tokio::test(start_paused = true)]
async fn a_process_that_lost_its_lease_stops_its_runs() {
    let (first, one, mut runs, two) = two();
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    quiet().await;
    first.is_dead.store(true, SeqCst);
    sleep(LEASE * 2).await;
    // It was not dead after all.
    first.is_dead.store(false, SeqCst);
    quiet().await;
    assert_eq!(two.state(&id).await, TaskState::Failed);
    assert!(run.request.cancellation().is_canceled());
    sleep(Duration::from_secs(10)).await;
    assert!(run.updates.is_closed());
    assert_eq!(two.state(&id).await, TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_from_another_process_stops_a_run_that_is_silent() {
    let (_, one, mut runs, two) = two();
    let sending = tokio::spawn({
        let one = one.clone();
        async move { one.send("go").await }
    });
    let run = runs.recv().await.unwrap();
    quiet().await;
    let canceled = two.cancel(&run.id()).await.unwrap();
    assert_eq!(canceled.status.state, TaskState::Canceled);
    quiet().await;
    assert!(run.request.cancellation().is_canceled());
    run.say("too late");
    // Who waits where the run was is told as well.
    drop(run);
    assert_eq!(sending.await.unwrap().unwrap().task().status.state, TaskState::Canceled);
    assert!(two.cancel("none").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_in_another_process() {
    let (_, one, _runs, _) = two();
    drop(one);
    let first = Leased::new();
    let (one, two) = (
        Server::new(TaskLayer::with_store(first.clone()), asking()),
        Server::new(TaskLayer::with_store(first.other()), asking()),
    );
    let id = one.send("go").await.unwrap().task().id.clone();
    assert_eq!(two.state(&id).await, TaskState::InputRequired);
    assert_eq!(two.send(follow_up(&id, "b")).await.unwrap().task().status.state, TaskState::Completed);
    assert_eq!(one.state(&id).await, TaskState::Completed);
    assert!(first.lost_runs(10).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_store_was_down_for_long_ends_when_it_is_back() {
    let (first, one, mut runs, _) = two();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    quiet().await;
    first.is_dead.store(true, SeqCst);
    run.say("lost");
    sleep(Duration::from_secs(60 * 60)).await;
    first.is_dead.store(false, SeqCst);
    sleep(Duration::from_secs(31)).await;
    assert_eq!(one.state(&id).await, TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_runs_and_takes_no_more() {
    let (agent, mut runs) = driven();
    let layer = TaskLayer::new();
    let server = Server::new(layer.clone(), agent);
    let id = server.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    let shutdown = tokio::spawn(async move { layer.shutdown(Duration::from_secs(10)).await });
    quiet().await;
    let refused = server.send("more").await.unwrap_err();
    assert_eq!((refused.code(), refused.retry_after().is_some()), (-32603, true));
    assert_eq!(server.state(&id).await, TaskState::Working, "whatever runs no agent goes on");
    sleep(Duration::from_secs(9)).await;
    assert!(!shutdown.is_finished());
    run.say("done");
    drop(run);
    quiet().await;
    assert!(shutdown.is_finished());
    assert_eq!(server.state(&id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_stops_a_run_that_has_no_task_yet() {
    let (agent, mut runs) = driven();
    let layer = TaskLayer::new().reply(ReplyMode::Auto);
    let server = Server::new(layer.clone(), agent);
    let waiting = tokio::spawn(async move { server.ask("go").await });
    let run = runs.recv().await.unwrap();
    layer.shutdown(Duration::from_secs(10)).await;
    assert!(run.request.cancellation().is_canceled());
    let refused = waiting.await.unwrap().unwrap_err();
    assert_eq!((refused.code(), refused.retry_after().is_some()), (-32603, true));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_what_is_not_over_and_gives_the_lease_up() {
    let (first, _, _, _) = two();
    let (agent, mut runs) = driven();
    let layer = TaskLayer::with_store(first.clone());
    let one = Server::new(layer.clone(), agent);
    let two = Server::new(TaskLayer::with_store(first.other()), asking());
    let (working, asking) = (one.send(at_once("a")).await.unwrap(), one.send(at_once("b")).await.unwrap());
    let (working, asking) = (working.task().id.clone(), asking.task().id.clone());
    let (run, asks) = (runs.recv().await.unwrap(), runs.recv().await.unwrap());
    asks.say(Update::auth_required("log in"));
    quiet().await;
    let stream = two.subscribe_after(&working, 1).await.unwrap();
    layer.shutdown(Duration::from_secs(10)).await;
    assert!(run.request.cancellation().is_canceled() && asks.request.cancellation().is_canceled());
    let events = rest(stream).await;
    assert_eq!(states(&events).last(), Some(&TaskState::Failed));
    let task = two.get(&working).await.unwrap();
    let words = task.status.message.as_ref().unwrap().parts[0].as_text().unwrap().to_owned();
    assert_eq!(words, "Internal error: the server was stopped before the work was done");
    assert_eq!(two.state(&asking).await, TaskState::AuthRequired);
    // What is begun by a process that has given up its lease is anybody's.
    first.create(&Default::default(), Arc::new(Task::new("late", "c", TaskState::Working))).await.unwrap();
    sleep(LEASE / 3 + Duration::from_secs(1)).await;
    assert_eq!(two.state("late").await, TaskState::Failed);
    assert_eq!(two.state(&asking).await, TaskState::AuthRequired, "somebody may still log in");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_that_waits_for_longer_than_a_lease_keeps_it() {
    let first = Leased::new();
    let (agent, mut runs) = driven();
    let layer = TaskLayer::with_store(first.clone());
    let one = Server::new(layer.clone(), agent);
    let two = Server::new(TaskLayer::with_store(first.other()), asking());
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    let shutdown = tokio::spawn(async move { layer.shutdown(LEASE * 10).await });
    sleep(LEASE * 5).await;
    assert_eq!(two.state(&id).await, TaskState::Working, "it is not lost, its process says so");
    run.say("done");
    drop(run);
    quiet().await;
    assert!(shutdown.is_finished());
    assert_eq!(two.state(&id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_in_time_without_its_store() {
    let first = Leased::new();
    let (agent, mut runs) = driven();
    let layer = TaskLayer::with_store(first.clone());
    let one = Server::new(layer.clone(), agent);
    one.send(at_once("go")).await.unwrap();
    let run = runs.recv().await.unwrap();
    quiet().await;
    first.hangs.store(true, SeqCst);
    let begun = tokio::time::Instant::now();
    layer.shutdown(Duration::from_secs(10)).await;
    assert_eq!(begun.elapsed().as_secs(), 10 + 5 + 5);
    assert!(run.request.cancellation().is_canceled());
}

/// Two processes whose agent may do its work twice, and the runs of both.
fn two_that_rerun(times: u32) -> (Leased, Server, Server, mpsc::UnboundedReceiver<Run>) {
    let first = Leased::new();
    let (agent, runs) = driven();
    let server = |store| Server::new(TaskLayer::with_store(store).rerun_lost(times), agent.clone());
    (first.clone(), server(first.clone()), server(first.other()), runs)
}

#[tokio::test(start_paused = true)]
async fn a_lost_run_is_begun_again_where_it_may_be() {
    let (first, one, two, mut runs) = two_that_rerun(1);
    two.list(ListTasks::default()).await.unwrap();
    let id = one.owned_by("ann").send(at_once("go")).await.unwrap().task().id.clone();
    let lost = runs.recv().await.unwrap();
    lost.say("half of ");
    quiet().await;
    let ann = two.owned_by("ann");
    let stream = ann.subscribe_after(&id, 1).await.unwrap();
    first.is_dead.store(true, SeqCst);
    let again = tokio::time::timeout(LEASE * 2, runs.recv()).await.unwrap().unwrap();
    assert_eq!((again.id(), again.request.body().text()), (id.clone(), "go".to_owned()));
    assert!(again.request.task_context().task().is_none(), "as at the first time");
    again.say("all of ");
    again.say("it");
    drop(again);
    let events = tokio::time::timeout(LEASE, rest(stream)).await.unwrap();
    assert_eq!(numbers(&events), (1..=events.len() as u64).collect::<Vec<_>>());
    let task = ann.get(&id).await.unwrap();
    assert_eq!((task.status.state, task.history.len(), task.artifacts.len()), (TaskState::Completed, 1, 1));
    assert_eq!(task.artifacts[0].parts[0].as_text(), Some("all of it"));
}

#[tokio::test(start_paused = true)]
async fn a_later_turn_is_begun_again_with_what_was_before_it() {
    let (first, one, two, mut runs) = two_that_rerun(1);
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    run.say("first");
    run.say(Update::input_required("which?"));
    drop(run);
    quiet().await;
    let mut message = follow_up(&id, "that").into_send();
    message.configuration.return_immediately = true;
    one.send(message).await.unwrap();
    let lost = runs.recv().await.unwrap();
    lost.say("lost");
    quiet().await;
    first.is_dead.store(true, SeqCst);
    let again = tokio::time::timeout(LEASE * 2, runs.recv()).await.unwrap().unwrap();
    assert_eq!(again.request.body().text(), "that");
    let before = again.request.task_context().task().unwrap();
    assert_eq!(before.status.state, TaskState::InputRequired);
    again.say("second");
    drop(again);
    quiet().await;
    let task = two.get(&id).await.unwrap();
    let texts: Vec<_> = task.artifacts.iter().map(|artifact| artifact.parts[0].as_text().unwrap()).collect();
    assert_eq!((task.status.state, texts), (TaskState::Completed, vec!["first", "second"]));
    assert_eq!(task.history.len(), 3, "go, which?, that");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_lost_again_and_again_is_given_up() {
    let (first, one, two, mut runs) = two_that_rerun(2);
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let mut lost = vec![runs.recv().await.unwrap()];
    // Each process that has it dies.
    let (mut dying, mut servers) = (first, vec![one, two]);
    for _ in 0..2 {
        let next = dying.other();
        let (agent, mut reruns) = driven();
        let server = Server::new(TaskLayer::with_store(next.clone()).rerun_lost(2), agent);
        server.list(ListTasks::default()).await.unwrap();
        if servers.len() == 2 {
            // The second one only watches from here on.
            servers.remove(1);
        }
        dying.is_dead.store(true, SeqCst);
        lost.push(tokio::time::timeout(LEASE * 3, reruns.recv()).await.unwrap().unwrap());
        (dying, servers) = (next, [servers, vec![server]].concat());
    }
    let last = Server::new(TaskLayer::with_store(dying.other()).rerun_lost(2), asking());
    last.list(ListTasks::default()).await.unwrap();
    dying.is_dead.store(true, SeqCst);
    sleep(LEASE * 3).await;
    assert_eq!(last.state(&id).await, TaskState::Failed);
}

/// A lost run, for another process with this agent to begin again.
async fn lost_to(agent: impl Agent, prepare: impl FnOnce(&Leased)) -> (Server, Arc<str>) {
    let first = Leased::new();
    let second = first.other();
    prepare(&second);
    let (working, mut runs) = driven();
    let one = Server::new(TaskLayer::with_store(first.clone()).rerun_lost(1), working);
    let two = Server::new(TaskLayer::with_store(second).rerun_lost(1), agent);
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let _run = runs.recv().await.unwrap();
    quiet().await;
    first.is_dead.store(true, SeqCst);
    sleep(LEASE * 3).await;
    (two, id)
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_begun_again_and_refused_fails() {
    let (two, id) = lost_to(failing(|| Error::new(ErrorKind::Overloaded).into()), |_| {}).await;
    assert_eq!(two.state(&id).await, TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_begun_again_and_cannot_be_written_fails() {
    // The first says that it is begun again.
    let breaks = |store: &Leased| store.failing_append.store(2, SeqCst);
    let (two, id) = lost_to(saying(vec![Update::text("done")]), breaks).await;
    assert_eq!(two.state(&id).await, TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_comes_back_leaves_a_run_alone_that_was_begun_again_elsewhere() {
    let (first, one, two, mut runs) = two_that_rerun(1);
    two.list(ListTasks::default()).await.unwrap();
    let id = one.send(at_once("go")).await.unwrap().task().id.clone();
    let cut_off = runs.recv().await.unwrap();
    quiet().await;
    first.is_dead.store(true, SeqCst);
    // It goes on trying to say that this was lost.
    cut_off.say("lost");
    let again = tokio::time::timeout(LEASE * 2, runs.recv()).await.unwrap().unwrap();
    again.say("once ");
    quiet().await;
    first.is_dead.store(false, SeqCst);
    sleep(LEASE * 3).await;
    assert_eq!(two.state(&id).await, TaskState::Working);
    again.say("more");
    drop(again);
    quiet().await;
    assert_eq!(one.state(&id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_hands_over_what_may_be_begun_again() {
    let first = Leased::new();
    let (agent, mut runs) = driven();
    let layer = TaskLayer::with_store(first.clone()).rerun_lost(1);
    let one = Server::new(layer.clone(), agent.clone());
    let two = Server::new(TaskLayer::with_store(first.other()).rerun_lost(1), agent);
    two.list(ListTasks::default()).await.unwrap();
    let waiting = tokio::spawn({
        let one = one.clone();
        async move { one.send("go").await }
    });
    let run = runs.recv().await.unwrap();
    run.say("half of ");
    quiet().await;
    let stream = two.subscribe_after(&run.id(), 1).await.unwrap();
    layer.shutdown(Duration::from_secs(10)).await;
    assert!(run.request.cancellation().is_canceled());
    run.say("what nobody wants to hear");
    let again = tokio::time::timeout(LEASE / 2, runs.recv()).await.expect("at once").unwrap();
    assert_eq!((again.id(), again.request.body().text()), (run.id(), "go".to_owned()));
    let answer = waiting.await.unwrap().unwrap();
    assert!(matches!(answer.task().status.state, TaskState::Submitted | TaskState::Working), "it goes on elsewhere");
    again.say("all of it");
    let id = again.id();
    drop(again);
    let events = rest(stream).await;
    assert_eq!(states(&events).last(), Some(&TaskState::Completed));
    let task = two.get(&id).await.unwrap();
    assert_eq!(task.artifacts[0].parts[0].as_text(), Some("all of it"));
    assert_eq!(task.artifacts.len(), 1);
}
