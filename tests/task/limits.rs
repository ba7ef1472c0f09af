use std::{sync::Arc, time::Duration};

use a2a_layers::{
    agent::Update,
    error::ErrorKind,
    operation::ListTasks,
    task::{MemoryTaskStore, TaskLayer},
    types::TaskState,
};
use futures_util::FutureExt;
use tower::{limit::ConcurrencyLimitLayer, service_fn};
use tower_test::mock;

use super::*;

#[tokio::test]
async fn a_busy_agent_leaves_tasks_submitted_and_everything_else_answers_meanwhile() {
    let (gate, gates) = tokio::sync::mpsc::unbounded_channel::<tokio::sync::oneshot::Sender<()>>();
    let mut gates = gates;
    let agent = tower::ServiceBuilder::new().layer(ConcurrencyLimitLayer::new(1)).service(service_fn(move |_| {
        let (open, opened) = tokio::sync::oneshot::channel();
        let _ = gate.send(open);
        async move {
            let _ = opened.await;
            Ok::<_, BoxError>("done")
        }
    }));
    let server = Server::new(TaskLayer::new(), agent);
    let first = server.send(at_once("a")).await.unwrap().task().id.clone();
    let second = server.send(at_once("b")).await.unwrap().task().id.clone();
    let third = server.send(at_once("c")).await.unwrap().task().id.clone();
    assert_eq!(server.state(&first).now_or_never(), Some(TaskState::Working));
    assert_eq!(server.state(&second).now_or_never(), Some(TaskState::Submitted));
    assert_eq!(server.list(ListTasks::default()).now_or_never().unwrap().unwrap().total_size, 3);
    assert!(server.subscribe(&second).now_or_never().unwrap().is_ok());
    let canceled = server.cancel(&third).now_or_never().unwrap().unwrap();
    assert_eq!(canceled.status.state, TaskState::Canceled);
    // The place goes to the second, and the third is not begun any more.
    drop(gates.recv().await);
    quiet().await;
    assert_eq!(server.state(&first).await, TaskState::Completed);
    assert_eq!(server.state(&second).await, TaskState::Working);
    drop(gates.recv().await);
    quiet().await;
    assert_eq!(server.state(&second).await, TaskState::Completed);
    assert!(gates.try_recv().is_err());
}

#[tokio::test]
async fn the_layer_is_ready_while_the_agent_is_not_and_calls_no_unready_clone() {
    let (agent, mut handle) = mock::pair::<Request<Arc<Message>>, Reply>();
    handle.allow(0);
    let mut tasks = TaskLayer::new().layer(agent);
    assert!(tasks.ready().now_or_never().is_some());
    let operation = |text: &str| {
        Request::new(Operation::new(
            ProtocolVersion::V1_0,
            Binding::JsonRpc,
            OperationRequest::SendMessage(at_once(text)),
        ))
    };
    // The mock panics if a clone is called that was not ready; so a call below proves that it was.
    let Outcome::Answer(Answer::SentTask(view)) = tasks.call(operation("a")).await.unwrap().into_body() else {
        panic!()
    };
    assert_eq!(view.task().status.state, TaskState::Submitted);
    handle.allow(1);
    let (request, answer) = handle.next_request().await.unwrap();
    assert_eq!(request.body().text(), "a");
    answer.send_response(Reply::updates(vec!["done".into()]));
    quiet().await;
    let get = Request::new(Operation::new(
        ProtocolVersion::V1_0,
        Binding::JsonRpc,
        OperationRequest::GetTask(GetTask::new(view.task().id.clone())),
    ));
    let Outcome::Answer(Answer::Task(view)) = tasks.call(get).await.unwrap().into_body() else { panic!() };
    assert_eq!(view.task().status.state, TaskState::Completed);
    handle.allow(1);
    let sending = tokio::spawn(tasks.call(operation("b")));
    let (_, answer) = handle.next_request().await.unwrap();
    answer.send_error("hunter2");
    assert!(sending.await.unwrap().is_ok());
}

#[tokio::test]
async fn f84_one_run_more_than_allowed_is_refused_with_retry_advice() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new().max_runs(2), agent);
    for text in ["a", "b"] {
        server.send(at_once(text)).await.unwrap();
    }
    let error = server.send("c").await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after().is_some()), (ErrorKind::Overloaded, true));
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 2);
    drop(runs.recv().await);
    quiet().await;
    assert!(server.send(at_once("c")).await.is_ok());
}

#[tokio::test]
async fn f84_a_task_has_no_more_events_than_allowed() {
    // The task and its being at work are the first two.
    for (words, expected) in [(8, TaskState::Completed), (9, TaskState::Failed)] {
        let server = Server::new(TaskLayer::new().max_events(10), saying(vec!["x".into(); words]));
        let task = Arc::clone(server.send("go").await.unwrap().task());
        assert_eq!((task.status.state, task.artifacts[0].parts[0].as_text()), (expected, Some("xxxxxxxx")), "{words}");
    }
}

