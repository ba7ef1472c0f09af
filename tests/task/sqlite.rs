//! Two processes' worth of servers on one file.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::Duration,
};

use a2a_layers::{
    task::{SqliteTaskStore, TaskLayer},
    types::TaskState,
};
use futures_util::future::join_all;
use tokio::time::timeout;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("a2a-layers-task-{}-{name}.db", std::process::id())))
    }

    async fn layer(&self) -> TaskLayer<SqliteTaskStore> {
        let builder =
            SqliteTaskStore::builder(self.0.to_str().unwrap()).relaxed(true).lease(Duration::from_millis(600));
        TaskLayer::with_store(builder.poll(Duration::from_millis(5)).open().await.unwrap())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_sent_here_followed_and_canceled_there() {
    let file = File::new("shared");
    let (agent, mut runs) = driven();
    let here = Server::new(file.layer().await, agent);
    let there = Server::new(file.layer().await, asking());
    let sending = tokio::spawn({
        let here = here.clone();
        async move { here.send("go").await }
    });
    let run = timeout(PATIENCE, runs.recv()).await.unwrap().unwrap();
    let id = run.id();
    while there.get(&id).await.is_err() {
        tokio::task::yield_now().await;
    }
    let mut stream = there.subscribe_after(&id, 1).await.unwrap();
    assert!(next(&mut stream).await.number().is_some());
    for word in ["one ", "two "] {
        run.say(word);
        let event = loop {
            let event = timeout(PATIENCE, next(&mut stream)).await.unwrap();
            if event.to_event().state().is_none() {
                break event;
            }
        };
        assert_eq!(text_of(&event), word);
    }
    assert_eq!(there.cancel(&id).await.unwrap().status.state, TaskState::Canceled);
    timeout(PATIENCE, run.request.cancellation().canceled()).await.expect("the run is told");
    let events = timeout(PATIENCE, rest(stream)).await.unwrap();
    assert_eq!(states(&events), [TaskState::Canceled]);
    drop(run);
    let answer = timeout(PATIENCE, sending).await.unwrap().unwrap().unwrap();
    assert_eq!(answer.task().status.state, TaskState::Canceled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_shutdown_leaves_is_at_hand_at_once() {
    let file = File::new("ended");
    let (agent, mut runs) = driven();
    let layer = file.layer().await;
    let first = Server::new(layer.clone(), agent.clone());
    let (ended, asks) = (first.send(at_once("a")).await.unwrap(), first.send(at_once("b")).await.unwrap());
    let (run, asking_run) = (runs.recv().await.unwrap(), runs.recv().await.unwrap());
    asking_run.say(Update::input_required("which?"));
    drop(asking_run);
    layer.shutdown(Duration::from_millis(50)).await;
    let second = Server::new(file.layer().await, agent);
    assert_eq!(second.state(&ended.task().id).await, TaskState::Failed);
    drop(run);
    let mut message = follow_up(&asks.task().id, "this").into_send();
    message.configuration.return_immediately = true;
    second.send(message).await.unwrap();
    let run = runs.recv().await.unwrap();
    assert_eq!(run.request.task_context().task().unwrap().status.state, TaskState::InputRequired);
    run.say("that");
    drop(run);
    let stream = second.subscribe_after(&asks.task().id, 1).await;
    if let Ok(stream) = stream {
        timeout(PATIENCE, rest(stream)).await.unwrap();
    }
    assert_eq!(second.state(&asks.task().id).await, TaskState::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_again_elsewhere_or_after_a_restart_runs_once() {
    let file = File::new("retries");
    let calls = Arc::new(AtomicU32::new(0));
    let agent = replying({
        let calls = Arc::clone(&calls);
        move |_| format!("call {}", calls.fetch_add(1, SeqCst) + 1)
    });
    let window = Some(Duration::from_secs(600));
    let (here, there) = (file.layer().await.retry_window(window), file.layer().await.retry_window(window));
    let servers = [Server::new(here.clone(), agent.clone()), Server::new(there.clone(), agent.clone())];
    let mut first = None;
    for round in 0..20 {
        let sends = (0..6).map(|number| {
            let message = Message::user("hi").with_message_id(format!("m{round}"));
            let server = servers[number % 2].clone();
            tokio::spawn(async move {
                if number < 4 {
                    return server.send(message).await.unwrap().task().id.clone();
                }
                let events = rest(server.stream(message).await.unwrap()).await;
                let Event::Task(task) = events[0].to_event() else { panic!("{:?}", events[0]) };
                assert_eq!(states(&events).last(), Some(&TaskState::Completed));
                task.id.clone()
            })
        });
        let ids: Vec<_> = timeout(PATIENCE, join_all(sends)).await.unwrap().into_iter().map(Result::unwrap).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(calls.load(SeqCst), round + 1);
        first.get_or_insert_with(|| ids[0].clone());
    }
    for layer in [here, there] {
        layer.shutdown(Duration::from_secs(1)).await;
    }
    drop(servers);
    let again = Server::new(file.layer().await.retry_window(window), agent);
    let view = again.send(Message::user("hi").with_message_id("m0")).await.unwrap();
    assert_eq!((&view.task().id, calls.load(SeqCst)), (&first.unwrap(), 20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_its_process_took_with_it_runs_elsewhere() {
    let file = Arc::new(File::new("dangling"));
    let window = Some(Duration::from_secs(600));
    let silent = service_fn(|request: Request<Arc<Message>>| async move {
        // Nobody knows yet whether it takes the message.
        let _hold = request.task_context().hold_message();
        std::future::pending::<Result<Reply, BoxError>>().await
    });
    let message = || Message::user("hi").with_message_id("m");
    let killed = tokio::runtime::Runtime::new().unwrap();
    killed
        .spawn({
            let file = Arc::clone(&file);
            async move {
                let server = Server::new(file.layer().await.retry_window(window), silent);
                let _ = timeout(Duration::from_millis(300), server.send(message())).await;
            }
        })
        .await
        .unwrap();
    let there = Server::new(file.layer().await.retry_window(window), saying(vec![Update::text("done")]));
    let send = tokio::spawn(async move { there.send(message()).await.unwrap() });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!send.is_finished(), "the first may come to something");
    killed.shutdown_background();
    let view = timeout(PATIENCE, send).await.unwrap().unwrap();
    assert_eq!(view.task().status.state, TaskState::Completed);
}
