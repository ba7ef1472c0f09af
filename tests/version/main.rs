//! The version layer alone, through its public API.

use std::{sync::Arc, task::Poll};

use a2a_layers::{
    call::{Binding, Call},
    dialect::{Dialect, V0_3, V1_0, read_params, write_json},
    encoded::{Encoded, Frame},
    error::{BoxError, Error, ErrorKind},
    operation::{
        Answer, GetTask, Operation, OperationKind, OperationRequest, Outcome, ProtocolVersion, StreamEvent, TaskView,
    },
    task::LogEntry,
    types::{AgentCard, Event, Json, Message, Task, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp},
    version::{Version, VersionLayer},
};
use futures_util::{StreamExt, stream};
use http::{HeaderValue, Request, Response};
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task::spawn};
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_test::mock;

type Events = stream::Iter<std::vec::IntoIter<Result<StreamEvent, Error>>>;
type Reply = Response<Outcome<Events>>;
type Handle = mock::Handle<Request<Operation>, Reply>;
type Mounted = mock::Spawn<Version<mock::Mock<Request<Operation>, Reply>>>;

fn mounted(layer: VersionLayer) -> (Mounted, Handle) {
    mock::spawn_layer(layer)
}

fn request(version: Option<&str>, method: &str, params: &str) -> Request<Call> {
    let mut request = Request::new(Call::new(Binding::JsonRpc, method).with_params(params.to_owned()));
    if let Some(version) = version {
        request.headers_mut().insert("a2a-version", HeaderValue::from_str(version).unwrap());
    }
    request
}

fn task() -> Task {
    let mut task = Task::new("t", "c", TaskState::Working);
    task.status.timestamp = Some(Timestamp::from_millis(0));
    task
}

/// What the service answers to a request that it refuses; the inner service must not be called.
fn refused(layer: VersionLayer, request: Request<Call>) -> Error {
    let (mut service, mut handle) = mounted(layer);
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let error = assert_ready_err!(spawn(service.call(request)).poll());
    assert_pending!(spawn(handle.next_request()).poll());
    error
}

/// The operation that a request becomes.
fn accepted(layer: VersionLayer, request: Request<Call>) -> Request<Operation> {
    let (mut service, mut handle) = mounted(layer);
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut future = spawn(service.call(request));
    assert_pending!(future.poll());
    let Poll::Ready(Some((request, _))) = spawn(handle.next_request()).poll() else { panic!("nothing came") };
    request
}

const SEND_0_3: &str = r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}"#;
const SEND_1_0: &str = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;

#[test]
fn f13_no_version_means_0_3() {
    for version in [None, Some("")] {
        let operation = accepted(VersionLayer::new(), request(version, "message/send", SEND_0_3)).into_body();
        assert_eq!(operation.version(), ProtocolVersion::V0_3);
        assert_eq!(operation.binding(), Binding::JsonRpc);
        let error = refused(VersionLayer::new(), request(version, "SendMessage", SEND_1_0));
        assert_eq!((error.code(), error.data()), (-32601, None));
    }
    let operation = accepted(VersionLayer::new(), request(Some("1.0"), "SendMessage", SEND_1_0)).into_body();
    assert_eq!(operation.version(), ProtocolVersion::V1_0);
}

#[test]
fn a_method_of_another_version_is_refused_with_the_version_to_ask_for() {
    let refusal = |layer, version, method| refused(layer, request(version, method, "{}")).message().into_owned();
    assert_eq!(
        refusal(VersionLayer::new(), None, "SendMessage"),
        "Method not found: SendMessage is a method of 1.0, and this request is in 0.3; send A2A-Version: 1.0"
    );
    assert_eq!(
        refusal(VersionLayer::new(), Some("1.0"), "tasks/get"),
        "Method not found: tasks/get is a method of 0.3, and this request is in 1.0; send A2A-Version: 0.3"
    );
    assert_eq!(refusal(VersionLayer::new(), None, "nonsense"), "Method not found");
    assert_eq!(refusal(VersionLayer::only(V0_3::new()), None, "SendMessage"), "Method not found");
}

