use std::time::Duration;

use a2a_layers::{
    agent::{Reply, RequestExt, Update},
    error::{BoxError, ErrorKind},
    operation::{ListTasks, OperationRequest},
    task::{MemoryTaskStore, ReplyMode, TaskLayer},
    types::{Message, Part, Role, TaskState},
};
use futures_util::{StreamExt, future::join_all};
use tokio::time::{Instant, sleep};
use tower::service_fn;

use super::*;

fn slow() -> impl Agent {
    service_fn(|_| async {
        sleep(Duration::from_secs(1)).await;
        Ok::<_, BoxError>(Reply::updates(vec!["done".into()]))
    })
}

#[tokio::test(start_paused = true)]
async fn f62_v046_a_send_waits_for_the_end_by_default_with_all_results_in() {
    let server = Server::new(TaskLayer::new(), slow());
    let began = Instant::now();
    let view = server.send("go").await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert_eq!(view.task().status.state, TaskState::Completed);
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("done"));
}

#[tokio::test]
async fn v055_v066_a_ready_answer_completes_the_task_at_once_and_it_can_be_had_again() {
    let server = Server::new(TaskLayer::new(), replying(|request| format!("you said: {}", request.body().text())));
    let view = server.send("hi").await.unwrap();
    assert_eq!(view.task().status.state, TaskState::Completed);
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("you said: hi"));
    assert_eq!(&server.get(&view.task().id).await.unwrap(), view.task());
}

