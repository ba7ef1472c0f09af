//! What came in: one envelope, read in one pass, its parts left where they are.

use std::{borrow::Cow, fmt, ops::Range};

use bytes::{Buf as _, Bytes};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::answer::{Id, NO_ID};
use crate::{
    call::{Binding, Call},
    error::{Error, ErrorKind},
    short::ShortText,
};

/// A request that can be carried out. What is long in it is still the body.
pub(super) struct Envelope {
    pub(super) id: Id,
    pub(super) call: Call,
}

/// A request that cannot, and the id to say so with.
pub(super) struct Refusal {
    pub(super) id: Id,
    pub(super) error: Error,
}

/// Reads an envelope (JSON-RPC 2.0 §4).
pub(super) fn read(body: Bytes) -> Result<Envelope, Refusal> {
    let nameless = |error| Refusal { id: Id::new(NO_ID), error };
    let text = std::str::from_utf8(&body).map_err(|_| nameless(ErrorKind::Parse.into()))?;
    let first = text.bytes().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(b'{') {
        return Err(nameless(not_an_object(text, first)));
    }
    // The visitor refuses nothing, so whatever fails is not JSON.
    let members: Members<'_> = serde_json::from_str(text).map_err(|_| nameless(ErrorKind::Parse.into()))?;

    let id = match members.id.map(RawValue::get) {
        _ if members.twice == Some("id") => return Err(nameless(invalid("id is there twice"))),
        None | Some("null") => return Err(nameless(invalid("id is missing; notifications are not supported"))),
        Some(id) if is_id(id) => Id::new(id.as_bytes()),
        Some(_) => return Err(nameless(invalid("id must be a string or an integer"))),
    };
    match members.call(&body) {
        Ok((method, params)) => {
            let params = params.map(|range| {
                // Cut down where it is: to share it would count references.
                let mut params = body;
                params.truncate(range.end);
                params.advance(range.start);
                params
            });
            Ok(Envelope { id, call: Call::of(Binding::JsonRpc, method, params) })
        }
        Err(error) => Err(Refusal { id, error }),
    }
}

fn not_an_object(text: &str, first: Option<u8>) -> Error {
    match (serde_json::from_str::<&RawValue>(text), first) {
        (Err(_), _) => ErrorKind::Parse.into(),
        (Ok(_), Some(b'[')) => invalid("batches are not supported"),
        (Ok(_), _) => invalid("must be an object"),
    }
}

fn invalid(detail: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidRequest).with_detail(detail)
}

/// True for a string that can be read, or an integer of any length.
fn is_id(raw: &str) -> bool {
    if raw.starts_with('"') {
        return string(raw).is_some();
    }
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a JSON string says; `None` if it is no string, or one with half a surrogate pair.
fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') { serde_json::from_str(raw).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inside)) }
}

#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    twice: Option<&'static str>,
}

impl Members<'_> {
    /// The method, and where in the body its parameters are.
    fn call(&self, body: &[u8]) -> Result<(ShortText, Option<Range<usize>>), Error> {
        if let Some(member) = self.twice {
            return Err(invalid(format!("{member} is there twice")));
        }
        if self.jsonrpc.and_then(|raw| string(raw.get())).as_deref() != Some("2.0") {
            return Err(invalid("jsonrpc must be \"2.0\""));
        }
        let method = match self.method.and_then(|raw| string(raw.get())) {
            None => return Err(invalid("method must be a string")),
            Some(method) if method.is_empty() => return Err(invalid("method must not be empty")),
            Some(method) => ShortText::new(method.as_bytes()),
        };
        // Whether they are an object is for whoever reads them: of a method that there is not, nobody does.
        let params = match self.params.map(RawValue::get) {
            None | Some("null") => None,
            Some(params) => {
                let start = params.as_ptr().addr() - body.as_ptr().addr();
                Some(start..start + params.len())
            }
        };
        Ok((method, params))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(member) = map.next_key()? {
            let (slot, name) = match member {
                Member::JsonRpc => (&mut members.jsonrpc, "jsonrpc"),
                Member::Id => (&mut members.id, "id"),
                Member::Method => (&mut members.method, "method"),
                Member::Params => (&mut members.params, "params"),
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            // A second id is the worst of them: with two, there is none to answer to.
            if slot.replace(map.next_value()?).is_some() && members.twice != Some("id") {
                members.twice = Some(name);
            }
        }
        Ok(members)
    }
}

