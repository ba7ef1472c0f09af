use super::{InlineBytes, Json, JsonObject};

/// One piece of a message or an artifact (spec 1.0 §4.1.6).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// What it holds.
    pub content: PartContent,
    /// Anything the sender wants to say about it.
    pub metadata: Option<JsonObject>,
    /// The name of the file.
    pub filename: Option<String>,
    /// The media type (MIME type) of the content.
    pub media_type: Option<String>,
}

/// What a [`Part`] holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PartContent {
    /// Text.
    Text(String),
    /// A file's bytes, inline.
    Raw(InlineBytes),
    /// A file by its URL, which is never fetched by this crate.
    Url(String),
    /// Structured data.
    Data(Json),
}

impl Part {
    /// A part of this content and nothing else.
    #[must_use]
    pub const fn new(content: PartContent) -> Self {
        Self { content, metadata: None, filename: None, media_type: None }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()))
    }

    /// A file's bytes, inline.
    pub fn raw(bytes: impl Into<InlineBytes>) -> Self {
        Self::new(PartContent::Raw(bytes.into()))
    }

    /// A file by its URL.
    pub fn url(url: impl Into<String>) -> Self {
        Self::new(PartContent::Url(url.into()))
    }

    /// Structured data.
    pub fn data(data: impl Into<Json>) -> Self {
        Self::new(PartContent::Data(data.into()))
    }

    /// With this file name.
    #[must_use]
    pub fn with_filename(mut self, filename: impl Into<String>) -> Self {
        self.filename = Some(filename.into());
        self
    }

    /// With this media type.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// With this metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: JsonObject) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// The text, if it holds one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let PartContent::Text(text) = &self.content { Some(text) } else { None }
    }

    /// The data, if it holds some.
    #[must_use]
    pub const fn as_data(&self) -> Option<&Json> {
        if let PartContent::Data(data) = &self.content { Some(data) } else { None }
    }

    /// True if it holds a file, inline or by its URL.
    #[must_use]
    pub const fn is_file(&self) -> bool {
        matches!(self.content, PartContent::Raw(_) | PartContent::Url(_))
    }

    /// True if it is a text and says nothing else; such parts can be joined without loss.
    #[must_use]
    pub const fn is_plain_text(&self) -> bool {
        matches!(self.content, PartContent::Text(_))
            && self.metadata.is_none()
            && self.filename.is_none()
            && self.media_type.is_none()
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<Json> for Part {
    fn from(data: Json) -> Self {
        Self::data(data)
    }
}

impl From<serde_json::Value> for Part {
    fn from(data: serde_json::Value) -> Self {
        Self::data(data)
    }
}
