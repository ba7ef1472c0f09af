use tower_layer::Layer;

#[cfg(doc)]
use super::BlobStore;
use super::{Blobs, NoBlobStore};

/// How many bytes an inline file may have: what people send as pictures and documents, and small enough for a dozen at
/// once. As base64 it fits into the default limit of the [`body`](crate::body) layer.
const MAX_BYTES: usize = 10 * 1024 * 1024;

/// Puts inline files into a store. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct BlobLayer<St> {
    store: St,
    settings: Settings,
}

/// What layer and service share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) max_bytes: usize,
    pub(super) inbound: bool,
    pub(super) file_outputs: bool,
    pub(super) references: bool,
}

impl Settings {
    pub(super) const DEFAULT: Self =
        Self { max_bytes: MAX_BYTES, inbound: true, file_outputs: true, references: false };
}

impl<St> BlobLayer<St> {
    /// Puts files into this store.
    pub const fn new(store: St) -> Self {
        Self { store, settings: Settings::DEFAULT }
    }

    pub(crate) const fn store(&self) -> &St {
        &self.store
    }

    /// How many bytes an inline file that comes in may have, once decoded. 10 MiB by default, which is a large picture
    /// or document; a limit above what the [`body`](crate::body) layer lets in has no effect.
    #[must_use]
    pub fn max_bytes(mut self, max: usize) -> Self {
        self.settings.max_bytes = max;
        self
    }

    /// Whether data that says it is a file is sent as a file. On by default.
    #[must_use]
    pub fn file_outputs(mut self, on: bool) -> Self {
        self.settings.file_outputs = on;
        self
    }

    /// Whether it is noted which tasks refer to a file, so that a [`Collector`](super::Collector) can remove those of tasks
    /// that are gone. Off by default: each note is one more write, and a file that is quoted by its URL is looked up. It is
    /// for stores that [keep references](BlobStore::keeps_references), below the [`task`](crate::task) layer; elsewhere
    /// it does nothing. Where it is turned on later, the files that were there before stay for ever.
    #[must_use]
    pub fn keep_references(mut self, on: bool) -> Self {
        self.settings.references = on;
        self
    }
}

impl BlobLayer<NoBlobStore> {
    /// For mounts that have no store but must not send files inline: an answer with one fails, and the message of the
    /// error says `BLOB_STORE_NOT_CONFIGURED`. What comes in passes as it is.
    #[must_use]
    pub const fn required() -> Self {
        Self { store: NoBlobStore::new(), settings: Settings { inbound: false, ..Settings::DEFAULT } }
    }
}

impl<S, St: Clone> Layer<S> for BlobLayer<St> {
    type Service = Blobs<S, St>;

    fn layer(&self, inner: S) -> Self::Service {
        Blobs::with_settings(inner, self.store.clone(), self.settings)
    }
}
