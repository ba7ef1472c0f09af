use std::sync::Arc;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::TryStreamExt as _;
use object_store::{
    Attribute, Attributes, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutOptions, path::Path,
};
use serde::{Deserialize, Serialize};

use super::{BlobId, BlobStore, File, Reference, Referrer, id_of, object_reference::Note, url};
use crate::{
    blob::serve::{content_disposition, filename_of},
    error::BoxError,
    types::Timestamp,
};

/// Keeps files in any [`object_store`] backend: a local directory, S3, GCS, Azure.
///
/// Media type and name become the object's `Content-Type` and `Content-Disposition`, so that the backend may serve it
/// itself. A backend that knows no attributes, such as a local directory, gets a small JSON object beside the file
/// instead.
///
/// Nothing is ever removed by itself. A [`Collector`](crate::blob::Collector) removes the files of tasks that are gone,
/// where [references](crate::blob::BlobLayer::keep_references) are kept: each is one more object, empty as a rule, below
/// `references`. Without them, let the backend's own rules do it. A local directory keeps the empty folders unless its
/// [`with_automatic_cleanup`](object_store::local::LocalFileSystem::with_automatic_cleanup) is on.
#[derive(Clone, Debug)]
pub struct ObjectBlobStore {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    public_url: Arc<str>,
}

/// What is known about a file, where the backend has no place for it.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
}

impl ObjectBlobStore {
    /// Keeps files in this backend; they can be read under this address, such as `https://agent.example/blobs`.
    pub fn new(store: Arc<dyn ObjectStore>, public_url: impl Into<Arc<str>>) -> Self {
        Self { store, prefix: Path::default(), public_url: public_url.into() }
    }

