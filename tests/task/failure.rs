use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use a2a_layers::{
    agent::Update,
    error::ErrorKind,
    operation::ListTasks,
    task::{ReplyMode, TaskLayer},
    types::TaskState,
};
use futures_util::{FutureExt, StreamExt};
use tokio::time::Instant;
use tower::{ServiceBuilder, load_shed::LoadShedLayer, service_fn};

use super::*;

fn words(task: &Task) -> String {
    task.status.message.as_ref().map(|message| message.parts[0].as_text().unwrap().to_owned()).unwrap_or_default()
}

/// Sends in each of the three ways and gives the failed task of each.
async fn failed_tasks(server: &Server) -> Vec<Arc<Task>> {
    let blocking = Arc::clone(server.send("go").await.unwrap().task());
    let polled = server.send(at_once("go")).await.unwrap().task().id.clone();
    quiet().await;
    let events = rest(server.stream("go").await.unwrap()).await;
    assert_eq!(states(&events).last(), Some(&TaskState::Failed));
    let Event::Task(streamed) = events[0].to_event() else { panic!() };
    let tasks = vec![blocking, server.get(&polled).await.unwrap(), server.get(&streamed.id).await.unwrap()];
    assert!(tasks.iter().all(|task| task.status.state == TaskState::Failed));
    assert_eq!(server.get(&tasks[0].id).await.unwrap(), tasks[0]);
    tasks
}

#[tokio::test]
async fn f65_v047_v052_b126_an_error_at_once_fails_the_task_and_tells_nothing_of_its_cause() {
    let server = Server::new(TaskLayer::new(), failing(|| "password is hunter2".into()));
    for task in failed_tasks(&server).await {
        assert_eq!(words(&task), "Internal error");
        assert!(!format!("{task:?}").contains("hunter2"));
    }
}

#[tokio::test]
async fn f65_b126_an_error_after_the_first_event_fails_the_task_and_keeps_what_was_said() {
    let server = Server::new(
        TaskLayer::new(),
        replying(|_| Reply::stream(streams::iter([Ok("half"), Err(BoxError::from("password is hunter2"))]))),
    );
    for task in failed_tasks(&server).await {
        assert_eq!(task.artifacts[0].parts[0].as_text(), Some("half"));
        assert!(!format!("{task:?}").contains("hunter2"));
    }
}

#[tokio::test]
async fn f65_a_panic_before_the_first_event_fails_the_task() {
    let server = Server::new(
        TaskLayer::new(),
        service_fn(|_| async {
            if true {
                panic!("hunter2");
            }
            Ok::<_, BoxError>("")
        }),
    );
    for task in failed_tasks(&server).await {
        assert_eq!(words(&task), "Internal error");
        assert!(!format!("{task:?}").contains("hunter2"));
    }
}

#[tokio::test]
async fn f65_a_panic_in_the_call_itself_fails_the_task() {
    let server = Server::new(
        TaskLayer::new(),
        replying(|request| {
            assert!(request.body().text().is_empty(), "hunter2");
            "never"
        }),
    );
    failed_tasks(&server).await;
}

#[tokio::test]
async fn f65_a_panic_after_the_first_event_fails_the_task() {
    let server = Server::new(
        TaskLayer::new(),
        replying(|_| {
            Reply::stream(streams::iter(0..2).map(|n| {
                assert!(n == 0, "hunter2");
                Ok::<_, BoxError>("half")
            }))
        }),
    );
    for task in failed_tasks(&server).await {
        assert_eq!(task.artifacts[0].parts[0].as_text(), Some("half"));
        assert!(!format!("{task:?}").contains("hunter2"));
    }
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("hunter2");
        }
    }
}

#[tokio::test]
async fn f65_a_panic_of_an_agent_that_is_dropped_reaches_nobody() {
    let server = Server::new(
        TaskLayer::new(),
        replying(|_| {
            let bomb = Bomb;
            let words = streams::iter([Update::completed(), Update::text("more")]).map(move |update| {
                let _ = &bomb;
                Ok::<_, BoxError>(update)
            });
            Reply::stream(words)
        }),
    );
    assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::Completed);
}

#[tokio::test]
async fn f66_f51_the_code_of_an_error_of_the_agents_is_told() {
    let error = || Error::new(ErrorKind::InvalidAgentResponse).with_detail("the model said nothing").into();
    let server = Server::new(TaskLayer::new(), failing(error));
    for task in failed_tasks(&server).await {
        let message = task.status.message.as_ref().unwrap();
        assert_eq!(message.parts[0].as_text(), Some("Invalid agent response: the model said nothing"));
        assert!(message.parts[1].as_data().unwrap().get().contains("-32006"));
    }
    let server = Server::new(
        TaskLayer::new(),
        replying(|_| Reply::stream(streams::iter([Ok("half"), Err(Error::new(ErrorKind::UnsupportedOperation))]))),
    );
    let events = rest(server.stream("go").await.unwrap()).await;
    let Event::StatusUpdate(last) = events.last().unwrap().to_event() else { panic!() };
    assert!(last.status.message.unwrap().parts[1].as_data().unwrap().get().contains("-32004"));
}

