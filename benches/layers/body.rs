use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use a2a_layers::{
    body::BodyLayer,
    encoded::{Encoded, Frame},
    error::{Error, ErrorKind},
    json_rpc::JsonRpcLayer,
};
use bytes::{Bytes, BytesMut};
use futures_util::stream::Empty;
use http::{HeaderValue, Request, Response, header};
use http_body::{Body, SizeHint};
use tower::{Layer, Service, service_fn};

use crate::{
    case::{Case, Make, Work, benches, now, work},
    data::{self, KIB, MIB, post},
};

benches![
    Case::new("1 KiB in one piece", || floor(1, KIB), || layer(1, KIB)),
    Case::new("1 MiB in one piece", || floor(1, MIB), || layer(1, MIB)),
    Case::new("a piece of 64, 16 KiB each", || floor(64, MIB), || layer(64, MIB)).pieces(64),
    Case::new("too large", REFUSED_FLOOR, || layer(1, 17 * MIB)),
];

/// The error, its text and its head, which a refusal cannot do without.
const REFUSED_FLOOR: Make = || {
    let body = Pieces::new(1, 17 * MIB);
    work(move || {
        let request = post(body.clone());
        let error = Error::new(ErrorKind::PayloadTooLarge).with_detail(format!("at most {MIB} bytes are read"));
        let text = format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":"{error}"}}}}"#);
        let mut response = data::json(Bytes::from(text));
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        response.extensions_mut().insert(error.kind());
        (request, response)
    })
};

/// A body that is there already, as one from a socket is that came in a few reads.
#[derive(Clone)]
struct Pieces {
    piece: Bytes,
    left: usize,
}

impl Pieces {
    fn new(pieces: usize, bytes: usize) -> Self {
        Self { piece: vec![b' '; bytes / pieces].into(), left: pieces }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(http_body::Frame::data(self.piece.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact((self.left * self.piece.len()) as u64)
    }
}

type Answer = Response<Encoded<Empty<Frame>>>;

fn echo(request: Request<Bytes>) -> Ready<Result<Answer, Infallible>> {
    ready(Ok(Response::new(Encoded::Document(request.into_body()))))
}

fn floor(pieces: usize, bytes: usize) -> Work {
    let body = Pieces::new(pieces, bytes);
    work(move || {
        let request = post(body.clone()).map(|mut body| {
            let size = usize::try_from(body.size_hint().lower()).unwrap();
            let mut whole = if body.left == 1 { BytesMut::new() } else { BytesMut::with_capacity(size) };
            while let Poll::Ready(Some(Ok(frame))) =
                Pin::new(&mut body).poll_frame(&mut Context::from_waker(std::task::Waker::noop()))
            {
                match frame.into_data() {
                    Ok(data) if body.left == 0 && whole.is_empty() => return data,
                    Ok(data) => whole.extend_from_slice(&data),
                    Err(_) => {}
                }
            }
            whole.freeze()
        });
        now(echo(request))
    })
}

fn layer(pieces: usize, bytes: usize) -> Work {
    let body = Pieces::new(pieces, bytes);
    let gate = JsonRpcLayer::new().path("/").endpoint();
    let mut service = BodyLayer::new().gate(gate).layer(service_fn(echo));
    work(move || now(service.call(post(body.clone()))))
}
