//! The life of tasks: an event log for each, and cursors on it.
//!
//! [`Tasks`] is a `Service<http::Request<Operation>>` over an agent, a `Service<http::Request<Arc<Message>>>`. It carries
//! out send, stream, get, list, cancel and subscribe; of webhooks and cards it knows nothing and says so.
//!
//! A message begins a **run**: a clone of the agent is driven until it is ready, called, and listened to. What it says
//! becomes **events** in the log of its task, and the task is what its log [folds](fold) into. Whoever follows a task
//! reads its log from some place on, so a slow reader, a second one, and one that comes back after the number of the
//! last event it saw (`Last-Event-ID`, or `?after=`) all get the same events, each once and in order. A reader that
//! leaves, or stops reading, touches neither the run nor anybody else.
//!
//! A run ends with its task completed, failed, canceled, rejected or waiting for its caller, whatever the agent does:
//! an error, a panic and a time-out fail the task. Callers are told the code and the words of an
//! [`Error`](crate::error::Error) of this crate's, and of anything else no more than "Internal error"; the cause goes
//! to the log of the process (`tracing`), with the task's id. An error of the caller's making (or
//! [`Overloaded`](crate::error::ErrorKind::Overloaded)) that the agent's side has before it first waits is no failed
//! task: it refuses the message, and there is no task, or the one there was stays as it is.
//!
//! The layer is always ready, because a get or a cancel must not wait for a busy agent. Put a `concurrency_limit`
//! *below* it and tasks wait as submitted; put a `load_shed` on top of that and they are refused with retry advice. Do
//! not bound runs from above: tower's `timeout` and `concurrency_limit` let go when the answer arrives, and a stream or
//! a run goes on. [`max_runs`](TaskLayer::max_runs) and the time-outs below count runs.
//!
//! # When to leave it out
//!
//! If your service has tasks of its own, answer [`Operation`](crate::operation::Operation)s yourself; streams of your
//! own making go into an [`EventStream`]. To keep tasks elsewhere, keep the layer and give it a [`TaskStore`].
//!
//! # Example
//!
//! ```
//! use std::{convert::Infallible, sync::Arc};
//!
//! use a2a_layers::{
//!     agent::Update,
//!     call::Binding,
//!     operation::{Answer, GetTask, Operation, OperationRequest, Outcome, ProtocolVersion, SendMessage},
//!     task::TaskLayer,
//!     types::{Message, TaskState},
//! };
//! use http::Request;
//! use tower::{Layer, Service, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), a2a_layers::error::Error> {
//! // An agent that asks back, and then does what it was told.
//! let agent = service_fn(|request: Request<Arc<Message>>| async move {
//!     Ok::<_, Infallible>(match request.body().text().as_str() {
//!         "pizza" => Update::input_required("Which one?"),
//!         kind => Update::text(format!("One {kind} is on its way.")),
//!     })
//! });
//! let mut tasks = TaskLayer::new().max_runs(1_000).layer(agent);
//! let operation = |request| Request::new(Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, request));
//!
//! let send = OperationRequest::SendMessage(SendMessage::new(Message::user("pizza")));
//! let outcome = tasks.call(operation(send)).await?.into_body();
//! let Outcome::Answer(Answer::SentTask(view)) = outcome else { unreachable!() };
//! let id = view.task().id.clone();
//! assert_eq!(view.task().status.state, TaskState::InputRequired);
//!
//! let answer = Message::user("margherita").with_task_id(id.clone());
//! tasks.call(operation(OperationRequest::SendMessage(SendMessage::new(answer)))).await?;
//!
//! let get = OperationRequest::GetTask(GetTask::new(id));
//! let outcome = tasks.call(operation(get)).await?.into_body();
//! let Outcome::Answer(Answer::Task(view)) = outcome else { unreachable!() };
//! assert_eq!(view.task().status.state, TaskState::Completed);
//! assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("One margherita is on its way."));
//! assert_eq!(view.history().len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Settings
//!
//! | setting | default | what it is |
//! | --- | --- | --- |
//! | [`reply`](TaskLayer::reply) | [`Task`](ReplyMode::Task) | whether a send is answered with a task or a message |
//! | [`first_event`](TaskLayer::first_event) | [`Submitted`](FirstEvent::Submitted) | what a stream begins with |
//! | [`close_on`](TaskLayer::close_on) | [`InputRequired`](CloseOn::InputRequired) | what interrupts a stream |
//! | [`replay`](TaskLayer::replay) | [`ByVersion`](Replay::ByVersion) | where a subscription without a cursor begins |
//! | [`cancel`](TaskLayer::cancel) | [`Final`](CancelMode::Final) | whether a cancel counts at once |
//! | [`cancel_scope`](TaskLayer::cancel_scope) | [`Any`](CancelScope::Any) | which tasks can be canceled |
//! | [`cancel_grace`](TaskLayer::cancel_grace) | 5 s | how long a canceled agent may go on |
//! | [`run_timeout`](TaskLayer::run_timeout) | 1 h | how long an agent may take, from the message on |
//! | [`idle_timeout`](TaskLayer::idle_timeout) | 10 min | how long an agent may say nothing |
//! | [`max_wait`](TaskLayer::max_wait) | none | how long a blocking send waits |
//! | [`retry_window`](TaskLayer::retry_window) | none | for how long a message that comes again is recognised |
//! | [`max_runs`](TaskLayer::max_runs) | 100,000 | how many agents run at once |
//! | [`max_events`](TaskLayer::max_events) | 1,000,000 | how many events a task has |
//! | [`max_references`](TaskLayer::max_references) | 100 | how many tasks a message refers to |
//! | [`rerun_lost`](TaskLayer::rerun_lost) | 0 | how often a lost run is begun again |
//! | [`status_only`](TaskLayer::status_only) | no | whether a get shows the status alone |
//! | [`context_is_task`](TaskLayer::context_is_task) | no | whether a task's id is also its conversation's |
//! | [`named_ids`](TaskLayer::named_ids) | no | whether ids say what they are of |
//!
//! [`MemoryTaskStore`] has four of its own: it keeps [100,000](MemoryTaskStore::max_finished) finished tasks, for
//! [24 hours](MemoryTaskStore::max_age), and [100,000](MemoryTaskStore::max_interrupted) that wait for their callers, for
//! [7 days](MemoryTaskStore::max_interrupted_age).
//!
//! # Safe retries
//!
//! A client that has lost the answer to a send does not know whether the agent has done its work, and sends again. With a
//! [`retry_window`](TaskLayer::retry_window), a message whose `messageId` the same [`Owner`](crate::owner::Owner) has sent
//! before is not run again; the task of the first one answers it, whatever binding or version it comes over (spec 1.0
//! §3.3.1 leaves that to servers):
//!
//! - A blocking send waits for the same end or interruption as the first, and one that returns immediately gets the task
//!   as it stands.
//! - A stream shows the events from the message on, those that are over too, or, with `Last-Event-ID`, from there on:
//!   clients that open a broken stream again by sending again get exactly what they missed.
//! - A further turn of a task is recognised as well, though the task may be over by now.
//! - Of two that come at the same time one runs, and the other waits for its task. This holds over all processes that share
//!   the store, and over a restart.
//!
//! The task answers whatever has become of it. If it failed, even because its process was killed, then that is the answer;
//! whoever wants the work to be tried again says so by a fresh `messageId`. What was refused, such as by an agent that was
//! overloaded, came to nothing, and may be sent again. Where answers are messages ([`ReplyMode::Message`]) the first caller
//! of an agent that broke down is told an error; of that the log keeps the words alone, and they are the message that
//! answers whoever sends again.
//!
//! A `messageId` that comes again with other parts, metadata or references, or for another task, is the mistake of a client
//! that reuses ids: it is refused with `-32602` (`INVALID_ARGUMENT`), which names the field. How the answer is wanted
//! (blocking or not, as a stream, with how much history) and the metadata of the request may change. A different agent or
//! tenant is a different message.
//!
//! What is not covered:
//!
//! - An answer that is a message without a task ([`ReplyMode::Auto`]): nothing is kept of it, so the agent is asked again.
//! - Messages without a `messageId`, which the old dialects take: they get a fresh one each time. That is so in 0.1
//!   unless its clients set one.
//! - Callers without a name share one owner, so two that choose the same id meet: the second is refused, or, if it says the
//!   same, gets the task of the first. Ids that are UUIDs, as the protocol's SDKs make them, do not meet.
//!
//! ```
//! use std::{convert::Infallible, sync::{Arc, atomic::{AtomicU32, Ordering}}, time::Duration};
//!
//! use a2a_layers::{
//!     call::Binding,
//!     operation::{Answer, Operation, OperationRequest, Outcome, ProtocolVersion, SendMessage},
//!     task::TaskLayer,
//!     types::Message,
//! };
//! use http::Request;
//! use tower::{Layer, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), a2a_layers::error::Error> {
//! static ORDERS: AtomicU32 = AtomicU32::new(0);
//! let agent = service_fn(async |_: Request<Arc<Message>>| {
//!     Ok::<_, Infallible>(format!("order {}", ORDERS.fetch_add(1, Ordering::Relaxed)))
//! });
//! let tasks = TaskLayer::new().retry_window(Some(Duration::from_secs(600))).layer(agent);
//!
//! let message = Message::user("one pizza");
//! for _ in 0..2 {
//!     let send = OperationRequest::SendMessage(SendMessage::new(message.clone()));
//!     let request = Request::new(Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, send));
//!     let Outcome::Answer(Answer::SentTask(view)) = tasks.clone().oneshot(request).await?.into_body() else { unreachable!() };
//!     assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("order 0"));
//! }
//! assert_eq!(ORDERS.load(Ordering::Relaxed), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # A store of your own
//!
//! Implement [`TaskStore`], and [`TaskLayer::with_store`] takes it. What the layer builds on:
//!
//! - [`append`](TaskStore::append) is one compare-and-append: if the revision is the expected one, all of the events
//!   are written and the snapshot beside them becomes what they [`fold`] it into; otherwise nothing is. Of cancel and
//!   completion, and of two messages to one task, this lets exactly one win.
//! - The numbers of a log have no gaps, and nothing follows a terminal state ([`StoreError::Terminal`]).
//! - A task is seen by its [`Owner`](crate::owner::Owner) alone; for all others it is [`StoreError::NotFound`]. An id
//!   is taken whoever has it.
//! - What was acknowledged is seen by every later call, on every replica, and [`grown`](TaskStore::grown) wakes all who
//!   wait; waking too often costs a read, waking too late loses nothing but time, not waking at all hangs a stream.
//! - Readers [`follow`](TaskStore::follow) a log, and a single event goes through
//!   [`append_one`](TaskStore::append_one): both are made of the calls above unless a store knows a shorter way. So is
//!   [`end`](TaskStore::end), which a store that is shared by processes should do in one step. A store that wraps
//!   another, to count or to delay, leaves them as they are, or wraps them too.
//! - A future that is dropped leaves no waiter behind; a write that was dropped is done or not done, never half done.
//! - [`list`](TaskStore::list) pages by a key that stays good when tasks come and go: the moment of the status, then
//!   the order of making, latest first. Tokens that it did not give are [`StoreError::BadToken`].
//! - [`StoreError::Unavailable`] is told to callers as an internal error with retry advice. A run whose events could
//!   not be written is stopped, and the layer tries to fail its task until it can, at longer and longer intervals, up to
//!   a lease and 30 s.
//!
//! - [Safe retries](self#safe-retries) need [claims](TaskStore#claims); a store may leave them out.
//!
//! The layer never writes a log while another write of the same run is in flight: what the agent says meanwhile is the
//! next batch, and nobody is shown what is not written. To write tasks and events down, [`stored`] has a form that loses
//! nothing; to check the result, there is `testing::conformance` (feature `testing`).
//!
//! # Runs that lose their process
//!
//! A run lives in the process that took its message. Where tasks outlive that process, the store has
//! [leases](TaskStore#leases): a process renews its own three times before it would run out, and a task whose process
//! has not done so ends as failed with a message that says so, by whichever process sees it first. A process looks from
//! its first request on, so after a restart that takes one lease from there. Where the agent may do its work twice,
//! [`rerun_lost`](TaskLayer::rerun_lost) has it begun again instead. A cancel works from every process that shares the
//! store, however fast a run writes ([`end`](TaskStore::end)); the one that has the run stops it as soon as the store
//! [tells](TaskStore::ended_elsewhere) of it. Subscriptions, and messages to a task that waits for its caller, go to any
//! of them. [`shutdown`](TaskLayer::shutdown) ends a process in good order. [`docs::replicas`](crate::docs::replicas)
//! says all of it at more length.

