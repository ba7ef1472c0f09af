use std::task::{Context, Poll};

use http::{HeaderMap, Request, Response};
use tower_service::Service;

use super::{
    ActivatedExtensions, ExtensionLayer, ResponseFuture,
    activated::{header_of, requested},
};
use crate::{
    error::{BoxError, Error, ErrorKind, find_error},
    operation::Operation,
};

/// Activates extensions of the protocol. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Extension<S> {
    inner: S,
    config: ExtensionLayer,
}

impl<S> Extension<S> {
    /// Activates for this service what the layer supports.
    pub fn new(inner: S, config: ExtensionLayer) -> Self {
        Self { inner, config }
    }

    fn activate(&self, headers: &HeaderMap) -> Result<ActivatedExtensions, Error> {
        let is_requested = |uri: &str| requested(headers).any(|requested| requested == uri.as_bytes());
        let supported = &*self.config.supported;
        let activated: Vec<bool> = supported.iter().map(|extension| is_requested(&extension.uri)).collect();
        let with = |wanted: bool| {
            let pairs = supported.iter().zip(&activated).filter(move |(_, activated)| **activated == wanted);
            pairs.map(|(extension, _)| extension)
        };
        let missing: Vec<&str> =
            with(false).filter(|extension| extension.required).map(|missing| &*missing.uri).collect();
        match missing.first() {
            None => Ok(ActivatedExtensions::new(with(true).map(|extension| extension.uri.clone()))),
            Some(first) => {
                let all = missing.join(", ");
                Err(Error::new(ErrorKind::ExtensionSupportRequired)
                    .with_detail(format!("name {all} in the A2A-Extensions header"))
                    .with_info("uri", *first)
                    .with_info("requiredExtensions", all))
            }
        }
    }
}

impl<S, T> Service<Request<Operation>> for Extension<S>
where
    S: Service<Request<Operation>, Response = Response<T>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<T>;
    type Error = Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| find_error(error.into()))
    }

    fn call(&mut self, mut request: Request<Operation>) -> Self::Future {
        match self.activate(request.headers()) {
            Err(error) => ResponseFuture::refused(error),
            Ok(activated) => {
                let echo = activated.header_value().map(|value| (header_of(request.body().version()), value));
                request.extensions_mut().insert(activated);
                ResponseFuture::inner(self.inner.call(request), echo)
            }
        }
    }
}
