//! The `body` layer alone.

use std::{
    cell::Cell,
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use a2a_layers::{
    body::{BodyLayer, Gate},
    encoded::{Encoded, Frame},
    error::{BoxError, Error, ErrorKind},
    json_rpc::Endpoint,
};
use bytes::Bytes;
use futures_util::stream::Empty;
use http::{HeaderMap, Request, Response, Version};
use http_body::{Body, Frame as BodyFrame, SizeHint};
use http_body_util::{Full, Limited};
use serde_json::Value;
use tokio::time::{Instant, advance};
use tokio_test::{assert_pending, assert_ready, assert_ready_ok, task};
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_test::mock;

type Answer = Response<Encoded<Empty<Frame>>>;

/// A body that does as it is told, and counts what is read of it.
#[derive(Default)]
struct Script {
    steps: VecDeque<Step>,
    announced: Option<u64>,
    read: Rc<Cell<usize>>,
}

enum Step {
    Data(&'static str),
    Wait,
    Trailers,
    Fail(&'static str),
}

impl Script {
    fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), ..Self::default() }
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<BodyFrame<Bytes>, BoxError>>> {
        match self.steps.pop_front() {
            None => Poll::Ready(None),
            Some(Step::Data(data)) => {
                self.read.set(self.read.get() + data.len());
                Poll::Ready(Some(Ok(BodyFrame::data(data.into()))))
            }
            Some(Step::Trailers) => Poll::Ready(Some(Ok(BodyFrame::trailers(HeaderMap::new())))),
            Some(Step::Fail(message)) => Poll::Ready(Some(Err(message.into()))),
            Some(Step::Wait) => {
                self.steps.push_front(Step::Wait);
                Poll::Pending
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.announced.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

fn full(text: &'static str) -> Full<Bytes> {
    Full::from(text)
}

fn poll_ready<S: Service<Request<Script>>>(service: &mut S) -> Poll<Result<(), S::Error>> {
    service.poll_ready(&mut Context::from_waker(Waker::noop()))
}

async fn echo(request: Request<Bytes>) -> Result<Answer, Infallible> {
    let (parts, body) = request.into_parts();
    let mut response = Response::new(Encoded::Document(body));
    *response.headers_mut() = parts.headers;
    Ok(response)
}

async fn ask<B, G>(layer: BodyLayer<G>, request: Request<B>) -> Answer
where
    B: Body,
    B::Error: Into<BoxError>,
    G: Gate + Clone,
{
    layer.layer(service_fn(echo)).oneshot(request).await.unwrap()
}

fn document(answer: Answer) -> Bytes {
    let Encoded::Document(document) = answer.into_body() else { panic!("a stream") };
    document
}

/// The status, whether the connection is to be closed, and the error code.
fn refusal(answer: Answer) -> (u16, bool, i64) {
    let status = answer.status().as_u16();
    let close = answer.headers().get("connection").is_some_and(|value| value == "close");
    assert_eq!(answer.headers()["content-type"], "application/json");
    let value: Value = serde_json::from_slice(&document(answer)).unwrap();
    assert_eq!((&value["jsonrpc"], &value["id"]), (&"2.0".into(), &Value::Null));
    (status, close, value["error"]["code"].as_i64().unwrap())
}

#[tokio::test]
async fn a_body_in_one_piece_is_not_copied() {
    let body = Bytes::from(vec![b'x'; 1000]);
    let mut request = Request::new(Full::new(body.clone()));
    request.headers_mut().insert("a2a-version", "1.0".parse().unwrap());
    let answer = ask(BodyLayer::new(), request).await;
    assert_eq!(answer.headers()["a2a-version"], "1.0");
    assert_eq!(document(answer).as_ptr(), body.as_ptr());
}

#[tokio::test]
async fn pieces_are_joined_and_trailers_ignored() {
    let body = Script::new([Step::Data("ab"), Step::Data(""), Step::Data("cd"), Step::Trailers]);
    assert_eq!(document(ask(BodyLayer::new(), Request::new(body)).await), "abcd");
    assert_eq!(document(ask(BodyLayer::new(), Request::new(Script::default())).await), "");
}

#[tokio::test]
async fn f08_the_limit_is_exact() {
    let layer = BodyLayer::new().limit(4);
    assert_eq!(document(ask(layer, Request::new(full("abcd"))).await), "abcd");
    assert_eq!(refusal(ask(layer, Request::new(full("abcde"))).await), (413, false, -32600));
    let pieces = |last| Request::new(Script::new([Step::Data("ab"), Step::Data("c"), Step::Data(last)]));
    assert_eq!(document(ask(layer, pieces("d")).await), "abcd");
    assert_eq!(refusal(ask(layer, pieces("de")).await), (413, false, -32600));
}

#[tokio::test]
async fn f08_a_refused_body_is_read_to_its_end() {
    let body = Script::new([Step::Data("abc"), Step::Data("def"), Step::Data("ghi")]);
    let read = body.read.clone();
    assert_eq!(refusal(ask(BodyLayer::new().limit(2), Request::new(body)).await), (413, false, -32600));
    assert_eq!(read.get(), 9);
}

#[tokio::test]
async fn f08_but_not_beyond_the_drain_limit() {
    let steps = || [Step::Data("abc"), Step::Data("def"), Step::Data("ghi"), Step::Data("jkl")];
    let body = Script::new(steps());
    let read = body.read.clone();
    assert_eq!(refusal(ask(BodyLayer::new().limit(2).drain_limit(4), Request::new(body)).await), (413, true, -32600));
    assert_eq!(read.get(), 9, "three for the limit, then six for the drain");

    let body = Script { announced: Some(12), ..Script::new(steps()) };
    let read = body.read.clone();
    assert_eq!(refusal(ask(BodyLayer::new().limit(2).drain_limit(11), Request::new(body)).await), (413, true, -32600));
    assert_eq!(read.get(), 0, "draining was in vain from the start");
}

#[tokio::test]
async fn http_2_has_no_connection_header() {
    let mut request = Request::new(Script::new([Step::Data("abc"), Step::Data("def")]));
    *request.version_mut() = Version::HTTP_2;
    assert_eq!(refusal(ask(BodyLayer::new().limit(2).drain_limit(0), request).await), (413, false, -32600));
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_is_answered_at_the_deadline() {
    let began = Instant::now();
    let answer = ask(BodyLayer::new(), Request::new(Script::new([Step::Data("ab"), Step::Wait]))).await;
    assert_eq!(refusal(answer), (408, true, -32600));
    assert_eq!(began.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_exact_and_can_be_off() {
    let slow = || Request::new(Script::new([Step::Wait]));
    let layer = BodyLayer::new().read_deadline(Duration::from_secs(5));
    let mut waiting = task::spawn(ask(layer, slow()));
    let mut patient = task::spawn(ask(layer.read_deadline(None), slow()));
    assert_pending!(waiting.poll());
    assert_pending!(patient.poll());
    advance(Duration::from_millis(4990)).await;
    assert_pending!(waiting.poll());
    advance(Duration::from_millis(11)).await;
    assert_eq!(refusal(assert_ready!(waiting.poll())).0, 408);
    advance(Duration::from_secs(100_000)).await;
    assert_pending!(patient.poll());
}

#[tokio::test(start_paused = true)]
async fn draining_ends_at_the_deadline_too() {
    let body = Script::new([Step::Data("abc"), Step::Wait]);
    assert_eq!(refusal(ask(BodyLayer::new().limit(2), Request::new(body)).await), (413, true, -32600));
}

#[test]
fn without_waiting_no_timer_is_needed() {
    // There is no runtime here, so a timer would panic.
    let mut asking = task::spawn(ask(BodyLayer::new(), Request::new(Script::new([Step::Data("a"), Step::Data("b")]))));
    assert_eq!(document(assert_ready!(asking.poll())), "ab");
}

#[tokio::test]
async fn f06_a_body_that_breaks_off_is_answered_without_the_cause() {
    let answer = ask(BodyLayer::new(), Request::new(Script::new([Step::Data("a"), Step::Fail("at 10.0.0.7")]))).await;
    let (parts, body) = answer.into_parts();
    let Encoded::Document(text) = &body else { panic!("a stream") };
    assert!(!text.windows(8).any(|window| window == b"10.0.0.7"));
    assert_eq!(refusal(Response::from_parts(parts, body)), (400, true, -32600));
}

#[tokio::test]
async fn a_limit_that_lies_outside_is_understood() {
    let request = Request::new(Limited::new(Script::new([Step::Data("abc"), Step::Data("def")]), 2));
    assert_eq!(refusal(ask(BodyLayer::new(), request).await), (413, true, -32600));
}

#[tokio::test]
async fn f12_a_bad_head_is_refused_whatever_the_body() {
    let layer = BodyLayer::new().gate(Endpoint::new().path("/a2a"));
    let body = || Script::new([Step::Data("ab"), Step::Data("c")]);
    let post =
        |path: &str| Request::post(path.to_owned()).header("content-type", "application/json").body(body()).unwrap();
    assert_eq!(document(ask(layer.clone(), post("/a2a")).await), "abc");
    assert_eq!(refusal(ask(layer.clone(), post("/b")).await), (404, false, -32600));
    let answer = ask(layer, Request::post("/a2a").body(body()).unwrap()).await;
    assert_eq!(refusal(answer), (200, false, -32005));
}

#[tokio::test]
async fn who_asks_whether_to_go_on_is_answered_at_once() {
    let body = Script { announced: Some(5), ..Script::new([Step::Wait]) };
    let read = body.read.clone();
    let request = Request::builder().header("expect", "100-Continue").body(body).unwrap();
    assert_eq!(refusal(ask(BodyLayer::new().limit(4), request).await), (413, true, -32600));
    assert_eq!(read.get(), 0);
}

#[tokio::test]
async fn a_function_can_word_the_refusals() {
    let gate = |error: &Error| {
        let mut response = Response::new(Bytes::from(error.message().into_owned()));
        *response.status_mut() = error.kind().http_status();
        response
    };
    let answer = ask(BodyLayer::new().limit(1).gate(gate), Request::new(full("ab"))).await;
    assert_eq!(answer.status(), 413);
    assert_eq!(document(answer), "Request payload is too large: at most 1 bytes are read");
}

#[tokio::test]
async fn the_ready_clone_is_called_after_the_body() {
    let (service, mut handle) = mock::pair::<Request<&'static str>, Answer>();
    let service = service
        .map_request(|request: Request<Bytes>| request.map(|body| if body == "ab" { "ab" } else { "something else" }));
    let mut service = BodyLayer::new().layer(service);
    handle.allow(1);
    assert_ready_ok!(poll_ready(&mut service));
    let mut answer = task::spawn(service.call(Request::new(Script::new([Step::Data("a"), Step::Data("b")]))));
    // A clone that had not been made ready would panic here.
    assert_pending!(answer.poll());
    assert_pending!(poll_ready(&mut service));
    let (request, respond) = handle.next_request().await.unwrap();
    assert_eq!(request.body(), &"ab");
    respond.send_response(Response::new(Encoded::Document("1".into())));
    assert_eq!(document(assert_ready_ok!(answer.poll())), "1");
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_keeps_no_place() {
    let service = tower::limit::ConcurrencyLimit::new(service_fn(echo), 1);
    let mut service = BodyLayer::new().limit(1).layer(service);
    assert_ready_ok!(poll_ready(&mut service));
    let mut announced = Script::new([Step::Wait]);
    announced.announced = Some(2);
    let mut refused = task::spawn(service.call(Request::new(announced)));
    assert_pending!(refused.poll(), "it waits for the client to write");
    assert_ready_ok!(poll_ready(&mut service));
}

#[tokio::test]
async fn errors_of_the_inner_service_pass() {
    let (service, mut handle) = mock::pair::<Request<Bytes>, Answer>();
    let mut service = BodyLayer::new().layer(service);
    handle.allow(1);
    assert_ready_ok!(poll_ready(&mut service));
    let mut answer = task::spawn(service.call(Request::new(Script::new([Step::Data("a")]))));
    assert_pending!(answer.poll());
    let (_, respond) = handle.next_request().await.unwrap();
    respond.send_error(Error::new(ErrorKind::Overloaded));
    let error = assert_ready!(answer.poll()).unwrap_err();
    assert!(error.is::<Error>());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_stops_the_call() {
    let (service, mut handle) = mock::pair::<Request<Bytes>, Answer>();
    let mut service = BodyLayer::new().layer(service);
    handle.allow(1);
    assert_ready_ok!(poll_ready(&mut service));
    let mut answer = task::spawn(service.call(Request::new(Script::new([Step::Data("a"), Step::Wait]))));
    assert_pending!(answer.poll());
    drop((answer, service));
    assert!(handle.next_request().await.is_none(), "it was never called");
}
