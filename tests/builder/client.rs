//! Requests to a service of HTTP, and the answers read.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::{Service, ServiceExt};

/// An answer, its body read to the end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub(crate) fn result(&self) -> Value {
        let mut envelope = self.json();
        assert!(envelope.get("error").is_none(), "{envelope}");
        envelope["result"].take()
    }

    pub(crate) fn error(&self) -> Value {
        let mut envelope = self.json();
        assert!(envelope.get("error").is_some(), "{envelope}");
        envelope["error"].take()
    }
}

pub(crate) async fn ask<S, B>(service: &S, request: Request<Full<Bytes>>) -> Answer
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible> + Clone,
    B: http_body::Body,
    B::Error: std::fmt::Debug,
{
    let Ok(response) = service.clone().oneshot(request).await;
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Answer { status: head.status, headers: head.headers, text: String::from_utf8(bytes.into()).unwrap() }
}

pub(crate) fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).body(Full::default()).unwrap()
}

/// A call of this method in version 1.0.
pub(crate) fn call(method: &str, params: Value) -> Request<Full<Bytes>> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let request = Request::post("/rpc").header("host", "agent.example").header("a2a-version", "1.0");
    request.header("content-type", "application/json").body(Full::from(body)).unwrap()
}

/// The parameters of a send of one part.
pub(crate) fn message(part: Value) -> Value {
    json!({ "message": { "messageId": "m1", "role": "ROLE_USER", "parts": [part] } })
}