#[test]
fn f14_every_operation_looks_at_the_version_first() {
    for method in ["SendMessage", "ListTasks", "GetTask", "message/send", "tasks/get", "nonsense"] {
        for version in ["9.9", "1", "latest", "0.2"] {
            let error = refused(VersionLayer::new(), request(Some(version), method, "[broken"));
            assert_eq!(error.code(), -32009, "{method} {version}");
            let data = error.data().unwrap().get();
            assert!(data.contains(r#""reason":"VERSION_NOT_SUPPORTED""#), "{data}");
            assert!(data.contains(r#""supportedVersions":"0.3, 1.0""#), "{data}");
        }
    }
}

#[test]
fn f15_the_patch_number_does_not_count_and_nothing_else_is_rounded() {
    for version in ["1.0", "1.0.1"] {
        let operation = accepted(VersionLayer::new(), request(Some(version), "GetTask", r#"{"id":"t"}"#)).into_body();
        assert_eq!(operation.version(), ProtocolVersion::V1_0);
    }
    for version in ["0.35", "1.9", "10.0"] {
        assert_eq!(refused(VersionLayer::new(), request(Some(version), "GetTask", r#"{"id":"t"}"#)).code(), -32009);
    }
}

#[test]
fn f16_the_query_says_the_version_too() {
    let mut query = request(None, "GetTask", r#"{"id":"t"}"#);
    *query.uri_mut() = "/rpc?A2A-Version=1%2e0".parse().unwrap();
    let accepted = accepted(VersionLayer::new(), query);
    assert_eq!(accepted.body().version(), ProtocolVersion::V1_0);
    assert_eq!(accepted.uri().path(), "/rpc");
}

#[test]
fn b114_each_version_has_its_own_methods() {
    assert_eq!(refused(VersionLayer::new(), request(Some("1.0"), "message/send", SEND_0_3)).code(), -32601);
    assert_eq!(refused(VersionLayer::new(), request(Some("0.3"), "SendMessage", SEND_1_0)).code(), -32601);
}

#[test]
fn b004_s12_a_mount_may_be_for_one_version() {
    let only = || VersionLayer::only(V1_0::new());
    let operation = accepted(only(), request(None, "SendMessage", SEND_1_0)).into_body();
    assert_eq!(operation.version(), ProtocolVersion::V1_0);
    assert_eq!(refused(only(), request(None, "message/send", SEND_0_3)).code(), -32601);
    assert_eq!(refused(only(), request(Some("0.3"), "message/send", SEND_0_3)).code(), -32009);
    let only = || VersionLayer::only(V0_3::new());
    assert_eq!(refused(only(), request(Some("1.0"), "SendMessage", SEND_1_0)).code(), -32009);
    accepted(only(), request(Some("0.3.0"), "message/send", SEND_0_3));
}

#[test]
fn the_lenient_serve_1_0_methods_without_a_header() {
    let operation = accepted(VersionLayer::new().lenient(true), request(None, "SendMessage", SEND_1_0)).into_body();
    assert_eq!(operation.version(), ProtocolVersion::V1_0);
}

#[test]
fn a_dialect_replaces_the_one_of_its_version() {
    let params = r#"{"message":{"parts":[{"kind":"text","text":"hi"}]}}"#;
    assert_eq!(refused(VersionLayer::new(), request(None, "message/send", params)).code(), -32602);
    let layer = VersionLayer::new().dialect(V0_3::new().generated_message_ids(true));
    accepted(layer, request(None, "message/send", params));
}

#[test]
fn bad_params_carry_the_details_of_the_version() {
    let error = refused(VersionLayer::new(), request(Some("1.0"), "GetTask", "{}"));
    assert_eq!(error.code(), -32602);
    assert!(error.data().unwrap().get().contains(r#""field":"id""#));
    assert_eq!(refused(VersionLayer::new(), request(None, "tasks/get", "{}")).data(), None);
}

#[test]
fn the_head_travels_untouched() {
    #[derive(Clone, PartialEq, Debug)]
    struct Caller(u8);
    let mut given = request(Some("1.0"), "GetTask", r#"{"id":"t"}"#);
    given.extensions_mut().insert(Caller(7));
    given.headers_mut().insert("traceparent", HeaderValue::from_static("00"));
    let (mut service, mut handle) = mounted(VersionLayer::new());
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut future = spawn(service.call(given));
    assert_pending!(future.poll());
    let Poll::Ready(Some((seen, reply))) = spawn(handle.next_request()).poll() else { panic!("nothing came") };
    assert_eq!(seen.extensions().get(), Some(&Caller(7)));
    assert_eq!(seen.headers()["traceparent"], "00");
    let mut response = Response::new(Outcome::from(Answer::Task(TaskView::new(task()))));
    response.headers_mut().insert("a2a-extensions", HeaderValue::from_static("urn:e"));
    reply.send_response(response);
    let response = assert_ready_ok!(future.poll());
    assert_eq!(
        (response.headers().len(), &response.headers()["a2a-extensions"]),
        (1, &HeaderValue::from_static("urn:e"))
    );
    let Encoded::Document(document) = response.into_body() else { panic!("not a stream") };
    let expected = concat!(
        r#"{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING","#,
        r#""timestamp":"1970-01-01T00:00:00.000Z"}}"#
    );
    assert_eq!(document, expected);
}

#[test]
fn readiness_and_errors_are_those_of_the_inner_service() {
    let (mut service, mut handle) = mounted(VersionLayer::new());
    handle.allow(0);
    assert_pending!(service.poll_ready());
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut future = spawn(service.call(request(Some("1.0"), "GetTask", r#"{"id":"t"}"#)));
    assert_pending!(future.poll());
    let Poll::Ready(Some((_, reply))) = spawn(handle.next_request()).poll() else { panic!("nothing came") };
    reply.send_error(Error::task_not_found("t"));
    let error = assert_ready_err!(future.poll());
    assert_eq!(error.kind(), ErrorKind::TaskNotFound);
    assert!(error.data().unwrap().get().contains(r#""metadata":{"taskId":"t"}"#));
    handle.send_error("broken");
    assert_eq!(assert_ready_err!(service.poll_ready()).kind(), ErrorKind::Internal);
}

#[test]
fn a_call_that_is_dropped_is_dropped_inside_as_well() {
    let (mut service, mut handle) = mounted(VersionLayer::new());
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let future = service.call(request(None, "tasks/get", r#"{"id":"t"}"#));
    let Poll::Ready(Some((_, reply))) = spawn(handle.next_request()).poll() else { panic!("nothing came") };
    drop(future);
    // Nobody waits for it any more, and nobody minds.
    reply.send_response(Response::new(Outcome::from(Answer::Task(TaskView::new(task())))));
}

fn entry() -> LogEntry {
    let update = TaskStatusUpdateEvent::new("t".into(), "c".into(), TaskStatus::new(TaskState::Completed));
    LogEntry::new(7, Event::StatusUpdate(update))
}

async fn frames(
    layer: &VersionLayer,
    version: &str,
    events: Vec<Result<StreamEvent, Error>>,
) -> Vec<Result<Frame, Error>> {
    let events = std::sync::Mutex::new(Some(events));
    let service = layer.layer(service_fn(|_: Request<Operation>| {
        let events = events.lock().unwrap().take().unwrap();
        async move { Ok::<_, BoxError>(Response::new(Outcome::Stream(stream::iter(events)))) }
    }));
    let method = if version == "1.0" { "SubscribeToTask" } else { "tasks/resubscribe" };
    let response = service.oneshot(request(Some(version), method, r#"{"id":"t"}"#)).await.unwrap();
    let Encoded::Stream(stream) = response.into_body() else { panic!("not a document") };
    stream.collect().await
}

#[tokio::test]
async fn streams_are_in_the_version_of_the_call() {
    let layer = VersionLayer::new();
    let events = || {
        vec![
            Ok(StreamEvent::Snapshot(TaskView::new(task()), 3)),
            Ok(StreamEvent::Logged(entry())),
            Ok(StreamEvent::Message(Arc::new(Message::agent("hi")))),
            Err(Error::new(ErrorKind::UnsupportedOperation)),
        ]
    };
    let starts = [
        ("0.3", [r#"{"kind":"task","#, r#"{"kind":"status-update","#, r#"{"kind":"message","#], None),
        ("1.0", [r#"{"task":{"#, r#"{"statusUpdate":{"#, r#"{"message":{"#], Some("UNSUPPORTED_OPERATION")),
    ];
    for (version, starts, reason) in starts {
        let mut frames = frames(&layer, version, events()).await;
        let error = frames.pop().unwrap().unwrap_err();
        assert_eq!(error.code(), -32004, "f51: the code stays");
        assert_eq!(error.data().is_some_and(|data| data.get().contains(reason.unwrap())), reason.is_some());
        let frames: Vec<_> = frames.into_iter().map(Result::unwrap).collect();
        assert_eq!(frames.iter().map(Frame::id).collect::<Vec<_>>(), [Some(3), Some(7), None]);
        for (frame, start) in frames.iter().zip(starts) {
            assert!(frame.to_bytes().starts_with(start.as_bytes()), "{:?}", frame.to_bytes());
        }
    }
}

#[tokio::test]
async fn an_event_is_written_once_a_dialect_whoever_reads_it() {
    let entry = entry();
    let mut texts = Vec::new();
    for layer in [VersionLayer::new(), VersionLayer::new()] {
        for version in ["0.3", "1.0"] {
            let frames = frames(&layer, version, vec![Ok(StreamEvent::Logged(entry.clone()))]).await;
            texts.push(frames.into_iter().next().unwrap().unwrap());
        }
    }
    let texts: Vec<_> = texts.iter().map(|frame| frame.pieces()[1]).collect();
    assert_eq!(texts[0].as_ptr(), texts[2].as_ptr());
    assert_eq!(texts[1].as_ptr(), texts[3].as_ptr());
    assert_ne!(texts[0], texts[1]);
    // The same version with other settings says it in other words.
    let other = VersionLayer::new().dialect(V0_3::new().artifact_index(true));
    let other = frames(&other, "0.3", vec![Ok(StreamEvent::Logged(entry))]).await.remove(0).unwrap();
    assert_ne!(other.pieces()[1].as_ptr(), texts[0].as_ptr());
}

/// A version of one's own.
struct Terse;

impl Dialect for Terse {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::new(2, 0)
    }

    fn operation(&self, method: &str) -> Option<OperationKind> {
        (method == "look").then_some(OperationKind::GetTask)
    }

    fn decode(&self, call: &Call) -> Result<Operation, Error> {
        if self.operation(call.method()).is_none() {
            return Err(ErrorKind::MethodNotFound.into());
        }
        let id: std::collections::HashMap<String, String> = read_params(call)?;
        let id = id.get("task").ok_or_else(|| Error::invalid_params("task", "must be given"))?;
        let request = OperationRequest::GetTask(GetTask::new(id.as_str()));
        Ok(Operation::new(self.version(), call.binding(), request))
    }

    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        let Answer::Task(view) = answer else { return Err(Error::internal("not in this version")) };
        write_json(view.task().status.state.to_string().as_str(), out)
    }

    fn encode_event(&self, _event: &StreamEvent, _out: &mut Vec<u8>) -> Result<(), Error> {
        Err(Error::internal("not in this version"))
    }

    fn error_data(&self, error: &Error) -> Option<Json> {
        Json::from_serialize(&error.code()).ok()
    }

    fn encode_card(&self, _card: &AgentCard, _out: &mut Vec<u8>) -> Result<(), Error> {
        Err(Error::internal("not in this version"))
    }
}

#[tokio::test]
async fn a_dialect_of_ones_own_stands_beside_the_built_in_ones() {
    let mut service = VersionLayer::new().dialect(Terse).layer(service_fn(|request: Request<Operation>| async move {
        let answer = match request.body().kind() {
            OperationKind::GetTask => Answer::Task(TaskView::new(task())),
            _ => Answer::PushConfigDeleted,
        };
        Ok::<_, BoxError>(Response::new(Outcome::<Events>::from(answer)))
    }));
    let look = request(Some("2.0"), "look", r#"{"task":"t"}"#);
    let response = service.ready().await.unwrap().call(look).await.unwrap();
    let Encoded::Document(document) = response.into_body() else { panic!("not a stream") };
    assert_eq!(document, "\"working\"");
    let error = service.ready().await.unwrap().call(request(Some("2.0"), "look", "{}")).await.unwrap_err();
    assert_eq!(error.data().map(Json::get), Some("-32602"));
    let old = service.ready().await.unwrap().call(request(None, "tasks/get", r#"{"id":"t"}"#)).await.unwrap();
    assert!(matches!(old.into_body(), Encoded::Document(text) if text.starts_with(br#"{"kind":"task""#)));
}

#[tokio::test]
async fn a_result_that_a_version_cannot_say_is_an_internal_error() {
    let service = VersionLayer::new().layer(service_fn(|_: Request<Operation>| async {
        let page = a2a_layers::operation::ListTasksPage::new(Vec::new(), 50, 0);
        Ok::<_, BoxError>(Response::new(Outcome::<Events>::from(Answer::Tasks(page))))
    }));
    let error = service.oneshot(request(None, "tasks/get", r#"{"id":"t"}"#)).await.unwrap_err();
    assert_eq!((error.code(), &*error.message()), (-32603, "Internal error"));
}

#[test]
fn everything_is_shown_by_debug_and_can_be_sent() {
    fn check<T: Send + Sync + Clone + std::fmt::Debug>(value: &T) -> String {
        format!("{value:?}")
    }
    let layer = VersionLayer::new().lenient(true);
    assert!(check(&layer).contains("0.3"));
    assert!(check(&layer.layer(7)).contains('7'));
}