enum Member {
    JsonRpc,
    Id,
    Method,
    Params,
    Other,
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(MemberVisitor)
    }
}

struct MemberVisitor;

impl Visitor<'_> for MemberVisitor {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Member, E> {
        Ok(match name {
            "jsonrpc" => Member::JsonRpc,
            "id" => Member::Id,
            "method" => Member::Method,
            "params" => Member::Params,
            _ => Member::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_and_id(body: &'static str) -> (i32, String) {
        match read(Bytes::from_static(body.as_bytes())) {
            Ok(envelope) => (0, String::from_utf8(envelope.id.text().to_vec()).unwrap()),
            Err(refusal) => (refusal.error.code(), String::from_utf8(refusal.id.text().to_vec()).unwrap()),
        }
    }

    #[test]
    fn the_parameters_are_a_slice_of_the_body() {
        let body = Bytes::from_static(br#" {"params": {"a" : 1},"method":"m","id":"x","jsonrpc":"2.0"} "#);
        let envelope = read(body.clone()).ok().unwrap();
        let params = envelope.call.params().unwrap();
        assert_eq!(&params[..], br#"{"a" : 1}"#);
        assert!(body.as_ptr_range().contains(&params.as_ptr()));
        assert_eq!((envelope.call.method(), envelope.call.binding()), ("m", Binding::JsonRpc));
    }

    #[test]
    fn escapes_in_names_and_strings_are_read() {
        let body = br#"{"json\u0072pc":"2\u002e0","\u0069d":"\u0041","m\u0065thod":"Get\u0054ask"}"#;
        let envelope = read(Bytes::from_static(body)).ok().unwrap();
        assert_eq!((envelope.id.text(), envelope.call.method()), (&br#""\u0041""#[..], "GetTask"));
    }

    #[test]
    fn a_doubled_member_is_refused_whatever_its_place() {
        let null = "null".to_owned();
        assert_eq!(code_and_id(r#"{"id":1,"id":1,"jsonrpc":"2.0","method":"m"}"#), (-32600, null.clone()));
        assert_eq!(code_and_id(r#"{"id":1,"method":"m","id":2,"jsonrpc":"2.0","method":"m"}"#), (-32600, null));
        assert_eq!(code_and_id(r#"{"id":1,"jsonrpc":"2.0","method":"m","method":"m"}"#), (-32600, "1".to_owned()));
        assert_eq!(code_and_id(r#"{"id":1,"jsonrpc":"2.0","method":"m","x":1,"x":2}"#), (0, "1".to_owned()));
    }

    #[test]
    fn broken_json_wins_over_a_wrong_shape() {
        assert_eq!(code_and_id(r#"{"id":{},"jsonrpc":1"#), (-32700, "null".to_owned()));
        assert_eq!(code_and_id(r#"{"id":1,"jsonrpc":"2.0","method":"m"}}"#), (-32700, "null".to_owned()));
        assert_eq!(code_and_id("[1,"), (-32700, "null".to_owned()));
        assert_eq!(code_and_id(""), (-32700, "null".to_owned()));
    }

    #[test]
    fn lone_surrogates_are_refused_where_a_string_is_read() {
        let null = "null".to_owned();
        assert_eq!(code_and_id(r#"{"id":"\ud800","jsonrpc":"2.0","method":"m"}"#), (-32600, null));
        assert_eq!(code_and_id(r#"{"id":1,"jsonrpc":"2.0","method":"\udc00"}"#), (-32600, "1".to_owned()));
    }
}
