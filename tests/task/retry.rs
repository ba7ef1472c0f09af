//! Messages that come again.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    time::Duration,
};

use a2a_layers::{
    error::ErrorKind,
    operation::ListTasks,
    task::{
        Claim, CloseOn, ListQuery, LogEntry, MemoryTaskStore, ReplyMode, Snapshot, StoreError, StoredPage, TaskLayer,
    },
    types::{Json, Part, PartContent, TaskState},
};
use futures_util::future::join_all;
use tokio::time::{advance, sleep, timeout};

use super::*;

const WINDOW: Duration = Duration::from_secs(600);

fn layer() -> TaskLayer {
    TaskLayer::new().retry_window(Some(WINDOW))
}

fn m(id: &str, text: &str) -> Message {
    Message::user(text).with_message_id(id)
}

fn turn(id: &str, task: &str, text: &str) -> Message {
    m(id, text).with_task_id(task)
}

fn at_once(message: Message) -> SendMessage {
    let mut request = SendMessage::new(message);
    request.configuration.return_immediately = true;
    request
}

/// An agent that counts its calls, and answers with the number.
fn counting() -> (impl Agent, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let agent = replying({
        let calls = Arc::clone(&calls);
        move |_| format!("call {}", calls.fetch_add(1, SeqCst) + 1)
    });
    (agent, calls)
}

fn result(task: &Task) -> Option<&str> {
    task.artifacts.first()?.parts[0].as_text()
}

#[tokio::test]
async fn without_a_window_every_message_runs() {
    let (agent, calls) = counting();
    let server = Server::new(TaskLayer::new(), agent);
    let ids: Vec<_> =
        [server.send(m("m", "hi")).await, server.send(m("m", "hi")).await].map(|view| view.unwrap()).into();
    assert_ne!(ids[0].task().id, ids[1].task().id);
    assert_eq!(calls.load(SeqCst), 2);
}

