//! A blob store that can be looked into.

use std::sync::{Arc, Mutex};

use a2a_layers::{
    blob::{BlobId, BlobStore, File},
    error::BoxError,
};

#[derive(Clone, Default)]
pub(crate) struct SpyBlobs {
    files: Arc<Mutex<Vec<File>>>,
}

impl SpyBlobs {
    pub(crate) fn files(&self) -> Vec<File> {
        self.files.lock().unwrap().clone()
    }
}

impl BlobStore for SpyBlobs {
    async fn put(&self, file: File) -> Result<String, BoxError> {
        let mut files = self.files.lock().unwrap();
        files.push(file);
        Ok(format!("https://blobs.example/{}", files.len()))
    }

    async fn get(&self, _: BlobId) -> Result<Option<File>, BoxError> {
        Ok(None)
    }
}
