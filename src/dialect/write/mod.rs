//! Writing JSON behind what is in a buffer.

mod line;
mod string;

use std::io::Write;

use serde::Serialize;

pub use self::line::escape_line_breaks;
pub(super) use self::string::string;
use crate::{
    error::Error,
    types::{InlineBytes, Timestamp},
};

/// Writes a value of your own behind what is in the buffer, as one JSON text without raw line breaks.
///
/// # Errors
/// An internal error if the value cannot be written as JSON, such as a map with keys that are no strings.
pub fn write_json<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    serde_json::to_writer(&mut *out, value).map_err(Error::internal)?;
    escape_line_breaks(out, start);
    Ok(())
}

/// An array.
pub(super) fn array<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        each(out, item);
    }
    out.push(b']');
}

/// An object that is being written. It must be [ended](Self::end).
///
/// Its methods are small and many, and inlined so that each member is a copy or two.
pub(super) struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    #[inline]
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    /// A member of this name, which must need no escapes; its value is to be written next.
    #[inline]
    pub(super) fn member(&mut self, name: &str) -> &mut Vec<u8> {
        self.out.extend_from_slice(if self.is_empty { b"\"" } else { b",\"" });
        self.is_empty = false;
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    #[inline]
    pub(super) fn text(&mut self, name: &str, text: &str) {
        string(self.member(name), text);
    }

    #[inline]
    pub(super) fn some_text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    /// Left out if there are none.
    #[inline]
    pub(super) fn some_texts(&mut self, name: &str, texts: &[String]) {
        if !texts.is_empty() {
            array(self.member(name), texts, |out, text| string(out, text));
        }
    }

    #[inline]
    pub(super) fn flag(&mut self, name: &str, flag: bool) {
        self.member(name).extend_from_slice(if flag { b"true" } else { b"false" });
    }

    /// JSON as it is, on one line.
    pub(super) fn json(&mut self, name: &str, json: &str) {
        let out = self.member(name);
        let start = out.len();
        out.extend_from_slice(json.as_bytes());
        escape_line_breaks(out, start);
    }

    /// Left out if there is none.
    #[inline]
    pub(super) fn some_json(&mut self, name: &str, json: Option<&str>) {
        if let Some(json) = json {
            self.json(name, json);
        }
    }

    /// A word without anything that needs an escape, in quotes.
    #[inline]
    pub(super) fn word(&mut self, name: &str, word: &str) {
        let out = self.member(name);
        out.push(b'"');
        out.extend_from_slice(word.as_bytes());
        out.push(b'"');
    }

    /// Something that prints without anything that needs an escape, in quotes.
    pub(super) fn plain(&mut self, name: &str, value: impl std::fmt::Display) {
        // A `Vec` can always be written.
        let _ = write!(self.member(name), "\"{value}\"");
    }

    pub(super) fn timestamp(&mut self, name: &str, timestamp: Timestamp) {
        match timestamp.digits() {
            Some(digits) => {
                let out = self.member(name);
                out.push(b'"');
                out.extend_from_slice(&digits);
                out.push(b'"');
            }
            None => self.plain(name, timestamp),
        }
    }

    pub(super) fn number(&mut self, name: &str, number: u64) {
        let _ = write!(self.member(name), "{number}");
    }

    /// Bytes, encoded in place: they may be many.
    pub(super) fn base64(&mut self, name: &str, bytes: &InlineBytes) {
        let out = self.member(name);
        out.push(b'"');
        bytes.write_base64(out);
        out.push(b'"');
    }

    #[inline]
    pub(super) fn end(self) {
        self.out.push(b'}');
    }
}
