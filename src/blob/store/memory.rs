use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{BlobId, BlobStore, File, url};
use crate::error::{BoxError, Error, ErrorKind};

/// How much is kept: enough for tens of the largest files, and little beside the memory of a server.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Keeps files in the memory of this process.
///
/// Beyond its limit the oldest files are forgotten, and their URLs lead nowhere from then on. It suits tests, and
/// single servers whose files are read soon.
#[derive(Clone)]
pub struct MemoryBlobStore {
    files: Arc<Mutex<Files>>,
    public_url: Arc<str>,
}

#[derive(Default)]
struct Files {
    by_id: HashMap<BlobId, File>,
    oldest_first: VecDeque<BlobId>,
    bytes: usize,
    max_bytes: usize,
}

impl MemoryBlobStore {
    /// What each file counts beyond its bytes, name and media type, so that many empty files reach the limit, too.
    pub const BYTES_PER_FILE: usize = 256;

    /// An empty store whose files can be read under this address, such as `https://agent.example/blobs`.
    pub fn new(public_url: impl Into<Arc<str>>) -> Self {
        let files = Files { max_bytes: MAX_BYTES, ..Files::default() };
        Self { files: Arc::new(Mutex::new(files)), public_url: public_url.into() }
    }

    /// How many bytes are kept in all, 256 MiB by default, with [`BYTES_PER_FILE`](Self::BYTES_PER_FILE) more for each
    /// file. The oldest files make room for new ones; a file that has no room at all is refused.
    #[must_use]
    pub fn max_bytes(self, max: usize) -> Self {
        self.lock().max_bytes = max;
        self
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().by_id.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        // Nothing panics while the lock is held, and what is inside is whole in any case.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    fn put(&mut self, id: BlobId, file: File) -> Result<(), Error> {
        let size = size(&file);
        if size > self.max_bytes {
            return Err(Error::new(ErrorKind::Internal).with_source("the file alone is larger than the blob store"));
        }
        while self.bytes > self.max_bytes - size {
            let Some(oldest) = self.oldest_first.pop_front() else { break };
            if let Some(file) = self.by_id.remove(&oldest) {
                self.bytes -= self::size(&file);
            }
        }
        self.bytes += size;
        self.oldest_first.push_back(id);
        self.by_id.insert(id, file);
        Ok(())
    }
}

fn size(file: &File) -> usize {
    let words = [&file.filename, &file.media_type].into_iter().flatten().map(String::len).sum::<usize>();
    file.bytes.len() + words + MemoryBlobStore::BYTES_PER_FILE
}

impl BlobStore for MemoryBlobStore {
    async fn put(&self, file: File) -> Result<String, BoxError> {
        let id = BlobId::random();
        self.lock().put(id, file)?;
        Ok(url(&self.public_url, id))
    }

    async fn get(&self, id: BlobId) -> Result<Option<File>, BoxError> {
        Ok(self.lock().by_id.get(&id).cloned())
    }
}

impl fmt::Debug for MemoryBlobStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.lock();
        f.debug_struct("MemoryBlobStore")
            .field("files", &files.by_id.len())
            .field("bytes", &files.bytes)
            .field("max_bytes", &files.max_bytes)
            .finish_non_exhaustive()
    }
}
