use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::future::Either;
use http::{Request, Response, request::Parts};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    binding::Readiness,
    body::Gate,
    call::Call,
    encoded::Encoded,
    error::{BoxError, Error},
    json_rpc::{self, Envelopes, JsonRpcLayer},
    rest::{self, Events, RestLayer},
};

/// The items of a stream, as their binding writes them.
pub(in crate::server) type Items<T> = Either<Envelopes<T>, Events<T>>;

/// JSON-RPC at its paths; at all others HTTP+JSON, if there is any. It is its own gate.
///
/// One layer of each would do the same with two copies of everything below, for each request.
#[derive(Clone, Debug)]
pub(in crate::server) struct BindingsLayer(Arc<Config>);

#[derive(Debug)]
struct Config {
    json_rpc: JsonRpcLayer,
    rest: Option<RestLayer>,
}

impl BindingsLayer {
    pub(in crate::server) fn new(json_rpc: JsonRpcLayer, rest: Option<RestLayer>) -> Self {
        Self(Arc::new(Config { json_rpc, rest }))
    }

    /// HTTP+JSON, if a request to this path is its business.
    fn rest(&self, path: &str) -> Option<&RestLayer> {
        self.0.rest.as_ref().filter(|_| !self.0.json_rpc.serves(path))
    }
}

impl Gate for BindingsLayer {
    fn refuse_head(&self, head: &Parts) -> Option<Response<Bytes>> {
        match self.rest(head.uri.path()) {
            Some(rest) => rest.gate().refuse_head(head),
            None => self.0.json_rpc.gate().refuse_head(head),
        }
    }

    fn refuse_body(&self, head: &Parts, error: &Error) -> Response<Bytes> {
        match self.rest(head.uri.path()) {
            Some(rest) => rest.gate().refuse_body(head, error),
            None => self.0.json_rpc.gate().refuse_body(head, error),
        }
    }
}

impl<S> Layer<S> for BindingsLayer {
    type Service = Bindings<S>;

    fn layer(&self, inner: S) -> Bindings<S> {
        Bindings { inner, config: self.clone(), readiness: Readiness::default() }
    }
}

#[derive(Debug)]
pub(in crate::server) struct Bindings<S> {
    inner: S,
    config: BindingsLayer,
    readiness: Readiness,
}

impl<S: Clone> Clone for Bindings<S> {
    fn clone(&self) -> Self {
        self.config.layer(self.inner.clone())
    }
}

impl<S, T> Service<Request<Bytes>> for Bindings<S>
where
    S: Service<Request<Call>, Response = Response<Encoded<T>>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<Encoded<Items<T>>>;
    type Error = Infallible;
    type Future = BindingsFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.readiness.poll(&mut self.inner, cx).map(Ok)
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        match self.config.rest(request.uri().path()) {
            Some(layer) => {
                BindingsFuture::Rest { future: rest::call(&mut self.inner, layer, &self.readiness, request) }
            }
            // Its head was looked at before its body was read.
            None => BindingsFuture::JsonRpc {
                future: json_rpc::call(&mut self.inner, &self.config.0.json_rpc, &self.readiness, request),
            },
        }
    }
}

pin_project! {
    #[project = BindingsProjection]
    pub(in crate::server) enum BindingsFuture<F> {
        JsonRpc { #[pin] future: json_rpc::ResponseFuture<F> },
        Rest { #[pin] future: rest::ResponseFuture<F> },
    }
}

impl<F, T, E> Future for BindingsFuture<F>
where
    F: Future<Output = Result<Response<Encoded<T>>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Encoded<Items<T>>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            BindingsProjection::JsonRpc { future } => {
                future.poll(cx).map_ok(|response| response.map(|encoded| encoded.map_stream(Either::Left)))
            }
            BindingsProjection::Rest { future } => {
                future.poll(cx).map_ok(|response| response.map(|encoded| encoded.map_stream(Either::Right)))
            }
        }
    }
}
