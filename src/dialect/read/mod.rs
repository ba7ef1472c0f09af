//! Reading parameters: straight from the request's body, with the exact field in every complaint.

mod at;
mod message;
mod object;
mod path;
mod scalar;

use serde::Deserialize;
use serde_path_to_error::Segment;

pub(crate) use self::at::At;
pub(super) use self::{
    message::{Optional, parts},
    object::{InPlace, Member, Members, fill, member, nullable_member, object},
    path::{id_of, read_rest},
    scalar::{EnumValue, Int32, List, Struct, Text, Whole},
};
use crate::{
    call::{Binding, Call},
    error::Error,
};

/// Reads the parameters of a call, which must be an object, into a type of your own; it may borrow from the call.
///
/// The text is read once. Only when that fails is it read again, to find out which field is to blame.
///
/// ```
/// use a2a_layers::{
///     call::{Binding, Call},
///     dialect::read_params,
/// };
///
/// #[derive(serde::Deserialize)]
/// struct Params<'a> {
///     id: &'a str,
/// }
///
/// let call = Call::new(Binding::JsonRpc, "look").with_params(r#"{"id":"t1"}"#);
/// assert_eq!(read_params::<Params>(&call)?.id, "t1");
///
/// let call = Call::new(Binding::JsonRpc, "look").with_params(r#"{"id":1}"#);
/// let error = read_params::<Params>(&call).err().expect("a number is no string");
/// assert_eq!(error.violations()[0].field, "id");
/// # Ok::<(), a2a_layers::error::Error>(())
/// ```
///
/// # Errors
/// [`InvalidParams`](crate::error::ErrorKind::InvalidParams), naming the field, if there are no parameters, if they are
/// no JSON object, or if a field is not as the type wants it. Words that a type gives to
/// [`serde::de::Error::custom`] reach the caller if they begin with "must " or "is ".
pub fn read_params<'a, T: Deserialize<'a>>(call: &'a Call) -> Result<T, Error> {
    let (whole, text) = text_of(call)?;
    serde_json::from_str(text).map_err(|error| explain::<T>(text, whole, &error))
}

/// Reads the parameters of a call as [`read_params`] does, into a type that is made for it.
pub(in crate::dialect) fn read_members<'a, T: Members<'a>>(call: &'a Call) -> Result<T, Error> {
    let (whole, text) = text_of(call)?;
    let (mut members, mut deserializer) = (T::default(), serde_json::Deserializer::from_str(text));
    match fill(&mut members, &mut deserializer).and_then(|()| deserializer.end()) {
        Ok(()) => Ok(members),
        Err(error) => Err(explain::<T>(text, whole, &error)),
    }
}

/// What the caller calls its parameters, and what they are.
fn text_of(call: &Call) -> Result<(&'static str, &str), Error> {
    let whole = if call.binding() == Binding::HttpJson { "body" } else { "params" };
    let params = call.params().ok_or_else(|| Error::invalid_params(whole, "must be given"))?;
    let text = std::str::from_utf8(params).map_err(|_| Error::invalid_params(whole, "must be UTF-8"))?;
    // Types that are derived would take an array as well, member by member.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(Error::invalid_params(whole, "must be an object"));
    }
    Ok((whole, text))
}

#[cold]
fn explain<'a, T: Deserialize<'a>>(text: &'a str, whole: &str, error: &serde_json::Error) -> Error {
    let found = serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_str(text)).err();
    let (mut path, (field, description)) = match &found {
        Some(found) => (path_text(found.path()), words(found.inner())),
        // The object itself is well, so it is what follows that is not.
        None => (String::new(), words(error)),
    };
    if let Some(field) = field {
        push_field(&mut path, &field);
    }
    if path.is_empty() {
        path.push_str(whole);
    }
    Error::invalid_params(path, description)
}

fn path_text(path: &serde_path_to_error::Path) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("[{index}]")),
            Segment::Map { key } => push_field(&mut text, key),
            // What stands for a name that could not be read.
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    text
}

fn push_field(path: &mut String, field: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(field);
}

