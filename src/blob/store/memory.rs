use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_core::Stream;
use futures_util::stream;

use super::{BlobId, BlobStore, File, Reference, Referrer, id_of, url};
use crate::{
    error::{BoxError, Error, ErrorKind},
    types::Timestamp,
};

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
    by_id: BTreeMap<BlobId, Kept>,
    oldest_first: BTreeMap<u64, BlobId>,
    /// How many were ever put.
    made: u64,
    bytes: usize,
    max_bytes: usize,
}

struct Kept {
    file: File,
    references: Vec<Reference>,
    /// Its place among the oldest.
    place: u64,
}

impl Kept {
    fn size(&self) -> usize {
        size(&self.file) + self.references.iter().map(|reference| size_of_reference(&reference.referrer)).sum::<usize>()
    }
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
        self.make_room(size);
        self.bytes += size;
        self.made += 1;
        self.oldest_first.insert(self.made, id);
        self.by_id.insert(id, Kept { file, references: Vec::new(), place: self.made });
        Ok(())
    }

    fn make_room(&mut self, size: usize) {
        while self.bytes > self.max_bytes.saturating_sub(size) {
            let Some((_, oldest)) = self.oldest_first.pop_first() else { break };
            self.remove(oldest);
        }
    }

    fn remove(&mut self, id: BlobId) {
        if let Some(kept) = self.by_id.remove(&id) {
            self.bytes -= kept.size();
            self.oldest_first.remove(&kept.place);
        }
    }

    fn refer(&mut self, id: BlobId, referrer: &Referrer) {
        let Some(kept) = self.by_id.get_mut(&id) else { return };
        let (now, size) = (Timestamp::now(), size_of_reference(referrer));
        if let Some(known) = kept.references.iter_mut().find(|reference| reference.referrer == *referrer) {
            known.since = now;
            return;
        }
        kept.references.push(Reference::new(id, referrer.clone(), now));
        self.bytes += size;
        // It may be the file itself that makes room.
        self.make_room(0);
    }

    fn forget(&mut self, reference: &Reference) {
        let Some(kept) = self.by_id.get_mut(&reference.blob) else { return };
        let before = kept.size();
        kept.references.retain(|one| one.referrer != reference.referrer);
        self.bytes -= before - kept.size();
    }
}

/// As much as its words take, and the list's own room for it.
fn size_of_reference(referrer: &Referrer) -> usize {
    size_of::<Reference>() + referrer.owner.name().map_or(0, str::len) + referrer.task_id.len()
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
        Ok(self.lock().by_id.get(&id).map(|kept| kept.file.clone()))
    }

    fn keeps_references(&self) -> bool {
        true
    }

    fn id_of(&self, url: &str) -> Option<BlobId> {
        id_of(&self.public_url, url)
    }

    async fn put_for(&self, file: File, referrer: &Referrer) -> Result<String, BoxError> {
        let id = BlobId::random();
        let mut files = self.lock();
        files.put(id, file)?;
        files.refer(id, referrer);
        Ok(url(&self.public_url, id))
    }

    async fn refer(&self, blob: BlobId, referrer: &Referrer) -> Result<(), BoxError> {
        self.lock().refer(blob, referrer);
        Ok(())
    }

    fn references(&self, part: u8) -> impl Stream<Item = Result<Reference, BoxError>> + Send {
        let files = self.lock();
        let of_part = files.by_id.range(BlobId::all_of(part));
        let references: Vec<_> = of_part.flat_map(|(_, kept)| &kept.references).cloned().map(Ok).collect();
        stream::iter(references)
    }

    async fn references_to(&self, blob: BlobId) -> Result<Vec<Reference>, BoxError> {
        Ok(self.lock().by_id.get(&blob).map(|kept| kept.references.clone()).unwrap_or_default())
    }

    async fn forget(&self, reference: &Reference) -> Result<(), BoxError> {
        self.lock().forget(reference);
        Ok(())
    }

    async fn remove(&self, blob: BlobId) -> Result<(), BoxError> {
        self.lock().remove(blob);
        Ok(())
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
