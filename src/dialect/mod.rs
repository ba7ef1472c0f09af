//! Wire versions: how each spells methods, parameters, results, events and cards.
//!
//! A [`Dialect`] decodes a [`Call`] into an [`Operation`] and encodes what comes back. [`V1_0`], [`V0_3`] and, because
//! 0.3 is another language over HTTP+JSON, [`V0_3Rest`] are built in; implement the trait to speak another, and give it to the [`version`](crate::version) layer. What the
//! built-in ones are made with is there for yours too: [`read_params`] reads parameters in place and names the field that
//! is not as it must be, [`write_json`] and [`escape_line_breaks`] write JSON that any stream of lines can carry.

pub(crate) mod card;
#[cfg(test)]
mod hostile;
mod proto;
mod read;
#[cfg(test)]
pub(crate) mod testing;
mod v0_3;
mod v0_3_rest;
mod v1_0;
mod write;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

#[cfg(feature = "rest")]
pub(crate) use self::v1_0::error_data::error_data as error_details;
#[cfg(feature = "grpc")]
pub(crate) use self::{
    read::At,
    v0_3::{interfaces as interfaces_of_0_3, is_final, marked, unwrap_data},
    v1_0::{check_data, only_flow},
};
pub use self::{
    read::read_params,
    v0_3::V0_3,
    v0_3_rest::V0_3Rest,
    v1_0::V1_0,
    write::{escape_line_breaks, write_json},
};
use crate::{
    call::{Binding, Call},
    error::Error,
    operation::{Answer, Operation, OperationKind, ProtocolVersion, StreamEvent},
    types::{AgentCard, Json},
};

/// How many elements an array may have that the built-in dialects read: 10,000. An element of a few bytes takes a few
/// hundred once it is read, so that a body of the size of one file would otherwise fill all memory. Longer ones fit into
/// a part's data or into metadata, which stay the text that they are.
pub const MAX_ELEMENTS: usize = 10_000;

/// One wire version of the protocol.
pub trait Dialect: Send + Sync + 'static {
    /// The version it speaks.
    fn version(&self) -> ProtocolVersion;

    /// Whether it is what this version speaks over a binding. Default: over JSON-RPC alone.
    ///
    /// A version may have a dialect for each of its bindings, as 0.3 has; over the bindings that none of its dialects
    /// speaks, it is not offered.
    fn speaks(&self, binding: Binding) -> bool {
        binding == Binding::JsonRpc
    }

    /// Which operation a method is; `None` if this version has no such method.
    ///
    /// Over HTTP+JSON, where paths are in the place of methods, a method has the name that JSON-RPC has for it:
    /// `message/send` and its like for paths below `/v1`, `SendMessage` and its like for all others.
    fn operation(&self, method: &str) -> Option<OperationKind>;

    /// Reads a call.
    ///
    /// # Errors
    /// [`MethodNotFound`](crate::error::ErrorKind::MethodNotFound) if this version has no such method,
    /// [`InvalidParams`](crate::error::ErrorKind::InvalidParams), naming the field, if its parameters are not as they
    /// must be.
    fn decode(&self, call: &Call) -> Result<Operation, Error>;

    /// Writes the result of an operation behind what is in the buffer: one JSON text, without raw line breaks.
    ///
    /// # Errors
    /// If this version cannot say it.
    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Writes one item of a stream behind what is in the buffer: one JSON text, without raw line breaks.
    ///
    /// # Errors
    /// If this version cannot say it.
    fn encode_event(&self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), Error>;

    /// True if it is sure that no event it writes holds a raw line break, nor U+0085, U+2028 or U+2029, at which some readers
    /// break lines: then each event need not be looked through for them once more. Default: false.
    fn writes_one_line(&self) -> bool {
        false
    }

    /// The details of an error, in the form that this version wants: the `data` member over JSON-RPC, an array of `details`
    /// over HTTP+JSON. `None` if there is nothing to say.
    fn error_data(&self, error: &Error) -> Option<Json>;

    /// Writes an agent card behind what is in the buffer.
    ///
    /// # Errors
    /// If this version cannot say it.
    fn encode_card(&self, card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error>;
}

impl<D: Dialect + ?Sized> Dialect for Arc<D> {
    fn version(&self) -> ProtocolVersion {
        (**self).version()
    }

    fn speaks(&self, binding: Binding) -> bool {
        (**self).speaks(binding)
    }

    fn operation(&self, method: &str) -> Option<OperationKind> {
        (**self).operation(method)
    }

    fn decode(&self, call: &Call) -> Result<Operation, Error> {
        (**self).decode(call)
    }

    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        (**self).encode(answer, out)
    }

    fn encode_event(&self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), Error> {
        (**self).encode_event(event, out)
    }

    fn writes_one_line(&self) -> bool {
        (**self).writes_one_line()
    }

    fn error_data(&self, error: &Error) -> Option<Json> {
        (**self).error_data(error)
    }

    fn encode_card(&self, card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
        (**self).encode_card(card, out)
    }
}

/// Tells dialects, and the same dialect with other settings, apart, so that the text of an event can be kept and shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DialectKey(u32);

impl DialectKey {
    /// A key that no other dialect of this process has.
    #[must_use]
    pub fn unique() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
