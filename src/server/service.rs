use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use pin_project_lite::pin_project;
use tower::ServiceExt as _;
use tower_service::Service;

use crate::{agent_card, blob::ServeBlobsBody, json_rpc::Envelopes, sse, task::EventStream, version::EncodedStream};

/// The body that the ready-made stack answers with; its parts all have names, so nothing is boxed.
type StackBody = agent_card::ResponseBody<ServeBlobsBody<sse::ResponseBody<Envelopes<EncodedStream<EventStream>>>>>;

/// A complete A2A server, as a tower service over HTTP.
///
/// It is always ready, never fails, and clones share everything. The type of the request's body comes from where it is
/// mounted: hyper, axum, or any other server of tower services. In axum it is what requests fall back to, beside routes
/// of your own:
///
/// ```
/// use a2a_layers::{error::BoxError, part::Input, server::Mount};
/// use axum::{Router, routing::get};
/// use http::Request;
/// use tower::service_fn;
///
/// let agent = service_fn(async |request: Request<Input>| Ok::<_, BoxError>(request.body().text().to_owned()));
/// let service = Mount::new("echo", agent).build()?;
/// let app: Router = Router::new().route("/health", get(async || "I am well")).fallback_service(service);
/// # let _ = app;
/// # Ok::<_, a2a_layers::server::ConfigError>(())
/// ```
pub struct A2aService<B> {
    id: Arc<str>,
    paths: Arc<[String]>,
    stack: Arc<dyn Stack<B>>,
}

/// The layers and the agent under them, whatever their types.
trait Stack<B>: Send + Sync {
    fn call(&self, request: Request<B>) -> ResponseFuture;
}

impl<S, B> Stack<B> for S
where
    S: Service<Request<B>, Response = Response<StackBody>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    fn call(&self, request: Request<B>) -> ResponseFuture {
        ResponseFuture(Box::pin(self.clone().oneshot(request)))
    }
}

impl<B> A2aService<B> {
    pub(super) fn new<S>(id: String, paths: Vec<String>, stack: S) -> Self
    where
        S: Service<Request<B>, Response = Response<StackBody>, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Future: Send,
        B: Send + 'static,
    {
        Self { id: id.into(), paths: paths.into(), stack: Arc::new(stack) }
    }

    /// The agent's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The paths that it answers at: the endpoint, the card, and the store's files below theirs.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }
}

impl<B> Clone for A2aService<B> {
    fn clone(&self) -> Self {
        Self { id: Arc::clone(&self.id), paths: Arc::clone(&self.paths), stack: Arc::clone(&self.stack) }
    }
}

impl<B> fmt::Debug for A2aService<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("A2aService").field("id", &self.id).field("paths", &self.paths).finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for A2aService<B> {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        self.stack.call(request)
    }
}

/// The future of [`A2aService`].
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Result<Response<StackBody>, Infallible>> + Send>>);

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map_ok(|response| response.map(|body| ResponseBody { body }))
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}

pin_project! {
    /// The body of an answer of [`A2aService`].
    pub struct ResponseBody {
        #[pin]
        body: StackBody,
    }
}

impl ResponseBody {
    pub(super) fn empty() -> Self {
        Self { body: StackBody::card(Full::default()) }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseBody")
    }
}
