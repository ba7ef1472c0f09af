use std::{
    error::Error as StdError,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};
#[cfg(feature = "grpc")]
use std::{future::poll_fn, pin::pin, time::Duration};

use bytes::{Buf, Bytes};
use http::{HeaderValue, Request, Response, Version, header, request::Parts};
use http_body_util::LengthLimitError;
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower_service::Service;

use super::{BodyLayer, Gate, collect::Collected, layer::Limits};
use crate::{
    encoded::Encoded,
    error::{BoxError, Error, ErrorKind},
};

pin_project! {
    /// The answer to come of [`Body`](super::Body).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S, B, G, F> {
        // Gone as soon as it has been read.
        #[pin]
        body: Option<B>,
        // Made when the body has to be waited for.
        #[pin]
        timer: Option<Sleep>,
        #[pin]
        calling: Option<F>,
        collected: Collected,
        limits: Limits,
        gate: G,
        // Both go into the inner call.
        inner: Option<S>,
        head: Option<Parts>,
        refusal: Option<Refusal>,
    }
}

/// An answer that waits until the client has written its body.
struct Refusal {
    response: Response<Bytes>,
    // How many bytes may still be thrown away.
    drain: usize,
    // Only HTTP/1 says in a header that the connection is spent.
    close: bool,
}

/// Why the whole body is not there.
enum Unread {
    TooLarge,
    TooLargeOutside,
    TooSlow,
    Broken(BoxError),
}

impl<S, B, G, F> ResponseFuture<S, B, G, F>
where
    B: http_body::Body,
    G: Gate + Clone,
{
    pub(super) fn new(inner: S, request: Request<B>, config: &BodyLayer<G>) -> Self {
        let (head, body) = request.into_parts();
        let limits = config.limits;
        let announced = body.size_hint().lower();
        let refused = config.gate.refuse_head(&head).or_else(|| {
            (announced > limits.size as u64).then(|| config.gate.refuse_body(&head, &too_large(limits.size)))
        });
        let refusal = refused.map(|response| {
            // Who asked whether to go on has not sent the body yet, and more than the limit would be read in vain.
            let in_vain = expects_continue(&head) || announced > limits.drain as u64;
            Refusal { response, drain: if in_vain { 0 } else { limits.drain }, close: is_http_1(&head) }
        });
        Self {
            body: Some(body),
            timer: None,
            calling: None,
            collected: Collected::default(),
            limits,
            gate: config.gate.clone(),
            // A refused request must not keep a place that others wait for while its body is thrown away.
            inner: refusal.is_none().then_some(inner),
            head: Some(head),
            refusal,
        }
    }
}

impl<S, B, G, F, T> Future for ResponseFuture<S, B, G, F>
where
    S: Service<Request<Bytes>, Response = Response<Encoded<T>>, Future = F>,
    F: Future<Output = Result<Response<Encoded<T>>, S::Error>>,
    B: http_body::Body,
    B::Error: Into<BoxError>,
    G: Gate,
{
    type Output = Result<Response<Encoded<T>>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            if let Some(future) = this.calling.as_mut().as_pin_mut() {
                return future.poll(cx);
            }
            // Polling on after the answer is the caller's mistake, as with any future.
            let body = this.body.as_mut().as_pin_mut().expect("polled after completion");
            if let Some(refusal) = this.refusal {
                let drained = ready!(poll_drain(body, this.timer.as_mut(), this.limits, &mut refusal.drain, cx));
                this.body.set(None);
                let Refusal { mut response, close, .. } = this.refusal.take().expect("it was there a line ago");
                if close && !drained {
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                return Poll::Ready(Ok(response.map(Encoded::Document)));
            }
            let read = ready!(poll_collect(body, this.timer.as_mut(), this.limits, this.collected, cx));
            let (mut inner, head) = this.inner.take().zip(this.head.take()).expect("taken once, with the body");
            match read {
                Ok(()) => {
                    this.body.set(None);
                    this.timer.set(None);
                    this.calling.set(Some(inner.call(Request::from_parts(head, this.collected.take()))));
                }
                Err(unread) => {
                    // What came goes at once, and the call's place with it; the rest may take its time.
                    drop(this.collected.take());
                    let too_large = matches!(unread, Unread::TooLarge | Unread::TooLargeOutside);
                    let response = this.gate.refuse_body(&head, &unread.error(this.limits));
                    let drain = if too_large { this.limits.drain } else { 0 };
                    *this.refusal = Some(Refusal { response, drain, close: is_http_1(&head) });
                }
            }
        }
    }
}

