//! `google.protobuf.Struct` and `Value`: JSON in its other form.

use std::fmt;

use prost::{
    DecodeError, Message,
    bytes::{Buf, BufMut, Bytes},
    encoding::{self, DecodeContext, WireType},
};
use serde::{
    Deserialize as _, Deserializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::wire::{Content, Fields, Malformed, put_bytes};
use crate::{
    dialect::At,
    error::Error,
    types::{Json, JsonObject},
};

// The numbers of struct.proto.
const FIELDS: u32 = 1;
const KEY: u32 = 1;
const VALUE: u32 = 2;
const NULL: u32 = 1;
const NUMBER: u32 = 2;
const STRING: u32 = 3;
const BOOL: u32 = 4;
const STRUCT: u32 = 5;
const LIST: u32 = 6;
const VALUES: u32 = 1;

/// How many messages may be nested in a struct or value: what readers follow, less those around it, and some to spare.
const DEPTH: usize = 90;
/// How many of them a list takes, and an object: itself, an entry, and what is in that.
const LIST_DEPTH: usize = 2;
const STRUCT_DEPTH: usize = 3;

/// A `google.protobuf.Struct`: a JSON object, kept in the form that it has on the wire until somebody reads it.
///
/// As a tree of values it would take many times the memory of the message that it came in.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Struct(Raw);

/// A `google.protobuf.Value`: any JSON value, kept in the form that it has on the wire until somebody reads it.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Value(Raw);

/// A message whose fields are kept as they came.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Raw(Vec<u8>);

impl Struct {
    /// The struct that says what this object says, as far as it can. Numbers become 64-bit floats, because it has
    /// no others; those beyond become the outermost of them. What is nested deeper than readers of protobuf follow, which
    /// is 100 messages, is there as its JSON text.
    ///
    /// # Errors
    /// If it is not well-formed, which it always is.
    pub fn from_json(object: &JsonObject) -> Result<Self, serde_json::Error> {
        write(object.get(), true).map(|out| Self(Raw(out)))
    }

    /// The object that this struct is.
    ///
    /// # Errors
    /// If it is malformed, holds a number that is none, a text that is no UTF-8 or a value of no kind, or nests deeper
    /// than [`Json::MAX_DEPTH`].
    pub fn to_json(&self) -> Result<JsonObject, Error> {
        self.read(&At::new("struct"))
    }

    pub(super) fn read(&self, at: &At<'_>) -> Result<JsonObject, Error> {
        let mut out = String::with_capacity(2 * self.0.0.len() + 2);
        object(&self.0.0, &mut out, 1).map_err(|wrong| at.invalid(wrong.to_string()))?;
        let json = Json::parse(&out).and_then(Json::into_object);
        json.map_err(|error| at.invalid(error.to_string()))
    }
}

impl Value {
    /// The value that says what this JSON says, as far as it can. Numbers become 64-bit floats, because it has
    /// no others; those beyond become the outermost of them. What is nested deeper than readers of protobuf follow, which
    /// is 100 messages, is there as its JSON text.
    ///
    /// # Errors
    /// If it is not well-formed, which it always is.
    pub fn from_json(json: &Json) -> Result<Self, serde_json::Error> {
        write(json.get(), false).map(|out| Self(Raw(out)))
    }

    /// The JSON that this value is.
    ///
    /// # Errors
    /// As [`Struct::to_json`].
    pub fn to_json(&self) -> Result<Json, Error> {
        self.read(&At::new("value"))
    }

    pub(super) fn read(&self, at: &At<'_>) -> Result<Json, Error> {
        let mut out = String::with_capacity(2 * self.0.0.len());
        value(&self.0.0, &mut out, 0).map_err(|wrong| at.invalid(wrong.to_string()))?;
        Json::parse(&out).map_err(|error| at.invalid(error.to_string()))
    }
}

/// Why a struct is no JSON object.
#[derive(Debug)]
enum Wrong {
    Malformed,
    NotUtf8,
    NoNumber,
    NoKind,
    TooDeep,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("is malformed"),
            Self::NotUtf8 => f.write_str("holds a text that is not UTF-8"),
            Self::NoNumber => f.write_str("holds a number that JSON does not have"),
            Self::NoKind => f.write_str("holds a value of no kind"),
            Self::TooDeep => write!(f, "is nested deeper than {} levels", Json::MAX_DEPTH),
        }
    }
}

