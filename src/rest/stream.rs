use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::answer::{Form, error_document};
use crate::{binding::log, encoded::Frame, error::Error};

/// The name of an event that is an error.
const ERROR: &str = "error";

pin_project! {
    /// A stream of results, each as it is.
    ///
    /// An error becomes an event named `error`, and is the last.
    pub struct Events<T> {
        #[pin]
        stream: T,
        form: Form,
        done: bool,
    }
}

impl<T> Events<T> {
    pub(super) fn new(stream: T, form: Form) -> Self {
        Self { stream, form, done: false }
    }
}

impl<T> Stream for Events<T>
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
            Some(Ok(frame)) => Some(frame),
            Some(Err(error)) => {
                *this.done = true;
                log(&error);
                Some(Frame::new(error_document(*this.form, &error)).with_event(ERROR))
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

impl<T> fmt::Debug for Events<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("done", &self.done).finish_non_exhaustive()
    }
}
