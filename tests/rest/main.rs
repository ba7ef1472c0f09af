//! The `rest` layer alone.

mod errors;
mod requests;
mod stream;

use a2a_layers::{
    call::{Binding, Call},
    encoded::{Encoded, Frame},
    error::{BoxError, Error},
    operation::ProtocolVersion,
    rest::{Events, RestLayer},
};
use bytes::Bytes;
use futures_util::stream::Iter;
use http::{Request, Response};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt, service_fn};

type Items = Iter<std::vec::IntoIter<Result<Frame, Error>>>;
type Answer = Response<Encoded<Events<Items>>>;

const A2A_JSON: (&str, &str) = ("content-type", "application/a2a+json");

fn request(verb: &str, uri: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request<Bytes> {
    let mut request = Request::builder().method(verb).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body.into()).unwrap()
}

/// Answers every call with what it is.
async fn echo(request: Request<Call>) -> Result<Response<Encoded<Items>>, BoxError> {
    let call = request.body();
    assert_eq!(call.binding(), Binding::HttpJson);
    let path = call.path();
    let seen = json!({
        "method": call.method(),
        "params": call.params().map(|params| String::from_utf8_lossy(params)),
        "old": call.version() == Some(ProtocolVersion::V0_3),
        "path": [path.tenant.as_deref(), path.task_id.as_deref(), path.config_id.as_deref()],
    });
    Ok(Response::new(Encoded::Document(seen.to_string().into())))
}

async fn ask(layer: RestLayer, request: Request<Bytes>) -> Answer {
    layer.layer(service_fn(echo)).oneshot(request).await.unwrap()
}

fn document(answer: Answer) -> (u16, Value) {
    let status = answer.status().as_u16();
    let Encoded::Document(document) = answer.into_body() else { panic!("a stream") };
    (status, serde_json::from_slice(&document).unwrap())
}

/// What a request without a body and without headers becomes.
async fn seen(verb: &str, uri: &str) -> Value {
    let (status, seen) = document(ask(RestLayer::new(), request(verb, uri, &[], "")).await);
    assert_eq!(status, 200, "{seen}");
    seen
}

/// The status and the details of a refusal.
async fn refused(layer: RestLayer, request: Request<Bytes>) -> (u16, Value) {
    let (status, value) = document(ask(layer, request).await);
    assert_eq!(value["error"]["code"], status, "{value}");
    (status, value)
}
