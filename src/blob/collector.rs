//! Removes the files of tasks that are gone.

use std::{ops::AddAssign, pin::pin, time::Duration};

use futures_util::StreamExt as _;
use tokio::time::{MissedTickBehavior, interval};

use super::{BlobId, BlobStore, Reference, Referrer};
use crate::{
    error::BoxError,
    task::{StoreError, TaskStore},
    types::Timestamp,
};

/// How many parts the files are looked at in.
const PARTS: u32 = 256;

/// Removes files that no task refers to any more: the ones of tasks that retention let go of, of messages that were refused
/// or given up midway, and of answers without a task.
///
/// It goes by what the [`BlobLayer`](super::BlobLayer) notes if it is told to
/// ([`keep_references`](super::BlobLayer::keep_references)): for each file the tasks whose messages and results name it. A file
/// that a caller or an agent quotes in a later task, by the URL that it had in an earlier one, is that task's as well, and
/// stays as long as either. Files that nothing was noted about, such as those that were stored before notes were
/// kept, are left alone.
///
/// Servers may run meanwhile, and any number of collectors at once; one that is stopped midway leaves nothing behind that
/// the next one does not find. What is noted is younger than the grace for as long as its task may not be there yet.
///
/// Only files are seen that stand in the parts of messages, artifacts and answers as files. A URL that is merely written in a
/// text, or inside of data, keeps nothing. Nor does one that differs from how the store writes it, by another name of the
/// host, say. And a file that no live task refers to may go at any moment: whoever quotes it just then has a URL that leads
/// nowhere, as it would have had a moment later.
///
/// The blobs below one [prefix](super::ObjectBlobStore::prefix) must be those of one task store. To another one, all their tasks
/// look as if they were gone; so they do to a [`MemoryTaskStore`](crate::task::MemoryTaskStore) after a restart, and
/// are.
///
/// ```
/// use std::time::Duration;
///
/// use a2a_layers::{
///     blob::{BlobLayer, Collector, MemoryBlobStore},
///     part::Input,
///     server::Mount,
///     task::MemoryTaskStore,
/// };
/// use http::Request;
/// use tower::service_fn;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), a2a_layers::error::BoxError> {
/// let agent = service_fn(async |request: Request<Input>| Ok::<_, std::io::Error>(request.body().text().to_owned()));
/// let (tasks, files) = (MemoryTaskStore::new(), MemoryBlobStore::new("http://localhost:8000/files"));
/// let service = Mount::new("files", agent)
///     .task_store(tasks.clone())
///     .blob_layer(BlobLayer::new(files.clone()).keep_references(true), Some("/files"))
///     .build::<axum::body::Body>()?;
///
/// // Looks at a part of the files every minute, and at all of them in about four hours.
/// tokio::spawn(Collector::new(tasks, files).grace(Duration::from_secs(6 * 60 * 60)).run(Duration::from_secs(60)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Collector<T, St> {
    tasks: T,
    blobs: St,
    grace: Duration,
    next: u8,
}

/// What a [`Collector`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// How many references it has looked at.
    pub looked_at: u64,
    /// How many of them were of tasks that are gone, and are forgotten.
    pub forgotten: u64,
    /// How many files it has removed.
    pub removed: u64,
}

impl AddAssign for Collected {
    fn add_assign(&mut self, more: Self) {
        self.looked_at += more.looked_at;
        self.forgotten += more.forgotten;
        self.removed += more.removed;
    }
}

impl<T, St> Collector<T, St> {
    /// How old a reference must be to count as one of a task that is gone, unless [set otherwise](Self::grace).
    pub const DEFAULT_GRACE: Duration = Duration::from_secs(24 * 60 * 60);

    /// Removes from this store what no task of this store refers to.
    pub const fn new(tasks: T, blobs: St) -> Self {
        Self { tasks, blobs, grace: Self::DEFAULT_GRACE, next: 0 }
    }

    /// How old a reference must be to count as one of a task that is gone. Default: 24 h.
    ///
    /// Files are stored before there is a task, and an agent may take its time: this must be longer than the
    /// [run time-out](crate::task::TaskLayer::run_timeout). It is also how long callers have to fetch the files of an
    /// answer without a task.
    #[must_use]
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }
}

impl<T: TaskStore, St: BlobStore> Collector<T, St> {
    /// Looks at the next part of the files, one in 256, of which it holds one at a time.
    ///
    /// # Errors
    /// If the blob store keeps no references, or one of the stores is not available. What is not looked at then is left as it is
    /// until the next round.
    pub async fn collect(&mut self) -> Result<Collected, BoxError> {
        if !self.blobs.keeps_references() {
            return Err("the blob store keeps no references, so nobody knows whose its files are".into());
        }
        let part = self.next;
        self.next = part.wrapping_add(1);
        let mut collected = Collected::default();
        let mut references = pin!(self.blobs.references(part));
        while let Some(reference) = references.next().await {
            let reference = reference?;
            collected.looked_at += 1;
            if self.is_gone(&reference).await? {
                self.let_go(reference.blob, &mut collected).await?;
            }
        }
        Ok(collected)
    }

    /// Looks at all of the files.
    ///
    /// # Errors
    /// As for [`collect`](Self::collect).
    pub async fn collect_all(&mut self) -> Result<Collected, BoxError> {
        let mut all = Collected::default();
        for _ in 0..PARTS {
            all += self.collect().await?;
        }
        Ok(all)
    }

    /// Looks at a part of the files every so often, and at all of them in 256 times as long. It never ends: spawn it. Errors go
    /// to the log of the process (`tracing`).
    ///
    /// # Panics
    /// If the period is zero.
    pub async fn run(mut self, period: Duration) {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match self.collect().await {
                Ok(Collected { looked_at, forgotten, removed }) if forgotten > 0 => {
                    tracing::debug!(looked_at, forgotten, removed, "files of tasks that are gone were removed");
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(error = &*error as &dyn std::error::Error, "files are not collected just now");
                }
            }
        }
    }

    async fn is_gone(&self, reference: &Reference) -> Result<bool, BoxError> {
        let grace = i64::try_from(self.grace.as_millis()).unwrap_or(i64::MAX);
        let age = Timestamp::now().as_millis().saturating_sub(reference.since.as_millis());
        if age < grace {
            return Ok(false);
        }
        let Referrer { owner, task_id } = &reference.referrer;
        // Whether it is there is told without reading any of it.
        match self.tasks.read(owner, task_id, u64::MAX, 1).await {
            Ok(_) => Ok(false),
            Err(StoreError::NotFound) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Forgets references of tasks that are gone, and removes the file if there is no other one.
    async fn let_go(&self, blob: BlobId, collected: &mut Collected) -> Result<(), BoxError> {
        let mut gone = Vec::new();
        for reference in self.blobs.references_to(blob).await? {
            if self.is_gone(&reference).await? {
                gone.push(reference);
            }
        }
        // To look at tasks takes a while, and somebody may have quoted the file.
        let is_needed = self.blobs.references_to(blob).await?.iter().any(|reference| !gone.contains(reference));
        if !gone.is_empty() && !is_needed {
            // The file first: without references nobody would find it again.
            self.blobs.remove(blob).await?;
            collected.removed += 1;
        }
        for reference in gone {
            self.blobs.forget(&reference).await?;
            collected.forgotten += 1;
        }
        Ok(())
    }
}
