//! What the bindings have in common: what they ask of heads, how they fail, what they tell the log.

mod answer;
mod head;
mod readiness;

#[cfg(feature = "grpc")]
pub(crate) use self::head::version_of_header;
pub(crate) use self::{
    answer::{Escaped, document_response, log, retry_after},
    head::{is_json, is_plain, refuse_encoding, stated_version, without_slash},
    readiness::Readiness,
};
