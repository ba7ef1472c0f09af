//! The agent's side: what it is asked, and what it may answer.
//!
//! An agent is any `tower::Service<http::Request<Input>>` (or `<http::Request<Message>>`, without the
//! [`part`](crate::part) layer) whose response implements [`IntoReply`]. The request's head is the one that came in
//! over the socket; [`RequestExt`] tells the task, the conversation and the caller.

mod cancellation;
mod context;
mod into_reply;
mod reply;

pub(crate) use self::reply::ReplyForm;
pub use self::{
    cancellation::Cancellation,
    context::{RequestExt, TaskContext, TaskContextBuilder},
    into_reply::IntoReply,
    reply::{ArtifactUpdate, Reply, StatusUpdate, Update, Updates},
};
