//! What is the same on the public side of each of the stores, and of their builders.

/// A store `$store(Durable<_>)`, and a builder with a field `limits`.
macro_rules! durable_store {
    ($store:ident, $builder:ident) => {
        impl $store {
            #[doc = concat!("How long a lease lasts unless [set otherwise](", stringify!($builder), "::lease).")]
            pub const DEFAULT_LEASE: Duration = Duration::from_secs(30);
            #[doc = concat!("How many finished tasks are kept unless [set otherwise](", stringify!($builder), "::max_finished).")]
            pub const DEFAULT_MAX_FINISHED: u64 = 1_000_000;
            #[doc = concat!("How long finished tasks are kept unless [set otherwise](", stringify!($builder), "::max_age).")]
            pub const DEFAULT_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
            #[doc = concat!("How many tasks wait for their callers unless [set otherwise](", stringify!($builder), "::max_interrupted).")]
            pub const DEFAULT_MAX_INTERRUPTED: u64 = 1_000_000;
            #[doc = concat!("How long a task waits for its caller unless [set otherwise](", stringify!($builder), "::max_interrupted_age).")]
            pub const DEFAULT_MAX_INTERRUPTED_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

            const DEFAULT_LIMITS: Limits = Limits {
                lease: Self::DEFAULT_LEASE,
                max_finished: Self::DEFAULT_MAX_FINISHED,
                max_age: Self::DEFAULT_MAX_AGE,
                max_interrupted: Self::DEFAULT_MAX_INTERRUPTED,
                max_interrupted_age: Self::DEFAULT_MAX_INTERRUPTED_AGE,
            };
        }

        impl $builder {
            /// How long a lease lasts, at least 10 ms: so long after a process was killed its tasks at work end as failed.
            /// Default: 30 s, as a disk, a network or a machine may well stand still for ten.
            pub fn lease(mut self, lease: Duration) -> Self {
                self.limits.lease = lease.max(Duration::from_millis(10));
                self
            }

            /// How many finished tasks are kept. Default: 1,000,000, some gigabytes of ordinary answers.
            ///
            /// Those beyond it, and those that are too old, go three times in a [lease](Self::lease).
            pub fn max_finished(mut self, tasks: u64) -> Self {
                self.limits.max_finished = tasks;
                self
            }

            /// How long finished tasks are kept. Default: 30 days, so that a caller can come back after a holiday.
            pub fn max_age(mut self, age: Duration) -> Self {
                self.limits.max_age = age;
                self
            }

            /// How many tasks may wait for their callers, as input-required or auth-required. Default: 1,000,000, as
            /// for finished ones: most questions are never answered.
            pub fn max_interrupted(mut self, tasks: u64) -> Self {
                self.limits.max_interrupted = tasks;
                self
            }

            /// How long a task may wait for its caller. Default: 30 days, as for finished ones.
            pub fn max_interrupted_age(mut self, age: Duration) -> Self {
                self.limits.max_interrupted_age = age;
                self
            }
        }

        impl TaskStore for $store {
            fn create(
                &self,
                owner: &Owner,
                task: Arc<Task>,
            ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
                self.0.create(owner, task)
            }

            fn create_with(
                &self,
                owner: &Owner,
                task: Arc<Task>,
                events: &mut Vec<Event>,
            ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
                self.0.create_with(owner, task, events)
            }

            fn append(
                &self,
                owner: &Owner,
                id: &str,
                expected: u64,
                events: Vec<Event>,
            ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
                self.0.append(owner, id, expected, events)
            }

            fn end(
                &self,
                owner: &Owner,
                id: &str,
                update: TaskStatusUpdateEvent,
            ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
                self.0.end(owner, id, update)
            }

            fn get(&self, owner: &Owner, id: &str) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
                self.0.get(owner, id)
            }

            fn read(
                &self,
                owner: &Owner,
                id: &str,
                after: u64,
                limit: usize,
            ) -> impl Future<Output = Result<Vec<LogEntry>, StoreError>> + Send {
                self.0.read(owner, id, after, limit)
            }

            fn grown(
                &self,
                owner: &Owner,
                id: &str,
                after: u64,
            ) -> impl Future<Output = Result<(), StoreError>> + Send {
                self.0.grown(owner, id, after)
            }

            fn follow(
                self,
                owner: Owner,
                id: Arc<str>,
                after: u64,
            ) -> impl Stream<Item = Result<LogEntry, StoreError>> + Send + 'static {
                self.0.follow(owner, id, after)
            }

            fn list(
                &self,
                owner: &Owner,
                query: &ListQuery,
            ) -> impl Future<Output = Result<StoredPage, StoreError>> + Send {
                self.0.list(owner, query)
            }

            fn lease(&self) -> Option<Duration> {
                self.0.lease()
            }

            fn renew_lease(&self) -> impl Future<Output = Result<(), StoreError>> + Send {
                self.0.renew_lease()
            }

            fn release_lease(&self) -> impl Future<Output = Result<(), StoreError>> + Send {
                self.0.release_lease()
            }

            fn lost_runs(&self, limit: usize) -> impl Future<Output = Result<Vec<LostRun>, StoreError>> + Send {
                self.0.lost_runs(limit)
            }

            fn ended_elsewhere(&self) -> impl Stream<Item = Arc<str>> + Send + 'static {
                self.0.ended_elsewhere()
            }

            fn takes_claims(&self) -> bool {
                self.0.takes_claims()
            }

            fn claim(
                &self,
                owner: &Owner,
                claim: &Claim,
                window: Duration,
            ) -> impl Future<Output = Result<Option<Claim>, StoreError>> + Send {
                self.0.claim(owner, claim, window)
            }

            fn release(&self, owner: &Owner, claim: &Claim) -> impl Future<Output = Result<(), StoreError>> + Send {
                self.0.release(owner, claim)
            }

            fn retain(&self) -> impl Future<Output = Result<(), StoreError>> + Send {
                self.0.retain()
            }
        }

        impl fmt::Debug for $store {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($store)).field(&self.0.inner().backend).finish()
            }
        }
    };
}

pub(crate) use durable_store;
