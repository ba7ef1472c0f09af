use std::{
    convert::Infallible,
    fmt,
    marker::PhantomData,
    mem,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use http::{Request, Response};
use tonic::server::NamedService;
use tower_service::Service;

use super::{
    GrpcLayer, ResponseBody, ResponseFuture,
    call::Exchange,
    rpc::{SERVICE_0_3, SERVICE_1_0},
    status::log,
};
use crate::{
    dialect::{V0_3, V1_0},
    error::{BoxError, Error, find_error},
    operation::{Operation, Outcome, ProtocolVersion, StreamEvent},
};

/// Serves operations over gRPC, in both versions; see the [module docs](super).
///
/// tonic's router wants one service a package: [`v1_0`](Self::v1_0) and [`v0_3`](Self::v0_3) are those.
pub struct Grpc<S> {
    inner: S,
    layer: GrpcLayer,
    // A failed service is never called again; its error answers every call of this clone.
    failed: Option<Error>,
}

impl<S> Grpc<S> {
    /// Serves these operations.
    pub fn new(inner: S, layer: GrpcLayer) -> Self {
        Self { inner, layer, failed: None }
    }

    /// The service `lf.a2a.v1.A2AService` alone, for a router of tonic's.
    #[must_use]
    pub fn v1_0(&self) -> Package<V1_0, S>
    where
        S: Clone,
    {
        Package { grpc: Self::new(self.inner.clone(), self.layer.only(ProtocolVersion::V1_0)), version: PhantomData }
    }

    /// The service `a2a.v1.A2AService` alone, for a router of tonic's.
    #[must_use]
    pub fn v0_3(&self) -> Package<V0_3, S>
    where
        S: Clone,
    {
        Package { grpc: Self::new(self.inner.clone(), self.layer.only(ProtocolVersion::V0_3)), version: PhantomData }
    }
}

impl<S: Clone> Clone for Grpc<S> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.layer)
    }
}

impl<S, B, T> Service<Request<B>> for Grpc<S>
where
    S: Service<Request<Operation>, Response = Response<Outcome<T>>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    T: Stream<Item = Result<StreamEvent, Error>> + Send + 'static,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody<T>>;
    type Error = Infallible;
    type Future = ResponseFuture<T>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.failed.is_none()
            && let Err(error) = ready!(self.inner.poll_ready(cx))
        {
            let error = find_error(error.into());
            log(&error);
            self.failed = Some(error);
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<T> {
        let exchange = match Exchange::begin(&self.layer.config, request.method(), request.uri(), request.headers()) {
            Ok(exchange) => exchange,
            Err(refusal) => return ResponseFuture::refused(refusal),
        };
        if let Some(error) = &self.failed {
            return ResponseFuture::refused(error.into());
        }
        // The one that is ready goes with the call, which reads the request first.
        let fresh = self.inner.clone();
        ResponseFuture::new(exchange.carry_out(mem::replace(&mut self.inner, fresh), request))
    }
}

impl<S: fmt::Debug> fmt::Debug for Grpc<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grpc").field("inner", &self.inner).field("layer", &self.layer).finish_non_exhaustive()
    }
}

/// [`Grpc`] in one version, which is a dialect's: a service by name, as tonic's router wants it.
pub struct Package<V, S> {
    grpc: Grpc<S>,
    version: PhantomData<fn() -> V>,
}

impl<S> NamedService for Package<V1_0, S> {
    const NAME: &'static str = SERVICE_1_0;
}

impl<S> NamedService for Package<V0_3, S> {
    const NAME: &'static str = SERVICE_0_3;
}

impl<V, S: Clone> Clone for Package<V, S> {
    fn clone(&self) -> Self {
        Self { grpc: self.grpc.clone(), version: PhantomData }
    }
}

impl<V, S, R> Service<R> for Package<V, S>
where
    Grpc<S>: Service<R>,
{
    type Response = <Grpc<S> as Service<R>>::Response;
    type Error = <Grpc<S> as Service<R>>::Error;
    type Future = <Grpc<S> as Service<R>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.grpc.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        self.grpc.call(request)
    }
}

impl<V, S: fmt::Debug> fmt::Debug for Package<V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Package").field(&self.grpc).finish()
    }
}
