pub(super) mod card;
mod decode;
mod encode;
mod error_data;
mod message;
mod names;

use crate::{
    call::Call,
    dialect::{Dialect, escape_line_breaks},
    error::Error,
    operation::{Answer, Operation, OperationKind, ProtocolVersion, StreamEvent},
    types::{AgentCard, Json},
};

/// Version 1.0: the ProtoJSON of `lf.a2a.v1`.
///
/// Reading is as forgiving as ProtoJSON: names in camelCase or snake_case, enums by name or number, numbers in strings,
/// base64 of either alphabet, `null` as good as absent. Unknown members are skipped (spec 1.0 §5.7). Writing has one
/// form for everything, and leaves out whatever is empty unless the protocol requires it.
#[derive(Clone, Debug, Default)]
pub struct V1_0 {}

impl V1_0 {
    /// The dialect; there is nothing to set.
    #[must_use]
    pub const fn new() -> Self {
        Self {}
    }
}

impl Dialect for V1_0 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::V1_0
    }

    fn operation(&self, method: &str) -> Option<OperationKind> {
        names::operation(method)
    }

    fn decode(&self, call: &Call) -> Result<Operation, Error> {
        decode::decode(call)
    }

    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Answer::ExtendedAgentCard(card) = answer {
            return self.encode_card(card, out);
        }
        let start = out.len();
        encode::answer(answer, out)?;
        escape_line_breaks(out, start);
        Ok(())
    }

    fn encode_event(&self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        encode::event(event, out);
        escape_line_breaks(out, start);
        Ok(())
    }

    fn error_data(&self, error: &Error) -> Option<Json> {
        error_data::error_data(error)
    }

    fn encode_card(&self, card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
        card::encode(card, out)
    }
}

#[cfg(test)]
mod tests;