/// Reads a body to its end, for a binding that answers in its own way.
#[cfg(feature = "grpc")]
pub(crate) async fn read<B>(body: B, size: usize, deadline: Option<Duration>) -> Result<Bytes, Error>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    let limits = Limits { size, drain: 0, deadline };
    if body.size_hint().lower() > size as u64 {
        return Err(too_large(size));
    }
    let (mut body, mut timer) = (pin!(body), pin!(None));
    let mut collected = Collected::default();
    poll_fn(|cx| poll_collect(body.as_mut(), timer.as_mut(), &limits, &mut collected, cx))
        .await
        .map_err(|unread| unread.error(&limits))?;
    Ok(collected.take())
}

fn poll_collect<B>(
    mut body: Pin<&mut B>,
    mut timer: Pin<&mut Option<Sleep>>,
    limits: &Limits,
    collected: &mut Collected,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Unread>>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    while let Some(piece) = ready!(poll_piece(body.as_mut(), timer.as_mut(), limits, cx)) {
        let mut piece = match piece {
            Ok(piece) => piece,
            Err(unread) => return Poll::Ready(Err(unread)),
        };
        let room = limits.size - collected.len();
        if piece.remaining() > room {
            return Poll::Ready(Err(Unread::TooLarge));
        }
        // For `Bytes` this shares, and copies nothing.
        let piece = piece.copy_to_bytes(piece.remaining());
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        let remaining = announced.min(room - piece.len());
        collected.push(piece, remaining);
    }
    Poll::Ready(Ok(()))
}

/// Reads on and throws away. True if that came to the body's end.
fn poll_drain<B>(
    mut body: Pin<&mut B>,
    mut timer: Pin<&mut Option<Sleep>>,
    limits: &Limits,
    left: &mut usize,
    cx: &mut Context<'_>,
) -> Poll<bool>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    while *left > 0 {
        match ready!(poll_piece(body.as_mut(), timer.as_mut(), limits, cx)) {
            None => return Poll::Ready(true),
            Some(Ok(piece)) => *left = left.saturating_sub(piece.remaining()),
            Some(Err(_)) => return Poll::Ready(false),
        }
    }
    Poll::Ready(body.is_end_stream())
}

fn poll_piece<B>(
    mut body: Pin<&mut B>,
    mut timer: Pin<&mut Option<Sleep>>,
    limits: &Limits,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<B::Data, Unread>>>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    while !body.is_end_stream() {
        match body.as_mut().poll_frame(cx) {
            Poll::Ready(None) => break,
            // Trailers mean nothing here.
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => return Poll::Ready(Some(Ok(data))),
                Err(_) => continue,
            },
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(Unread::of(error.into())))),
            Poll::Pending => {
                let Some(deadline) = limits.deadline else { return Poll::Pending };
                if timer.is_none() {
                    timer.set(Some(tokio::time::sleep(deadline)));
                }
                if let Some(timer) = timer.as_pin_mut() {
                    ready!(timer.poll(cx));
                }
                return Poll::Ready(Some(Err(Unread::TooSlow)));
            }
        }
    }
    Poll::Ready(None)
}

impl Unread {
    /// A limit that lies outside, such as that of `tower-http`, speaks through the body's error.
    fn of(error: BoxError) -> Self {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&*error);
        while let Some(current) = cause {
            if current.is::<LengthLimitError>() {
                return Self::TooLargeOutside;
            }
            cause = current.source();
        }
        Self::Broken(error)
    }

    fn error(self, limits: &Limits) -> Error {
        match self {
            Self::TooLarge => too_large(limits.size),
            Self::TooLargeOutside => ErrorKind::PayloadTooLarge.into(),
            Self::TooSlow => ErrorKind::RequestTimeout.into(),
            Self::Broken(error) => Error::new(ErrorKind::InvalidRequest)
                .with_detail("the body broke off before its end")
                .with_source(error),
        }
    }
}

fn too_large(limit: usize) -> Error {
    Error::new(ErrorKind::PayloadTooLarge).with_detail(format!("at most {limit} bytes are read"))
}

fn expects_continue(head: &Parts) -> bool {
    head.headers.get(header::EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

fn is_http_1(head: &Parts) -> bool {
    head.version < Version::HTTP_2
}

impl<S, B, G, F> fmt::Debug for ResponseFuture<S, B, G, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
