use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{BufMut as _, Bytes};
use futures_core::Stream;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::{
    Status,
    codec::{BufferSettings, EncodeBody, EncodeBuf, Encoder, SingleMessageCompressionOverride},
};

use super::{
    call::late,
    language::Language,
    status::{log, status},
};
use crate::{encoded::Text, error::Error, operation::StreamEvent};

pin_project! {
    /// The body of an answer: messages, and at the end the status.
    pub struct ResponseBody<T> {
        #[pin]
        messages: Option<EncodeBody<Writer, Messages<T>>>,
    }
}

impl<T> ResponseBody<T>
where
    T: Stream<Item = Result<StreamEvent, Error>>,
{
    /// One message.
    pub(super) fn message(message: Text) -> Self {
        // Room for the message and what goes before it.
        let size = message.len() + 5;
        Self::of(size, Messages::One { message: Some(message) })
    }

    /// One message for each event. Nothing is read ahead of what the caller takes.
    pub(super) fn stream(events: T, language: Language, deadline: Option<Instant>) -> Self {
        let deadline = deadline.map(|deadline| Box::pin(sleep_until(deadline)));
        // A stream that is silent should hold no memory for what it may say.
        Self::of(0, Messages::Many { events: Some(events), language, deadline })
    }

    fn of(size: usize, messages: Messages<T>) -> Self {
        let no_compression = SingleMessageCompressionOverride::Disable;
        Self { messages: Some(EncodeBody::new_server(Writer { size }, messages, None, no_compression, None)) }
    }
}

/// Nothing; the head says it all.
impl<T> Default for ResponseBody<T> {
    fn default() -> Self {
        Self { messages: None }
    }
}

impl<T> Body for ResponseBody<T>
where
    T: Stream<Item = Result<StreamEvent, Error>>,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match self.project().messages.as_pin_mut() {
            Some(messages) => messages.poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.messages.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.messages.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<T> fmt::Debug for ResponseBody<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseBody")
    }
}

/// Puts messages that are written already into the buffer.
struct Writer {
    size: usize,
}

/// How much is gathered before it goes out, in bytes: tonic's own default.
const YIELD_THRESHOLD: usize = 32 << 10;

impl Encoder for Writer {
    type Item = Text;
    type Error = Status;

    fn encode(&mut self, message: Text, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.reserve(message.len());
        out.put_slice(&message);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(self.size, YIELD_THRESHOLD)
    }
}

pin_project! {
    #[project = MessagesProjection]
    enum Messages<T> {
        One { message: Option<Text> },
        Many {
            // Gone when it has ended.
            #[pin]
            events: Option<T>,
            language: Language,
            deadline: Option<Pin<Box<Sleep>>>,
        },
    }
}

impl<T> Stream for Messages<T>
where
    T: Stream<Item = Result<StreamEvent, Error>>,
{
    type Item = Result<Text, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.project() {
            MessagesProjection::One { message } => Poll::Ready(message.take().map(Ok)),
            MessagesProjection::Many { mut events, language, deadline } => {
                let Some(stream) = events.as_mut().as_pin_mut() else { return Poll::Ready(None) };
                let is_late = deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready());
                let item = if is_late {
                    Some(Err(late()))
                } else {
                    ready!(stream.poll_next(cx)).map(|event| {
                        event.and_then(|event| language.event(&event)).map_err(|error| {
                            log(&error);
                            status(&error)
                        })
                    })
                };
                // After an error nothing follows, and whoever reads a stream no more should not keep it.
                if !matches!(item, Some(Ok(_))) {
                    events.set(None);
                }
                Poll::Ready(item)
            }
        }
    }
}
