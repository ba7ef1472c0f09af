//! The `sse` layer alone.

use std::{
    convert::Infallible,
    pin::{Pin, pin},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use a2a_layers::{
    encoded::{Encoded, Frame},
    sse::{ResponseBody, SseLayer},
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt as _;
use proptest::prelude::*;
use tokio::{
    sync::mpsc::{self, UnboundedSender},
    time::{Instant, advance},
};
use tokio_test::{assert_pending, assert_ready, assert_ready_ok, task};
use tower::{Layer, ServiceExt as _, service_fn};
use tower_test::mock;

async fn respond<T: Stream<Item = Frame>>(layer: SseLayer, encoded: Encoded<T>) -> Response<ResponseBody<T>> {
    let mut encoded = Some(encoded);
    let service = service_fn(move |_: Request<()>| {
        let encoded = encoded.take().unwrap();
        async move { Ok::<_, Infallible>(Response::builder().header("x-mine", "1").body(encoded).unwrap()) }
    });
    layer.layer(service).oneshot(Request::new(())).await.unwrap()
}

async fn body<T: Stream<Item = Frame>>(layer: SseLayer, stream: T) -> Pin<Box<ResponseBody<T>>> {
    Box::pin(respond(layer, Encoded::Stream(stream)).await.into_body())
}

async fn live(layer: SseLayer) -> (UnboundedSender<Frame>, Pin<Box<ResponseBody<impl Stream<Item = Frame>>>>) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    (sender, body(layer, stream::poll_fn(move |cx| receiver.poll_recv(cx))).await)
}

fn event(number: u64) -> Frame {
    Frame::new(number.to_string()).with_id(Some(number))
}

async fn next(body: &mut (impl Body<Data = Bytes, Error = Infallible> + Unpin)) -> Option<Bytes> {
    body.frame().await.map(|frame| frame.unwrap().into_data().unwrap())
}

#[tokio::test]
async fn b066_f54_the_headers_of_a_stream() {
    let response = respond(SseLayer::new(), Encoded::Stream(stream::empty())).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    assert_eq!(response.headers()["x-mine"], "1");
}

#[tokio::test]
async fn a_document_is_a_body_of_known_length() {
    for text in ["{}", ""] {
        let encoded = Encoded::<stream::Empty<Frame>>::Document(text.into());
        let response = respond(SseLayer::new(), encoded).await;
        assert!(!response.headers().contains_key("cache-control"));
        let body = response.into_body();
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(text.len() as u64), text.is_empty()));
        assert_eq!(body.collect().await.unwrap().to_bytes(), text);
    }
}