/// What to say of a reader's error: the member of the object that it is about, and words of our own.
fn words(error: &serde_json::Error) -> (Option<String>, String) {
    let text = error.to_string();
    if !error.is_data() {
        // The reader calls it a fault of syntax, but 1e999 is a number as JSON has it.
        let too_large = text.starts_with("number out of range");
        return (None, if too_large { "is out of range" } else { "is not well-formed JSON" }.to_owned());
    }
    let text = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]);
    // The value may say anything, but it stands before what was expected.
    if let Some(expected) =
        text.strip_prefix("invalid ").and_then(|text| text.rfind(", expected ").map(|at| &text[at + 11..]))
    {
        return (None, format!("must be {expected}"));
    }
    for (start, description) in [("missing field `", "must be given"), ("duplicate field `", object::TWICE)] {
        if let Some(field) = text.strip_prefix(start).and_then(|text| text.strip_suffix('`')) {
            return (Some(field.to_owned()), description.to_owned());
        }
    }
    let (field, text) = match text.strip_prefix('.').and_then(|text| text.split_once(' ')) {
        Some((field, text)) => (Some(field.to_owned()), text),
        None => (None, text),
    };
    let ours = text.starts_with("must ") || text.starts_with("is ");
    (field, if ours { text } else { "has a value that it must not have" }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::MAX_ELEMENTS;

    object! {
        struct Outer<'de> {
            inner: Inner<'de> = "inner",
            list: List<Inner<'de>> = "list",
        }
    }
    object! {
        struct Inner<'de> {
            name: Text<'de> = "name" | "other_name",
            count: Int32 = "count",
            meta: Struct = "meta",
        }
    }

    fn complaint(params: &'static str) -> String {
        let call = Call::new(Binding::JsonRpc, "m").with_params(params);
        let error = read_params::<Outer>(&call).map(|outer| (outer.inner.is_some(), outer.list.is_some())).unwrap_err();
        assert_eq!(error.code(), -32602);
        error.message().strip_prefix("Invalid parameters: ").unwrap().to_owned()
    }

    #[test]
    fn f06_complaints_name_the_field_in_words_of_our_own() {
        for (params, expected) in [
            ("", "params must be an object"),
            ("[1,2]", "params must be an object"),
            ("\"x\"", "params must be an object"),
            ("null", "params must be an object"),
            ("{", "params is not well-formed JSON"),
            ("{} x", "params is not well-formed JSON"),
            (r#"{"inner":{"name":"a"},}"#, "params is not well-formed JSON"),
            (r#"{"inner":5}"#, "inner must be an object"),
            (r#"{"inner":[]}"#, "inner must be an object"),
            (r#"{"inner":{"name":1}}"#, "inner.name must be a string"),
            (r#"{"inner":{"name":"\ud800"}}"#, "inner.name is not well-formed JSON"),
            (r#"{"list":{}}"#, "list must be an array"),
            (r#"{"list":[{},{"count":"x, expected y"}]}"#, "list[1].count must be a 32-bit integer"),
            (r#"{"list":[{"count":4294967296}]}"#, "list[0].count must be a 32-bit integer"),
            (r#"{"list":[{"count":1e999}]}"#, "list[0].count is out of range"),
            (r#"{"list":[{"meta":[]}]}"#, "list[0].meta must be an object"),
            (r#"{"list":[{"name":"a","other_name":"b"}]}"#, "list[0].other_name must be given only once"),
            (r#"{"inner":{},"inner":{}}"#, "inner must be given only once"),
        ] {
            assert_eq!(complaint(params), expected, "{params}");
        }
        let call = Call::new(Binding::JsonRpc, "m");
        assert_eq!(read_params::<Outer>(&call).err().unwrap().violations()[0].field, "params");
        let call = call.with_params(&b"{\"\xff\":1}"[..]);
        assert_eq!(read_params::<Outer>(&call).err().unwrap().code(), -32602);
    }

    #[test]
    fn derived_types_are_explained_too() {
        #[derive(Debug, serde::Deserialize)]
        struct Derived {
            #[serde(rename = "id")]
            _id: String,
        }
        for (params, expected) in [
            ("{}", "id must be given"),
            (r#"{"id":"a","id":"b"}"#, "id must be given only once"),
            (r#"{"id":{}}"#, "id must be a string"),
        ] {
            let call = Call::new(Binding::JsonRpc, "m").with_params(params);
            let error = read_params::<Derived>(&call).unwrap_err();
            assert_eq!(error.message(), format!("Invalid parameters: {expected}"));
        }
    }

    #[test]
    fn nulls_count_as_absent_and_unknown_members_of_any_depth_are_skipped() {
        let deep = format!(r#"{{"x":{}{},"inner":null}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let call = Call::new(Binding::JsonRpc, "m").with_params(deep);
        assert!(read_params::<Outer>(&call).unwrap().inner.is_none());
        let deep = format!(r#"{{"inner":{{"meta":{{"x":{}{}}}}}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let call = Call::new(Binding::JsonRpc, "m").with_params(deep);
        let error = read_params::<Outer>(&call).err().unwrap();
        assert_eq!(error.message(), "Invalid parameters: inner.meta is nested deeper than 100 levels");
    }

    #[test]
    fn arrays_are_limited_at_the_edge() {
        let of = |count: usize| {
            let list = vec!["{}"; count].join(",");
            Call::new(Binding::JsonRpc, "m").with_params(format!(r#"{{"list":[{list}]}}"#))
        };
        let (edge, beyond) = (of(MAX_ELEMENTS), of(MAX_ELEMENTS + 1));
        assert_eq!(read_params::<Outer>(&edge).unwrap().list.unwrap().0.len(), MAX_ELEMENTS);
        let error = read_params::<Outer>(&beyond).err().unwrap();
        assert_eq!(error.message(), "Invalid parameters: list must have at most 10000 elements");
    }

    #[test]
    fn numbers_may_be_written_in_several_ways() {
        for (text, expected) in [("5", 5), ("\"5\"", 5), ("5.0", 5), ("5e0", 5), ("-1", -1)] {
            assert_eq!(serde_json::from_str::<Int32>(text).unwrap().0, expected, "{text}");
        }
        for text in ["5.5", "\"\"", "\"5.5\"", "2147483648", "true", "{}", "99999999999999999999999"] {
            assert!(serde_json::from_str::<Int32>(text).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Whole>("\"5\"").is_err(), "only ProtoJSON has numbers in strings");
        assert_eq!(serde_json::from_str::<Whole>("5").unwrap().0, 5);
    }
}