#[tokio::test]
async fn f84_an_agent_that_never_ends_is_stopped_and_starves_nobody() {
    let agent = replying(|request| match request.body().text().as_str() {
        "endless" => Reply::stream(streams::repeat_with(|| Ok::<_, BoxError>(Update::text("x")))),
        _ => Reply::updates(vec!["short".into()]),
    });
    let server = Server::new(TaskLayer::new().max_events(50_000), agent);
    let id = server.send(at_once("endless")).await.unwrap().task().id.clone();
    for _ in 0..10 {
        assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::Completed);
        tokio::task::yield_now().await;
    }
    assert_eq!(server.state(&id).await, TaskState::Working);
    while server.state(&id).await == TaskState::Working {
        tokio::task::yield_now().await;
    }
    let task = server.get(&id).await.unwrap();
    assert_eq!(task.status.state, TaskState::Failed);
    let words = task.status.message.as_ref().unwrap().text();
    assert!(words.starts_with("Internal error: the agent said more than it may"), "{words}");
}

#[tokio::test]
async fn f84_a_message_may_refer_to_so_many_tasks() {
    let server = Server::new(TaskLayer::new().max_references(2), saying(vec![]));
    let mut message = Message::user("go");
    message.reference_task_ids = vec!["a".to_owned(), "b".to_owned()];
    assert!(server.send(message.clone()).await.is_ok());
    message.reference_task_ids.push("c".to_owned());
    assert_eq!(code(server.send(message).await), -32602);
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 1);
}

#[tokio::test]
async fn f84_so_many_finished_tasks_are_kept_and_the_oldest_go_first() {
    let store = MemoryTaskStore::new().max_finished(2);
    let server = Server::new(
        TaskLayer::with_store(store.clone()),
        replying(|request| match request.body().text().as_str() {
            "ask" => vec![Update::input_required("?")],
            _ => vec![Update::completed()],
        }),
    );
    let open = server.send("ask").await.unwrap().task().id.clone();
    let mut made = Vec::new();
    for _ in 0..4 {
        made.push(server.send("go").await.unwrap().task().id.clone());
    }
    for (id, kept) in made.iter().zip([false, false, true, true]) {
        assert_eq!(server.get(id).await.is_ok(), kept);
    }
    // What is not over stays.
    assert_eq!((store.len(), server.state(&open).await), (3, TaskState::InputRequired));
}

#[tokio::test]
async fn f84_finished_tasks_go_when_they_are_old() {
    use a2a_layers::{
        owner::Owner,
        task::TaskStore,
        types::{Task, Timestamp},
    };
    let hour = Duration::from_secs(3600);
    let store = MemoryTaskStore::new().max_age(hour);
    let aged = |id: &str, state: TaskState, minutes: i64| {
        let mut task = Task::new(id, "c", state);
        task.status.timestamp = Some(Timestamp::from_millis(Timestamp::now().as_millis() - minutes * 60_000));
        Arc::new(task)
    };
    let anonymous = Owner::anonymous();
    for (id, state, minutes) in
        [("old", TaskState::Completed, 61), ("young", TaskState::Completed, 59), ("open", TaskState::Working, 61)]
    {
        store.create(&anonymous, aged(id, state, minutes)).await.unwrap();
    }
    let server = Server::new(TaskLayer::with_store(store.clone()), saying(vec![]));
    assert_eq!(code(server.get("old").await), -32001);
    assert!(server.get("young").await.is_ok() && server.get("open").await.is_ok());
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 2);
    assert_eq!(store.len(), 2);
}

#[tokio::test]
async fn f84_a_subscriber_of_a_task_that_goes_is_told() {
    let store = MemoryTaskStore::new().max_finished(1);
    let server = Server::new(TaskLayer::with_store(store), saying(vec!["a".into(), "b".into()]));
    let mut late = server.stream("go").await.unwrap();
    // The entries that were read stay; a reader that had read none finds nothing.
    server.send("go").await.unwrap();
    assert_eq!(late.next().await.unwrap().unwrap_err().code(), -32001);
    assert!(late.next().await.is_none());
}

#[tokio::test]
async fn the_mock_sees_the_message_as_it_was_sent() {
    let (agent, mut handle) = mock::pair::<Request<Arc<Message>>, Reply>();
    let mut tasks = TaskLayer::new().layer(agent);
    let message = Message::user("a").with_message_id("m-1");
    let request = OperationRequest::SendMessage(SendMessage::new(message));
    let sending =
        tokio::spawn(tasks.call(Request::new(Operation::new(ProtocolVersion::V0_3, Binding::JsonRpc, request))));
    let (request, answer) = handle.next_request().await.unwrap();
    assert_eq!((&*request.body().message_id, request.body().text()), ("m-1", "a".to_owned()));
    answer.send_response(Reply::message(Message::agent("b")));
    assert!(sending.await.unwrap().is_ok());
}
