//! HTTP/2 on the same port.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::oneshot;

use super::*;

async fn client(address: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (client, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    client
}

fn call(method: &str) -> Request<Full<Bytes>> {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#);
    let request = Request::post("http://x/a2a").header("content-type", "application/json");
    request.body(Full::from(body)).unwrap()
}

async fn text(response: Response<hyper::body::Incoming>) -> String {
    let body = tokio::time::timeout(PATIENCE, response.into_body().collect()).await.expect("it never ends");
    String::from_utf8(body.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn both_versions_share_the_port() {
    let (address, _) = start(Serve::new(), BodyLayer::new()).await;
    let mut new = client(address).await;
    let response = new.send_request(call("size")).await.unwrap();
    assert_eq!(response.version(), http::Version::HTTP_2);
    assert!(text(response).await.contains(r#""result":2"#));
    let stream = text(new.send_request(call("count")).await.unwrap()).await;
    assert!(stream.contains("id: 1\n") && stream.contains("id: 2\n"), "{stream}");

    let mut old = TcpStream::connect(address).await.unwrap();
    old.write_all(request("size").as_bytes()).await.unwrap();
    assert!(read_until(&mut old, "}").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn first_bytes_that_never_come_close_the_connection() {
    for sent in ["", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r"] {
        let serve = Serve::new().header_read_timeout(Duration::from_millis(100));
        let mut socket = connect(serve, BodyLayer::new()).await;
        socket.write_all(sent.as_bytes()).await.unwrap();
        assert_eq!(read_all(&mut socket).await, "");
    }
}

#[tokio::test]
async fn a_preface_in_pieces_is_one() {
    let mut socket = connect(Serve::new(), BodyLayer::new()).await;
    socket.set_nodelay(true).unwrap();
    for piece in PREFACE.chunks(5) {
        socket.write_all(piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    socket.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    assert_eq!(read_frame(&mut socket).await.unwrap().0, SETTINGS);
}

#[tokio::test]
async fn a_panic_ends_its_own_stream_alone() {
    let (address, _) = start(Serve::new(), BodyLayer::new()).await;
    let mut client = client(address).await;
    assert!(client.send_request(call("panic")).await.is_err());
    assert!(text(client.send_request(call("size")).await.unwrap()).await.contains("result"));
}

#[tokio::test]
async fn a_head_that_is_too_large_is_431() {
    for (length, status) in [(1000, 200), (8192, 431)] {
        let (address, _) = start(Serve::new().max_header_size(8192), BodyLayer::new()).await;
        let mut client = client(address).await;
        let mut request = call("size");
        request.headers_mut().insert("long", "v".repeat(length).parse().unwrap());
        let response = client.send_request(request).await.unwrap();
        assert_eq!(response.status(), status, "{length}");
    }
}

#[tokio::test]
async fn a_shutdown_lets_streams_finish_up_to_its_deadline() {
    let (stop, stopped) = oneshot::channel::<()>();
    let serve = Serve::new().shutdown_deadline(Duration::from_millis(500)).with_shutdown(stopped);
    let (address, server) = start(serve, BodyLayer::new()).await;
    // One that has said nothing does not hold it up.
    let _silent = TcpStream::connect(address).await.unwrap();
    let mut finishing = client(address).await;
    text(finishing.send_request(call("size")).await.unwrap()).await;
    let in_flight = tokio::spawn(finishing.send_request(call("wait")));
    let mut endless = client(address).await;
    let mut never = endless.send_request(call("never")).await.unwrap().into_body();
    assert!(never.frame().await.unwrap().is_ok());
    stop.send(()).unwrap();
    assert!(text(in_flight.await.unwrap().unwrap()).await.contains("true"));
    tokio::time::timeout(PATIENCE, server).await.expect("it goes on").unwrap().unwrap();
    assert!(never.frame().await.is_none_or(|frame| frame.is_err()));
}

// What no client of good manners does, frame by frame (RFC 9113 §4.1, §6).

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

/// `POST /` for the host `x`, as HPACK has it.
const HEAD: &[u8] = &[0x83, 0x86, 0x84, 0x41, 0x01, b'x'];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The kind and the payload of the next frame; `None` when the server closes.
async fn read_frame(socket: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let reading = async {
        let mut head = [0; 9];
        socket.read_exact(&mut head).await.ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        socket.read_exact(&mut payload).await.ok()?;
        Some((head[3], payload))
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("nothing comes")
}

async fn begin(serve: Serve) -> TcpStream {
    let mut socket = connect(serve, BodyLayer::new()).await;
    socket.write_all(PREFACE).await.unwrap();
    socket.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    socket
}

#[tokio::test]
async fn the_limits_are_announced() {
    let mut socket = begin(Serve::new().max_concurrent_streams(7).max_header_size(9000)).await;
    let (kind, settings) = read_frame(&mut socket).await.unwrap();
    assert_eq!(kind, SETTINGS);
    let settings: Vec<_> =
        settings.chunks(6).map(|one| (one[1], u32::from_be_bytes([one[2], one[3], one[4], one[5]]))).collect();
    assert!(settings.contains(&(3, 7)) && settings.contains(&(6, 9000)), "{settings:?}");
}

#[tokio::test]
async fn a_flood_of_resets_ends_the_connection() {
    for (limit, count, ends) in [(20, 19, false), (20, 200, true)] {
        let mut socket = begin(Serve::new().max_pending_resets(limit)).await;
        let mut flood = Vec::new();
        for number in 0..count {
            let stream = 2 * number + 1;
            flood.extend(frame(HEADERS, 0x4, stream, HEAD));
            flood.extend(frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()));
        }
        flood.extend(frame(PING, 0, 0, &[1; 8]));
        socket.write_all(&flood).await.unwrap();
        let ended = loop {
            match read_frame(&mut socket).await {
                Some((GOAWAY, _)) | None => break true,
                Some((PING, payload)) if payload == [1; 8] => break false,
                Some(_) => {}
            }
        };
        assert_eq!(ended, ends, "{count} of {limit}");
    }
}

#[tokio::test]
async fn a_client_that_is_gone_is_found_out() {
    let serve =
        Serve::new().keep_alive_interval(Duration::from_millis(50)).keep_alive_timeout(Duration::from_millis(50));
    let mut socket = begin(serve).await;
    let mut asked = false;
    while let Some((kind, _)) = read_frame(&mut socket).await {
        asked |= kind == PING;
    }
    assert!(asked, "closed without a question");
}

#[tokio::test]
async fn frames_that_are_none_end_the_connection_and_no_other() {
    let (address, server) = start(Serve::new(), BodyLayer::new()).await;
    for hostile in [
        frame(HEADERS, 0x5, 0, HEAD),
        frame(HEADERS, 0x5, 2, HEAD),
        frame(HEADERS, 0x5, 1, &[0xff; 64]),
        frame(SETTINGS, 0, 0, &[0; 5]),
        frame(9, 0, 1, HEAD),
        frame(0, 0, 5, b"data of no stream"),
        vec![0xff; 64],
    ] {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(PREFACE).await.unwrap();
        socket.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        socket.write_all(&hostile).await.unwrap();
        while let Some((kind, _)) = read_frame(&mut socket).await {
            if kind == GOAWAY {
                break;
            }
        }
    }
    let mut client = client(address).await;
    assert!(text(client.send_request(call("size")).await.unwrap()).await.contains("result"));
    assert!(!server.is_finished());
}
