use std::sync::Arc;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use a2a_layers::{agent::Update, error::ErrorKind, operation::ListTasks, task::TaskLayer, types::TaskState};
use futures_util::future::join_all;

use super::*;

#[tokio::test]
async fn f57_an_unknown_task_id_is_not_found_and_makes_no_task() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    assert_eq!(code(server.send(follow_up("nope", "hi")).await), -32001);
    assert_eq!(code(server.stream(follow_up("nope", "hi")).await), -32001);
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 0);
}

#[tokio::test]
async fn f58_an_empty_task_or_context_id_is_none() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    let view = server.send(Message::user("hi").with_task_id("").with_context_id("")).await.unwrap();
    assert!(!view.task().id.is_empty() && !view.task().context_id.is_empty());
    let mut request = "hi".into_send();
    request.new_task_id = Some("".into());
    assert!(!server.send(request).await.unwrap().task().id.is_empty());
}

#[tokio::test]
async fn f59_a_task_that_is_over_takes_no_message_and_the_agent_does_not_hear_of_it() {
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let server = Server::new(TaskLayer::new(), replying(move |_| count.fetch_add(1, SeqCst).to_string()));
    let before = Arc::clone(server.send("hi").await.unwrap().task());
    assert_eq!(code(server.send(follow_up(&before.id, "again")).await), -32004);
    assert_eq!(code(server.stream(follow_up(&before.id, "again")).await), -32004);
    assert_eq!((calls.load(SeqCst), server.get(&before.id).await.unwrap()), (1, before));
}

#[tokio::test]
async fn f60_the_context_of_a_follow_up_is_inferred_and_a_wrong_one_refused() {
    let server = Server::new(TaskLayer::new(), asking());
    let first = server.send(Message::user("hi").with_context_id("c")).await.unwrap();
    let id = &first.task().id;
    let wrong = follow_up(id, "b").with_context_id("d");
    assert_eq!(code(server.send(wrong).await), -32602);
    let view = server.send(follow_up(id, "b")).await.unwrap();
    assert_eq!((&view.task().id, &*view.task().context_id), (id, "c"));
    let second = server.send(Message::user("hi").with_context_id("c")).await.unwrap();
    assert!(second.task().id != *id && &*second.task().context_id == "c");
    assert!(server.send(follow_up(&second.task().id, "b").with_context_id("c")).await.is_ok());
}

#[tokio::test]
async fn f61_a_context_id_is_kept_as_it_is() {
    let server = Server::new(TaskLayer::new(), saying(vec![]));
    for context in ["conv-7", "ünï", "a b", "0"] {
        let view = server.send(Message::user("hi").with_context_id(context)).await.unwrap();
        assert_eq!(&*view.task().context_id, context);
    }
}

#[tokio::test]
async fn f70_every_turn_is_there_once_and_the_agent_sees_those_before() {
    let agent = replying(|request| {
        let context = request.task_context();
        let before: Vec<_> = context.history().map(|message| message.text()).collect();
        match before.len() {
            4.. => Reply::updates(vec![Update::text(before.join("|"))]),
            turn => Reply::updates(vec![Update::input_required(format!("q{turn}"))]),
        }
    });
    let server = Server::new(TaskLayer::new(), agent);
    let id = server.send("a").await.unwrap().task().id.clone();
    server.send(follow_up(&id, "b")).await.unwrap();
    let view = server.send(follow_up(&id, "c")).await.unwrap();
    assert_eq!(texts(view.task()), ["a", "q0", "b", "q2", "c"]);
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("a|q0|b|q2"));
    assert!(view.task().history.iter().all(|message| message.task_id.as_ref() == Some(&id)));
}

#[tokio::test]
async fn a_follow_up_as_a_stream_begins_with_the_task_as_it_then_is() {
    let server = Server::new(TaskLayer::new(), asking());
    let id = server.send("a").await.unwrap().task().id.clone();
    let events = rest(server.stream(follow_up(&id, "b")).await.unwrap()).await;
    let StreamEvent::Snapshot(view, 5) = &events[0] else { panic!("{events:?}") };
    assert_eq!(view.task().status.state, TaskState::Working);
    assert_eq!(texts(view.task()), ["a", "which?", "b"]);
    assert_eq!(numbers(&events[1..]), [6, 7]);
}