#[tokio::test]
async fn an_agent_that_is_not_ready_for_good_fails_the_task() {
    #[derive(Clone)]
    struct Broken;
    impl Service<Request<Arc<Message>>> for Broken {
        type Response = Reply;
        type Error = BoxError;
        type Future = std::future::Ready<Result<Reply, BoxError>>;
        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), BoxError>> {
            std::task::Poll::Ready(Err("hunter2".into()))
        }
        fn call(&mut self, _: Request<Arc<Message>>) -> Self::Future {
            panic!("called although it is not ready")
        }
    }
    let server = Server::new(TaskLayer::new(), Broken);
    failed_tasks(&server).await;
}

#[tokio::test]
async fn shed_load_is_overloaded_with_retry_advice_and_the_service_lives_on() {
    let (agent, mut runs) = driven();
    let shedding = ServiceBuilder::new()
        .layer(LoadShedLayer::new())
        .layer(tower::limit::GlobalConcurrencyLimitLayer::new(1))
        .service(service_fn(move |request| {
            let answer = agent.clone().oneshot(request);
            // The limit holds as long as the future, so this one does not end with the reply.
            async move {
                use futures_util::TryStreamExt;
                let updates: Vec<_> = answer.await?.into_updates().try_collect().await?;
                Ok::<_, BoxError>(updates)
            }
        }));
    let server = Server::new(TaskLayer::new(), shedding);
    let first = server.send(at_once("a")).await.unwrap().task().id.clone();
    let run = runs.recv().await.unwrap();
    for _ in 0..3 {
        let error = server.send("b").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overloaded);
        assert!(error.retry_after().is_some());
        assert!(server.stream("b").await.is_err_and(|error| error.kind() == ErrorKind::Overloaded));
    }
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 1);
    drop(run);
    quiet().await;
    assert_eq!(server.state(&first).await, TaskState::Completed);
    server.send(at_once("c")).await.unwrap();
    assert!(runs.recv().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_works_too_long_fails() {
    let (agent, mut runs) = driven();
    let layer = TaskLayer::new().run_timeout(Some(Duration::from_secs(10))).idle_timeout(None);
    let server = Server::new(layer, agent);
    let began = Instant::now();
    let (view, ()) = tokio::join!(server.send("go"), async {
        let run = runs.recv().await.unwrap();
        loop {
            run.say("x");
            tokio::time::sleep(Duration::from_secs(1)).await;
            if run.updates.is_closed() {
                break;
            }
        }
    });
    let view = view.unwrap();
    assert_eq!(view.task().status.state, TaskState::Failed);
    assert_eq!(words(view.task()), "Internal error: the agent took too long");
    assert!(began.elapsed() >= Duration::from_secs(10) && began.elapsed() < Duration::from_secs(12));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_silent_too_long_fails_and_one_that_speaks_in_time_does_not() {
    let (agent, mut runs) = driven();
    let layer = TaskLayer::new().run_timeout(None).idle_timeout(Some(Duration::from_secs(10)));
    let server = Server::new(layer, agent);
    let began = Instant::now();
    let (view, ()) = tokio::join!(server.send("go"), async {
        let run = runs.recv().await.unwrap();
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(9_999)).await;
            run.say("x");
        }
        run.updates.closed().await;
    });
    let view = view.unwrap();
    assert_eq!(words(view.task()), "Internal error: the agent was silent for too long");
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("xxxxx"));
    assert_eq!(began.elapsed().as_millis() / 10, (5 * 9_999 + 10_000) / 10);
}