impl From<Malformed> for Wrong {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

fn object(message: &[u8], out: &mut String, depth: usize) -> Result<(), Wrong> {
    deeper(depth)?;
    let mut separator = '{';
    for field in Fields::of(message) {
        if let (FIELDS, Content::Bytes(entry)) = field? {
            out.push(std::mem::replace(&mut separator, ','));
            let (mut key, mut member) = (&[][..], &[][..]);
            for field in Fields::of(entry) {
                match field? {
                    (KEY, Content::Bytes(bytes)) => key = bytes,
                    (VALUE, Content::Bytes(bytes)) => member = bytes,
                    _ => {}
                }
            }
            text(key, out)?;
            out.push(':');
            value(member, out, depth)?;
        }
    }
    if separator == '{' {
        out.push('{');
    }
    out.push('}');
    Ok(())
}

fn value(message: &[u8], out: &mut String, depth: usize) -> Result<(), Wrong> {
    // Of several the last one counts, as in any oneof.
    let mut last = None;
    for field in Fields::of(message) {
        let field = field?;
        if (NULL..=LIST).contains(&field.0) {
            last = Some(field);
        }
    }
    match last {
        Some((NULL, Content::Varint(_))) => out.push_str("null"),
        Some((NUMBER, Content::Fixed64(bytes))) => number(f64::from_le_bytes(bytes), out)?,
        Some((STRING, Content::Bytes(bytes))) => text(bytes, out)?,
        Some((BOOL, Content::Varint(flag))) => out.push_str(if flag == 0 { "false" } else { "true" }),
        Some((STRUCT, Content::Bytes(bytes))) => object(bytes, out, depth + 1)?,
        Some((LIST, Content::Bytes(bytes))) => list(bytes, out, depth + 1)?,
        Some(_) => return Err(Wrong::Malformed),
        None => return Err(Wrong::NoKind),
    }
    Ok(())
}

fn list(message: &[u8], out: &mut String, depth: usize) -> Result<(), Wrong> {
    deeper(depth)?;
    let start = out.len();
    for field in Fields::of(message) {
        if let (VALUES, Content::Bytes(bytes)) = field? {
            out.push(if out.len() == start { '[' } else { ',' });
            value(bytes, out, depth)?;
        }
    }
    if out.len() == start {
        out.push('[');
    }
    out.push(']');
    Ok(())
}

fn deeper(depth: usize) -> Result<(), Wrong> {
    if depth > Json::MAX_DEPTH { Err(Wrong::TooDeep) } else { Ok(()) }
}

fn text(bytes: &[u8], out: &mut String) -> Result<(), Wrong> {
    let text = std::str::from_utf8(bytes).map_err(|_| Wrong::NotUtf8)?;
    out.push_str(&serde_json::to_string(text).map_err(|_| Wrong::NotUtf8)?);
    Ok(())
}

/// Whole numbers are written as such, as far as a float tells them apart.
fn number(number: f64, out: &mut String) -> Result<(), Wrong> {
    use fmt::Write as _;

    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !number.is_finite() {
        return Err(Wrong::NoNumber);
    }
    if number.fract() == 0.0 && number.abs() <= EXACT {
        let _ = write!(out, "{}", number as i64);
    } else {
        out.push_str(&serde_json::to_string(&number).map_err(|_| Wrong::NoNumber)?);
    }
    Ok(())
}

/// The wire form of a JSON text.
fn write(json: &str, bare: bool) -> Result<Vec<u8>, serde_json::Error> {
    let written = |json: &str| {
        let (mut out, mut reader) = (Vec::new(), serde_json::Deserializer::from_str(json));
        Writer { out: &mut out, bare, room: DEPTH }.deserialize(&mut reader)?;
        reader.end().map(|()| out)
    };
    // One number too large must not make the task unreadable that it is in, nor every list with that task.
    written(json).or_else(|_| written(&within_floats(json)))
}

/// The same JSON text, with the outermost floats in place of numbers beyond them.
fn within_floats(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => 1 + text_length(&rest[1..]),
            '-' | '0'..='9' => rest.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        out.push_str(match token.parse::<f64>() {
            Ok(f64::INFINITY) => "1.7976931348623157e308",
            Ok(f64::NEG_INFINITY) => "-1.7976931348623157e308",
            _ => token,
        });
        rest = behind;
    }
    out
}

