use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::speaker::Speaker;
use crate::{encoded::Frame, error::Error, operation::StreamEvent};

pin_project! {
    /// The events of an inner stream, in the dialect of the call.
    #[must_use = "streams do nothing unless polled"]
    pub struct EncodedStream<T> {
        #[pin]
        inner: T,
        speaker: Speaker,
    }
}

impl<T> EncodedStream<T> {
    pub(super) fn new(inner: T, speaker: Speaker) -> Self {
        Self { inner, speaker }
    }
}

impl<T> Stream for EncodedStream<T>
where
    T: Stream<Item = Result<StreamEvent, Error>>,
{
    type Item = Result<Frame, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        Poll::Ready(ready!(this.inner.poll_next(cx)).map(|item| match item {
            Ok(event) => this.speaker.frame(&event),
            Err(error) => Err(this.speaker.error(error)),
        }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<T> fmt::Debug for EncodedStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedStream").field("version", &self.speaker).finish_non_exhaustive()
    }
}
