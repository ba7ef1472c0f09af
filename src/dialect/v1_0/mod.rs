pub(super) mod card;
pub(super) mod decode;
mod encode;
pub(super) mod error_data;
mod message;
pub(super) mod names;

#[cfg(feature = "grpc")]
pub(crate) use self::card::only_flow;
use crate::{
    call::{Binding, Call},
    dialect::{Dialect, proto},
    error::Error,
    operation::{Answer, Operation, OperationKind, OperationRequest, ProtocolVersion, StreamEvent},
    types::{AgentCard, Json},
};

/// Version 1.0: the ProtoJSON of `lf.a2a.v1`.
///
/// Reading is as forgiving as ProtoJSON: names in camelCase or snake_case, enums by name or number, numbers in strings,
/// base64 of either alphabet, `null` as good as absent. Unknown members are skipped (spec 1.0 §5.7). Writing has one
/// form for everything, and leaves out whatever is empty unless the protocol requires it.
#[derive(Clone, Debug, Default)]
pub struct V1_0 {
    strict_data: bool,
}

impl V1_0 {
    /// The dialect as the protocol has it.
    #[must_use]
    pub const fn new() -> Self {
        Self { strict_data: false }
    }

    /// Whether data must be a JSON object, as in 0.3. Off by default: 1.0 allows any JSON value (spec 1.0 §4.1.6).
    #[must_use]
    pub const fn strict_data(mut self, on: bool) -> Self {
        self.strict_data = on;
        self
    }
}

/// Refuses data that is no object.
pub(crate) fn check_data(request: &OperationRequest) -> Result<(), Error> {
    let message = match request {
        OperationRequest::SendMessage(send) | OperationRequest::SendStreamingMessage(send) => &send.message,
        _ => return Ok(()),
    };
    let wrong = message.parts.iter().position(|part| part.as_data().is_some_and(|data| !data.is_object()));
    wrong
        .map_or(Ok(()), |index| Err(Error::invalid_params(format!("message.parts[{index}].data"), "must be an object")))
}

impl Dialect for V1_0 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::V1_0
    }

    /// JSON-RPC and HTTP+JSON: both carry the same ProtoJSON.
    fn speaks(&self, binding: Binding) -> bool {
        matches!(binding, Binding::JsonRpc | Binding::HttpJson)
    }

    fn operation(&self, method: &str) -> Option<OperationKind> {
        names::operation(method)
    }

    fn decode(&self, call: &Call) -> Result<Operation, Error> {
        let operation = decode::decode(call)?;
        if self.strict_data {
            check_data(operation.request())?;
        }
        Ok(operation)
    }

    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Answer::ExtendedAgentCard(card) = answer {
            return self.encode_card(card, out);
        }
        proto::answer::<encode::Form>(answer, out)
    }

    fn encode_event(&self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), Error> {
        proto::event::<encode::Form>(event, out);
        Ok(())
    }

    fn writes_one_line(&self) -> bool {
        true
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