#[tokio::test(start_paused = true)]
async fn b096_connected_is_there_before_any_event() {
    let (sender, mut body) = live(SseLayer::new()).await;
    let began = Instant::now();
    assert_eq!(next(&mut body).await.unwrap(), ": connected\n\n");
    assert!(began.elapsed().is_zero());
    drop(sender);
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn b097_f53_silence_is_broken_every_15_seconds() {
    let (sender, mut body) = live(SseLayer::new()).await;
    next(&mut body).await;
    let mut silence = Instant::now();
    for _ in 0..3 {
        assert_eq!(next(&mut body).await.unwrap(), ": ping\n");
        assert_eq!(silence.elapsed().as_secs(), 15);
        silence = Instant::now();
    }
    drop(sender);
}

#[tokio::test(start_paused = true)]
async fn b097_an_event_puts_the_ping_off() {
    let (sender, mut body) = live(SseLayer::new().heartbeat(Duration::from_secs(10))).await;
    next(&mut body).await;
    assert_pending!(task::spawn(body.frame()).poll());
    advance(Duration::from_secs(9)).await;
    sender.send(event(1)).unwrap();
    assert_eq!(next(&mut body).await.unwrap(), "id: 1\ndata: 1\n\n");
    let silence = Instant::now();
    assert_eq!(next(&mut body).await.unwrap(), ": ping\n");
    assert_eq!(silence.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn f53_pings_can_be_off() {
    for layer in [SseLayer::new().heartbeat(None), SseLayer::new().comments(false)] {
        let (sender, mut body) = live(layer).await;
        sender.send(event(1)).unwrap();
        assert!(next(&mut body).await.unwrap().ends_with(b"id: 1\ndata: 1\n\n"));
        let waiting = tokio::time::timeout(Duration::from_secs(100_000), next(&mut body)).await;
        assert!(waiting.is_err());
    }
}

#[tokio::test]
async fn f43_the_stream_ends_right_after_the_last_event() {
    let mut body = body(SseLayer::new(), stream::iter([event(1), event(2)])).await;
    assert!(!body.is_end_stream());
    assert_eq!(next(&mut body).await.unwrap(), ": connected\n\nid: 1\ndata: 1\n\nid: 2\ndata: 2\n\n");
    assert!(body.is_end_stream());
    assert_eq!(next(&mut body).await, None);
    assert_eq!(next(&mut body).await, None);
}

#[test]
fn without_silence_no_timer_is_needed() {
    // There is no runtime here, so a timer would panic.
    let mut making = task::spawn(body(SseLayer::new(), stream::iter([event(1)])));
    let mut body = assert_ready!(making.poll());
    assert!(assert_ready!(task::spawn(next(&mut body)).poll()).is_some());
}

#[tokio::test]
async fn f55_events_share_a_frame_up_to_its_size_and_are_never_split() {
    let text = format!("\"{}\"", "x".repeat(998));
    let mut body = body(SseLayer::new().comments(false), stream::iter(vec![Frame::new(text); 200])).await;
    let (mut frames, mut events) = (0, 0);
    while let Some(frame) = next(&mut body).await {
        assert!(frame.starts_with(b"data: ") && frame.ends_with(b"\n\n"));
        assert!(frame.len() < SseLayer::FRAME_SIZE + 1008);
        assert_eq!(frame.len() % 1008, 0);
        (frames, events) = (frames + 1, events + frame.len() / 1008);
    }
    assert_eq!((frames, events), (4, 200));
}

#[tokio::test]
async fn a_stream_that_is_silent_is_not_asked_again_before_it_wakes_somebody() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let (polls, mut sent) = (AtomicUsize::new(0), 0);
    let events = stream::poll_fn(|cx| {
        polls.fetch_add(1, Relaxed);
        receiver.poll_recv(cx)
    });
    let mut body = body(SseLayer::new().comments(false), events).await;
    let mut send = || {
        sent += 1;
        sender.send(event(sent)).unwrap();
    };
    let (mut first, mut second) = (task::spawn(()), task::spawn(()));
    let mut ask = |task: &mut task::Spawn<()>| {
        polls.store(0, Relaxed);
        (task.enter(|cx, _| body.as_mut().poll_frame(cx)).is_ready(), polls.load(Relaxed))
    };
    send();
    // Whom it wakes is noted at the first time.
    assert_eq!([ask(&mut first), ask(&mut first)], [(true, 2), (false, 1)]);
    for _ in 0..2 {
        send();
        assert!(first.is_woken());
        assert_eq!([ask(&mut first), ask(&mut first), ask(&mut first)], [(true, 2), (false, 0), (false, 1)]);
    }
    send();
    assert_eq!(ask(&mut first), (true, 2));
    // What comes before it is asked in vain is not lost.
    send();
    assert!(first.is_woken());
    assert_eq!([ask(&mut first), ask(&mut first)], [(false, 0), (true, 2)]);
    // Another task has been promised nothing.
    assert_eq!(ask(&mut second), (false, 1));
    send();
    assert!(second.is_woken());
    assert_eq!([ask(&mut second), ask(&mut second)], [(true, 2), (false, 0)]);
}

#[tokio::test]
async fn c04_v036_each_chunk_can_be_one_bare_event() {
    let layer = SseLayer::new().ids(false).comments(false).one_event_per_frame(true);
    let mut body = body(layer, stream::iter([event(1), event(2)])).await;
    assert_eq!(assert_ready!(task::spawn(next(&mut body)).poll()).unwrap(), "data: 1\n\n");
    let mut second = task::spawn(next(&mut body));
    assert_pending!(second.poll(), "the server has a turn to write the first");
    assert!(second.is_woken());
    assert_eq!(assert_ready!(second.poll()).unwrap(), "data: 2\n\n");
    drop(second);
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test]
async fn requests_errors_and_readiness_pass() {
    type Answer = Response<Encoded<stream::Empty<Frame>>>;
    let (mut service, mut handle) = mock::spawn_layer::<Request<u8>, Answer, _>(SseLayer::new());
    handle.allow(0);
    assert_pending!(service.poll_ready());
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut answer = task::spawn(service.call(Request::new(7)));
    assert_pending!(answer.poll());
    let (request, respond) = handle.next_request().await.unwrap();
    assert_eq!(request.body(), &7);
    respond.send_error("no");
    assert_eq!(assert_ready!(answer.poll()).unwrap_err().to_string(), "no");
}

/// What a reader by the book of the HTML standard makes of a stream: the id and the data of each event.
fn read(text: &str) -> Vec<(Option<u64>, String)> {
    let events = text.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':'));
    let parse = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
        (field("id: ").map(|id| id.parse().unwrap()), field("data: ").unwrap())
    };
    events.map(parse).collect()
}

proptest! {
    #[test]
    fn f55_any_documents_come_out_as_they_went_in(
        texts in prop::collection::vec("(\\PC|[\n\r\t\u{2028}\u{2029}\u{85}\u{0}]){0,40}", 0..8),
        ids in prop::bool::ANY,
        apart in prop::bool::ANY,
    ) {
        let documents: Vec<_> = texts.iter().map(|text| serde_json::to_string_pretty(&[text]).unwrap()).collect();
        let frames: Vec<_> =
            (0..).zip(documents).map(|(number, text)| Frame::new(text).with_id(Some(number))).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let text = runtime.block_on(async {
            let layer = SseLayer::new().ids(ids).one_event_per_frame(apart).heartbeat(None);
            let body = body(layer, stream::iter(frames)).await;
            let chunks = pin!(body.into_data_stream()).map(Result::unwrap).collect::<Vec<_>>().await;
            String::from_utf8(chunks.concat()).unwrap()
        });
        let seen = read(&text);
        let numbers: Vec<_> = seen.iter().map(|(id, _)| *id).collect();
        let expected: Vec<_> = (0..texts.len() as u64).map(|number| ids.then_some(number)).collect();
        prop_assert_eq!(numbers, expected);
        let seen: Vec<String> =
            seen.iter().map(|(_, data)| serde_json::from_str::<[String; 1]>(data).unwrap()[0].clone()).collect();
        prop_assert_eq!(seen, texts);
    }
}
