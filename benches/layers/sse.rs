use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use a2a_layers::{
    encoded::{Encoded, Frame},
    sse::SseLayer,
};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream};
use http::{HeaderName, HeaderValue, Request, Response, header};
use http_body::Body;
use http_body_util::Full;
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Work, benches, now, work},
    data::{KIB, MIB, json},
};

benches![
    Case::new("document of 1 KiB", || document_floor(KIB), || document(KIB)),
    Case::new("document of 1 MiB", || document_floor(MIB), || document(MIB)),
    Case::new("stream of one event", || stream_floor(1, 200), || events(1, 200)),
    Case::new("an event of 100, 200 B each", || stream_floor(100, 200), || events(100, 200)).pieces(100),
    Case::new("an event of 100, 16 KiB each", || stream_floor(100, 16 * KIB), || events(100, 16 * KIB)).pieces(100),
];

type Frames = Pin<Box<dyn Stream<Item = Frame>>>;

fn document_floor(bytes: usize) -> Work {
    let document = Bytes::from(vec![b'x'; bytes]);
    work(move || now(ready(Ok::<_, Infallible>(json(Full::new(document.clone()))))))
}

fn document(bytes: usize) -> Work {
    let document = Bytes::from(vec![b'x'; bytes]);
    let inner = move |_: Request<()>| -> Ready<Result<Response<Encoded<Frames>>, Infallible>> {
        ready(Ok(json(Encoded::Document(document.clone()))))
    };
    let mut service = SseLayer::new().layer(service_fn(inner));
    work(move || now(service.call(Request::new(()))))
}

/// An event in its envelope, its pieces shared as they are between the readers of a task.
fn frame(bytes: usize) -> Frame {
    let head = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":"{}","result":"#, crate::data::ID));
    Frame::new(vec![b'x'; bytes]).with_id(Some(1_234)).enclosed(head, Bytes::from_static(b"}"))
}

fn repeated(frame: &Frame, times: usize) -> impl Stream<Item = Frame> + use<> {
    stream::iter(std::iter::repeat_n(frame.clone(), times))
}

/// The head that a stream must have, and its bytes copied into pieces of the same size.
fn stream_floor(times: usize, bytes: usize) -> Work {
    let frame = frame(bytes);
    work(move || {
        let mut response = Response::new(());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
        let mut frames = repeated(&frame, times);
        let mut cx = Context::from_waker(Waker::noop());
        let mut buffer = BytesMut::from(&b": connected\n\n"[..]);
        while let Poll::Ready(Some(frame)) = Pin::new(&mut frames).poll_next(&mut cx) {
            buffer.reserve(frame.len() + 18);
            buffer.extend_from_slice(b"id: 1234\ndata: ");
            for piece in frame.pieces() {
                buffer.extend_from_slice(piece);
            }
            buffer.extend_from_slice(b"\n\n");
            if buffer.len() >= SseLayer::FRAME_SIZE {
                std::hint::black_box(buffer.split().freeze());
            }
        }
        (response, buffer.split().freeze())
    })
}

fn events(times: usize, bytes: usize) -> Work {
    let frame = frame(bytes);
    let inner =
        move |_: Request<()>| ready(Ok::<_, Infallible>(Response::new(Encoded::Stream(repeated(&frame, times)))));
    let mut service = SseLayer::new().layer(service_fn(inner));
    work(move || {
        let (head, body) = now(service.call(Request::new(()))).unwrap().into_parts();
        let mut body = pin!(body);
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(frame)) = body.as_mut().poll_frame(&mut cx) {
            let _ = std::hint::black_box(frame);
        }
        head
    })
}