#[tokio::test(start_paused = true)]
async fn f76_return_immediately_shows_the_task_and_the_run_goes_on() {
    let server = Server::new(TaskLayer::new(), slow());
    let began = Instant::now();
    let view = server.send(at_once("go")).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(view.task().status.state, TaskState::Working);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(server.state(&view.task().id).await, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn f46_a_caller_that_leaves_a_send_changes_nothing() {
    let server = Server::new(TaskLayer::new(), slow());
    let send = server.send("go");
    assert!(tokio::time::timeout(Duration::from_millis(1), send).await.is_err());
    sleep(Duration::from_secs(2)).await;
    let page = server.list(ListTasks::default()).await.unwrap();
    assert_eq!(page.tasks[0].task().status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn f87_many_blocking_sends_do_not_wait_for_each_other() {
    let server = Server::new(TaskLayer::new(), slow());
    let began = Instant::now();
    let views = join_all((0..64).map(|_| server.send("go"))).await;
    assert!(views.into_iter().all(|view| view.unwrap().task().status.state == TaskState::Completed));
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn max_wait_answers_with_the_task_as_it_stands() {
    let server = Server::new(TaskLayer::new().max_wait(Some(Duration::from_millis(999))), slow());
    let view = server.send("go").await.unwrap();
    assert_eq!(view.task().status.state, TaskState::Working);
    let server = Server::new(TaskLayer::new().max_wait(Some(Duration::from_millis(1001))), slow());
    assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::Completed);
    let server = Server::new(TaskLayer::new().max_wait(Some(Duration::MAX)), slow());
    assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn max_wait_holds_while_the_agent_has_not_decided_how_to_answer() {
    let layer = TaskLayer::new().reply(ReplyMode::Auto).max_wait(Some(Duration::from_millis(10)));
    let server = Server::new(layer, slow());
    let began = Instant::now();
    let view = server.send("go").await.unwrap();
    assert_eq!((began.elapsed(), view.task().status.state), (Duration::from_millis(10), TaskState::Working));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(server.state(&view.task().id).await, TaskState::Completed);
}

#[tokio::test]
async fn f63_v049_a_blocking_send_returns_at_input_required() {
    let server = Server::new(TaskLayer::new(), asking());
    let view = server.send("go").await.unwrap();
    assert_eq!(view.task().status.state, TaskState::InputRequired);
    assert_eq!(view.task().status.message.as_ref().unwrap().text(), "which?");
    // B081, B087: and the same is seen later.
    assert_eq!(server.state(&view.task().id).await, TaskState::InputRequired);
}

#[tokio::test]
async fn f64_a_blocking_send_returns_at_auth_required_and_the_work_goes_on() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    let (view, run) = tokio::join!(server.send("go"), async {
        let run = runs.recv().await.unwrap();
        run.say(Update::auth_required("log in"));
        run
    });
    let id = view.unwrap().task().id.clone();
    assert_eq!(server.state(&id).await, TaskState::AuthRequired);
    run.say(Update::working());
    run.say("secret report");
    drop(run);
    quiet().await;
    let task = server.get(&id).await.unwrap();
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(task.artifacts[0].parts[0].as_text(), Some("secret report"));
}

#[tokio::test]
async fn f64_an_authorization_that_came_at_once_interrupts_nobody() {
    let server =
        Server::new(TaskLayer::new(), saying(vec![Update::auth_required("log in"), Update::working(), "ok".into()]));
    assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::Completed);
    let server = Server::new(TaskLayer::new(), saying(vec![Update::auth_required("log in")]));
    assert_eq!(server.send("go").await.unwrap().task().status.state, TaskState::AuthRequired);
}

/// A task of three turns: "go", "which?", "b".
async fn three_turns(server: &Server) -> Arc<str> {
    let id = server.send("go").await.unwrap().task().id.clone();
    server.send(follow_up(&id, "b")).await.unwrap();
    id
}

const LENGTHS: [(Option<u32>, usize); 5] = [(None, 3), (Some(0), 0), (Some(1), 1), (Some(3), 3), (Some(u32::MAX), 3)];

#[tokio::test]
async fn f73_f74_the_history_length_holds_on_get_and_the_stored_task_stays_whole() {
    let server = Server::new(TaskLayer::new(), asking());
    let id = three_turns(&server).await;
    for (length, expected) in LENGTHS {
        let view = server.view(&id, length).await.unwrap();
        assert_eq!(view.history().len(), expected, "{length:?}");
        assert!(view.history().last().is_none_or(|newest| newest.text() == "b"));
    }
    assert_eq!(texts(&server.get(&id).await.unwrap()), ["go", "which?", "b"]);
}

#[tokio::test]
async fn f73_f74_the_history_length_holds_on_send_and_on_streams() {
    let server = Server::new(TaskLayer::new(), asking());
    for (length, expected) in LENGTHS {
        let id = server.send("go").await.unwrap().task().id.clone();
        let view = server.send(with_history(follow_up(&id, "b"), length)).await.unwrap();
        assert_eq!(view.history().len(), expected, "send {length:?}");

        let id = server.send("go").await.unwrap().task().id.clone();
        let events = rest(server.stream(with_history(follow_up(&id, "b"), length)).await.unwrap()).await;
        let StreamEvent::Snapshot(view, _) = &events[0] else { panic!("{events:?}") };
        assert_eq!(view.history().len(), expected, "stream {length:?}");
        assert_eq!(texts(&server.get(&id).await.unwrap()).len(), 3);
    }
    let mut fresh = server.stream(with_history(Message::user("go"), Some(0))).await.unwrap();
    let StreamEvent::Snapshot(view, 1) = next(&mut fresh).await else { panic!("no snapshot") };
    assert!(view.history().is_empty());
}

#[tokio::test]
async fn f73_f74_the_history_length_holds_on_list() {
    let server = Server::new(TaskLayer::new(), asking());
    let id = three_turns(&server).await;
    for (length, expected) in LENGTHS {
        let mut request = ListTasks::default();
        request.history_length = length;
        assert_eq!(server.list(request).await.unwrap().tasks[0].history().len(), expected, "{length:?}");
    }
    assert_eq!(texts(&server.get(&id).await.unwrap()).len(), 3);
}

#[tokio::test]
async fn c01_always_with_a_message() {
    let files_last = vec![Update::data(serde_json::json!({"n": 1})), Update::file(Part::url("https://x/y"))];
    let layer = TaskLayer::new().reply(ReplyMode::Message);
    let server = Server::new(layer, saying(files_last));
    let message = server.ask("go").await.unwrap();
    // B059: files first.
    assert!(message.parts[0].is_file() && message.parts[1].as_data().is_some());
    assert_eq!(message.role, Role::Agent);
    // B108: the task is there all the same.
    assert_eq!(server.state(message.task_id.as_ref().unwrap()).await, TaskState::Completed);
    let events = rest(server.stream("go").await.unwrap()).await;
    assert!(matches!(events[0].to_event(), Event::Task(_)));
}

#[tokio::test]
async fn c01_a_message_also_tells_a_question_and_a_reason() {
    let layer = TaskLayer::new().reply(ReplyMode::Message);
    let question = Server::new(layer.clone(), saying(vec!["I found two.".into(), Update::input_required("which?")]));
    assert_eq!(question.ask("go").await.unwrap().text(), "I found two.\nwhich?");
    let reason = Server::new(layer.clone(), saying(vec![Update::rejected("not my job")]));
    assert_eq!(reason.ask("go").await.unwrap().text(), "not my job");
    let nothing = Server::new(layer, saying(vec![]));
    assert_eq!(nothing.ask("go").await.unwrap().parts.len(), 1);
}

#[tokio::test]
async fn b122_where_the_answer_is_a_message_a_failed_run_is_an_error() {
    let layer = TaskLayer::new().reply(ReplyMode::Message);
    let server = Server::new(layer, failing(|| "password is hunter2".into()));
    let error = server.ask("go").await.unwrap_err();
    assert_eq!((error.code(), &*error.message()), (-32603, "Internal error"));
}

#[tokio::test]
async fn c01_as_the_agent_chooses() {
    let layer = TaskLayer::new().reply(ReplyMode::Auto);
    let whole = Server::new(layer.clone(), replying(|_| Message::agent("all of it")));
    let message = whole.ask(Message::user("go").with_context_id("c-1")).await.unwrap();
    assert_eq!((message.text().as_str(), message.context_id.as_deref()), ("all of it", Some("c-1")));
    // That a caller does not wait makes no difference to a message that is there (1.0 §3.2.2).
    assert_eq!(whole.ask(at_once("go")).await.unwrap().text(), "all of it");
    assert_eq!(whole.list(ListTasks::default()).await.unwrap().total_size, 0);
    let events: Vec<_> = whole.stream("go").await.unwrap().collect().await;
    assert!(matches!(&events[..], [Ok(StreamEvent::Message(message))] if message.text() == "all of it"));

    let pieces = Server::new(layer.clone(), saying(vec!["a".into(), "b".into()]));
    assert_eq!(pieces.send("go").await.unwrap().task().artifacts.len(), 1);
    assert_eq!(states(&rest(pieces.stream("go").await.unwrap()).await).len(), 3);

    assert_eq!(pieces.send(at_once("go")).await.unwrap().task().artifacts.len(), 1);
    let refused = Server::new(layer, failing(|| ErrorKind::ContentTypeNotSupported.into_error()));
    assert_eq!(code(refused.send("go").await), -32005);
}

#[tokio::test(start_paused = true)]
async fn c01_a_caller_that_does_not_wait_has_a_task_to_come_back_to_where_a_message_takes_time() {
    let agent = service_fn(|_| async {
        sleep(Duration::from_secs(1)).await;
        Ok::<_, BoxError>(Reply::message(Message::agent("all of it")))
    });
    let server = Server::new(TaskLayer::new().reply(ReplyMode::Auto), agent);
    let began = Instant::now();
    let id = server.send(at_once("go")).await.unwrap().task().id.clone();
    assert_eq!((began.elapsed(), server.state(&id).await), (Duration::ZERO, TaskState::Working));
    sleep(Duration::from_secs(2)).await;
    let task = server.get(&id).await.unwrap();
    assert_eq!((task.status.state, task.artifacts[0].parts[0].as_text()), (TaskState::Completed, Some("all of it")));
}

#[tokio::test]
async fn c01_a_stream_is_open_before_the_agent_has_decided() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new().reply(ReplyMode::Auto), agent);
    let stream = server.stream("go").await.unwrap();
    let run = runs.recv().await.unwrap();
    assert_eq!(code(server.get(&run.id()).await), -32001);
    run.say(Message::agent("all of it"));
    let events: Vec<_> = stream.collect().await;
    assert!(matches!(&events[..], [Ok(StreamEvent::Message(_))]));
}

trait IntoBoxError {
    fn into_error(self) -> BoxError;
}

impl IntoBoxError for ErrorKind {
    fn into_error(self) -> BoxError {
        Error::new(self).into()
    }
}

#[tokio::test]
async fn v043_ids_may_say_what_they_are_of_and_are_never_the_same() {
    let server = Server::new(TaskLayer::new().named_ids(true), saying(vec!["a".into()]));
    let task = Arc::clone(server.send("go").await.unwrap().task());
    assert!(task.id.starts_with("task-") && task.context_id.starts_with("ctx-"), "{task:?}");
    assert_eq!(&*task.artifacts[0].artifact_id, "artifact-1");
    let plain = Server::new(TaskLayer::new(), saying(vec![]));
    let (a, b) = (plain.send("go").await.unwrap(), plain.send("go").await.unwrap());
    // B079: two runs differ.
    assert!(a.task().id != b.task().id && a.task().context_id != b.task().context_id);
    assert_ne!(a.task().id, a.task().context_id);
}

#[tokio::test]
async fn b085_a_task_may_be_its_own_conversation() {
    let server = Server::new(TaskLayer::new().context_is_task(true), saying(vec![]));
    let task = Arc::clone(server.send("go").await.unwrap().task());
    assert_eq!(task.id, task.context_id);
    let named = server.send(Message::user("go").with_context_id("c")).await.unwrap();
    assert_eq!(&*named.task().context_id, "c");
}

#[tokio::test]
async fn c08_b088_a_get_may_show_the_status_alone_and_shows_all_by_default() {
    let store = MemoryTaskStore::new();
    let full = Server::new(TaskLayer::with_store(store.clone()), saying(vec!["a".into()]));
    let bare = Server::new(TaskLayer::with_store(store).status_only(true), saying(vec![]));
    let id = full.send("go").await.unwrap().task().id.clone();
    let view = full.view(&id, None).await.unwrap();
    assert_eq!((view.history().len(), view.artifacts().map(<[_]>::len)), (1, Some(1)));
    let view = bare.view(&id, Some(5)).await.unwrap();
    assert_eq!((view.history().len(), view.artifacts().is_none()), (0, true));
}

#[tokio::test]
async fn the_head_of_the_request_and_the_context_of_the_task_reach_the_agent() {
    let agent = replying(|request| {
        let context = request.task_context();
        format!(
            "{} {:?} {:?} {}",
            request.headers()["traceparent"].to_str().unwrap(),
            context.accepted_output_modes(),
            request.owner(),
            Some(request.task_id()) == request.body().task_id.as_ref(),
        )
    });
    let server = Server::new(TaskLayer::new(), agent).owned_by("ann");
    let mut send = "go".into_send();
    send.configuration.accepted_output_modes = vec!["text/plain".to_owned()];
    let mut request = server.request(OperationRequest::SendMessage(send));
    request.headers_mut().insert("traceparent", "00-1".parse().unwrap());
    let Outcome::Answer(Answer::SentTask(view)) = server.call(request).await.unwrap() else { panic!() };
    let said = view.task().artifacts[0].parts[0].as_text();
    assert_eq!(said, Some(r#"00-1 ["text/plain"] Owner(ann) true"#));
}

#[tokio::test]
async fn what_other_layers_do_is_not_supported_here() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    let push = a2a_layers::operation::PushConfigOf::new("t");
    assert_eq!(code(server.answer(OperationRequest::ListPushConfigs(push)).await), -32003);
    assert_eq!(code(server.answer(OperationRequest::GetExtendedAgentCard).await), -32004);
}
