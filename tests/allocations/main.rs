//! How often the layers that are in each request's way ask the heap for memory.
//!
//! Counts repeat, unlike times, so they can be asserted. Each has a little room: what counts is that a copy or a value
//! tree which slips in for each request, or for each event, is seen.

#[path = "../../benches/stack/heap.rs"]
#[expect(dead_code, reason = "how much is held is for a bench to ask")]
mod heap;

use std::{
    convert::Infallible,
    future::{Future, Ready, ready},
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

#[cfg(feature = "rest")]
use a2a_layers::rest::RestLayer;
use a2a_layers::{
    agent::Reply,
    call::{Binding, Call},
    encoded::{Encoded, Frame},
    error::Error,
    json_rpc::JsonRpcLayer,
    operation::{Answer, Operation, Outcome, StreamEvent, TaskView},
    part::Input,
    server::{A2aService, Mount},
    sse::SseLayer,
    task::LogEntry,
    types::{Artifact, Event, Message, Part, Task, TaskArtifactUpdateEvent, TaskState},
    version::VersionLayer,
};
use bytes::Bytes;
use futures_util::{
    Stream, StreamExt as _,
    stream::{self, Empty},
};
use http::{Request, Response, header};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use tower::{Layer, Service, service_fn};

#[global_allocator]
static ALLOCATOR: heap::Counting = heap::Counting;

/// Calls of the heap while a request is served, its making left out. The fewest of a few rounds: the first ones fill
/// buffers that stay, and the harness may allocate beside us.
fn calls<R, T>(request: impl Fn() -> R, mut serve: impl FnMut(R) -> T) -> u64 {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let rounds = (0..10).map(|_| {
        let request = request();
        heap::start();
        let served = serve(request);
        let calls = heap::stop().calls;
        drop(served);
        calls
    });
    rounds.min().unwrap()
}

fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("not ready at the first poll"),
    }
}

fn exhaust<T>(mut stream: impl Stream<Item = T> + Unpin) -> usize {
    let mut cx = Context::from_waker(Waker::noop());
    let mut items = 0;
    while let Poll::Ready(Some(_)) = Pin::new(&mut stream).poll_next(&mut cx) {
        items += 1;
    }
    items
}

type NoItems = Empty<Result<Frame, Error>>;

#[test]
fn json_rpc_asks_for_the_answer_and_its_header() {
    let answer = Bytes::from_static(b"{}");
    let inner = move |_: Request<Call>| -> Ready<Result<Response<Encoded<NoItems>>, Error>> {
        ready(Ok(Response::new(Encoded::Document(answer.clone()))))
    };
    let mut service = JsonRpcLayer::new().layer(service_fn(inner));
    let mut count = |text: usize| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":"3f1c9a52-6f0b-4f5e-9d52-0f2f7a1f3c11","method":"m","params":{{"a":"{}"}}}}"#,
            "x".repeat(text)
        );
        let body = Bytes::from(body.into_bytes());
        let request =
            || Request::post("/").header(header::CONTENT_TYPE, "application/json").body(body.clone()).unwrap();
        calls(request, |request| now(service.call(request)))
    };
    let small = count(10);
    assert!(small <= 4, "{small} calls");
    assert_eq!(count(1 << 20), small, "the size of a request does not count");
}

#[test]
fn json_rpc_asks_for_nothing_for_an_item_of_a_stream() {
    let items = |count: usize| {
        let inner = move |_: Request<Call>| {
            let items = stream::iter(std::iter::repeat_n(Frame::new(&b"{}"[..]), count).map(Ok::<_, Error>));
            ready(Ok::<_, Infallible>(Response::new(Encoded::Stream(items))))
        };
        let mut service = JsonRpcLayer::new().layer(service_fn(inner));
        let body = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"m"}"#);
        let request =
            || Request::post("/").header(header::CONTENT_TYPE, "application/json").body(body.clone()).unwrap();
        calls(request, |request| match now(service.call(request)).unwrap().into_body() {
            Encoded::Stream(items) => assert_eq!(exhaust(items), count),
            _ => panic!("a document"),
        })
    };
    assert_eq!(items(1_000), items(10));
}

#[cfg(feature = "rest")]
#[test]
fn rest_asks_for_an_id_and_for_nothing_else_however_large_the_body_is() {
    type NoItems = Empty<Result<Frame, Error>>;
    let asked = |path: &'static str, size: usize| {
        let inner = |call: Request<Call>| {
            drop(call);
            ready(Ok::<_, Infallible>(Response::new(Encoded::<NoItems>::Document(Bytes::from_static(b"1")))))
        };
        let mut service = RestLayer::new().layer(service_fn(inner));
        let body = Bytes::from(vec![b'1'; size]);
        let request =
            || Request::post(path).header(header::CONTENT_TYPE, "application/json").body(body.clone()).unwrap();
        calls(request, |request| assert!(now(service.call(request)).is_ok()))
    };
    let send = asked("/message:send", 10);
    // The map of the answer's headers.
    assert!(send <= 2, "{send} calls");
    assert_eq!(asked("/message:send", 1 << 20), send);
    assert_eq!(asked("/tasks/t:cancel", 0), send + 1);
}

fn operate(answer: &Answer, version: &'static str, method: &'static str, params: &str) -> u64 {
    type NoEvents = Empty<Result<StreamEvent, Error>>;
    let params = Bytes::from(params.to_owned().into_bytes());
    let inner = |operation: Request<Operation>| {
        drop(operation);
        ready(Ok::<_, Error>(Response::new(Outcome::<NoEvents>::Answer(answer.clone()))))
    };
    let mut service = VersionLayer::new().layer(service_fn(inner));
    let request = || {
        let call = Call::new(Binding::JsonRpc, method).with_params(params.clone());
        Request::post("/").header("a2a-version", version).body(call).unwrap()
    };
    calls(request, |request| assert!(now(service.call(request)).is_ok()))
}

