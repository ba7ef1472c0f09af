//! The loop around hyper, with the layers of the wire in it, over real sockets.

mod bodies;
mod connections;
#[cfg(feature = "http2")]
mod http2;
mod writes;

use std::{net::SocketAddr, time::Duration};

use a2a_layers::{
    body::BodyLayer,
    call::Call,
    encoded::{Encoded, Frame},
    error::{BoxError, Error, ErrorKind},
    json_rpc::JsonRpcLayer,
    server::Serve,
    sse::SseLayer,
};
use futures_util::{StreamExt as _, stream, stream::BoxStream};
use http::{Request, Response};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tower::{ServiceBuilder, service_fn};

type Items = BoxStream<'static, Result<Frame, Error>>;

/// Long enough for a loaded machine, and no test waits for it unless it fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the second half of a slow answer waits for.
static RELEASE: tokio::sync::Notify = tokio::sync::Notify::const_new();

async fn agent(request: Request<Call>) -> Result<Response<Encoded<Items>>, BoxError> {
    let answer = match request.body().method() {
        "size" => {
            let size = request.body().params().map_or(0, |params| params.len());
            Encoded::Document(size.to_string().into())
        }
        "count" => {
            Encoded::Stream(stream::iter((1..=2).map(|n| Ok(Frame::new(n.to_string()).with_id(Some(n))))).boxed())
        }
        "wait" => {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Encoded::Document("true".into())
        }
        "slow" => {
            let second = async {
                RELEASE.notified().await;
                Ok(Frame::new("2"))
            };
            Encoded::Stream(stream::iter([Ok(Frame::new("1"))]).chain(stream::once(second)).boxed())
        }
        "large" => Encoded::Document(vec![b'1'; 64 << 20].into()),
        "never" => Encoded::Stream(stream::pending().boxed()),
        "panic" => panic!("as asked"),
        _ => return Err(Error::new(ErrorKind::MethodNotFound).into()),
    };
    Ok(Response::new(answer))
}

/// Starts a server, and answers with its address and what ends with it.
async fn start<F>(serve: Serve<F>, body: BodyLayer) -> (SocketAddr, tokio::task::JoinHandle<std::io::Result<()>>)
where
    F: Future + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let json_rpc = JsonRpcLayer::new().path("/a2a");
    let service = ServiceBuilder::new()
        .layer(SseLayer::new())
        .layer(body.gate(json_rpc.endpoint()))
        .layer(json_rpc)
        // Layers of tower itself, whose errors are boxes, must not keep the whole from being spawned.
        .load_shed()
        .concurrency_limit(64)
        .timeout(PATIENCE)
        .service(service_fn(agent));
    (address, tokio::spawn(serve.run(listener, service)))
}

async fn connect(serve: Serve, body: BodyLayer) -> TcpStream {
    let (address, _) = start(serve, body).await;
    TcpStream::connect(address).await.unwrap()
}

fn head(length: usize) -> String {
    format!("POST /a2a HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n")
}

fn request(method: &str) -> String {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#);
    head(body.len()) + &body
}

/// Everything until the server closes.
async fn read_all(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    tokio::time::timeout(PATIENCE, socket.read_to_end(&mut text)).await.expect("it was never closed").unwrap();
    String::from_utf8(text).unwrap()
}

/// What comes until the text ends so.
async fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    let reading = async {
        while !text.ends_with(end.as_bytes()) {
            text.push(socket.read_u8().await.unwrap_or_else(|_| panic!("closed after {text:?}")));
        }
    };
    let done = tokio::time::timeout(PATIENCE, reading).await;
    let text = String::from_utf8(text).unwrap();
    assert!(done.is_ok(), "no more came after {text}");
    text
}