#[tokio::test(start_paused = true)]
async fn without_time_outs_an_agent_may_take_as_long_as_it_likes() {
    for forever in [None, Some(Duration::MAX)] {
        let layer = TaskLayer::new().run_timeout(forever).idle_timeout(forever);
        let server = Server::new(
            layer,
            service_fn(|_| async {
                tokio::time::sleep(Duration::from_secs(1_000_000)).await;
                Ok::<_, BoxError>("at last")
            }),
        );
        assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::Completed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_out_reaches_an_agent_that_is_never_silent() {
    let layer = TaskLayer::new().run_timeout(Some(Duration::from_secs(1))).max_events(u64::MAX);
    let server =
        Server::new(layer, replying(|_| Reply::stream(streams::repeat_with(|| Ok::<_, BoxError>(Update::text("x"))))));
    let id = server.send(at_once("go")).await.unwrap().task().id.clone();
    tokio::time::advance(Duration::from_secs(2)).await;
    quiet().await;
    assert_eq!(server.state(&id).await, TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn f52_f65_where_the_store_loses_the_end_stream_and_store_agree_on_failed() {
    let probe = probe::Probe::default();
    let server = Server::new(TaskLayer::with_store(probe.clone()), saying(vec!["a".into()]));
    probe.plan.failing_appends.store(2, SeqCst);
    let events = rest(server.stream("go").await.unwrap()).await;
    let Event::Task(task) = events[0].to_event() else { panic!() };
    assert_eq!(states(&events), [TaskState::Submitted, TaskState::Failed]);
    let stored = server.get(&task.id).await.unwrap();
    assert_eq!((stored.status.state, words(&stored)), (TaskState::Failed, "Internal error".to_owned()));
    // And so does a blocking send, with a task or an error for an answer.
    probe.plan.failing_appends.store(1, SeqCst);
    assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::Failed);
    let layer = TaskLayer::with_store(probe.clone()).reply(ReplyMode::Message);
    let server = Server::new(layer, saying(vec!["a".into()]));
    probe.plan.failing_appends.store(1, SeqCst);
    assert_eq!(code(server.ask("go").await), -32603);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_is_an_internal_error_with_retry_advice_everywhere() {
    let (agent, mut runs) = driven();
    let probe = probe::Probe::default();
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    let stream = server.stream("go").await.unwrap();
    let run = runs.recv().await.unwrap();
    let id = run.id();
    quiet().await;
    probe.plan.is_down.store(true, SeqCst);
    let errors = [
        server.get(&id).await.unwrap_err(),
        server.cancel(&id).await.unwrap_err(),
        server.list(ListTasks::default()).await.unwrap_err(),
        server.send("x").await.unwrap_err(),
        server.send(follow_up(&id, "x")).await.unwrap_err(),
        server.stream("x").await.unwrap_err(),
        server.subscribe(&id).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.code(), &*error.message()), (-32603, "Internal error"));
        // Where there are statuses, it is one that says to try again.
        assert_eq!((error.kind().http_status().as_u16(), error.kind().status_name()), (503, "UNAVAILABLE"));
        assert!(error.retry_after().is_some());
    }
    // An open stream ends with the same.
    let last = stream.collect::<Vec<_>>().await.pop().unwrap().unwrap_err();
    assert_eq!((last.code(), last.retry_after().is_some()), (-32603, true));
    // The run gives up after a while, and its agent is told.
    run.say("x");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(run.updates.is_closed() && run.request.cancellation().is_canceled());
    probe.plan.is_down.store(false, SeqCst);
    assert_eq!(server.state(&id).await, TaskState::Working);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_send_whose_store_goes_down_ends_with_an_error() {
    let (agent, mut runs) = driven();
    let probe = probe::Probe::default();
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    let (answer, ()) = tokio::join!(server.send("go"), async {
        let run = runs.recv().await.unwrap();
        quiet().await;
        probe.plan.is_down.store(true, SeqCst);
        run.say("x");
    });
    let error = answer.unwrap_err();
    assert_eq!((error.code(), error.retry_after().is_some()), (-32603, true));
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_delays_and_loses_nothing() {
    let probe = probe::Probe::default();
    *probe.plan.delay.lock().unwrap() = Duration::from_secs(1);
    let server = Server::new(TaskLayer::with_store(probe.clone()), saying(vec!["a".into(), "b".into()]));
    let view = server.send("go").await.unwrap();
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("ab"));
    let events = rest(server.stream("go").await.unwrap()).await;
    assert_eq!(numbers(&events), [1, 2, 3, 4, 5]);
    // A caller that leaves while the task is being made does not stop it.
    let lists = async { server.list(ListTasks::default()).await.unwrap().total_size };
    assert!(server.stream("go").now_or_never().is_none());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(lists.await, 3);
    assert_eq!(probe.inner.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn f64_an_authorization_may_take_longer_than_an_agent_may_be_silent() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new().idle_timeout(Some(Duration::from_secs(10))), agent);
    server.send(at_once("go")).await.unwrap();
    let run = runs.recv().await.unwrap();
    let id = run.id();
    run.say(Update::auth_required("log in"));
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(server.state(&id).await, TaskState::AuthRequired);
    run.say(Update::working());
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(server.state(&id).await, TaskState::Failed);
}
