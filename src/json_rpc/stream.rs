use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;

use super::answer::{Id, error_document};
use crate::{binding::log, encoded::Frame, error::Error};

pin_project! {
    /// A stream of results, each in its envelope.
    ///
    /// An error becomes an envelope of its own, with its own code, and is the last.
    pub struct Envelopes<T> {
        #[pin]
        stream: T,
        id: Id,
        // What each envelope begins with.
        head: Bytes,
        bare: bool,
        done: bool,
    }
}

impl<T> Envelopes<T> {
    pub(super) fn new(stream: T, id: Id, bare: bool) -> Self {
        let head = id.head();
        Self { stream, id, head, bare, done: false }
    }
}

impl<T> Stream for Envelopes<T>
where
    T: Stream<Item = Result<Frame, Error>>,
{
    type Item = Frame;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        let this = self.project();
        if *this.done {
            return Poll::Ready(None);
        }
        Poll::Ready(match ready!(this.stream.poll_next(cx)) {
            Some(Ok(frame)) if *this.bare => Some(frame),
            Some(Ok(frame)) => Some(frame.enclosed(this.head.clone(), Bytes::from_static(b"}"))),
            Some(Err(error)) => {
                *this.done = true;
                log(&error);
                Some(Frame::new(error_document(this.id.text(), &error)))
            }
            None => {
                *this.done = true;
                None
            }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.done { (0, Some(0)) } else { self.stream.size_hint() }
    }
}

impl<T> fmt::Debug for Envelopes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelopes").field("bare", &self.bare).field("done", &self.done).finish_non_exhaustive()
    }
}
