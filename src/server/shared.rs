//! What makes copies of the ready-made stack cheap.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

/// Puts a service that is always ready behind one reference count.
///
/// A request copies the stack until its body is there, and the layers below hold a dozen reference counts between them.
/// With this they are touched once for each call.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedLayer;

#[derive(Debug)]
pub(super) struct Shared<S>(Arc<S>);

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Layer<S> for SharedLayer {
    type Service = Shared<S>;

    fn layer(&self, inner: S) -> Shared<S> {
        Shared(Arc::new(inner))
    }
}

impl<S, R> Service<R> for Shared<S>
where
    S: Service<R> + Clone,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    /// The layers of a mount are ready without being asked, down to [`Tasks`](crate::task::Tasks), which always is.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> S::Future {
        S::clone(&self.0).call(request)
    }
}
