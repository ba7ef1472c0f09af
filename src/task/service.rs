use std::{
    fmt,
    future::Future,
    mem,
    ops::Deref,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use futures_util::FutureExt as _;
use http::{Request, Response};
use tower_service::Service;
use tracing::Instrument as _;

use super::{
    EventStream, TaskStore,
    keeper::{BeginAgain, Keeper},
    requests::{cancel, get, list},
    rerun::{Rerun, rerun},
    retry::Retry,
    runs::Runs,
    send::{Prepared, Sending, prepare, send_later},
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
#[derive(Debug)]
pub(super) struct Shared<T>(Arc<Common<T>>);

#[derive(Debug)]
pub(super) struct Common<T> {
    pub(super) store: T,
    pub(super) settings: Arc<Settings>,
    pub(super) runs: Runs,
    /// Only where the store has leases.
    keeper: OnceLock<Keeper>,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = Common<T>;

    fn deref(&self) -> &Common<T> {
        &self.0
    }
}

impl<S, T> Tasks<S, T> {
    pub(super) fn new(inner: S, store: T, settings: Arc<Settings>, runs: Runs) -> Self {
        Self { inner, shared: Shared(Arc::new(Common { store, settings, runs, keeper: OnceLock::new() })) }
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
    type Future = ResponseFuture<T>;

    /// Always ready: operations that do not run the agent must not wait for it, and a run waits on its own.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Operation>) -> ResponseFuture<T> {
        self.keep();
        let (head, operation) = request.into_parts();
        let owner = head.extensions.get::<Owner>().cloned().unwrap_or_default();
        let version = operation.version();
        let retry = self.shared.settings.retry_window.map(|window| {
            let tenant = operation.tenant().cloned();
            Retry { window, version, tenant }
        });
        match operation.into_request() {
            OperationRequest::SendMessage(request) => {
                self.send(Sending { head, owner, request, streaming: false }, retry)
            }
            OperationRequest::SendStreamingMessage(request) => {
                self.send(Sending { head, owner, request, streaming: true }, retry)
            }
            OperationRequest::GetTask(request) => ResponseFuture::new(get(self.shared.clone(), owner, request)),
            OperationRequest::ListTasks(request) => ResponseFuture::new(list(self.shared.clone(), owner, request)),
            OperationRequest::CancelTask(request) => {
                ResponseFuture::new(to_its_end(cancel(self.shared.clone(), owner, request)))
            }
            OperationRequest::SubscribeToTask(request) => {
                ResponseFuture::new(subscribe(self.shared.clone(), head, owner, version, request))
            }
            request => ResponseFuture::new(std::future::ready(Err(unsupported(&request)))),
        }
    }
}

/// Goes on with it if the caller leaves: what is written by then others have yet to be told of.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let mut work = Box::pin(work.in_current_span());
    match work.as_mut().now_or_never() {
        Some(done) => done,
        None => tokio::spawn(work).await.map_err(Error::internal)?,
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

impl<S, T> Tasks<S, T>
where
    S: Service<Request<Arc<Message>>> + Clone + Send + 'static,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: TaskStore,
{
    /// Sees to the store's leases from now on, if it has any. The first request is the first moment at which there is
    /// surely a runtime, and before it nobody can see what others have left behind.
    fn keep(&self) {
        let Common { store, settings, runs, keeper } = &*self.shared;
        if let Some(lease) = store.lease()
            && keeper.get().is_none()
        {
            keeper.get_or_init(|| {
                let again = (settings.rerun_lost > 0).then(|| self.begin_again());
                Keeper::start(store.clone(), runs.clone(), lease, again)
            });
        }
    }

    /// It must not hold on to what ends the keeper when it goes.
    fn begin_again(&self) -> BeginAgain {
        let (inner, common) = (self.inner.clone(), Arc::downgrade(&self.shared.0));
        Box::new(move |lost| {
            let (inner, common) = (inner.clone(), common.upgrade());
            Box::pin(async move {
                let Some(common) = common else { return Ok(Rerun::Settled) };
                rerun(&Shared(common), inner, &lost).await
            })
        })
    }

    fn send(&self, sending: Sending, retry: Option<Retry>) -> ResponseFuture<T> {
        let (shared, inner) = (self.shared.clone(), self.inner.clone());
        if retry.is_none() && sending.is_fresh() {
            return ResponseFuture::prepared(prepare(shared, inner, sending, None, Vec::new(), None));
        }
        ResponseFuture::new(send_later(shared, inner, sending, retry))
    }
}

/// The future of [`Tasks`].
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture<T>(State<T>);

enum State<T> {
    /// A message that begins a task: most are answered at once, and then the run is all that is boxed.
    Prepared(Result<Prepared<T>, Error>),
    Boxed(Pin<Box<dyn Future<Output = Result<Outcome<EventStream>, Error>> + Send>>),
    Over,
}

impl<T> ResponseFuture<T> {
    fn new(future: impl Future<Output = Result<Outcome<EventStream>, Error>> + Send + 'static) -> Self {
        Self(State::Boxed(Box::pin(future)))
    }

    fn prepared(prepared: Result<Prepared<T>, Error>) -> Self {
        Self(State::Prepared(prepared))
    }
}

// Nothing in it is pinned in place.
impl<T> Unpin for ResponseFuture<T> {}

impl<T: TaskStore> Future for ResponseFuture<T> {
    type Output = Result<Response<Outcome<EventStream>>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut future = match mem::replace(&mut self.0, State::Over) {
            State::Prepared(prepared) => match prepared?.start(cx).now() {
                Ok(answer) => return Poll::Ready(answer.map(Response::new)),
                Err(pending) => Box::pin(pending.later()),
            },
            State::Boxed(future) => future,
            // Whoever polls a future that is done gets an error rather than a panic.
            State::Over => return Poll::Ready(Err(Error::internal("polled after completion"))),
        };
        let polled = future.as_mut().poll(cx).map_ok(Response::new);
        if polled.is_pending() {
            self.0 = State::Boxed(future);
        }
        polled
    }
}

impl<T> fmt::Debug for ResponseFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}
