use std::{borrow::Cow, fmt::Write as _};

use serde::de::{
    DeserializeOwned, IntoDeserializer as _,
    value::{Error as ValueError, StrDeserializer},
};
use serde_path_to_error::{Path, Segment};

use crate::error::Error;

/// Reads a JSON text that stands in this field.
pub(super) fn json<T: DeserializeOwned>(field: &str, text: &str) -> Result<T, Error> {
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
pub(super) fn text<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
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
