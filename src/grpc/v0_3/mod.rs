//! The package `a2a.v1`.

mod card;
mod decode;
mod encode;
mod name;

pub(super) use self::{
    decode::decode,
    encode::{answer, event},
};

/// How the bytes of a file stand in their field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    /// As they are.
    Bytes,
    /// As base64 text.
    Base64,
}