#[tokio::test]
async fn f124_a_message_that_comes_again_is_answered_with_the_first_task() {
    let (agent, calls) = counting();
    let server = Server::new(layer(), agent);
    let first = server.send(m("m", "hi")).await.unwrap();
    for again in [server.send(m("m", "hi")).await, server.send(at_once(m("m", "hi"))).await] {
        let again = again.unwrap();
        assert_eq!(again.task(), first.task());
        assert_eq!(result(again.task()), Some("call 1"));
    }
    let again = server.v0_3().send(m("m", "hi")).await.unwrap();
    assert_eq!(again.task().id, first.task().id, "whatever version it comes in");
    let short = server.send(with_history(m("m", "hi"), Some(0))).await.unwrap();
    assert_eq!(short.history().len(), 0, "the answer is as it is asked for");
    // By now the caller knows what it belongs to.
    let (id, context) = (&*first.task().id, &*first.task().context_id);
    let named = server.send(turn("m", id, "hi").with_context_id(context)).await.unwrap();
    assert_eq!(named.task().id, first.task().id);
    assert_eq!(calls.load(SeqCst), 1);
    assert_eq!(server.list(ListTasks::default()).await.unwrap().total_size, 1);
    assert_ne!(server.send(m("n", "hi")).await.unwrap().task().id, first.task().id);
    assert_eq!(calls.load(SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn after_the_window_it_is_a_new_message() {
    let (agent, calls) = counting();
    let server = Server::new(layer(), agent);
    let first = server.send(m("m", "hi")).await.unwrap().task().id.clone();
    advance(WINDOW - Duration::from_millis(1)).await;
    assert_eq!(server.send(m("m", "hi")).await.unwrap().task().id, first);
    // A repeat does not make it longer.
    advance(Duration::from_millis(1)).await;
    let second = server.send(m("m", "hi")).await.unwrap().task().id.clone();
    assert_ne!(second, first);
    assert_eq!(server.send(m("m", "hi")).await.unwrap().task().id, second);
    assert_eq!(calls.load(SeqCst), 2);
}

#[tokio::test]
async fn the_same_id_for_another_message_is_refused() {
    let (agent, calls) = counting();
    let server = Server::new(layer(), agent);
    let first = server.send(m("m", "hi")).await.unwrap();
    let mut refers = m("m", "hi");
    refers.reference_task_ids.push(first.task().id.to_string());
    let other = server.send(m("other", "x")).await.unwrap();
    for message in [
        m("m", "ho"),
        m("m", "hi").with_metadata(Json::parse(r#"{"a":1}"#).unwrap().into_object().unwrap()),
        m("m", "hi").with_context_id("another"),
        turn("m", &other.task().id, "hi"),
        refers,
    ] {
        let error = server.send(message.clone()).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidParams, -32602), "{message:?}");
        assert_eq!(
            error.message(),
            "Invalid parameters: message.messageId is that of another message that was sent before"
        );
        assert_eq!(code(server.stream(message).await), -32602);
    }
    assert_eq!(calls.load(SeqCst), 2);
}

#[tokio::test]
async fn owners_tenants_and_agents_have_ids_of_their_own() {
    let store = MemoryTaskStore::new();
    let (agent, calls) = counting();
    let of = |scope: &str| {
        let layer = TaskLayer::with_store(store.clone()).retry_window(Some(WINDOW)).retry_scope(scope);
        Server::new(layer, agent.clone())
    };
    let (one, two) = (of("one"), of("two"));
    let mut ids = vec![];
    for server in [&one, &two, &one.owned_by("ann"), &one.owned_by("bob"), &two.owned_by("ann")] {
        ids.push(server.send(m("m", "hi")).await.unwrap().task().id.clone());
        assert_eq!(server.send(m("m", "hi")).await.unwrap().task().id, *ids.last().unwrap());
    }
    for tenant in ["acme", "emca"] {
        for _ in 0..2 {
            let send = OperationRequest::SendMessage(SendMessage::new(m("m", "hi")));
            let operation = Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, send);
            let request = Request::new(operation.with_tenant(Some(tenant.into())));
            let Outcome::Answer(Answer::SentTask(view)) = one.call(request).await.unwrap() else { panic!() };
            ids.push(view.task().id.clone());
        }
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), calls.load(SeqCst)), (7, 7));
}

#[tokio::test]
async fn one_that_comes_while_the_first_is_at_work_waits_for_the_same_end() {
    let (agent, mut runs) = driven();
    let server = Server::new(layer(), agent);
    let send = |request: SendMessage| {
        let server = server.clone();
        tokio::spawn(async move { server.send(request).await.unwrap() })
    };
    let first = send(SendMessage::new(m("m", "hi")));
    let run = runs.recv().await.unwrap();
    let again = send(SendMessage::new(m("m", "hi")));
    let now = server.send(at_once(m("m", "hi"))).await.unwrap();
    assert_eq!((&now.task().id, now.task().status.state), (&run.id(), TaskState::Working));
    run.say("one");
    quiet().await;
    assert!(!again.is_finished());
    drop(run);
    let (first, again) = (first.await.unwrap(), again.await.unwrap());
    assert_eq!(first.task(), again.task());
    assert_eq!(again.task().status.state, TaskState::Completed);
    assert!(runs.try_recv().is_err(), "there was one run");
}

/// Asks whatever it is told, and so takes one turn after the other.
async fn asked_again(runs: &mut mpsc::UnboundedReceiver<Run>) -> String {
    let run = timeout(Duration::from_secs(5), runs.recv()).await.expect("it is heard").unwrap();
    run.say(Update::input_required("and?"));
    run.request.body().text()
}

