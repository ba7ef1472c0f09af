use std::{
    mem,
    sync::Arc,
    task::{Context, Poll},
};

use http::Request;
use tower_service::Service;

use super::{BlobStore, ResponseFuture, files::Files, inbound, layer::Settings, outbound::Outbound};
use crate::{
    agent::{IntoReply, Reply, RequestExt as _},
    error::BoxError,
    types::Message,
};

/// A service that takes messages with inline files, around one that takes them without. See the
/// [module docs](super).
#[derive(Clone, Debug)]
pub struct Blobs<S, St> {
    inner: S,
    store: St,
    settings: Settings,
}

impl<S, St> Blobs<S, St> {
    /// Puts files into this store, with the limits of [`BlobLayer::new`](super::BlobLayer::new).
    pub const fn new(inner: S, store: St) -> Self {
        Self::with_settings(inner, store, Settings::DEFAULT)
    }

    pub(super) const fn with_settings(inner: S, store: St, settings: Settings) -> Self {
        Self { inner, store, settings }
    }
}

impl<S, St> Service<Request<Arc<Message>>> for Blobs<S, St>
where
    S: Service<Request<Arc<Message>>> + Clone,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
    St: BlobStore,
{
    type Response = Reply;
    type Error = BoxError;
    type Future = ResponseFuture<S, St>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, req: Request<Arc<Message>>) -> Self::Future {
        let files = Files::new(self.store.clone(), self.settings.references.then(|| req.task_context()));
        let stores = self.settings.inbound && inbound::has_inline(req.body());
        if !stores && !req.body().parts.iter().any(|part| files.is_noted(part)) {
            return ResponseFuture::called(self.inner.call(req), Outbound::new(files, self.settings.file_outputs));
        }
        if stores && let Err(error) = inbound::check(req.body(), self.settings.max_bytes) {
            return ResponseFuture::refused(error);
        }
        // The files are stored first, so the service that is ready now goes with the future.
        let clone = self.inner.clone();
        let inner = mem::replace(&mut self.inner, clone);
        let storing = Box::pin(inbound::store(files.clone(), req, stores));
        ResponseFuture::storing(storing, inner, Outbound::new(files, self.settings.file_outputs))
    }
}