mod answer;
mod error;
mod fingerprint;
mod fold;
mod keeper;
mod layer;
mod log;
mod narrator;
mod progress;
mod requests;
mod rerun;
mod retry;
mod run;
mod runs;
mod send;
mod service;
mod settings;
mod source;
mod store;
pub mod stored;
mod stream;
mod subscribe;
mod telling;
mod voice;
mod watch;
mod work;

#[cfg(feature = "postgres")]
#[cfg_attr(docsrs, doc(cfg(feature = "postgres")))]
pub use self::store::{PostgresTaskStore, PostgresTaskStoreBuilder};
#[cfg(feature = "sqlite")]
#[cfg_attr(docsrs, doc(cfg(feature = "sqlite")))]
pub use self::store::{SqliteTaskStore, SqliteTaskStoreBuilder};
pub use self::{
    fold::{FoldError, fold},
    layer::TaskLayer,
    log::LogEntry,
    service::{ResponseFuture, Tasks},
    settings::{CancelMode, CancelScope, CloseOn, FirstEvent, Replay, ReplyMode},
    store::{Claim, ListQuery, LostRun, MemoryTaskStore, Snapshot, StoreError, StoredPage, TaskStore},
    stream::EventStream,
};
pub(crate) use self::{log::Batch, progress::Progress};
