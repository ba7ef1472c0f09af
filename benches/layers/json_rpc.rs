use std::{convert::Infallible, future::ready};

use a2a_layers::{
    call::Call,
    encoded::{Encoded, Frame},
    error::Error,
    json_rpc::JsonRpcLayer,
    operation::ProtocolVersion,
};
use bytes::Bytes;
use futures_util::stream::Empty;
use http::{Request, Response};
use serde::Deserialize;
use serde_json::value::RawValue;
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::{ID, KIB, MIB, envelope, events, exhaust, json, post, send_params, text_part},
};

benches![
    Case::new("100 B", || floor(100), || layer(100)),
    Case::new("64 KiB", || floor(64 * KIB), || layer(64 * KIB)),
    Case::new("1 MiB", || floor(MIB), || layer(MIB)),
    Case::new("an error of the service", error_floor, failing),
    Case::new("no JSON", error_floor, || refused(r#"{"jsonrpc":"2.0","id":1,"method""#)),
    Case::new("no id", error_floor, || refused(r#"{"jsonrpc":"2.0","method":"GetTask","params":{}}"#)),
    Case::new("an item of a stream", stream_floor, items).pieces(100),
];

/// A request in its plainest form.
#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    #[serde(borrow)]
    params: &'a RawValue,
}

fn request(bytes: usize) -> Bytes {
    let version = ProtocolVersion::V1_0;
    envelope("SendMessage", &send_params(version, &text_part(version, bytes)))
}

fn result(bytes: usize) -> Bytes {
    vec![b'1'; bytes].into()
}

fn enclose(id: &str, member: &str, text: &[u8]) -> Bytes {
    Bytes::from([br#"{"jsonrpc":"2.0","id":"#, id.as_bytes(), member.as_bytes(), text, b"}"].concat())
}

fn floor(bytes: usize) -> Work {
    let (body, result) = (request(bytes), result(bytes));
    work(move || {
        let request = post(body.clone());
        let envelope: Envelope<'_> = serde_json::from_slice(request.body()).unwrap();
        std::hint::black_box((envelope.jsonrpc, envelope.method, envelope.params));
        let result = result.clone();
        json(enclose(envelope.id.get(), r#","result":"#, &result))
    })
}

fn layer(bytes: usize) -> Work {
    let (body, result) = (request(bytes), result(bytes));
    let inner = move |call: Request<Call>| {
        std::hint::black_box(call);
        ready(Ok::<_, Error>(Response::new(Encoded::<NoItems>::Document(result.clone()))))
    };
    let mut service = JsonRpcLayer::new().path("/").layer(service_fn(inner));
    work(move || now(service.call(post(body.clone()))))
}

type NoItems = Empty<Result<Frame, Error>>;

fn failing() -> Work {
    let body = envelope("GetTask", "{}");
    let inner = |_: Request<Call>| ready(Err::<Response<Encoded<NoItems>>, _>(Error::task_not_found(ID)));
    let mut service = JsonRpcLayer::new().path("/").layer(service_fn(inner));
    work(move || now(service.call(post(body.clone()))))
}

fn refused(body: &'static str) -> Work {
    let inner = |_: Request<Call>| ready(Err::<Response<Encoded<NoItems>>, Error>(Error::task_not_found(ID)));
    let mut service = JsonRpcLayer::new().path("/").layer(service_fn(inner));
    work(move || now(service.call(post(Bytes::from_static(body.as_bytes())))))
}

/// The request read, an error made, and written.
fn error_floor() -> Work {
    let body = envelope("GetTask", "{}");
    work(move || {
        let request = post(body.clone());
        let envelope: Envelope<'_> = serde_json::from_slice(request.body()).unwrap();
        let error = Error::task_not_found(ID);
        let text = br#"{"code":-32001,"message":"Task not found"}"#;
        let mut response = json(enclose(envelope.id.get(), r#","error":"#, text));
        response.extensions_mut().insert(error.kind());
        response
    })
}

fn stream_floor() -> Work {
    let body = envelope("SubscribeToTask", "{}");
    work(move || {
        let request = post(body.clone());
        let envelope: Envelope<'_> = serde_json::from_slice(request.body()).unwrap();
        std::hint::black_box(envelope.id);
        exhaust(events());
    })
}

fn items() -> Work {
    let body = envelope("SubscribeToTask", "{}");
    let inner = |_: Request<Call>| ready(Ok::<_, Infallible>(Response::new(Encoded::Stream(events()))));
    let mut service = JsonRpcLayer::new().path("/").layer(service_fn(inner));
    work(move || {
        if let Encoded::Stream(items) = now(service.call(post(body.clone()))).unwrap().into_body() {
            exhaust(items);
        }
    })
}
