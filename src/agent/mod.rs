//! The agent's side: what it is asked, and what it may answer.
//!
//! An agent is any `tower::Service<http::Request<Input>>` (or `<http::Request<Arc<Message>>>`, without the
//! [`part`](crate::part) layer) whose response implements [`IntoReply`]. The request's head is the one that came in over
//! the socket; [`RequestExt`] tells the task, the conversation, the caller, and when the work is no longer wanted.
//!
//! - A string, a JSON value, a part or an artifact is a whole answer and completes the task. So does a
//!   [`Message`](crate::types::Message), which is sent without a task where the mount leaves that [to the
//!   agent](crate::task::ReplyMode::Auto).
//! - [`Reply::stream`] answers bit by bit: pieces of text, which join into one artifact; data and files, which are
//!   artifacts of their own; artifacts under ids of your choice; states.
//! - [`Update::input_required`] asks back. The answer is a new request, whose
//!   [`history`](TaskContext::history) tells what was said.
//! - An error fails the task. An [`Error`](crate::error::Error) of this crate is told to the caller, and refuses the message
//!   without a task if it is the caller's fault and comes at once; of any other error the caller learns nothing but that it
//!   happened, and the log learns the cause. A panic and a time-out count as errors.
//! - After a cancel [`RequestExt::cancellation`] fires; what the agent still says is dropped, and after a
//!   [grace](crate::task::TaskLayer::cancel_grace) so is its future.
//!
//! ```
//! use std::convert::Infallible;
//!
//! use a2a_layers::{
//!     agent::{Reply, RequestExt, Update},
//!     part::Input,
//!     server::Mount,
//! };
//! use futures_util::stream;
//! use http::Request;
//! use serde_json::json;
//! use tower::service_fn;
//!
//! let agent = service_fn(|request: Request<Input>| async move {
//!     let asked_before = request.task_context().history().next().is_some();
//!     let text = request.body().text().to_owned();
//!     if !asked_before && text == "weather" {
//!         return Ok::<_, Infallible>(Reply::from(Update::input_required("Where?")));
//!     }
//!     let updates = [
//!         Update::progress("looking out of the window"),
//!         Update::text(format!("Sun in {text}, ")),
//!         Update::text("mostly."),
//!         Update::data(json!({ "place": text, "sun": 0.9 })),
//!     ];
//!     Ok(Reply::stream(stream::iter(updates.map(Ok::<_, Infallible>))))
//! });
//! # type Body = http_body_util::Empty<bytes::Bytes>;
//! # let service: a2a_layers::server::A2aService<Body> =
//! Mount::new("weather", agent).build()?;
//! # Ok::<_, a2a_layers::server::ConfigError>(())
//! ```

mod cancellation;
mod context;
mod into_reply;
mod reply;

pub(crate) use self::reply::ReplyForm;
pub use self::{
    cancellation::Cancellation,
    context::{MessageHold, RequestExt, TaskContext, TaskContextBuilder},
    into_reply::IntoReply,
    reply::{ArtifactUpdate, Reply, StatusUpdate, Update, Updates},
};
