use super::{Reply, Update};
use crate::types::{Artifact, Json, Message, Part};

/// What an agent may return.
///
/// Strings, JSON values, parts, artifacts, updates, messages, lists of updates or parts, and a [`Reply`] for streams.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that an agent can answer",
    note = "return a string, a JSON value, a `Part`, a `Message`, an `Update`, or `Reply::stream(...)`"
)]
pub trait IntoReply {
    /// As a reply.
    fn into_reply(self) -> Reply;
}

impl IntoReply for Reply {
    fn into_reply(self) -> Reply {
        self
    }
}

impl IntoReply for Message {
    fn into_reply(self) -> Reply {
        Reply::message(self)
    }
}

/// The head is not sent on: an answer may outlive the request that asked for it.
impl<R: IntoReply> IntoReply for http::Response<R> {
    fn into_reply(self) -> Reply {
        self.into_body().into_reply()
    }
}

impl IntoReply for () {
    fn into_reply(self) -> Reply {
        Reply::updates(Vec::new())
    }
}

/// Files first, each an artifact of its own, in the order given.
impl IntoReply for Vec<Part> {
    fn into_reply(self) -> Reply {
        self.into_iter().map(Update::from).collect::<Vec<_>>().into_reply()
    }
}

impl IntoReply for Vec<Update> {
    fn into_reply(self) -> Reply {
        Reply::updates(self)
    }
}

macro_rules! one_update {
    ($($kind:ty),+ $(,)?) => {$(
        impl IntoReply for $kind {
            fn into_reply(self) -> Reply {
                Update::from(self).into()
            }
        }
    )+};
}

one_update!(&'static str, String, Part, Json, serde_json::Value, Artifact, Update);
