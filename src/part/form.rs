use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::types::{Json, Part, PartContent};

/// What an [`Input`](super::Input) is.
///
/// It serialises as the JSON that an agent would read: a string, the data itself, a file object, or a list of objects
/// that each have one member, `text`, `data` or `file`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form<'a> {
    /// The message is text: all its parts, joined by newlines.
    Text(&'a str),
    /// The message is one part of data.
    Data(&'a Json),
    /// The message is one file.
    File(FileRef<'a>),
    /// The message is anything else: its parts, in the order they came in.
    Parts(&'a [Part]),
}

/// A file by its URL.
///
/// It serialises as `{"uri":"…","mimeType":"…","name":"…"}`; what is not known is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileRef<'a> {
    /// Where the file is, just as the sender put it, or where the [`blob`](crate::blob) layer has put it.
    pub uri: &'a str,
    /// Its media type, as far as the sender says.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<&'a str>,
    /// Its name, as far as the sender says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
}

impl<'a> FileRef<'a> {
    pub(super) fn of(part: &'a Part) -> Option<Self> {
        let PartContent::Url(uri) = &part.content else { return None };
        Some(Self { uri, media_type: part.media_type.as_deref(), name: part.filename.as_deref() })
    }
}

impl Form<'_> {
    pub(super) fn to_json(self) -> Json {
        if let Form::Data(data) = self {
            return data.clone();
        }
        // Strings and JSON texts always can be written, so there is nothing to lose here.
        Json::from_serialize(&self).unwrap_or_else(|_| serde_json::Value::Null.into())
    }
}

impl Serialize for Form<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Form::Text(text) => serializer.serialize_str(text),
            Form::Data(data) => data.serialize(serializer),
            Form::File(file) => file.serialize(serializer),
            Form::Parts(parts) => serializer.collect_seq(parts.iter().map(Tagged)),
        }
    }
}

/// A part of a list: an object whose one member says what it is.
struct Tagged<'a>(&'a Part);

impl Serialize for Tagged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match &self.0.content {
            PartContent::Text(text) => map.serialize_entry("text", text)?,
            PartContent::Data(data) => map.serialize_entry("data", data)?,
            PartContent::Url(_) | PartContent::Raw(_) => map.serialize_entry("file", &FileRef::of(self.0))?,
        }
        map.end()
    }
}
