use std::{borrow::Cow, fmt::Write as _};

use serde::de::{
    DeserializeOwned, IntoDeserializer as _,
    value::{Error as ValueError, StrDeserializer},
};
use serde_path_to_error::{Path, Segment};

use super::{FileRef, Form};
use crate::{
    error::Error,
    types::{Message, Part, PartContent},
};

impl Message {
    /// Reads it into a type of your own, by the rules of [`Input::read`](super::Input::read). This is for messages that
    /// come from elsewhere, such as a task's [history](crate::agent::TaskContext::history).
    ///
    /// # Errors
    /// [`InvalidParams`](crate::error::ErrorKind::InvalidParams), naming the field, if it has another shape, or holds
    /// inline bytes of a file.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if let Some(index) = self.parts.iter().position(|part| matches!(part.content, PartContent::Raw(_))) {
            let field = format!("message.parts[{index}]");
            return Err(Error::invalid_params(field, "holds inline file bytes, which cannot be read as JSON"));
        }
        match &self.parts[..] {
            parts if parts.iter().all(is_text) => text(&self.text()),
            [part] if part.is_file() => {
                let file = FileRef::of(part).map_or(Form::Text(""), Form::File);
                json("message.parts[0]", file.to_json().get())
            }
            parts => data_or_list(parts),
        }
    }
}

fn is_text(part: &Part) -> bool {
    part.as_text().is_some()
}

/// Reads the only part of data among texts, else the list of all parts. If neither fits, the data is what was wrong.
fn data_or_list<T: DeserializeOwned>(parts: &[Part]) -> Result<T, Error> {
    let list = || json("message.parts", Form::Parts(parts).to_json().get());
    let mut others = parts.iter().enumerate().filter(|(_, part)| !is_text(part));
    let (Some((index, data)), None) = (others.next(), others.next()) else { return list() };
    let Some(data) = data.as_data() else { return list() };
    let read = json(&format!("message.parts[{index}].data"), data.get());
    if parts.len() == 1 { read } else { read.or_else(|error| list().map_err(|_| error)) }
}

/// Reads a JSON text that stands in this field.
fn json<T: DeserializeOwned>(field: &str, text: &str) -> Result<T, Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let mut field = field.to_owned();
        extend(&mut field, error.path());
        let words = error.inner().to_string();
        let description = match named(&words) {
            Some((Named::Missing, name)) => {
                field.push('.');
                field.push_str(name);
                "is missing"
            }
            Some((Named::Unknown, name)) => {
                // The path may end in the unknown name already.
                if !field.ends_with(&format!(".{name}")) {
                    field.push('.');
                    field.push_str(name);
                }
                "is not known to the agent"
            }
            None => "is not of the type or value that the agent expects",
        };
        Error::invalid_params(field, description).with_source(error.into_inner())
    })
}

/// Reads a text, which only suits types that read strings.
fn text<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let reader: StrDeserializer<'_, ValueError> = text.into_deserializer();
    T::deserialize(reader).map_err(|error| {
        Error::invalid_params("message.parts", "must be one part of data that the agent understands").with_source(error)
    })
}

enum Named {
    Missing,
    Unknown,
}

/// The field that an error of serde is about, which its path does not always include.
fn named(words: &str) -> Option<(Named, &str)> {
    let (kind, rest) = words
        .strip_prefix("missing field `")
        .map(|rest| (Named::Missing, rest))
        .or_else(|| words.strip_prefix("unknown field `").map(|rest| (Named::Unknown, rest)))?;
    rest.split_once('`').map(|(name, _)| (kind, name))
}

fn extend(field: &mut String, path: &Path) {
    for segment in path {
        // Writing to a string cannot fail.
        let _ = match segment {
            Segment::Seq { index } => write!(field, "[{index}]"),
            Segment::Map { key } => write!(field, ".{key}"),
            // The name of a variant is no field of the sender's.
            Segment::Enum { .. } | Segment::Unknown => Ok(()),
        };
    }
}

/// A JSON text without white space between its tokens. It is borrowed if there was none.
pub(super) fn compact(text: &str) -> Cow<'_, str> {
    let (mut out, mut kept) = (String::new(), 0);
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\t' | b'\n' | b'\r' if !in_string => {
                out.push_str(&text[kept..at]);
                kept = at + 1;
            }
            _ => {}
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn white_space_within_strings_stays() {
        assert_eq!(compact("{ \"a b\" : [ 1 ,\n\"x \\\" y\\\\\" , 2 ] }"), r#"{"a b":[1,"x \" y\\",2]}"#);
        assert!(matches!(compact(r#"{"a":" "}"#), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn compacting_a_pretty_text_gives_the_plain_one(keys in proptest::collection::btree_map(".*", ".*", 0..5)) {
            let value = serde_json::json!({"x": keys, "y": [1, null]});
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(compact(&pretty), value.to_string());
        }
    }
}
