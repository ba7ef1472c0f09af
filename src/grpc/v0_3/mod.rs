//! The package `a2a.v1`.

mod card;
mod decode;
mod encode;
mod name;

pub(super) use self::{
    decode::decode,
    encode::{answer, event},
};
