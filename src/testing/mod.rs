//! For those who keep tasks elsewhere: a suite that any [`TaskStore`] can run.
//!
//! It checks what the [contract](crate::task::TaskStore) promises: logs without gaps or duplicates under a hundred
//! writers, conflicts, what a terminal state ends, that what was acknowledged is seen, that owners do not see each other,
//! waiters and followers that are woken, lists with every filter that stay stable while tasks come and go, retention, and,
//! where a store has them, leases, a cancel that comes from another process, and claims.
//!
//! The stores of this crate run it as well.
//!
//! # When to leave it out
//!
//! In production: the feature `testing` is for a `[dev-dependencies]` entry.
//!
//! # Example
//!
//! ```
//! use a2a_layers::{
//!     task::MemoryTaskStore,
//!     testing::{Subject, conformance},
//! };
//!
//! struct InMemory;
//!
//! impl Subject for InMemory {
//!     type Store = MemoryTaskStore;
//!
//!     async fn empty(&self) -> MemoryTaskStore {
//!         MemoryTaskStore::new()
//!     }
//!
//!     async fn keeping(&self, tasks: usize) -> Option<MemoryTaskStore> {
//!         Some(MemoryTaskStore::new().max_finished(tasks).max_interrupted(tasks))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
//! // In a test of your own: #[tokio::test(flavor = "multi_thread")]
//! conformance(&InMemory).await;
//! # });
//! ```

mod claims;
mod leases;
mod lists;
mod logs;
mod make;
mod owners;
mod waiters;

use std::future::{Future, ready};

use crate::task::TaskStore;

/// A kind of store that is to be checked.
pub trait Subject: Sync {
    /// The store.
    type Store: TaskStore;

    /// One without tasks, apart from all others.
    fn empty(&self) -> impl Future<Output = Self::Store> + Send;

    /// What another process would see of the same tasks: a store that shares them with this one, but no memory, and,
    /// where there are leases, is a holder of its own. `None`, as it comes, if there can be none; then whatever takes two
    /// processes goes unchecked.
    fn replica(&self, of: &Self::Store) -> impl Future<Output = Option<Self::Store>> + Send {
        let _ = of;
        ready(None)
    }

    /// One without tasks that keeps at most so many finished ones, and as many that wait for their callers. `None`, as
    /// it comes, if it keeps all; then retention goes unchecked.
    fn keeping(&self, tasks: usize) -> impl Future<Output = Option<Self::Store>> + Send {
        let _ = tasks;
        ready(None)
    }
}

/// Checks a store. A store with [leases](TaskStore::lease) should have short ones here, such as a second: some checks
/// wait for them to run out.
///
/// # Panics
/// If the store does not keep a promise; the words say which.
pub async fn conformance<S: Subject>(subject: &S) {
    logs::check(subject).await;
    owners::check(subject).await;
    waiters::check(subject).await;
    lists::check(subject).await;
    leases::check(subject).await;
    claims::check(subject).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::MemoryTaskStore;

    struct InMemory;

    impl Subject for InMemory {
        type Store = MemoryTaskStore;

        async fn empty(&self) -> MemoryTaskStore {
            MemoryTaskStore::new()
        }

        async fn replica(&self, of: &MemoryTaskStore) -> Option<MemoryTaskStore> {
            Some(of.clone())
        }

        async fn keeping(&self, tasks: usize) -> Option<MemoryTaskStore> {
            Some(MemoryTaskStore::new().max_finished(tasks).max_interrupted(tasks))
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn f83_the_store_in_memory_keeps_the_contract() {
        conformance(&InMemory).await;
    }
}