/// How many bytes of this are a text, up to the quote behind it.
fn text_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

/// Writes JSON, as it is read, as a value, or, bare, as the struct or list itself.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
    bare: bool,
    /// How many messages may still be nested.
    room: usize,
}

impl Writer<'_> {
    fn put(self, number: u32, bytes: &[u8]) {
        // All of them are below 16.
        put_bytes(self.out, number as u8, bytes);
    }

    fn put_number(self, number: f64) {
        self.out.push((NUMBER as u8) << 3 | 1);
        self.out.extend_from_slice(&number.to_le_bytes());
    }
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.room >= STRUCT_DEPTH {
            return deserializer.deserialize_any(self);
        }
        let json = <&RawValue>::deserialize(deserializer)?.get();
        if json.starts_with(['[', '{']) {
            self.put(STRING, json.as_bytes());
            return Ok(());
        }
        serde_json::Deserializer::from_str(json).deserialize_any(self).map_err(D::Error::custom)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.out.extend_from_slice(&[(NULL as u8) << 3, 0]);
        Ok(())
    }

    fn visit_bool<E>(self, flag: bool) -> Result<(), E> {
        self.out.extend_from_slice(&[(BOOL as u8) << 3, flag.into()]);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.put_number(number as f64);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.put_number(number as f64);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.put_number(number);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.put(STRING, text.as_bytes());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let (mut all, mut one, room) = (Vec::new(), Vec::new(), self.room - LIST_DEPTH);
        while elements.next_element_seed(Writer { out: &mut one, bare: false, room })?.is_some() {
            put_bytes(&mut all, VALUES as u8, &one);
            one.clear();
        }
        self.put(LIST, &all);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let (mut all, mut entry, mut one, room) = (Vec::new(), Vec::new(), Vec::new(), self.room - STRUCT_DEPTH);
        while let Some(key) = members.next_key::<std::borrow::Cow<'de, str>>()? {
            members.next_value_seed(Writer { out: &mut one, bare: false, room })?;
            put_bytes(&mut entry, KEY as u8, key.as_bytes());
            put_bytes(&mut entry, VALUE as u8, &one);
            put_bytes(&mut all, FIELDS as u8, &entry);
            entry.clear();
            one.clear();
        }
        if self.bare {
            *self.out = all;
        } else {
            self.put(STRUCT, &all);
        }
        Ok(())
    }
}

impl Raw {
    fn merge(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        match wire_type {
            WireType::Varint => {
                let value = encoding::decode_varint(buf)?;
                encoding::encode_key(tag, wire_type, &mut self.0);
                encoding::encode_varint(value, &mut self.0);
            }
            WireType::SixtyFourBit => {
                let mut value = 0;
                encoding::fixed64::merge(wire_type, &mut value, buf, ctx)?;
                encoding::fixed64::encode(tag, &value, &mut self.0);
            }
            WireType::ThirtyTwoBit => {
                let mut value = 0;
                encoding::fixed32::merge(wire_type, &mut value, buf, ctx)?;
                encoding::fixed32::encode(tag, &value, &mut self.0);
            }
            WireType::LengthDelimited => {
                let mut bytes = Bytes::new();
                encoding::bytes::merge(wire_type, &mut bytes, buf, ctx)?;
                encoding::bytes::encode(tag, &bytes, &mut self.0);
            }
            WireType::StartGroup | WireType::EndGroup => encoding::skip_field(wire_type, tag, buf, ctx)?,
        }
        Ok(())
    }
}

macro_rules! message {
    ($name:ident) => {
        impl Message for $name {
            fn encode_raw(&self, buf: &mut impl BufMut) {
                buf.put_slice(&self.0.0);
            }

            fn merge_field(
                &mut self,
                tag: u32,
                wire_type: WireType,
                buf: &mut impl Buf,
                ctx: DecodeContext,
            ) -> Result<(), DecodeError> {
                self.0.merge(tag, wire_type, buf, ctx)
            }

            fn encoded_len(&self) -> usize {
                self.0.0.len()
            }

            fn clear(&mut self) {
                self.0.0.clear();
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.to_json() {
                    Ok(json) => json.fmt(f),
                    Err(_) => f.write_str(concat!("a malformed ", stringify!($name))),
                }
            }
        }
    };
}

message!(Struct);
message!(Value);

#[cfg(test)]
mod tests;
