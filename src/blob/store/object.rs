use std::sync::Arc;

use object_store::{Attribute, Attributes, GetOptions, ObjectStore, PutOptions, path::Path};
use serde::{Deserialize, Serialize};

use super::{BlobId, BlobStore, File, url};
use crate::{
    blob::serve::{content_disposition, filename_of},
    error::BoxError,
};

/// Keeps files in any [`object_store`] backend: a local directory, S3, GCS, Azure.
///
/// Media type and name become the object's `Content-Type` and `Content-Disposition`, so that the backend may serve it
/// itself. A backend that knows no attributes, such as a local directory, gets a small JSON object beside the file
/// instead.
///
/// Nothing is ever removed; let the backend's own rules do that.
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

    /// The bytes and attributes at a path, if there is anything.
    async fn read(&self, path: &Path) -> Result<Option<(bytes::Bytes, Attributes)>, object_store::Error> {
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
        let id = BlobId::random();
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
}

/// True if a backend can send it as a header.
fn is_header_text(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}
