use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http_body::{Body, Frame as BodyFrame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::Instant;

use super::{SseLayer, event};
use crate::{
    encoded::Frame,
    timer::{Timer, Wakes},
};

/// What an idle stream may keep of its buffer, in bytes. Events are mostly smaller.
const KEPT: usize = 4 << 10;

/// A document in one piece, or a stream of events.
pub struct ResponseBody<T> {
    kind: Kind<T>,
}

enum Kind<T> {
    Document(Option<Bytes>),
    // Rare beside documents and large: in a box it does not make every answer heavier to move.
    Events(Pin<Box<Events<T>>>),
}

impl<T> ResponseBody<T> {
    pub(super) fn document(document: Bytes) -> Self {
        Self { kind: Kind::Document(if document.is_empty() { None } else { Some(document) }) }
    }

    pub(super) fn stream(stream: T, config: SseLayer) -> Self {
        let heartbeat = Heartbeat { timer: Timer::default(), last: None };
        let (buffer, wakes) = (BytesMut::new(), Wakes::default());
        let (begun, apart, silent, ended) = (false, false, false, false);
        let events = Events { stream, heartbeat, buffer, config, wakes, begun, apart, silent, ended };
        Self { kind: Kind::Events(Box::pin(events)) }
    }
}

// What has to stay in its place is in a box.
impl<T> Unpin for ResponseBody<T> {}

impl<T> Body for ResponseBody<T>
where
    T: Stream<Item = Frame>,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<BodyFrame<Bytes>, Infallible>>> {
        let chunk = match &mut self.kind {
            Kind::Document(document) => document.take(),
            Kind::Events(events) => ready!(events.as_mut().poll_chunk(cx)),
        };
        Poll::Ready(chunk.map(|chunk| Ok(BodyFrame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Document(document) => document.is_none(),
            Kind::Events(events) => events.ended && events.buffer.is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Document(document) => SizeHint::with_exact(document.as_ref().map_or(0, Bytes::len) as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

pin_project! {
    /// A stream as it is written.
    #[project = EventsProj]
    struct Events<T> {
        #[pin]
        stream: T,
        #[pin]
        heartbeat: Heartbeat,
        buffer: BytesMut,
        config: SseLayer,
        wakes: Wakes,
        begun: bool,
        apart: bool,
        // True if the stream had no more to say when the last frame was given out.
        silent: bool,
        ended: bool,
    }
}

impl<T> Events<T>
where
    T: Stream<Item = Frame>,
{
    /// As many events as are there, up to a frame; `None` at the end.
    fn poll_chunk(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let EventsProj { mut stream, mut heartbeat, buffer, config, wakes, begun, apart, silent, ended } =
            self.project();
        if !*begun {
            *begun = true;
            if config.comments {
                buffer.extend_from_slice(b": connected\n\n");
            }
        }
        if std::mem::take(apart) {
            // Waiting once makes the server write what it has before it gets the next event.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let full = if config.one_event_per_frame { 1 } else { SseLayer::FRAME_SIZE };
        // A server asks once more after each frame. What has promised to wake it need not be asked again.
        let mut pending = std::mem::take(silent) && wakes.whoever_asks(cx);
        while !*ended && !pending && buffer.len() < full {
            match stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(frame)) => event::write(&frame, config.ids, buffer),
                Poll::Ready(None) => *ended = true,
                Poll::Pending => {
                    pending = true;
                    *silent = wakes.whoever_asks(cx);
                }
            }
        }
        if buffer.is_empty() && pending {
            // Whoever comes back was woken, by whatever it may be.
            *silent = false;
            if buffer.capacity() > KEPT {
                *buffer = BytesMut::new();
            }
            let Some(after) = config.heartbeat.filter(|_| config.comments) else { return Poll::Pending };
            ready!(heartbeat.as_mut().poll(after, cx));
            // No blank line behind it: once an event had an id, some readers (httpx-sse) take a blank line after a
            // comment for an event without data.
            buffer.extend_from_slice(b": ping\n");
        }
        heartbeat.project().last.take();
        *apart = config.one_event_per_frame && !*ended;
        Poll::Ready(if buffer.is_empty() { None } else { Some(buffer.split().freeze()) })
    }
}

pin_project! {
    /// Measures silence.
    struct Heartbeat {
        #[pin]
        timer: Timer,
        // When the silence began; `None` while there is none.
        last: Option<Instant>,
    }
}

impl Heartbeat {
    /// Ready when the silence has lasted that long.
    fn poll(self: Pin<&mut Self>, after: std::time::Duration, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let due = *this.last.get_or_insert_with(Instant::now) + after;
        this.timer.poll_until(due, cx)
    }
}

impl<T> fmt::Debug for ResponseBody<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Document(document) => f.debug_tuple("Document").field(document).finish(),
            Kind::Events(events) => f.debug_struct("Events").field("ended", &events.ended).finish_non_exhaustive(),
        }
    }
}
