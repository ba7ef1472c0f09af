use std::{convert::Infallible, future::ready};

use a2a_layers::{
    call::Call,
    encoded::{Encoded, Frame},
    error::Error,
    operation::ProtocolVersion,
    rest::RestLayer,
    types::Json,
};
use bytes::Bytes;
use futures_util::stream::Empty;
use http::{HeaderValue, Request, Response, header};
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::{ID, KIB, MIB, events, exhaust, post, send_params, text_part},
};

benches![
    Case::new("100 B", || floor(100), || layer(100)),
    Case::new("64 KiB", || floor(64 * KIB), || layer(64 * KIB)),
    Case::new("1 MiB", || floor(MIB), || layer(MIB)),
    Case::new("an id in the path", id_floor, id_in_path),
    Case::new("an error of the service", error_floor, failing),
    Case::new("nothing at the path", error_floor, nowhere),
    Case::new("an item of a stream", stream_floor, items).pieces(100),
];

type NoItems = Empty<Result<Frame, Error>>;

fn body(bytes: usize) -> Bytes {
    let version = ProtocolVersion::V1_0;
    send_params(version, &text_part(version, bytes)).into()
}

fn to(path: &'static str, body: Bytes) -> Request<Bytes> {
    let mut request = post(body);
    *request.uri_mut() = http::Uri::from_static(path);
    request
}

fn labelled<T>(body: T) -> Response<T> {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/a2a+json"));
    response
}

/// Nothing is read, and nothing is put around the result.
fn floor(bytes: usize) -> Work {
    let (body, result) = (body(bytes), Bytes::from(vec![b'1'; bytes]));
    work(move || {
        let request = to("/message:send", body.clone());
        std::hint::black_box(request.uri().path() == "/message:send");
        labelled(result.clone())
    })
}

fn layer(bytes: usize) -> Work {
    let (body, result) = (body(bytes), Bytes::from(vec![b'1'; bytes]));
    let inner = move |call: Request<Call>| {
        std::hint::black_box(call);
        ready(Ok::<_, Error>(Response::new(Encoded::<NoItems>::Document(result.clone()))))
    };
    let mut service = RestLayer::new().layer(service_fn(inner));
    work(move || now(service.call(to("/message:send", body.clone()))))
}

const OF_A_TASK: &str = "/tasks/3f1c9a52-6f0b-4f5e-9d52-0f2f7a1f3c11:cancel";

fn id_floor() -> Work {
    work(move || {
        let request = to(OF_A_TASK, Bytes::new());
        let id = request.uri().path().strip_prefix("/tasks/").and_then(|id| id.strip_suffix(":cancel"));
        std::hint::black_box(id.map(std::sync::Arc::<str>::from));
        labelled(Bytes::new())
    })
}

fn id_in_path() -> Work {
    let inner = |call: Request<Call>| {
        std::hint::black_box(call);
        ready(Ok::<_, Error>(Response::new(Encoded::<NoItems>::Document(Bytes::new()))))
    };
    let mut service = RestLayer::new().layer(service_fn(inner));
    work(move || now(service.call(to(OF_A_TASK, Bytes::new()))))
}

/// What the layer above has put into the error.
const DETAILS: &str = r#"[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND"}]"#;

fn error() -> Error {
    Error::task_not_found(ID).with_data(Json::parse(DETAILS).unwrap())
}

/// An error made, and written.
fn error_floor() -> Work {
    work(move || {
        std::hint::black_box(to("/message:send", Bytes::new()));
        let error = error();
        let details = error.data().map_or("", |data| data.get());
        let before = r#"{"error":{"code":404,"status":"NOT_FOUND","message":"Task not found","details":"#;
        let mut response = labelled(Bytes::from([before, details, "}}"].concat()));
        response.extensions_mut().insert(error.kind());
        response
    })
}

fn failing() -> Work {
    let inner = |_: Request<Call>| ready(Err::<Response<Encoded<NoItems>>, _>(error()));
    let mut service = RestLayer::new().layer(service_fn(inner));
    work(move || now(service.call(to("/message:send", Bytes::new()))))
}

fn nowhere() -> Work {
    let inner = |_: Request<Call>| ready(Err::<Response<Encoded<NoItems>>, _>(error()));
    let mut service = RestLayer::new().layer(service_fn(inner));
    work(move || now(service.call(to("/nowhere", Bytes::new()))))
}

fn stream_floor() -> Work {
    work(move || {
        std::hint::black_box(to("/message:stream", Bytes::new()));
        exhaust(events());
    })
}

fn items() -> Work {
    let inner = |_: Request<Call>| ready(Ok::<_, Infallible>(Response::new(Encoded::Stream(events()))));
    let mut service = RestLayer::new().layer(service_fn(inner));
    work(move || {
        if let Encoded::Stream(items) = now(service.call(to("/message:stream", Bytes::new()))).unwrap().into_body() {
            exhaust(items);
        }
    })
}
