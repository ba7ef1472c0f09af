use std::{borrow::Cow, sync::Arc};

use serde::{Serialize, Serializer, de::DeserializeOwned};

use super::{FileRef, Form, read};
use crate::{
    error::Error,
    types::{Json, Message, Part, PartContent},
};

/// What an agent reads: the parts of a message as one text, one JSON value, one file, or a list of them.
///
/// It serialises as its [`Form`] does. See the [module docs](super) for the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    message: Arc<Message>,
    text: Text,
}

/// Where the text is: one part's is read in place.
#[derive(Clone, Debug, PartialEq)]
enum Text {
    None,
    Part(usize),
    Joined(String),
}

impl Input {
    /// Reads a message.
    ///
    /// # Errors
    /// [`InvalidParams`](crate::error::ErrorKind::InvalidParams), naming the part, if there are inline bytes in it.
    pub fn new(message: impl Into<Arc<Message>>) -> Result<Self, Error> {
        let message = message.into();
        let (mut first, mut more) = (None, false);
        for (index, part) in message.parts.iter().enumerate() {
            match &part.content {
                PartContent::Text(_) => {
                    more = first.is_some();
                    first = first.or(Some(index));
                }
                PartContent::Raw(_) => {
                    return Err(Error::invalid_params(
                        format!("message.parts[{index}]"),
                        "holds inline file bytes, which this agent has no blob store for; send a URL instead",
                    ));
                }
                PartContent::Url(_) | PartContent::Data(_) => {}
            }
        }
        let text = match first {
            None => Text::None,
            Some(_) if more => Text::Joined(message.text()),
            Some(index) => Text::Part(index),
        };
        Ok(Self { message, text })
    }

    /// All that is said in words: the text parts, joined by newlines, whatever stands between them. Empty if there are
    /// none.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.text {
            Text::None => "",
            Text::Part(index) => self.message.parts.get(*index).and_then(Part::as_text).unwrap_or_default(),
            Text::Joined(text) => text,
        }
    }

    /// What it is, to match on.
    #[must_use]
    pub fn form(&self) -> Form<'_> {
        match &self.message.parts[..] {
            [Part { content: PartContent::Data(data), .. }] => Form::Data(data),
            [part] if part.is_file() => FileRef::of(part).map_or(Form::Text(""), Form::File),
            parts if parts.iter().all(|part| part.as_text().is_some()) => Form::Text(self.text()),
            parts => Form::Parts(parts),
        }
    }

    /// The data, if the message is one part of data.
    #[must_use]
    pub fn data(&self) -> Option<&Json> {
        if let Form::Data(data) = self.form() { Some(data) } else { None }
    }

    /// The file, if the message is one file.
    #[must_use]
    pub fn file(&self) -> Option<FileRef<'_>> {
        if let Form::File(file) = self.form() { Some(file) } else { None }
    }

    /// All files of the message, in order.
    pub fn files(&self) -> impl Iterator<Item = FileRef<'_>> {
        self.message.parts.iter().filter_map(FileRef::of)
    }

    /// Reads it into a type of your own.
    ///
    /// - A text reads as a string.
    /// - One part of data reads as that data, whatever text stands beside it. If the type is not that of the data, the
    ///   list below is tried.
    /// - One file reads as a struct `{uri, mimeType?, name?}`.
    /// - Anything else reads as the list of its parts, in the JSON of [`Form::Parts`].
    ///
    /// [`Message::read`] does the same for messages that come from elsewhere.
    ///
    /// # Errors
    /// [`InvalidParams`](crate::error::ErrorKind::InvalidParams), naming the field, if it has another shape; what serde
    /// says of it is the source of the error, for the log alone. An agent that passes the error on before it awaits
    /// anything has the request refused with it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.message.read()
    }

    /// As JSON, whatever its form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.form().to_json()
    }

    /// As words for a model: a text as it is, anything else as compact JSON.
    #[must_use]
    pub fn to_prompt(&self) -> Cow<'_, str> {
        match self.form() {
            Form::Text(text) => Cow::Borrowed(text),
            Form::Data(data) => read::compact(data.get()),
            form => Cow::Owned(read::compact(form.to_json().get()).into_owned()),
        }
    }

    /// The message it was made of.
    #[must_use]
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// The message it was made of.
    #[must_use]
    pub fn into_message(self) -> Arc<Message> {
        self.message
    }
}

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.form().serialize(serializer)
    }
}

/// Refuses data that is no object.
pub(super) fn check_data(message: &Message) -> Result<(), Error> {
    let wrong = message.parts.iter().position(|part| part.as_data().is_some_and(|data| !data.is_object()));
    wrong.map_or(Ok(()), |index| {
        Err(Error::invalid_params(format!("message.parts[{index}].data"), "must be a JSON object"))
    })
}
