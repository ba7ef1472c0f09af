use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use pin_project_lite::pin_project;
use tower_service::Service;

#[cfg(feature = "grpc")]
use super::grpc::{AnyBody, AnyFuture, Side};
use super::{bindings::Items, not_grpc};
use crate::{
    agent_card::{self, AgentCardLayer},
    blob::ServeBlobsBody,
    sse,
    task::EventStream,
    version::EncodedStream,
};

/// The body that the layers below the card answer with; its parts all have names, so nothing is boxed.
type StackBody = ServeBlobsBody<sse::ResponseBody<Items<EncodedStream<EventStream>>>>;

type HttpFuture = agent_card::ResponseFuture<StackFuture>;
type HttpBody = agent_card::ResponseBody<StackBody>;

#[cfg(feature = "grpc")]
type HttpOrGrpc = AnyFuture<HttpFuture>;
#[cfg(feature = "grpc")]
type HttpOrGrpcBody = AnyBody<HttpBody>;
#[cfg(not(feature = "grpc"))]
type HttpOrGrpc = HttpFuture;
#[cfg(not(feature = "grpc"))]
type HttpOrGrpcBody = HttpBody;

/// A complete A2A server, as a tower service over HTTP.
///
/// It is always ready, never fails, and clones share everything. The type of the request's body comes from where it is
/// mounted: hyper, axum, or any other server of tower services. In axum it is
/// `Router::new().fallback_service(service)`, not an argument of `axum::serve`.
pub struct A2aService<B> {
    mount: Arc<Mounted<B>>,
    layers: Layers<B>,
}

/// What all clones share.
struct Mounted<B> {
    id: String,
    paths: Vec<String>,
    card: AgentCardLayer,
    layers: Box<dyn Stack<B>>,
    #[cfg(feature = "grpc")]
    grpc: Option<Side<B>>,
    shutdown: Shutdown,
}

/// Brings the runs of the mount to an end.
pub(super) type Shutdown = Box<dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// The layers below the card and the agent under them, whatever their types.
///
/// This is where types end: a request for the card costs neither a copy of the layers nor a future as large as they are.
trait Stack<B>: Send + Sync {
    fn call(&mut self, request: Request<B>) -> StackFuture;

    fn call_copy(&self, request: Request<B>) -> StackFuture;

    fn copy(&self) -> Box<dyn Stack<B>>;
}

/// A clone's own layers, if it has any. Whoever calls once, as with a clone for each request, makes do with those of
/// all; whoever calls again, as with a clone for each connection, gets some that need not be copied for each call.
enum Layers<B> {
    OfAll,
    OfAllOnce,
    Own(Box<dyn Stack<B>>),
}

type StackFuture = Pin<Box<dyn Future<Output = Result<Response<StackBody>, Infallible>> + Send>>;

impl<S, B> Stack<B> for S
where
    S: Service<Request<B>, Response = Response<StackBody>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    fn call(&mut self, request: Request<B>) -> StackFuture {
        // A mount is ready without being asked.
        Box::pin(Service::call(self, request))
    }

    fn call_copy(&self, request: Request<B>) -> StackFuture {
        Stack::call(&mut self.clone(), request)
    }

    fn copy(&self) -> Box<dyn Stack<B>> {
        Box::new(self.clone())
    }
}

impl<B> Layers<B> {
    fn call(&mut self, of_all: &dyn Stack<B>, request: Request<B>) -> StackFuture {
        match self {
            Self::Own(own) => own.call(request),
            Self::OfAllOnce => {
                let mut own = of_all.copy();
                let future = own.call(request);
                *self = Self::Own(own);
                future
            }
            Self::OfAll => {
                *self = Self::OfAllOnce;
                of_all.call_copy(request)
            }
        }
    }
}

impl<B> A2aService<B> {
    pub(super) fn new<S>(id: String, paths: Vec<String>, card: AgentCardLayer, stack: S, shutdown: Shutdown) -> Self
    where
        S: Service<Request<B>, Response = Response<StackBody>, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Future: Send,
        B: Send + 'static,
    {
        let mount = Mounted {
            id,
            paths,
            card,
            layers: Box::new(stack),
            #[cfg(feature = "grpc")]
            grpc: None,
            shutdown,
        };
        Self { mount: Arc::new(mount), layers: Layers::OfAll }
    }

    /// With what serves gRPC.
    #[cfg(feature = "grpc")]
    pub(super) fn with_grpc(mut self, side: Option<Side<B>>) -> Self {
        // Nobody else has it yet.
        if let Some(inner) = Arc::get_mut(&mut self.mount) {
            inner.paths.extend(side.iter().flat_map(Side::paths).cloned());
            inner.grpc = side;
        }
        self
    }

    /// Brings the mount's work to an end, before the process ends: no run begins any more, those that there are have so
    /// much time left, and then their tasks end as failed ([`TaskLayer::shutdown`](crate::task::TaskLayer::shutdown)). A
    /// task store that outlives the process is given up in good order, so that nobody has to wait for a lease to run out.
    ///
    /// Call it after the server has stopped:
    ///
    /// ```
    /// use std::{convert::Infallible, time::Duration};
    ///
    /// use a2a_layers::{error::BoxError, part::Input, server::{Mount, Serve}};
    /// use http::Request;
    /// use tower::service_fn;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let told_to_stop = std::future::ready(());
    /// let agent = service_fn(|_: Request<Input>| async { Ok::<_, Infallible>("done") });
    /// let service = Mount::new("agent", agent).build()?;
    /// Serve::new().with_shutdown(told_to_stop).run(listener, service.clone()).await?;
    /// service.shutdown(Duration::from_secs(5)).await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn shutdown(&self, patience: Duration) {
        (self.mount.shutdown)(patience).await;
    }

    /// The agent's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.mount.id
    }

    /// The paths that it answers at: the endpoint, the paths of HTTP+JSON below theirs, the card, the store's files below
    /// theirs, and the methods of gRPC below theirs.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.mount.paths
    }
}

impl<B> Clone for A2aService<B> {
    fn clone(&self) -> Self {
        Self { mount: Arc::clone(&self.mount), layers: Layers::OfAll }
    }
}

impl<B> fmt::Debug for A2aService<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("A2aService")
            .field("id", &self.mount.id)
            .field("paths", &self.mount.paths)
            .finish_non_exhaustive()
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
        #[cfg(feature = "grpc")]
        if let Some(side) = self.mount.grpc.as_ref().filter(|side| side.takes(&request)) {
            return ResponseFuture { future: side.call(request) };
        }
        let future = match self.mount.card.answer(&request).or_else(|| not_grpc::refuse(&request)) {
            Some(response) => agent_card::ResponseFuture::card(response),
            None => agent_card::ResponseFuture::inner(self.layers.call(&*self.mount.layers, request)),
        };
        #[cfg(feature = "grpc")]
        let future = AnyFuture::Http { future };
        ResponseFuture { future }
    }
}

pin_project! {
    /// The future of [`A2aService`].
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture {
        #[pin]
        future: HttpOrGrpc,
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().future.poll(cx).map_ok(|response| response.map(|body| ResponseBody { body }))
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
        body: HttpOrGrpcBody,
    }
}

impl ResponseBody {
    pub(super) fn empty() -> Self {
        let body = agent_card::ResponseBody::card(Full::default());
        #[cfg(feature = "grpc")]
        let body = AnyBody::Http { body };
        Self { body }
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
