mod id;
mod memory;
#[cfg(feature = "object-store")]
mod object;
#[cfg(feature = "object-store")]
mod object_reference;
mod reference;

use std::{
    fmt,
    future::{Future, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;

#[cfg(feature = "object-store")]
pub use self::object::ObjectBlobStore;
pub use self::{
    id::BlobId,
    memory::MemoryBlobStore,
    reference::{Reference, Referrer},
};
use crate::{
    error::{BoxError, Error, ErrorKind},
    types::Part,
};

/// Where file bytes live. Clones share what is in it.
///
/// A store that has its own way to serve URLs, such as presigned ones, has nothing to [`get`](Self::get) by id and
/// may always answer `None` there.
///
/// # References
///
/// A store that notes which tasks refer to a file can have the files of tasks that are gone [removed](super::Collector).
/// One that does not leaves the methods behind [`keeps_references`](Self::keeps_references) out, and one that wraps
/// another has to pass them on. What is noted is a set: a task refers to a file or does not, however often it says so.
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

    /// Whether it keeps [references](Self#references). As it comes, it does not.
    fn keeps_references(&self) -> bool {
        false
    }

    /// The blob that a URL leads to, if it is one that this store gave. As it comes, it is none.
    fn id_of(&self, url: &str) -> Option<BlobId> {
        let _ = url;
        None
    }

    /// Keeps a file that a task refers to, and notes that it does before the file is there.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    fn put_for(&self, file: File, referrer: &Referrer) -> impl Future<Output = Result<String, BoxError>> + Send {
        let _ = referrer;
        self.put(file)
    }

    /// Notes that a task refers to a file as well, and when. Of a file that is not there, nothing is noted.
    ///
    /// # Errors
    /// If it cannot be noted.
    fn refer(&self, blob: BlobId, referrer: &Referrer) -> impl Future<Output = Result<(), BoxError>> + Send {
        let _ = (blob, referrer);
        ready(Ok(()))
    }

    /// The references to the blobs of one [part](BlobId::part), in any order. Those that come or go meanwhile may be left out.
    fn references(&self, part: u8) -> impl Stream<Item = Result<Reference, BoxError>> + Send {
        let _ = part;
        stream::empty()
    }

    /// All references to one blob, with those that were acknowledged before.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn references_to(&self, blob: BlobId) -> impl Future<Output = Result<Vec<Reference>, BoxError>> + Send {
        let _ = blob;
        ready(Ok(Vec::new()))
    }

    /// Forgets that a task refers to a file, if it was noted.
    ///
    /// # Errors
    /// If the store cannot be changed.
    fn forget(&self, reference: &Reference) -> impl Future<Output = Result<(), BoxError>> + Send {
        let _ = reference;
        ready(Ok(()))
    }

    /// Removes a file, if it is there. The references to it stay.
    ///
    /// # Errors
    /// If the store cannot be changed.
    fn remove(&self, blob: BlobId) -> impl Future<Output = Result<(), BoxError>> + Send {
        let _ = blob;
        ready(Ok(()))
    }
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

/// The blob that a URL leads to, if it is one under this address.
fn id_of(base: &str, url: &str) -> Option<BlobId> {
    let id = url.strip_prefix(base.trim_end_matches('/'))?.strip_prefix('/')?;
    BlobId::parse(id.split(['?', '#']).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_leads_to_its_blob() {
        let id = BlobId::random();
        for base in ["https://a.example/files", "https://a.example/files/", "/files"] {
            let url = url(base, id);
            for url in [url.clone(), format!("{url}?download=1"), format!("{url}#page=2")] {
                assert_eq!(id_of(base, &url), Some(id), "{url}");
            }
            for url in [format!("{url}/x"), format!("x{url}"), format!("https://a.example/other/{id}"), base.into()] {
                assert_eq!(id_of(base, &url), None, "{url}");
            }
        }
    }
}
