pub(super) mod card;
pub(super) mod decode;
pub(super) mod encode;
mod legacy;
pub(super) mod message;
pub(super) mod names;

#[cfg(feature = "grpc")]
pub(crate) use self::{
    card::interfaces,
    encode::{is_final, marked},
    message::unwrap_data,
};
use crate::{
    call::Call,
    dialect::Dialect,
    error::Error,
    operation::{Answer, Operation, OperationKind, ProtocolVersion, StreamEvent},
    types::{AgentCard, Json},
};

/// Version 0.3 over JSON-RPC, and what is left of the versions before it.
///
/// The default is what the schema of 0.3.0 says, with two things on top: the methods `tasks/send` and
/// `tasks/sendSubscribe` of version 0.1 are understood, and a file may come under the names of the 0.3 schema (`bytes`,
/// `uri`) or of its proto (`fileWithBytes`, `fileWithUri`). Data that is no object, which this version cannot say, goes
/// out as `{"value":…}` with `"data_part_compat":true` in the part's metadata, as other servers do it, and such a part
/// is unwrapped on its way in.
///
/// ```
/// use a2a_layers::dialect::V0_3;
///
/// let for_old_clients = V0_3::new().generated_message_ids(true).artifact_index(true).file_with_keys(false);
/// # let _ = for_old_clients;
/// ```
#[derive(Clone, Debug)]
pub struct V0_3 {
    file_with_keys: bool,
    artifact_index: bool,
    generated_message_ids: bool,
    legacy_methods: bool,
}

impl V0_3 {
    /// What the schema says.
    #[must_use]
    pub const fn new() -> Self {
        Self { file_with_keys: false, artifact_index: false, generated_message_ids: false, legacy_methods: true }
    }

    /// Whether files go out as `fileWithUri` and `fileWithBytes`, which some clients took from the proto, rather than as
    /// `uri` and `bytes`. Off by default. All four are understood on the way in, whatever is set here.
    #[must_use]
    pub const fn file_with_keys(mut self, on: bool) -> Self {
        self.file_with_keys = on;
        self
    }

    /// Whether artifacts go out with the `"index":0` of version 0.1. Off by default.
    #[must_use]
    pub const fn artifact_index(mut self, on: bool) -> Self {
        self.artifact_index = on;
        self
    }

    /// Whether a message may come without its id, which is then made up, and without its role, which is then the user's.
    /// Off by default, as both are required and a server that makes them up hides the client's fault. Parts are required
    /// all the same.
    #[must_use]
    pub const fn generated_message_ids(mut self, on: bool) -> Self {
        self.generated_message_ids = on;
        self
    }

    /// Whether `tasks/send` and `tasks/sendSubscribe` are understood, with the parameters of `message/send` as well as
    /// with those of version 0.1 (`id`, `sessionId`, parts by `type`). On by default; other methods of 0.1 are not known.
    #[must_use]
    pub const fn legacy_methods(mut self, on: bool) -> Self {
        self.legacy_methods = on;
        self
    }
}

impl Default for V0_3 {
    fn default() -> Self {
        Self::new()
    }
}

impl Dialect for V0_3 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::V0_3
    }

    fn operation(&self, method: &str) -> Option<OperationKind> {
        names::operation(method).or_else(|| self.legacy_methods.then(|| legacy::operation(method)).flatten())
    }

    fn decode(&self, call: &Call) -> Result<Operation, Error> {
        decode::decode(self, call)
    }

    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Answer::ExtendedAgentCard(card) = answer {
            return self.encode_card(card, out);
        }
        encode::Encoder::new(self).answer(answer, out)
    }

    fn encode_event(&self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), Error> {
        encode::Encoder::new(self).event(event, out);
        Ok(())
    }

    fn writes_one_line(&self) -> bool {
        true
    }

    /// Errors of this version are a code and a message.
    fn error_data(&self, _error: &Error) -> Option<Json> {
        None
    }

    fn encode_card(&self, card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
        card::encode(card, out)
    }
}

#[cfg(test)]
mod tests;
