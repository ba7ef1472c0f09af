use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
};

use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

use super::*;

/// A socket that remembers what was written at a time.
struct Recorder {
    io: DuplexStream,
    writes: Arc<Mutex<Vec<String>>>,
}

impl AsyncRead for Recorder {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl AsyncWrite for Recorder {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.io).poll_write(cx, buf))?;
        self.writes.lock().unwrap().push(String::from_utf8_lossy(&buf[..written]).into_owned());
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// What hyper writes of a stream of three events that are ready together; how many events there are in each write.
async fn events_in_each_write(layer: SseLayer) -> Vec<usize> {
    let service = service_fn(|_: Request<Incoming>| async {
        Ok::<_, Infallible>(Response::new(Encoded::Stream(stream::iter((1..=3).map(|n| Frame::new(n.to_string()))))))
    });
    let service = ServiceBuilder::new().layer(layer).service(service);
    let (mut client, io) = tokio::io::duplex(1 << 16);
    let writes = Arc::default();
    let recorder = Recorder { io, writes: Arc::clone(&writes) };
    let connection = http1::Builder::new().serve_connection(TokioIo::new(recorder), TowerToHyperService::new(service));
    client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    connection.await.unwrap();
    let writes = writes.lock().unwrap();
    writes.iter().map(|text| text.matches("data: ").count()).filter(|count| *count > 0).collect()
}

#[tokio::test]
async fn v036_hyper_writes_each_event_on_its_own_if_asked() {
    assert_eq!(events_in_each_write(SseLayer::new().one_event_per_frame(true)).await, [1, 1, 1]);
    assert_eq!(events_in_each_write(SseLayer::new()).await, [3]);
}

#[test]
fn layers_and_services_print_their_own_names() {
    use tower::Layer as _;

    let (sse, body, json_rpc) = (SseLayer::default(), BodyLayer::default(), JsonRpcLayer::default());
    assert!(format!("{sse:?}").starts_with("SseLayer {"));
    assert!(format!("{body:?}").starts_with("BodyLayer {"));
    assert!(format!("{json_rpc:?}").starts_with("JsonRpcLayer {"));
    assert!(format!("{:?}", sse.layer(())).starts_with("Sse {"));
    assert!(format!("{:?}", body.layer(())).starts_with("Body {"));
    assert!(format!("{:?}", json_rpc.layer(())).starts_with("JsonRpc {"));
    assert!(format!("{:?}", Serve::default()).starts_with("Serve {"));
}