#[tokio::test]
async fn a_task_at_work_takes_no_message() {
    let (agent, mut runs) = driven();
    let server = Server::new(TaskLayer::new(), agent);
    server.send(at_once("a")).await.unwrap();
    let run = runs.recv().await.unwrap();
    assert_eq!(code(server.send(follow_up(&run.id(), "b")).await), -32004);
    // Nor does one that waits for an authorization while its run goes on.
    run.say(Update::auth_required("log in"));
    quiet().await;
    assert_eq!(code(server.send(follow_up(&run.id(), "b")).await), -32004);
    assert_eq!(texts(&server.get(&run.id()).await.unwrap()), ["a"]);
}

#[tokio::test]
async fn f64_an_authorization_whose_run_is_over_may_be_followed_by_a_message() {
    let agent = replying(|request| match request.task_context().task() {
        None => vec![Update::auth_required("log in")],
        Some(_) => vec![Update::text("welcome")],
    });
    let server = Server::new(TaskLayer::new(), agent);
    let id = server.send("a").await.unwrap().task().id.clone();
    let view = server.send(follow_up(&id, "done")).await.unwrap();
    assert_eq!(view.task().status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn f64_a_message_does_not_overtake_the_end_of_the_run_that_waited_for_an_authorization() {
    let (agent, mut runs) = driven();
    let probe = probe::Probe::default();
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    server.send(at_once("a")).await.unwrap();
    let run = runs.recv().await.unwrap();
    let id = run.id();
    run.say(Update::auth_required("log in"));
    quiet().await;
    *probe.plan.delay.lock().unwrap() = std::time::Duration::from_millis(100);
    run.say(Update::completed());
    quiet().await;
    *probe.plan.delay.lock().unwrap() = std::time::Duration::ZERO;
    // The end is being written, and the log does not show it yet.
    assert_eq!(server.state(&id).await, TaskState::AuthRequired);
    assert_eq!(code(server.send(follow_up(&id, "b")).await), -32004);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_follow_ups_at_once_exactly_one_wins_and_the_agent_hears_one() {
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let agent = replying(move |request| {
        if request.task_context().task().is_some() {
            count.fetch_add(1, SeqCst);
        }
        vec![Update::input_required("more?")]
    });
    let server = Server::new(TaskLayer::new(), agent);
    let mut heard = 0;
    for round in 1..=100 {
        let id = server.send("a").await.unwrap().task().id.clone();
        let revision = server.get(&id).await.unwrap().history.len();
        let barrier = Arc::new(tokio::sync::Barrier::new(4));
        let sends = (0..4).map(|_| {
            let (server, id, barrier) = (server.clone(), id.clone(), Arc::clone(&barrier));
            tokio::spawn(async move {
                barrier.wait().await;
                server.send(follow_up(&id, "b")).await
            })
        });
        let answers: Vec<_> = join_all(sends).await.into_iter().map(Result::unwrap).collect();
        let won = answers.iter().filter(|answer| answer.is_ok()).count();
        // A follow-up that comes after another has had its whole turn answers the next question.
        assert!(won >= 1, "{answers:?}");
        assert!(answers.iter().all(|answer| answer.as_ref().err().is_none_or(|error| error.code() == -32004)));
        let task = server.get(&id).await.unwrap();
        assert_eq!(task.history.len(), revision + 2 * won, "round {round}");
        heard += won;
        assert_eq!(calls.load(SeqCst) as usize, heard, "round {round}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_follow_ups_that_saw_the_same_question_one_wins() {
    let probe = probe::Probe::default();
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let agent = replying(move |_| {
        count.fetch_add(1, SeqCst);
        vec![Update::input_required("more?")]
    });
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    let id = server.send("a").await.unwrap().task().id.clone();
    *probe.plan.delay.lock().unwrap() = std::time::Duration::from_millis(10);
    let (one, two) = tokio::join!(server.send(follow_up(&id, "b")), server.send(follow_up(&id, "c")));
    let lost = if one.is_ok() { two } else { one };
    assert_eq!(code(lost), -32004);
    assert_eq!(texts(&server.get(&id).await.unwrap()).len(), 3);
    assert_eq!(calls.load(SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn f59_a_follow_up_that_was_overtaken_is_refused_before_the_agent_hears_of_it() {
    let probe = probe::Probe::default();
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let agent = replying(move |_| {
        count.fetch_add(1, SeqCst);
        vec![Update::input_required("more?")]
    });
    let server = Server::new(TaskLayer::with_store(probe.clone()), agent);
    let id = server.send("a").await.unwrap().task().id.clone();
    *probe.plan.late.lock().unwrap() = std::time::Duration::from_millis(10);
    let overtaken = tokio::spawn({
        let (server, id) = (server.clone(), id.clone());
        async move { server.send(follow_up(&id, "b")).await }
    });
    quiet().await;
    assert!(server.send(follow_up(&id, "c")).await.is_ok());
    assert_eq!(code(overtaken.await.unwrap()), -32004);
    assert_eq!((calls.load(SeqCst), texts(&server.get(&id).await.unwrap()).len()), (2, 3));
}

#[tokio::test]
async fn a_message_that_the_agent_refuses_makes_no_task() {
    let server = Server::new(TaskLayer::new(), failing(|| Error::invalid_params("message.parts", "is odd").into()));
    let error = server.send("hi").await.unwrap_err();
    assert_eq!((error.code(), error.violations().len()), (-32602, 1));
    assert_eq!(code(server.stream("hi").await), -32602);
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 0);
}

#[tokio::test]
async fn a_follow_up_that_the_agent_refuses_leaves_the_task_as_it_was() {
    let agent = tower::service_fn(|request: Request<Arc<Message>>| async move {
        match request.body().text().as_str() {
            "bad" => Err(Error::new(ErrorKind::ContentTypeNotSupported)),
            _ => Ok(vec![Update::input_required("which?")]),
        }
    });
    let server = Server::new(TaskLayer::new(), agent);
    let before = Arc::clone(server.send("a").await.unwrap().task());
    assert_eq!(code(server.send(follow_up(&before.id, "bad")).await), -32005);
    assert_eq!(code(server.stream(follow_up(&before.id, "bad")).await), -32005);
    assert_eq!(server.get(&before.id).await.unwrap(), before);
    assert!(server.send(follow_up(&before.id, "good")).await.is_ok());
}

#[tokio::test]
async fn f75_referenced_tasks_reach_the_agent_and_those_of_others_do_not() {
    let agent = replying(|request| {
        let ids: Vec<_> = request.task_context().referenced_tasks().iter().map(|task| task.id.to_string()).collect();
        ids.join(",")
    });
    let server = Server::new(TaskLayer::new(), agent);
    let (ann, bob) = (server.owned_by("ann"), server.owned_by("bob"));
    let id = ann.send("a").await.unwrap().task().id.to_string();
    let mut message = Message::user("b");
    message.reference_task_ids = vec![id.clone(), "nope".to_owned()];
    let said = |view: TaskView| view.task().artifacts.first().map(|artifact| artifact.parts[0].clone());
    assert_eq!(said(ann.send(message.clone()).await.unwrap()), Some(id.into()));
    assert_eq!(said(bob.send(message).await.unwrap()), None);
}

#[tokio::test]
async fn a_caller_of_an_old_version_may_choose_the_id_of_a_new_task() {
    let server = Server::new(TaskLayer::new(), asking());
    let named = |text: &str| {
        let mut request = text.into_send();
        request.new_task_id = Some("mine".into());
        request
    };
    assert_eq!(&*server.send(named("a")).await.unwrap().task().id, "mine");
    let view = server.send(named("b")).await.unwrap();
    assert_eq!(view.task().status.state, TaskState::Completed);
    assert_eq!(code(server.send(named("c")).await), -32004);
    // The id of another's task is taken, and what it holds stays hidden.
    assert_eq!(code(server.owned_by("bob").send(named("c")).await), -32004);
}
