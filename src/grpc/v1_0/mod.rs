//! The package `lf.a2a.v1`.

mod card;
mod decode;
mod encode;

pub(super) use self::{
    card::{extension, provider, requirements, schemes, signature, skill},
    decode::decode,
    encode::{answer, event},
};
