//! The `blob` layer alone, its stores, and the services that serve them.

mod collector;
mod inbound;
mod outbound;
mod serve;
mod stores;

use std::sync::{Arc, Mutex};

use a2a_layers::{
    blob::{BlobId, BlobStore, File},
    error::{BoxError, Error},
};

/// A store that remembers what was put, and fails or waits if told so.
#[derive(Clone, Default)]
struct Spy {
    files: Arc<Mutex<Vec<File>>>,
    fails_at: Option<usize>,
    fails_with: Option<fn() -> BoxError>,
    gate: Option<Arc<tokio::sync::Semaphore>>,
}

impl Spy {
    fn failing_at(index: usize) -> Self {
        Self { fails_at: Some(index), ..Self::default() }
    }

    fn behind_a_gate() -> (Self, Arc<tokio::sync::Semaphore>) {
        let gate = Arc::new(tokio::sync::Semaphore::new(0));
        (Self { gate: Some(Arc::clone(&gate)), ..Self::default() }, gate)
    }

    fn files(&self) -> Vec<File> {
        self.files.lock().unwrap().clone()
    }
}

impl BlobStore for Spy {
    async fn put(&self, file: File) -> Result<String, BoxError> {
        if let Some(gate) = &self.gate {
            gate.acquire().await?.forget();
        }
        let mut files = self.files.lock().unwrap();
        if self.fails_at == Some(files.len()) {
            return Err(self.fails_with.map_or_else(|| "the bucket hunter2 is gone".into(), |make| make()));
        }
        files.push(file);
        Ok(format!("spy:{}", files.len() - 1))
    }

    async fn get(&self, _: BlobId) -> Result<Option<File>, BoxError> {
        Err("the bucket hunter2 is gone".into())
    }
}

fn crate_error(error: BoxError) -> Error {
    *error.downcast::<Error>().expect("an error of the crate")
}
