use a2a_layers::blob::{BlobId, BlobStore, File, MemoryBlobStore};
use bytes::Bytes;

const BASE: &str = "https://a.example/files";

/// The id that a URL of the store ends in.
fn id_of(url: &str) -> BlobId {
    let id = url.strip_prefix(BASE).and_then(|rest| rest.strip_prefix('/'));
    BlobId::parse(id.unwrap()).unwrap()
}

/// What every store has to do.
async fn keeps_files<St: BlobStore>(store: St) {
    assert_eq!(store.get(BlobId::random()).await.unwrap(), None);
    let bytes = Bytes::from_static(&[0x00, 0xff, 0x10, 0x80]);
    let files = [
        File::new(bytes.clone()).with_media_type("image/png; q=\"1\"").with_filename("Bücher 100%.png"),
        File::new(bytes.clone()).with_filename("漢字"),
        File::new(Bytes::new()).with_media_type("text/plain"),
        File::new(bytes.clone()),
    ];
    let mut ids = Vec::new();
    for file in &files {
        ids.push(id_of(&store.put(file.clone()).await.unwrap()));
    }
    let again = id_of(&store.put(files[0].clone()).await.unwrap());
    assert!(!ids.contains(&again), "ids are never used twice");
    // A clone sees the same files.
    let store = store.clone();
    for (id, file) in ids.into_iter().zip(files) {
        assert_eq!(store.get(id).await.unwrap(), Some(file));
    }
}

#[tokio::test]
async fn memory_keeps_files() {
    keeps_files(MemoryBlobStore::new(BASE)).await;
    keeps_files(MemoryBlobStore::new(format!("{BASE}/"))).await;
}

#[tokio::test]
async fn memory_forgets_the_oldest_beyond_its_limit() {
    let store = MemoryBlobStore::new(BASE).max_bytes(2 * (10 + MemoryBlobStore::BYTES_PER_FILE));
    let mut ids = Vec::new();
    for count in 1..=3 {
        ids.push(id_of(&store.put(File::new(vec![0; 10])).await.unwrap()));
        assert_eq!(store.len(), count.min(2));
    }
    assert_eq!(store.get(ids[0]).await.unwrap(), None);
    assert!(store.get(ids[1]).await.unwrap().is_some() && store.get(ids[2]).await.unwrap().is_some());
    // One byte more than what is free costs one file more.
    store.put(File::new(vec![0; 11])).await.unwrap();
    assert_eq!(store.len(), 1);
}

#[tokio::test]
async fn memory_refuses_what_has_no_room_at_all_and_keeps_the_rest() {
    let store = MemoryBlobStore::new(BASE).max_bytes(10 + MemoryBlobStore::BYTES_PER_FILE);
    store.put(File::new(vec![0; 10])).await.unwrap();
    assert!(store.put(File::new(vec![0; 11])).await.is_err());
    assert!(store.put(File::new(vec![0; 10]).with_filename("n")).await.is_err());
    assert_eq!(store.len(), 1);
}

#[tokio::test]
async fn memory_is_bounded_for_empty_files_too() {
    let store = MemoryBlobStore::new(BASE).max_bytes(5 * MemoryBlobStore::BYTES_PER_FILE);
    assert!(store.is_empty());
    for _ in 0..100 {
        store.put(File::new(Bytes::new())).await.unwrap();
    }
    assert_eq!(store.len(), 5);
    assert!(format!("{store:?}").contains("files: 5"));
}

#[cfg(feature = "object-store")]
mod object {
    use std::{path::PathBuf, sync::Arc};

    use a2a_layers::blob::{BlobService, ObjectBlobStore};
    use http::Request;
    use http_body_util::BodyExt;
    use object_store::{ObjectStore, local::LocalFileSystem, memory::InMemory};
    use tower::ServiceExt;

    use super::*;
    use crate::collector::{collects, keeps_references};

    /// A directory that goes away with its test.
    struct Directory(PathBuf);

    impl Directory {
        fn new() -> Self {
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(BlobId::random().to_string());
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn store(&self) -> Arc<dyn ObjectStore> {
            Arc::new(LocalFileSystem::new_with_prefix(&self.0).unwrap())
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn object_store_in_memory_keeps_files() {
        keeps_files(ObjectBlobStore::new(Arc::new(InMemory::new()), BASE)).await;
        keeps_files(ObjectBlobStore::new(Arc::new(InMemory::new()), BASE).prefix("a/b")).await;
    }

    #[tokio::test]
    async fn object_store_in_a_directory_keeps_files() {
        let directory = Directory::new();
        keeps_files(ObjectBlobStore::new(directory.store(), BASE)).await;
        keeps_files(ObjectBlobStore::new(directory.store(), BASE).prefix("/a/b/")).await;
        assert!(directory.0.join("a").join("b").is_dir());
    }

    #[tokio::test]
    async fn object_store_keeps_references() {
        let directory = Directory::new();
        for store in [directory.store(), Arc::new(InMemory::new())] {
            keeps_references(ObjectBlobStore::new(Arc::clone(&store), BASE)).await;
            keeps_references(ObjectBlobStore::new(store, BASE).prefix("a/b")).await;
        }
    }

    #[tokio::test]
    async fn files_in_a_directory_go_with_their_tasks() {
        let directory = Directory::new();
        collects(ObjectBlobStore::new(directory.store(), BASE).prefix("files")).await;
        collects(ObjectBlobStore::new(Arc::new(InMemory::new()), BASE)).await;
    }

    #[tokio::test]
    async fn what_others_put_among_the_references_is_none() {
        use object_store::{ObjectStoreExt as _, path::Path};
        let backend = Arc::new(InMemory::new());
        let store = ObjectBlobStore::new(Arc::clone(&backend) as Arc<dyn ObjectStore>, BASE);
        let id = id_of(&store.put(File::new("x")).await.unwrap());
        let folder = format!("references/{:02x}", id.part());
        for name in ["x", "no-id/5b5d", &format!("{id}/zz"), &format!("{id}/5b5d"), &format!("{id}")] {
            backend.put(&Path::from(format!("{folder}/{name}")), "?".into()).await.unwrap();
        }
        assert_eq!(store.references_to(id).await.unwrap(), []);
    }

    #[tokio::test]
    async fn hostile_names_stay_out_of_paths() {
        let directory = Directory::new();
        let store = ObjectBlobStore::new(directory.store(), BASE).prefix("files");
        let file = File::new("x").with_filename("../../../escape").with_media_type("a/b\r\nx: y");
        let id = id_of(&store.put(file.clone()).await.unwrap());
        assert_eq!(store.get(id).await.unwrap(), Some(file));
        let names: Vec<_> = std::fs::read_dir(&directory.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["files"]);
    }

    #[tokio::test]
    async fn a_directory_is_served_with_type_and_name_and_its_notes_are_not() {
        let directory = Directory::new();
        let store = ObjectBlobStore::new(directory.store(), BASE);
        let file = File::new("x").with_filename("a.png").with_media_type("image/png");
        let id = id_of(&store.put(file).await.unwrap());
        let service = BlobService::new(store);
        let found = service.clone().oneshot(Request::get(format!("/{id}")).body(()).unwrap()).await.unwrap();
        assert_eq!(found.headers()["content-type"], "image/png");
        assert!(found.headers()["content-disposition"].to_str().unwrap().contains("a.png"));
        assert_eq!(found.into_body().collect().await.unwrap().to_bytes(), "x");
        let notes = service.oneshot(Request::get(format!("/{id}.json")).body(()).unwrap()).await.unwrap();
        assert_eq!(notes.status(), 404);
    }
}
