//! The `json_rpc` layer alone.

mod errors;
mod requests;
mod stream;

use a2a_layers::{
    call::Call,
    encoded::{Encoded, Frame},
    error::{BoxError, Error},
    json_rpc::{Envelopes, JsonRpcLayer},
};
use bytes::Bytes;
use futures_util::stream::Iter;
use http::{Request, Response};
use serde_json::Value;
use tower::{Layer, ServiceExt, service_fn};

type Items = Iter<std::vec::IntoIter<Result<Frame, Error>>>;
type Answer = Response<Encoded<Envelopes<Items>>>;

fn post(body: impl Into<Bytes>) -> Request<Bytes> {
    Request::post("/").header("content-type", "application/json").body(body.into()).unwrap()
}

/// Answers every call with its method and parameters.
async fn echo(request: Request<Call>) -> Result<Response<Encoded<Items>>, BoxError> {
    let call = request.body();
    let params = call.params().map_or(Bytes::from_static(b"null"), Bytes::clone);
    let text = format!(r#"["{}",{}]"#, call.method(), std::str::from_utf8(&params)?);
    Ok(Response::new(Encoded::Document(text.into())))
}

async fn ask(layer: JsonRpcLayer, request: Request<Bytes>) -> Answer {
    layer.layer(service_fn(echo)).oneshot(request).await.unwrap()
}

/// An answer of one envelope, which holds an id and either a result or an error.
fn envelope(answer: Answer) -> (u16, Value) {
    let status = answer.status().as_u16();
    assert_eq!(answer.headers()["content-type"], "application/json");
    let Encoded::Document(document) = answer.into_body() else { panic!("a stream") };
    let value: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(value["jsonrpc"], "2.0");
    assert!(value.get("id").is_some());
    assert_ne!(value.get("result").is_some(), value.get("error").is_some());
    (status, value)
}

/// The error code and the id that a body is answered with, over HTTP 200.
async fn refusal(body: impl Into<Bytes>) -> (i64, Value) {
    let (status, value) = envelope(ask(JsonRpcLayer::new(), post(body)).await);
    assert_eq!(status, 200);
    (value["error"]["code"].as_i64().unwrap_or_default(), value["id"].clone())
}
