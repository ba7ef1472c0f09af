//! What makes copies of the ready-made stack cheap.

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

/// Puts a service that is always ready behind one reference count.
///
/// A request copies the stack until its body is there, and the layers below hold several reference counts between them.
/// With this there is one, and a call goes to a copy that is there already, unless another thread is at it just then.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedLayer;

#[derive(Debug)]
pub(super) struct Shared<S>(Arc<Copies<S>>);

#[derive(Debug)]
struct Copies<S> {
    /// The copy that is called.
    called: Mutex<S>,
    /// What further copies are made of.
    original: S,
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Clone> Layer<S> for SharedLayer {
    type Service = Shared<S>;

    fn layer(&self, inner: S) -> Shared<S> {
        Shared(Arc::new(Copies { called: Mutex::new(inner.clone()), original: inner }))
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
        match self.0.called.try_lock() {
            Ok(mut called) => called.call(request),
            // One that panicked in the middle of a call is called no more.
            Err(_) => self.0.original.clone().call(request),
        }
    }
}
