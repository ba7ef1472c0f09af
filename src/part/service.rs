use std::sync::Arc;

use std::task::{Context, Poll};

use http::Request;
use tower_service::Service;

use super::{Input, ResponseFuture, input};
use crate::{error::BoxError, types::Message};

/// A service that takes messages, around one that takes inputs. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Parts<S> {
    inner: S,
    strict_data: bool,
}

impl<S> Parts<S> {
    /// Takes data of any shape.
    pub const fn new(inner: S) -> Self {
        Self { inner, strict_data: false }
    }

    /// As [`PartLayer::strict_data`](super::PartLayer::strict_data).
    #[must_use]
    pub fn strict_data(mut self, strict: bool) -> Self {
        self.strict_data = strict;
        self
    }
}

impl<S> Service<Request<Arc<Message>>> for Parts<S>
where
    S: Service<Request<Input>>,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, req: Request<Arc<Message>>) -> Self::Future {
        let (head, message) = req.into_parts();
        let strict = if self.strict_data { input::check_data(&message) } else { Ok(()) };
        match strict.and_then(|()| Input::new(message)) {
            Ok(input) => ResponseFuture::called(self.inner.call(Request::from_parts(head, input))),
            Err(error) => ResponseFuture::refused(error),
        }
    }
}
