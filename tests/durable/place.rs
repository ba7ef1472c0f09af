//! Where tasks are kept, and for how long.

use std::{
    env,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// A place that was empty when it was made, and goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    file: PathBuf,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let (process, made) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        Self { file: env::temp_dir().join(format!("a2a-layers-{process}-{made}.db")) }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Where a store is to be opened.
    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.file.display())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.file.display()));
        }
    }
}
