use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Method, Request, Response, request::Parts};
use tower_service::Service;

use super::{ResponseFuture, RestLayer, query, route::Route, stream::Events};
use crate::{
    binding::Readiness,
    call::{Binding, Call, PathFields},
    encoded::Encoded,
    error::{BoxError, Error},
    operation::OperationKind,
    short::ShortText,
};

/// HTTP verbs and paths around a service of calls. See the [module documentation](super).
pub struct Rest<S> {
    inner: S,
    config: RestLayer,
    readiness: Readiness,
}

impl<S> Rest<S> {
    /// Wraps a service of calls.
    pub fn new(inner: S, config: RestLayer) -> Self {
        Self { inner, config, readiness: Readiness::default() }
    }
}

impl<S: Clone> Clone for Rest<S> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.config.clone())
    }
}

impl<S, T> Service<Request<Bytes>> for Rest<S>
where
    S: Service<Request<Call>, Response = Response<Encoded<T>>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<Encoded<Events<T>>>;
    type Error = Infallible;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.readiness.poll(&mut self.inner, cx).map(Ok)
    }

    fn call(&mut self, request: Request<Bytes>) -> ResponseFuture<S::Future> {
        call(&mut self.inner, &self.config, &self.readiness, request)
    }
}

/// Carries a request out with a service that is ready.
pub(crate) fn call<S, T>(
    inner: &mut S,
    config: &RestLayer,
    readiness: &Readiness,
    request: Request<Bytes>,
) -> ResponseFuture<S::Future>
where
    S: Service<Request<Call>, Response = Response<Encoded<T>>>,
{
    let (parts, body) = request.into_parts();
    let read = config.routes.admit(&parts).and_then(|route| match readiness.failure() {
        Some(error) => Err(error.shown().into()),
        None => Ok((read(&route, &parts, body)?, config.routes.form_of(route.is_0_3))),
    });
    match read {
        Ok((call, form)) => ResponseFuture::calling(inner.call(Request::from_parts(parts, call)), form),
        Err(refusal) => ResponseFuture::refused(config.routes.refuse(&parts, refusal)),
    }
}

/// A call of what the path, the query and the body say.
fn read(route: &Route<'_>, head: &Parts, body: Bytes) -> Result<Call, Error> {
    // What a body says is said there alone; where there is none, the query says it (spec 1.0 §11.5).
    let params = if head.method == Method::POST { given(body) } else { query::params(head.uri.query())? };
    let shared = |text: &Option<_>| text.as_deref().map(Arc::from);
    let mut path = PathFields {
        tenant: shared(&route.tenant),
        task_id: shared(&route.task_id),
        config_id: shared(&route.config_id),
    };
    // In the 0.3 proto the body is the webhook alone, and its id stands beside it.
    if route.is_0_3 && route.kind == OperationKind::CreatePushConfig {
        path.config_id = query::value(head.uri.query(), ["configId", "config_id"])?.as_deref().map(Arc::from);
    }
    let call = Call::of(Binding::HttpJson, ShortText::new(route.method().as_bytes()), params);
    Ok(call.with_version(route.version()).with_path(path))
}

/// A body, if there is one. Clients without one send nothing, or the text of nothing.
fn given(body: Bytes) -> Option<Bytes> {
    let text = body.trim_ascii();
    if text.is_empty() || text == b"null" { None } else { Some(body) }
}

impl<S: fmt::Debug> fmt::Debug for Rest<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rest").field("inner", &self.inner).field("config", &self.config).finish_non_exhaustive()
    }
}
