use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use pin_project_lite::pin_project;

pin_project! {
    /// The body of an answer of [`ServeBlobs`](super::ServeBlobs): a file, or that of the inner service.
    #[derive(Debug)]
    pub struct ServeBlobsBody<B> {
        #[pin]
        form: Form<B>,
    }
}

pin_project! {
    #[project = FormProj]
    #[derive(Debug)]
    enum Form<B> {
        File { #[pin] body: Full<Bytes> },
        Inner { #[pin] body: B },
    }
}

impl<B> ServeBlobsBody<B> {
    pub(super) const fn file(body: Full<Bytes>) -> Self {
        Self { form: Form::File { body } }
    }

    pub(crate) const fn inner(body: B) -> Self {
        Self { form: Form::Inner { body } }
    }
}

impl<B: Body<Data = Bytes>> Body for ServeBlobsBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.project().form.project() {
            FormProj::File { body } => {
                body.poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(|never: Infallible| match never {})))
            }
            FormProj::Inner { body } => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.form {
            Form::File { body } => body.is_end_stream(),
            Form::Inner { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.form {
            Form::File { body } => body.size_hint(),
            Form::Inner { body } => body.size_hint(),
        }
    }
}
