//! What the bindings have in common: what they ask of heads, how they fail, what they tell the log.

mod answer;
mod head;
mod readiness;

pub(crate) use self::{
    answer::{Escaped, document_response, log, retry_after},
    head::{is_json, is_plain, refuse_encoding, without_slash},
    readiness::Readiness,
};
