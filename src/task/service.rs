use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use tower_service::Service;

use super::{
    EventStream, TaskStore,
    requests::{cancel, get, list},
    runs::Runs,
    send::{Sending, send},
    settings::Settings,
    subscribe::subscribe,
};
use crate::{
    agent::IntoReply,
    error::{BoxError, Error, ErrorKind},
    operation::{Operation, OperationRequest, Outcome},
    owner::Owner,
    types::Message,
};

/// Carries operations out against a store, and runs the agent. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Tasks<S, T> {
    inner: S,
    shared: Shared<T>,
}

/// What all requests of a layer have in common.
#[derive(Clone, Debug)]
pub(super) struct Shared<T> {
    pub(super) store: T,
    pub(super) settings: Arc<Settings>,
    pub(super) runs: Runs,
}

impl<S, T> Tasks<S, T> {
    pub(super) fn new(inner: S, store: T, settings: Arc<Settings>, runs: Runs) -> Self {
        Self { inner, shared: Shared { store, settings, runs } }
    }
}

impl<S, T> Service<Request<Operation>> for Tasks<S, T>
where
    S: Service<Request<Arc<Message>>> + Clone + Send + 'static,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: TaskStore,
{
    type Response = Response<Outcome<EventStream>>;
    type Error = Error;
    type Future = ResponseFuture;

    /// Always ready: operations that do not run the agent must not wait for it, and a run waits on its own.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Operation>) -> ResponseFuture {
        let shared = self.shared.clone();
        let (head, operation) = request.into_parts();
        let owner = head.extensions.get::<Owner>().cloned().unwrap_or_default();
        let version = operation.version();
        match operation.into_request() {
            OperationRequest::SendMessage(request) => {
                let inner = self.inner.clone();
                ResponseFuture::new(send(shared, inner, Sending { head, owner, request, streaming: false }))
            }
            OperationRequest::SendStreamingMessage(request) => {
                let inner = self.inner.clone();
                ResponseFuture::new(send(shared, inner, Sending { head, owner, request, streaming: true }))
            }
            OperationRequest::GetTask(request) => ResponseFuture::new(get(shared, owner, request)),
            OperationRequest::ListTasks(request) => ResponseFuture::new(list(shared, owner, request)),
            OperationRequest::CancelTask(request) => ResponseFuture::new(cancel(shared, owner, request)),
            OperationRequest::SubscribeToTask(request) => {
                ResponseFuture::new(subscribe(shared, head, owner, version, request))
            }
            request => ResponseFuture::new(std::future::ready(Err(unsupported(&request)))),
        }
    }
}

/// What this layer does not do itself, a layer above it may.
fn unsupported(request: &OperationRequest) -> Error {
    Error::new(if request.kind().is_push() {
        ErrorKind::PushNotificationNotSupported
    } else {
        ErrorKind::UnsupportedOperation
    })
}

/// The future of [`Tasks`].
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Result<Outcome<EventStream>, Error>> + Send>>);

impl ResponseFuture {
    fn new(future: impl Future<Output = Result<Outcome<EventStream>, Error>> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<Outcome<EventStream>>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map_ok(Response::new)
    }
}

impl std::fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResponseFuture")
    }
}