#[test]
fn version_asks_for_what_a_message_is_made_of_and_for_the_answer() {
    let answer = Answer::SentMessage(Arc::new(Message::agent("hello")));
    let new = r#"{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;
    let old = r#"{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"hi"}]}}"#;
    let (new, old) = (operate(&answer, "1.0", "SendMessage", new), operate(&answer, "0.3", "message/send", old));
    assert!(new <= 6, "{new} calls for 1.0");
    assert!(old <= 6, "{old} calls for 0.3");
}

#[test]
fn version_asks_twice_for_a_task_however_much_it_says() {
    let task = |messages: usize| {
        let mut task = Task::new("t", "c", TaskState::Completed);
        task.history = (0..messages).map(|_| Arc::new(Message::user("hi"))).collect();
        Answer::Task(TaskView::new(task))
    };
    for (version, method) in [("1.0", "GetTask"), ("0.3", "tasks/get")] {
        let small = operate(&task(1), version, method, r#"{"id":"t"}"#);
        assert!(small <= 3, "{small} calls for {version}");
        let large = operate(&task(50), version, method, r#"{"id":"t"}"#);
        assert!(large <= small, "{large} calls for {version}");
    }
}

#[test]
fn version_writes_an_event_once_for_all_its_readers() {
    let artifact = Artifact::new("a", vec![Part::text("a chunk")]);
    let update = TaskArtifactUpdateEvent::new("t".into(), "c".into(), artifact);
    let events: Vec<_> = (1..=100).map(|number| LogEntry::new(number, Event::ArtifactUpdate(update.clone()))).collect();
    for (version, method) in [("1.0", "SubscribeToTask"), ("0.3", "tasks/resubscribe")] {
        let read = |events: &[LogEntry]| {
            let (events, count) = (events.to_vec(), events.len());
            let mut service = VersionLayer::new().layer(service_fn(move |_: Request<Operation>| {
                let events = stream::iter(events.clone()).map(|entry| Ok::<_, Error>(StreamEvent::Logged(entry)));
                ready(Ok::<_, Error>(Response::new(Outcome::Stream(events))))
            }));
            let request = || {
                let call = Call::new(Binding::JsonRpc, method).with_params(&br#"{"id":"t"}"#[..]);
                Request::post("/").header("a2a-version", version).body(call).unwrap()
            };
            calls(request, |request| match now(service.call(request)).unwrap().into_body() {
                Encoded::Stream(frames) => assert_eq!(exhaust(frames), count),
                _ => panic!("a document"),
            })
        };
        let (one, hundred) = (read(&events[..1]), read(&events));
        assert!(hundred <= one + 2, "{hundred} calls for 100 events, {one} for one, in {version}");
    }
}

#[test]
fn sse_asks_for_its_head_and_for_a_buffer_now_and_then() {
    let events = |count: usize| {
        let frame = Frame::new(vec![b'1'; 200]).with_id(Some(7));
        let inner = move |_: Request<()>| {
            let frames = stream::iter(std::iter::repeat_n(frame.clone(), count));
            ready(Ok::<_, Infallible>(Response::new(Encoded::Stream(frames))))
        };
        let mut service = SseLayer::new().layer(service_fn(inner));
        calls(
            || Request::new(()),
            |request| {
                let mut body = pin!(now(service.call(request)).unwrap().into_body());
                let mut cx = Context::from_waker(Waker::noop());
                while let Poll::Ready(Some(frame)) = body.as_mut().poll_frame(&mut cx) {
                    assert!(frame.is_ok());
                }
            },
        )
    };
    let (few, many) = (events(10), events(1_000));
    assert!(few <= 10, "{few} calls for 10 events");
    assert!(many <= few + 10, "{many} calls for 1,000 events, {few} for 10");
}

/// The whole stack, without sockets: an agent that says so many words, one after the other.
fn streamed(chunks: usize, yields: bool) -> u64 {
    let agent = move |_: Request<Input>| {
        let words = stream::iter(std::iter::repeat_n("a few words ", chunks)).then(move |words| async move {
            if yields {
                tokio::task::yield_now().await;
            }
            Ok::<_, Infallible>(words)
        });
        ready(Ok::<_, Infallible>(Reply::stream(words)))
    };
    let message = r#"{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}"#;
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{{"message":{message}}}}}"#);
    // All of it is made where it is not counted, here and by the tests beside this one.
    let request = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let service: A2aService<Full<Bytes>> = Mount::new("test", service_fn(agent)).build().unwrap();
        let request = Request::post("/").header(header::CONTENT_TYPE, "application/json").header("a2a-version", "1.0");
        (runtime, service, request.body(Full::from(body.clone())).unwrap())
    };
    calls(request, |(runtime, mut service, request)| {
        runtime.block_on(async {
            let mut body = pin!(service.call(request).await.unwrap().into_body());
            while let Some(frame) = body.frame().await {
                assert!(frame.is_ok());
            }
        });
        (runtime, service)
    })
}

#[test]
fn a_chunk_asks_for_its_text_its_part_its_entry_and_what_is_written_of_it() {
    for yields in [false, true] {
        let (few, many) = (streamed(100, yields), streamed(1_100, yields));
        let each = (many - few) as f64 / 1_000.0;
        assert!(each <= 4.1, "{each} calls a chunk, yielding: {yields}");
        assert!(few <= 500, "{few} calls for 100 chunks, yielding: {yields}");
    }
}