    /// Under this path of the backend, such as `a2a/files`. At its root by default.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = Path::from(prefix);
        self
    }

    fn file_path(&self, id: BlobId) -> Path {
        self.prefix.clone().join(id.to_string())
    }

    fn about_path(&self, id: BlobId) -> Path {
        self.prefix.clone().join(format!("{id}.json"))
    }

    /// Where the references to the blobs of a part are, in folders of their blobs.
    fn references_path(&self, part: u8) -> Path {
        self.prefix.clone().join("references").join(format!("{part:02x}"))
    }

    fn reference_path(&self, blob: BlobId, note: &str) -> Path {
        let path = self.references_path(blob.part()).join(blob.to_string());
        // A name may not be longer than file systems take it.
        Note::pieces(note).fold(path, |path, piece| path.join(piece))
    }

    async fn note(&self, blob: BlobId, referrer: &Referrer) -> Result<(), BoxError> {
        let (name, words) = Note::of(referrer).written();
        self.store.put(&self.reference_path(blob, &name), words.into()).await?;
        Ok(())
    }

    /// The references below a path. What somebody else has put there is none.
    fn notes(&self, path: &Path) -> impl Stream<Item = Result<Reference, BoxError>> + Send + use<> {
        let (this, below) = (self.clone(), self.prefix.clone().join("references"));
        let objects = self.store.list(Some(path)).map_err(BoxError::from);
        objects.try_filter_map(move |object| {
            let (this, below) = (this.clone(), below.clone());
            async move { this.noted(&below, &object).await }
        })
    }

    async fn noted(&self, below: &Path, object: &ObjectMeta) -> Result<Option<Reference>, BoxError> {
        let Some(mut names) = object.location.prefix_match(below) else { return Ok(None) };
        let blob = names.nth(1).and_then(|name| BlobId::parse(name.as_ref()));
        let Some(blob) = blob else { return Ok(None) };
        let name: String = names.map(|piece| piece.as_ref().to_owned()).collect();
        let referrer = match Note::named(&name) {
            Some(note) => Some(note.referrer()),
            None => match self.read(&object.location).await? {
                Some((words, _)) => Note::read(&words).map(Note::referrer),
                None => None,
            },
        };
        let since = Timestamp::from_millis(object.last_modified.timestamp_millis());
        Ok(referrer.map(|referrer| Reference::new(blob, referrer, since).with_key(name)))
    }

    async fn delete(&self, path: &Path) -> Result<(), BoxError> {
        match self.store.delete(path).await {
            // Somebody else was faster.
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            deleted => Ok(deleted?),
        }
    }

    async fn put_as(&self, id: BlobId, file: File) -> Result<String, BoxError> {
        let mut attributes = Attributes::new();
        if let Some(media_type) = file.media_type.as_deref().filter(|text| is_header_text(text)) {
            attributes.insert(Attribute::ContentType, media_type.to_owned().into());
        }
        if let Some(filename) = &file.filename {
            attributes.insert(Attribute::ContentDisposition, content_disposition(Some(filename)).into());
        }
        let plain = attributes.is_empty();
        let options = PutOptions { attributes, ..PutOptions::default() };
        match self.store.put_opts(&self.file_path(id), file.bytes.clone().into(), options).await {
            Err(object_store::Error::NotImplemented { .. }) if !plain => {
                // What is known first: a file that can be read is whole then.
                let about = serde_json::to_vec(&About { media_type: file.media_type, filename: file.filename })?;
                self.store.put_opts(&self.about_path(id), about.into(), PutOptions::default()).await?;
                self.store.put_opts(&self.file_path(id), file.bytes.into(), PutOptions::default()).await?;
            }
            stored => drop(stored?),
        }
        Ok(url(&self.public_url, id))
    }

    /// The bytes and attributes at a path, if there is anything.
    async fn read(&self, path: &Path) -> Result<Option<(Bytes, Attributes)>, object_store::Error> {
        match self.store.get_opts(path, GetOptions::default()).await {
            Ok(found) => {
                let attributes = found.attributes.clone();
                Ok(Some((found.bytes().await?, attributes)))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl BlobStore for ObjectBlobStore {
    async fn put(&self, file: File) -> Result<String, BoxError> {
        self.put_as(BlobId::random(), file).await
    }

    async fn get(&self, id: BlobId) -> Result<Option<File>, BoxError> {
        let Some((bytes, attributes)) = self.read(&self.file_path(id)).await? else { return Ok(None) };
        let mut file = File::new(bytes);
        file.media_type = attributes.get(&Attribute::ContentType).map(|text| text.as_ref().to_owned());
        file.filename = attributes.get(&Attribute::ContentDisposition).and_then(|text| filename_of(text));
        if attributes.is_empty()
            && let Some((about, _)) = self.read(&self.about_path(id)).await?
        {
            let About { media_type, filename } = serde_json::from_slice(&about)?;
            (file.media_type, file.filename) = (media_type, filename);
        }
        Ok(Some(file))
    }

    fn keeps_references(&self) -> bool {
        true
    }

    fn id_of(&self, url: &str) -> Option<BlobId> {
        id_of(&self.public_url, url)
    }

    async fn put_for(&self, file: File, referrer: &Referrer) -> Result<String, BoxError> {
        let id = BlobId::random();
        self.note(id, referrer).await?;
        self.put_as(id, file).await
    }

    async fn refer(&self, blob: BlobId, referrer: &Referrer) -> Result<(), BoxError> {
        match self.store.head(&self.file_path(blob)).await {
            Ok(_) => self.note(blob, referrer).await,
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn references(&self, part: u8) -> impl Stream<Item = Result<Reference, BoxError>> + Send {
        self.notes(&self.references_path(part))
    }

    async fn references_to(&self, blob: BlobId) -> Result<Vec<Reference>, BoxError> {
        self.notes(&self.references_path(blob.part()).join(blob.to_string())).try_collect().await
    }

    async fn forget(&self, reference: &Reference) -> Result<(), BoxError> {
        let name = reference.key.clone().unwrap_or_else(|| Note::of(&reference.referrer).written().0);
        self.delete(&self.reference_path(reference.blob, &name)).await
    }

    async fn remove(&self, blob: BlobId) -> Result<(), BoxError> {
        self.delete(&self.file_path(blob)).await?;
        self.delete(&self.about_path(blob)).await
    }
}

/// True if a backend can send it as a header.
fn is_header_text(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}
