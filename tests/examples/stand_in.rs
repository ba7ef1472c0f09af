//! A stand-in for a chat model. It says back what it is told, in pieces that break in awkward places.

use std::{convert::Infallible, sync::Arc};

use a2a_layers::server::serve;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, time};
use tower::service_fn;

pub(crate) struct StandIn {
    pub(crate) url: String,
    left: Arc<Notify>,
}

impl StandIn {
    /// Waits until the reader of an endless answer has gone.
    pub(crate) async fn is_left(&self) {
        self.left.notified().await;
    }
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

pub(crate) async fn start() -> StandIn {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let left = Arc::new(Notify::new());
    let model = Arc::clone(&left);
    tokio::spawn(serve(listener, service_fn(move |request| complete(request, Arc::clone(&model)))));
    StandIn { url, left }
}

async fn complete(request: Request<Incoming>, left: Arc<Notify>) -> Result<Response<Body>, Infallible> {
    assert_eq!(request.uri().path(), "/v1/chat/completions");
    let key = request.headers().get("authorization").cloned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let asked: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(asked["stream"], true);
    let said = &asked["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(said["role"], "user");
    let pieces: Vec<String> = match said["content"].as_str().unwrap() {
        "fail" => {
            let mut response = Response::new(UnsyncBoxBody::default());
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            return Ok(response);
        }
        "break" => vec![chunk("so far"), "data: {\"error\":{\"message\":\"out of memory\"}}\n\n".to_owned()],
        "recall" => asked["messages"].as_array().unwrap().iter().map(|said| chunk(&format!("{said}\n"))).collect(),
        "forever" => return Ok(Response::new(forever(left))),
        said => {
            assert_eq!(key.unwrap(), "Bearer secret");
            let name = asked["model"].as_str().unwrap();
            let words = [format!("{name} "), "heard: ".to_owned(), format!("{said}, "), "grüß dich".to_owned()];
            let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n".to_owned();
            [role].into_iter().chain(words.map(|word| chunk(&word))).chain(["data: [DONE]\n\n".to_owned()]).collect()
        }
    };
    let bytes = pieces.concat().into_bytes();
    // Three bytes at a time split lines and letters.
    let frames: Vec<Bytes> = bytes.chunks(3).map(Bytes::copy_from_slice).collect();
    let frames = stream::iter(frames).map(|bytes| Ok(Frame::data(bytes)));
    Ok(Response::new(StreamBody::new(frames).boxed_unsync()))
}

fn chunk(text: &str) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": text } }] }))
}

fn forever(left: Arc<Notify>) -> Body {
    struct Leaving(Arc<Notify>);
    impl Drop for Leaving {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let ticks = stream::unfold(Leaving(left), async |leaving| {
        time::sleep(time::Duration::from_millis(10)).await;
        Some((Ok(Frame::data(chunk("more ").into())), leaving))
    });
    StreamBody::new(ticks).boxed_unsync()
}
