use std::{
    sync::Arc,
    task::{Context, Poll},
};

use http::{HeaderMap, Request, Response};
use tower_service::Service;

use super::{
    ActivatedExtensions, ExtensionLayer, ResponseFuture,
    activated::{header_of, requested},
    layer::Supported,
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
        let is_requested =
            |extension: &&Supported| requested(headers).any(|requested| requested == extension.uri.as_bytes());
        let supported = &*self.config.supported;
        if supported.iter().any(|extension| extension.required && !is_requested(&extension)) {
            return Err(missing(supported.iter().filter(|extension| extension.required && !is_requested(extension))));
        }
        let mut activated =
            supported.iter().filter(is_requested).map(|extension| Arc::clone(&extension.uri)).peekable();
        // Most callers name none, and then there is one empty list for all of them.
        Ok(if activated.peek().is_none() {
            ActivatedExtensions::default()
        } else {
            ActivatedExtensions::new(activated)
        })
    }
}

fn missing<'a>(extensions: impl Iterator<Item = &'a Supported>) -> Error {
    let uris: Vec<&str> = extensions.map(|extension| &*extension.uri).collect();
    let all = uris.join(", ");
    Error::new(ErrorKind::ExtensionSupportRequired)
        .with_detail(format!("name {all} in the A2A-Extensions header"))
        .with_info("uri", uris.first().copied().unwrap_or_default())
        .with_info("requiredExtensions", all)
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
        if self.config.supported.is_empty() {
            // Saves the map that a request's extensions are, of which there is none before the first is put there.
            request.extensions_mut().remove::<ActivatedExtensions>();
            return ResponseFuture::inner(self.inner.call(request), None);
        }
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