#[tokio::test]
async fn one_that_was_refused_is_new_when_it_comes_again_whatever_has_become_of_its_task() {
    let (agent, mut runs) = driven();
    let server = Server::new(layer(), agent);
    let (first, _) = tokio::join!(server.send(m("m", "hi")), asked_again(&mut runs));
    let id = first.unwrap().task().id.clone();
    // Of two that come at the same time one is refused, and by then the task is further on than when they came.
    let turns = [turn("a", &id, "one"), turn("b", &id, "two")];
    let (sent, _) = tokio::join!(join_all(turns.clone().map(|turn| server.send(turn))), asked_again(&mut runs));
    let refused = sent.iter().position(Result::is_err).expect("one is at work");
    assert!(sent[1 - refused].is_ok());
    for text in [turns[refused].text(), String::new()] {
        let again = tokio::spawn({
            let (server, turn) = (server.clone(), turns[refused].clone());
            async move { server.send(turn).await.unwrap() }
        });
        if !text.is_empty() {
            assert_eq!(asked_again(&mut runs).await, text);
        }
        assert_eq!(again.await.unwrap().task().id, id);
    }
    assert!(runs.try_recv().is_err(), "and heard once");
}

#[tokio::test]
async fn one_whose_new_task_was_another_ones_is_new_when_it_comes_again() {
    let (agent, mut runs) = driven();
    let server = Server::new(layer(), agent);
    let named = |id: &str| {
        let mut request = SendMessage::new(m(id, id));
        request.new_task_id = Some("t".into());
        request
    };
    let sends = ["a", "b"].map(|id| server.send(named(id)));
    let (sent, first) = tokio::join!(join_all(sends), asked_again(&mut runs));
    assert_eq!(sent.iter().filter(|sent| sent.is_ok()).count(), 1);
    let refused = if first == "a" { "b" } else { "a" };
    let (again, heard) = tokio::join!(server.send(named(refused)), asked_again(&mut runs));
    assert_eq!((again.unwrap().history().len(), &*heard), (3, refused));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_too_long_ends_with_the_task_as_it_stands() {
    let (agent, mut runs) = driven();
    let server = Server::new(layer().max_wait(Some(Duration::from_secs(5))), agent);
    let id = server.send(at_once(m("m", "hi"))).await.unwrap().task().id.clone();
    let _run = runs.recv().await.unwrap();
    let view = timeout(Duration::from_millis(5_100), server.send(m("m", "hi"))).await.unwrap().unwrap();
    assert_eq!((&view.task().id, view.task().status.state), (&id, TaskState::Working));
}

#[tokio::test]
async fn a_stream_shows_everything_from_the_message_on_whether_it_is_over_or_not() {
    let (agent, mut runs) = driven();
    let server = Server::new(layer(), agent);
    let first = server.stream(m("m", "hi")).await.unwrap();
    let run = runs.recv().await.unwrap();
    run.say("one ");
    quiet().await;
    let mut live = server.stream(m("m", "hi")).await.unwrap();
    for number in 1..=3 {
        assert_eq!(next(&mut live).await.number(), Some(number));
    }
    run.say("two");
    drop(run);
    let (first, live) = (rest(first).await, rest(live).await);
    assert_eq!([vec![1, 2, 3], numbers(&live)].concat(), numbers(&first));
    let late = rest(server.stream(m("m", "hi")).await.unwrap()).await;
    let events = |events: &[StreamEvent]| events.iter().map(StreamEvent::to_event).collect::<Vec<_>>();
    assert_eq!(events(&late), events(&first));
    assert_eq!(states(&late).last(), Some(&TaskState::Completed));
    // With a history the task comes as a snapshot of its beginning.
    let short = rest(server.stream(with_history(m("m", "hi"), Some(0))).await.unwrap()).await;
    assert_eq!(numbers(&short), numbers(&first));
    let StreamEvent::Snapshot(view, 1) = &short[0] else { panic!("{:?}", short[0]) };
    assert_eq!((view.history().len(), view.task().status.state), (0, TaskState::Submitted));
    // One that was sent as a stream can be asked for as an answer, and the other way round.
    assert_eq!(server.send(m("m", "hi")).await.unwrap().task().status.state, TaskState::Completed);
    assert!(runs.try_recv().is_err(), "there was one run");
}

#[tokio::test]
async fn a_stream_that_broke_goes_on_where_it_was() {
    let (agent, mut runs) = driven();
    let server = Server::new(layer(), agent);
    let mut first = server.stream(m("m", "hi")).await.unwrap();
    let run = runs.recv().await.unwrap();
    run.say("one ");
    quiet().await;
    run.say("two ");
    for _ in 0..3 {
        next(&mut first).await;
    }
    drop(first);
    let after = |version: ProtocolVersion, last: &str| {
        let send = OperationRequest::SendStreamingMessage(SendMessage::new(m("m", "hi")));
        let mut request = Request::new(Operation::new(version, Binding::JsonRpc, send));
        request.extensions_mut().insert(Owner::anonymous());
        request.headers_mut().insert("last-event-id", last.parse().unwrap());
        request
    };
    let live = server.open(after(ProtocolVersion::V1_0, "3")).await.unwrap();
    drop(run);
    let events = rest(live).await;
    assert_eq!(numbers(&events), [3, 4, 5], "the task as it was there, and what was missed");
    let Event::Task(task) = events[0].to_event() else { panic!("{:?}", events[0]) };
    assert_eq!(result(&task), Some("one "));
    // It is over now, and the same can be asked for.
    let events = rest(server.open(after(ProtocolVersion::V1_0, "3")).await.unwrap()).await;
    assert_eq!(numbers(&events), [3, 4, 5]);
    let events = rest(server.open(after(ProtocolVersion::V0_3, "3")).await.unwrap()).await;
    assert_eq!(numbers(&events), [4, 5]);
    let all = timeout(Duration::from_secs(5), rest(server.open(after(ProtocolVersion::V1_0, "5")).await.unwrap()));
    assert_eq!(states(&all.await.unwrap()), [TaskState::Completed], "there is nothing to wait for");
    let none = rest(server.open(after(ProtocolVersion::V0_3, "5")).await.unwrap()).await;
    assert!(none.is_empty());
    for last in ["6", "x"] {
        assert_eq!(code(server.open(after(ProtocolVersion::V1_0, last)).await), -32602, "{last}");
    }
}

#[tokio::test]
async fn a_further_turn_that_comes_again_is_not_taken_twice() {
    let calls = Arc::new(AtomicU32::new(0));
    let agent = replying({
        let calls = Arc::clone(&calls);
        move |request| match (calls.fetch_add(1, SeqCst), request.task_context().task()) {
            (_, None) => Reply::updates(vec![Update::input_required("which?")]),
            (1, _) => Reply::updates(vec![Update::text("half"), Update::input_required("sure?")]),
            _ => Reply::updates(vec![Update::text("done")]),
        }
    });
    let server = Server::new(layer(), agent);
    let asked = server.send(m("1", "order")).await.unwrap();
    let id = asked.task().id.clone();
    let half = server.send(turn("2", &id, "this")).await.unwrap();
    assert_eq!(half.task().status.state, TaskState::InputRequired);
    let again = server.send(turn("2", &id, "this")).await.unwrap();
    assert_eq!((again.task(), calls.load(SeqCst)), (half.task(), 2));
    assert_eq!(texts(again.task()), ["order", "which?", "this"]);
    let stream = rest(server.stream(turn("2", &id, "this")).await.unwrap()).await;
    let Event::Task(task) = stream[0].to_event() else { panic!("{:?}", stream[0]) };
    assert_eq!(
        (task.status.state, texts(&task)),
        (TaskState::Working, vec!["order".into(), "which?".into(), "this".into()])
    );
    assert_eq!(states(&stream), [TaskState::Working, TaskState::InputRequired]);
    let first = rest(server.stream(m("1", "order")).await.unwrap()).await;
    assert_eq!(first[0].number(), Some(1), "the first one's events come first");
    // The task is over, and all three are recognised.
    server.send(turn("3", &id, "yes")).await.unwrap();
    for message in [m("1", "order"), turn("2", &id, "this"), turn("3", &id, "yes")] {
        let view = server.send(message.clone()).await.unwrap();
        assert_eq!((&view.task().id, view.task().status.state), (&id, TaskState::Completed));
        let events = rest(server.stream(message).await.unwrap()).await;
        assert_eq!(states(&events).last(), Some(&TaskState::Completed));
    }
    assert_eq!(calls.load(SeqCst), 3);
    // Without its task a turn is another message.
    assert_eq!(code(server.send(m("2", "this")).await), -32602);
    // What the task no longer takes is as it was.
    assert_eq!(code(server.send(turn("4", &id, "more")).await), -32004);
    assert_eq!(code(server.send(turn("4", &id, "more")).await), -32004);
}

#[tokio::test]
async fn as_messages_each_turn_has_its_own_answer() {
    let server = Server::new(layer().reply(ReplyMode::Message), asking());
    let first = server.ask(m("1", "order")).await.unwrap();
    assert_eq!(first.text(), "which?");
    let id = first.task_id.clone().unwrap();
    let second = server.ask(turn("2", &id, "this")).await.unwrap();
    assert_eq!(second.text(), "so this");
    assert_eq!(server.ask(turn("2", &id, "this")).await.unwrap().text(), "so this");
}

#[tokio::test]
async fn where_answers_are_messages_a_failure_is_told_in_the_words_that_are_kept_of_it() {
    let server = Server::new(layer().reply(ReplyMode::Message), failing(|| Error::new(ErrorKind::Internal).into()));
    assert_eq!(code(server.ask(m("1", "go")).await), -32603);
    let again = server.ask(m("1", "go")).await.unwrap();
    assert_eq!(again.text(), "Internal error");
    assert_eq!(server.state(again.task_id.as_ref().unwrap()).await, TaskState::Failed);
}

#[tokio::test]
async fn a_task_of_the_callers_own_id_is_recognised_too() {
    let (agent, calls) = counting();
    let server = Server::new(layer(), agent);
    let send = |message: Message| {
        let mut request = SendMessage::new(message);
        request.new_task_id = Some("mine".into());
        server.send(request)
    };
    let first = send(m("m", "hi")).await.unwrap();
    assert_eq!(&*first.task().id, "mine");
    assert_eq!(send(m("m", "hi")).await.unwrap().task(), first.task());
    assert_eq!(calls.load(SeqCst), 1);
    assert_eq!(code(send(m("n", "hi")).await), -32004, "another message to a task that is over");
}

#[tokio::test]
async fn f124_of_many_at_once_on_two_replicas_one_runs() {
    let store = MemoryTaskStore::new();
    let (agent, calls) = counting();
    let replica = || Server::new(TaskLayer::with_store(store.clone()).retry_window(Some(WINDOW)), agent.clone());
    let (one, two) = (replica(), replica());
    for round in 0..50 {
        let id = format!("m{round}");
        let sends = (0..8).map(|number| {
            let (server, message) = (if number % 2 == 0 { one.clone() } else { two.clone() }, m(&id, "hi"));
            tokio::spawn(async move { server.send(message).await.unwrap().task().id.clone() })
        });
        let ids: Vec<_> = join_all(sends).await.into_iter().map(Result::unwrap).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(calls.load(SeqCst), round + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn one_waits_until_it_is_known_whether_the_first_is_taken() {
    // The agent refuses the first, after some time, and takes the second.
    let is_second = Arc::new(AtomicBool::new(false));
    let agent = service_fn({
        let is_second = Arc::clone(&is_second);
        move |request: Request<Arc<Message>>| {
            let is_second = is_second.swap(true, SeqCst);
            async move {
                let hold = request.task_context().hold_message();
                sleep(Duration::from_secs(10)).await;
                if is_second {
                    hold.keep(Arc::clone(request.body()));
                    return Ok::<_, BoxError>("done".into_reply());
                }
                drop(hold);
                Err(Error::new(ErrorKind::Overloaded).into())
            }
        }
    });
    let server = Server::new(layer(), agent);
    let first = tokio::spawn({
        let server = server.clone();
        async move { server.send(m("m", "hi")).await }
    });
    sleep(Duration::from_secs(1)).await;
    let second = tokio::spawn({
        let server = server.clone();
        async move { server.send(m("m", "hi")).await }
    });
    assert_eq!(first.await.unwrap().unwrap_err().kind(), ErrorKind::Overloaded);
    let second = second.await.unwrap().unwrap();
    assert_eq!(result(second.task()), Some("done"));
    assert_eq!(server.send(m("m", "hi")).await.unwrap().task().id, second.task().id);
}

#[tokio::test(start_paused = true)]
async fn one_does_not_wait_for_ever_for_a_first_that_nobody_knows_of() {
    let agent = service_fn(|request: Request<Arc<Message>>| async move {
        let _hold = request.task_context().hold_message();
        std::future::pending::<Result<Reply, BoxError>>().await
    });
    let server = Server::new(layer().max_wait(Some(Duration::from_secs(5))), agent);
    let first = server.clone();
    tokio::spawn(async move { first.send(m("m", "hi")).await });
    quiet().await;
    let error = timeout(Duration::from_secs(6), server.send(m("m", "hi"))).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.retry_after().is_some());
}

#[tokio::test]
async fn what_was_refused_may_be_sent_again() {
    let (agent, mut runs) = driven();
    let server = Server::new(layer().max_runs(1), agent);
    server.send(at_once(m("1", "hi"))).await.unwrap();
    let run = runs.recv().await.unwrap();
    let error = server.send(m("2", "ho")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Overloaded);
    drop(run);
    quiet().await;
    let view = server.send(at_once(m("2", "ho"))).await.unwrap();
    assert_eq!(runs.recv().await.unwrap().id(), view.task().id);
    // Nor does a refused message keep its id for another one.
    assert_eq!(code(server.send(turn("3", "nope", "hi")).await), -32001);
    assert!(server.send(at_once(m("1", "hi"))).await.is_ok());
}

#[tokio::test]
async fn an_answer_without_a_task_is_not_kept() {
    let calls = Arc::new(AtomicU32::new(0));
    let agent = replying({
        let calls = Arc::clone(&calls);
        move |_| Reply::message(Message::agent(format!("call {}", calls.fetch_add(1, SeqCst) + 1)))
    });
    let server = Server::new(layer().reply(ReplyMode::Auto), agent);
    assert_eq!(server.ask(m("m", "hi")).await.unwrap().text(), "call 1");
    assert_eq!(server.ask(m("m", "hi")).await.unwrap().text(), "call 2");
}

#[tokio::test]
async fn files_are_compared_by_their_bytes() {
    let (agent, calls) = counting();
    let server = Server::new(layer(), agent);
    let file = |bytes: &'static [u8]| Message::user(Part::raw(bytes)).with_message_id("m");
    let first = server.send(file(b"a")).await.unwrap();
    assert_eq!(server.send(file(b"a")).await.unwrap().task().id, first.task().id);
    assert_eq!(code(server.send(file(b"b")).await), -32602);
    assert!(matches!(first.history().first().unwrap().parts[0].content, PartContent::Raw(_)));
    assert_eq!(calls.load(SeqCst), 1);
}

#[tokio::test]
async fn an_id_may_be_1024_bytes_long() {
    let (agent, _) = counting();
    let server = Server::new(layer(), agent.clone());
    let (longest, longer) = ("x".repeat(1_024), "x".repeat(1_025));
    let first = server.send(m(&longest, "hi")).await.unwrap().task().id.clone();
    assert_eq!(server.send(m(&longest, "hi")).await.unwrap().task().id, first);
    let error = server.send(m(&longer, "hi")).await.unwrap_err();
    assert_eq!(error.message(), "Invalid parameters: message.messageId must be 1024 bytes long at most");
    let server = Server::new(TaskLayer::new(), agent);
    assert!(server.send(m(&longer, "hi")).await.is_ok(), "without a window it may be as long as it likes");
}

#[tokio::test]
async fn a_store_that_takes_no_claims_is_said_to_be_the_fault_of_the_server() {
    let (agent, calls) = counting();
    let server = Server::new(TaskLayer::with_store(leased::Leased::new()).retry_window(Some(WINDOW)), agent);
    assert_eq!(code(server.send(m("m", "hi")).await), -32603);
    assert_eq!(calls.load(SeqCst), 0);
}

#[tokio::test]
async fn a_failed_or_canceled_task_is_the_answer_as_well() {
    let (agent, mut runs) = driven();
    let server = Server::new(layer().close_on(CloseOn::Interrupted), agent);
    let canceled = server.send(at_once(m("1", "hi"))).await.unwrap().task().id.clone();
    server.cancel(&canceled).await.unwrap();
    let failed = server.send(at_once(m("2", "hi"))).await.unwrap().task().id.clone();
    let _canceled = runs.recv().await.unwrap();
    runs.recv().await.unwrap().fail("no");
    quiet().await;
    for (id, task, state) in [("1", canceled, TaskState::Canceled), ("2", failed, TaskState::Failed)] {
        let view = server.send(m(id, "hi")).await.unwrap();
        assert_eq!((&view.task().id, view.task().status.state), (&task, state));
    }
}

#[tokio::test]
async fn a_message_whose_task_is_gone_is_a_new_one() {
    let (agent, calls) = counting();
    let store = MemoryTaskStore::new().max_finished(1);
    let server = Server::new(TaskLayer::with_store(store).retry_window(Some(WINDOW)), agent);
    let first = server.send(m("1", "hi")).await.unwrap().task().id.clone();
    server.send(m("2", "hi")).await.unwrap();
    assert_ne!(timeout(Duration::from_secs(5), server.send(m("1", "hi"))).await.unwrap().unwrap().task().id, first);
    assert_eq!(calls.load(SeqCst), 3);
}

/// A store whose claims take their time.
#[derive(Clone)]
struct Slow(MemoryTaskStore);

impl TaskStore for Slow {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.0.create(owner, task).await
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        self.0.append(owner, id, expected, events).await
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        self.0.get(owner, id).await
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.0.read(owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        self.0.grown(owner, id, after).await
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        self.0.list(owner, query).await
    }

    fn takes_claims(&self) -> bool {
        true
    }

    async fn claim(&self, owner: &Owner, claim: &Claim, window: Duration) -> Result<Option<Claim>, StoreError> {
        let claimed = self.0.claim(owner, claim, window).await;
        sleep(Duration::from_secs(1)).await;
        claimed
    }

    async fn release(&self, owner: &Owner, claim: &Claim) -> Result<(), StoreError> {
        self.0.release(owner, claim).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_while_its_message_is_claimed_may_send_it_again() {
    let (agent, calls) = counting();
    let layer = TaskLayer::with_store(Slow(MemoryTaskStore::new())).retry_window(Some(WINDOW));
    let server = Server::new(layer, agent);
    assert!(timeout(Duration::from_millis(500), server.send(m("m", "hi"))).await.is_err());
    let view = timeout(Duration::from_secs(10), server.send(m("m", "hi"))).await.unwrap().unwrap();
    assert_eq!((view.task().status.state, calls.load(SeqCst)), (TaskState::Completed, 1));
}
