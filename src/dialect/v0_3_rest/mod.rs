mod decode;
mod encode;
mod message;
mod names;

use super::{proto, v0_3, v1_0};
use crate::{
    call::{Binding, Call},
    dialect::Dialect,
    error::Error,
    operation::{Answer, Operation, OperationKind, ProtocolVersion, StreamEvent},
    types::{AgentCard, Json},
};

/// Version 0.3 over HTTP+JSON: the ProtoJSON of `a2a.v1`, and not the JSON of [`V0_3`](super::V0_3).
///
/// Two grammars are understood, because both were sent: that of the proto (`content`, `ROLE_USER`, snake_case too) and
/// that of the schema (`parts`, `user`; `kind` is skipped). What goes out is the proto's. A webhook may come as the whole
/// request of the proto, as the `TaskPushNotificationConfig` alone, as one of them below `config`, or bare.
///
/// An absent `blocking` is false where there is a `configuration`, as in every proto message; writers of ProtoJSON leave
/// it out then. Without a configuration the caller waits. Data that is no object is wrapped as in `V0_3`.
///
/// Lists, which 0.3 mentions and does not define, are an array of tasks.
#[derive(Clone, Debug)]
pub struct V0_3Rest {
    double_base64: bool,
    generated_message_ids: bool,
}

impl V0_3Rest {
    /// What the proto says.
    #[must_use]
    pub const fn new() -> Self {
        Self { double_base64: false, generated_message_ids: false }
    }

    /// Whether files go out as the base64 of base64, for the Python and Go clients of 0.3, which read them so. Off by
    /// default: the proto wants it once. On the way in, bytes that are themselves canonical base64 text are decoded once
    /// more whatever is set here, because those clients write them so.
    #[must_use]
    pub const fn double_base64(mut self, on: bool) -> Self {
        self.double_base64 = on;
        self
    }

    /// Whether a message may come without its id and its role. See
    /// [`V0_3::generated_message_ids`](super::V0_3::generated_message_ids). Off by default.
    #[must_use]
    pub const fn generated_message_ids(mut self, on: bool) -> Self {
        self.generated_message_ids = on;
        self
    }

    /// What it calls an operation.
    #[cfg(feature = "rest")]
    pub(crate) const fn method(kind: OperationKind) -> &'static str {
        v0_3::names::method(kind)
    }
}

impl Default for V0_3Rest {
    fn default() -> Self {
        Self::new()
    }
}

impl Dialect for V0_3Rest {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::V0_3
    }

    /// HTTP+JSON alone.
    fn speaks(&self, binding: Binding) -> bool {
        binding == Binding::HttpJson
    }

    fn operation(&self, method: &str) -> Option<OperationKind> {
        names::operation(method)
    }

    fn decode(&self, call: &Call) -> Result<Operation, Error> {
        decode::decode(self, call)
    }

    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Answer::ExtendedAgentCard(card) = answer {
            return self.encode_card(card, out);
        }
        if self.double_base64 {
            proto::answer::<encode::Form<true>>(answer, out)
        } else {
            proto::answer::<encode::Form<false>>(answer, out)
        }
    }

    fn encode_event(&self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.double_base64 {
            proto::event::<encode::Form<true>>(event, out);
        } else {
            proto::event::<encode::Form<false>>(event, out);
        }
        Ok(())
    }

    fn writes_one_line(&self) -> bool {
        true
    }

    /// The details of a `google.rpc.Status`.
    fn error_data(&self, error: &Error) -> Option<Json> {
        v1_0::error_data::error_data(error)
    }

    /// The card of the schema: it is what clients of this binding read too.
    fn encode_card(&self, card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
        v0_3::card::encode(card, out)
    }
}

#[cfg(test)]
mod tests;
