mod id;
mod memory;
#[cfg(feature = "object-store")]
mod object;

use std::fmt;

use bytes::Bytes;

#[cfg(feature = "object-store")]
pub use self::object::ObjectBlobStore;
pub use self::{id::BlobId, memory::MemoryBlobStore};
use crate::{
    error::{BoxError, Error, ErrorKind},
    types::Part,
};

/// Where file bytes live. Clones share what is in it.
///
/// A store that has its own way to serve URLs, such as presigned ones, has nothing to [`get`](Self::get) by id and
/// may always answer `None` there.
pub trait BlobStore: Clone + Send + Sync + 'static {
    /// Keeps a file and gives the URL by which others can read it.
    ///
    /// # Errors
    /// If it cannot be kept. An [`Error`] in the chain of sources goes to the caller as it is; anything else
    /// becomes an internal error whose cause is logged and never sent.
    fn put(&self, file: File) -> impl Future<Output = Result<String, BoxError>> + Send;

    /// A file that was put here; `None` if there is none of this id, or no more.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn get(&self, id: BlobId) -> impl Future<Output = Result<Option<File>, BoxError>> + Send;
}

/// The bytes of a file and what is known about it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// The bytes.
    pub bytes: Bytes,
    /// The media type, as the sender says; it may be anything.
    pub media_type: Option<String>,
    /// The name, as the sender says; it may be anything.
    pub filename: Option<String>,
}

impl File {
    /// Bytes, and nothing known about them.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: bytes.into(), media_type: None, filename: None }
    }

    /// With this media type.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// With this name.
    #[must_use]
    pub fn with_filename(mut self, filename: impl Into<String>) -> Self {
        self.filename = Some(filename.into());
        self
    }

    /// The bytes of a part, with the name and the type that the part gives them.
    pub(super) fn of_part(bytes: Bytes, part: &Part) -> Self {
        Self { bytes, media_type: part.media_type.clone(), filename: part.filename.clone() }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("bytes", &self.bytes.len())
            .field("media_type", &self.media_type)
            .field("filename", &self.filename)
            .finish()
    }
}

/// The lack of a store: nothing can be put here. See [`BlobLayer::required`](super::BlobLayer::required).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NoBlobStore;

impl NoBlobStore {
    pub(super) const fn new() -> Self {
        Self
    }
}

impl BlobStore for NoBlobStore {
    async fn put(&self, _: File) -> Result<String, BoxError> {
        let words = "BLOB_STORE_NOT_CONFIGURED, the agent answered with a file and there is nowhere to put it";
        Err(Error::new(ErrorKind::Internal).with_detail(words).into())
    }

    async fn get(&self, _: BlobId) -> Result<Option<File>, BoxError> {
        Ok(None)
    }
}

/// The URL of a blob under this address.
fn url(base: &str, id: BlobId) -> String {
    format!("{}/{id}", base.trim_end_matches('/'))
}
