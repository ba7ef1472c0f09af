mod floor;

use std::{
    future::ready,
    hint::black_box,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use a2a_layers::{
    call::{Binding, Call},
    encoded::Encoded,
    error::Error,
    operation::{Answer, ListTasksPage, Operation, Outcome, ProtocolVersion, StreamEvent, TaskView},
    task::LogEntry,
    version::{Version, VersionLayer},
};
use futures_util::{Stream, stream};
use http::{HeaderName, HeaderValue, Request, Response};
use serde::Serialize;
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::{self, KIB, MIB, file_part, send_params, text_part},
};

const OLD: ProtocolVersion = ProtocolVersion::V0_3;
const NEW: ProtocolVersion = ProtocolVersion::V1_0;

benches![
    Case::new("1.0 send, 100 B of text", || send_floor(NEW, text_part(NEW, 100)), || send(NEW, text_part(NEW, 100))),
    Case::new("0.3 send, 100 B of text", || send_floor(OLD, text_part(OLD, 100)), || send(OLD, text_part(OLD, 100))),
    Case::new("1.0 send, floor with owned strings", || owned_floor(NEW), || send(NEW, text_part(NEW, 100))),
    Case::new("0.3 send, floor with owned strings", || owned_floor(OLD), || send(OLD, text_part(OLD, 100))),
    Case::new(
        "1.0 send, 64 KiB of text",
        || send_floor(NEW, text_part(NEW, 64 * KIB)),
        || send(NEW, text_part(NEW, 64 * KIB))
    ),
    Case::new(
        "0.3 send, 64 KiB of text",
        || send_floor(OLD, text_part(OLD, 64 * KIB)),
        || send(OLD, text_part(OLD, 64 * KIB))
    ),
    Case::new("1.0 send, a file of 1 MiB", || send_floor(NEW, file_part(NEW, MIB)), || send(NEW, file_part(NEW, MIB))),
    Case::new("0.3 send, a file of 1 MiB", || send_floor(OLD, file_part(OLD, MIB)), || send(OLD, file_part(OLD, MIB))),
    Case::new("1.0 get, a small task", || get_floor(NEW, 1), || get(NEW, 1)),
    Case::new("0.3 get, a small task", || get_floor(OLD, 1), || get(OLD, 1)),
    Case::new("1.0 get, 200 messages", || get_floor(NEW, 200), || get(NEW, 200)),
    Case::new("0.3 get, 200 messages", || get_floor(OLD, 200), || get(OLD, 200)),
    Case::new("1.0 list of 50 tasks", list_floor, list),
    Case::new("1.0 an event, written", || fresh_floor(NEW), || fresh(NEW)).pieces(100),
    Case::new("0.3 an event, written", || fresh_floor(OLD), || fresh(OLD)).pieces(100),
    Case::new("1.0 an event, written before", kept_floor, || kept(NEW)).pieces(100),
    Case::new("0.3 an event, written before", kept_floor, || kept(OLD)).pieces(100),
    Case::new("1.0 no such method", refused_floor, || send_as(NEW, "Nonsense", "{}".into())),
    Case::new("1.0 a wrong parameter", refused_floor, || send_as(NEW, "GetTask", r#"{"id":1}"#.into())).shown_only(),
];

fn request(version: ProtocolVersion, method: &'static str, params: &bytes::Bytes) -> Request<Call> {
    let mut request = Request::new(Call::new(Binding::JsonRpc, method).with_params(params.clone()));
    let version = HeaderValue::from_static(if version == NEW { "1.0" } else { "0.3" });
    request.headers_mut().insert(HeaderName::from_static("a2a-version"), version);
    request
}

fn method(version: ProtocolVersion, new: &'static str, old: &'static str) -> &'static str {
    if version == NEW { new } else { old }
}

fn answering(
    answer: Answer,
) -> Version<impl Service<Request<Operation>, Response = Response<Outcome<NoEvents>>, Error = Error>> {
    VersionLayer::new().layer(service_fn(move |request: Request<Operation>| {
        black_box(request);
        ready(Ok::<_, Error>(Response::new(Outcome::Answer(answer.clone()))))
    }))
}

type NoEvents = stream::Empty<Result<StreamEvent, Error>>;

fn call(version: ProtocolVersion, method: &'static str, params: String, answer: Answer) -> Work {
    let params = bytes::Bytes::from(params);
    let mut service = answering(answer);
    work(move || now(service.call(request(version, method, &params))).map(|_| ()))
}

fn send(version: ProtocolVersion, part: String) -> Work {
    send_as(version, method(version, "SendMessage", "message/send"), send_params(version, &part))
}

fn send_as(version: ProtocolVersion, method: &'static str, params: String) -> Work {
    call(version, method, params, Answer::SentMessage(Arc::new(data::message(100))))
}

fn answer<T: Serialize>(answer: &T) -> Response<Encoded<NoEvents>> {
    Response::new(Encoded::Document(serde_json::to_vec(answer).unwrap().into()))
}

fn sent(version: ProtocolVersion) -> Box<dyn Fn() -> Response<Encoded<NoEvents>>> {
    let message = floor::message(version, 100, false);
    if version == OLD {
        return Box::new(move || answer(&message));
    }
    let wrapped = floor::Wrapped { message: Some(message), artifact_update: None };
    Box::new(move || answer(&wrapped))
}

fn send_floor(version: ProtocolVersion, part: String) -> Work {
    let params = bytes::Bytes::from(send_params(version, &part));
    let sent = sent(version);
    work(move || {
        let request = request(version, "SendMessage", &params);
        let read: floor::Send<'_> = serde_json::from_slice(request.body().params().unwrap()).unwrap();
        black_box(read);
        sent()
    })
}

fn owned_floor(version: ProtocolVersion) -> Work {
    let params = bytes::Bytes::from(send_params(version, &text_part(version, 100)));
    let sent = sent(version);
    work(move || {
        let request = request(version, "SendMessage", &params);
        let read: floor::OwnedSend = serde_json::from_slice(request.body().params().unwrap()).unwrap();
        black_box(read);
        sent()
    })
}

fn by_id() -> String {
    format!(r#"{{"id":"{}"}}"#, data::ID)
}

fn get(version: ProtocolVersion, messages: usize) -> Work {
    let answer = Answer::Task(TaskView::new(data::task(messages)));
    call(version, method(version, "GetTask", "tasks/get"), by_id(), answer)
}

fn get_floor(version: ProtocolVersion, messages: usize) -> Work {
    let (params, task) = (bytes::Bytes::from(by_id()), floor::task(version, messages));
    work(move || {
        let request = request(version, "GetTask", &params);
        let read: floor::ById<'_> = serde_json::from_slice(request.body().params().unwrap()).unwrap();
        black_box(read.id);
        answer(&task)
    })
}

fn list() -> Work {
    let tasks = (0..50).map(|_| TaskView::new(data::task(1))).collect();
    call(NEW, "ListTasks", "{}".into(), Answer::Tasks(ListTasksPage::new(tasks, 50, 50)))
}

/// The page is handed over, as the layer's is: cloned from outside.
fn list_floor() -> Work {
    let tasks: Vec<_> = (0..50).map(|_| TaskView::new(data::task(1))).collect();
    let page = floor::PageOut {
        tasks: (0..50).map(|_| floor::task(NEW, 1)).collect(),
        next_page_token: String::new(),
        page_size: 50,
        total_size: 50,
    };
    work(move || {
        black_box(tasks.clone());
        answer(&page)
    })
}

fn refused_floor() -> Work {
    let params = bytes::Bytes::from_static(b"{}");
    work(move || {
        let request = request(NEW, "Nonsense", &params);
        black_box(Error::invalid_params("id", "must be a string"));
        request
    })
}

fn entry() -> LogEntry {
    LogEntry::new(1_234, data::chunk())
}

fn streaming<St, F>(version: ProtocolVersion, events: F) -> Work
where
    F: Fn() -> St + Clone + 'static,
    St: Stream<Item = Result<StreamEvent, Error>> + Unpin + 'static,
{
    let params = bytes::Bytes::from(by_id());
    let mut service = VersionLayer::new().layer(service_fn(move |request: Request<Operation>| {
        black_box(request);
        ready(Ok::<_, Error>(Response::new(Outcome::Stream(events()))))
    }));
    let method = method(version, "SubscribeToTask", "tasks/resubscribe");
    work(move || {
        if let Encoded::Stream(frames) = now(service.call(request(version, method, &params))).unwrap().into_body() {
            exhaust(frames);
        }
    })
}

fn exhaust<T>(mut stream: impl Stream<Item = T> + Unpin) {
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(item)) = Pin::new(&mut stream).poll_next(&mut cx) {
        black_box(item);
    }
}

fn fresh(version: ProtocolVersion) -> Work {
    streaming(version, || stream::iter((0..100).map(|_| Ok(StreamEvent::Logged(entry())))))
}

fn fresh_floor(version: ProtocolVersion) -> Work {
    let chunk = floor::chunk(version);
    let wrapped = floor::Wrapped { message: None, artifact_update: Some(floor::chunk(version)) };
    work(move || {
        for _ in 0..100 {
            let entry = entry();
            let text = if version == NEW { serde_json::to_vec(&wrapped) } else { serde_json::to_vec(&chunk) };
            black_box((entry, bytes::Bytes::from(text.unwrap())));
        }
    })
}

fn kept(version: ProtocolVersion) -> Work {
    let entry = entry();
    streaming(version, move || stream::iter(std::iter::repeat_n(entry.clone(), 100).map(StreamEvent::Logged).map(Ok)))
}

fn kept_floor() -> Work {
    let (entry, text) = (entry(), bytes::Bytes::from(vec![b'x'; 300]));
    work(move || {
        exhaust(stream::iter(std::iter::repeat_n(entry.clone(), 100)));
        for _ in 0..100 {
            black_box(text.clone());
        }
    })
}
