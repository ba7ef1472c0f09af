//! Answers as JSON text: one document, or a stream of frames.
//!
//! At the call level a document is the bare result of a method, and the items of a stream are
//! `Result<Frame, Error>`. At the whole level a binding has put its envelope around them, errors included, and the
//! items are plain [`Frame`]s, ready for the [`sse`](crate::sse) layer.

use std::{fmt, ops::Deref, sync::Arc};

use bytes::Bytes;

use crate::scan;

/// One JSON document, or a stream of them.
#[non_exhaustive]
pub enum Encoded<S> {
    /// One JSON document.
    Document(Bytes),
    /// A stream of [`Frame`]s.
    Stream(S),
}

impl<S> Encoded<S> {
    /// With the stream put through a function.
    pub fn map_stream<T>(self, wrap: impl FnOnce(S) -> T) -> Encoded<T> {
        match self {
            Self::Document(document) => Encoded::Document(document),
            Self::Stream(stream) => Encoded::Stream(wrap(stream)),
        }
    }
}

impl<S> fmt::Debug for Encoded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(document) => f.debug_tuple("Document").field(document).finish(),
            Self::Stream(_) => f.write_str("Stream(..)"),
        }
    }
}

/// One JSON document of a stream: an event, and what a binding put around it.
///
/// The event's text is shared by everyone who reads the stream; only the envelope belongs to one request, so the two
/// are kept apart and meet in the socket's buffer.
#[derive(Clone, Debug)]
pub struct Frame {
    id: Option<u64>,
    event: Option<&'static str>,
    head: Bytes,
    data: Text,
    tail: Bytes,
}

/// The text of an event. Clones share it.
///
/// It is one of two: bytes from anywhere, or a slice that many readers share, which takes one allocation where `Bytes`
/// take a second one with their first clone.
#[derive(Clone, Debug)]
pub struct Text(Form);

#[derive(Clone, Debug)]
enum Form {
    Bytes(Bytes),
    /// Whether it is on one line is found out once, for all who will write it.
    Shared {
        text: Arc<[u8]>,
        on_one_line: bool,
    },
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Form::Bytes(bytes) => bytes,
            Form::Shared { text, .. } => text,
        }
    }
}

impl<T: Into<Bytes>> From<T> for Text {
    fn from(bytes: T) -> Self {
        Self(Form::Bytes(bytes.into()))
    }
}

impl Text {
    /// A copy that many readers will share.
    #[must_use]
    pub fn shared(text: &[u8]) -> Self {
        Self(Form::Shared { text: text.into(), on_one_line: is_on_one_line(text) })
    }

    /// As [`shared`](Self::shared), of a text that is known to be on one line.
    pub(crate) fn shared_line(text: &[u8]) -> Self {
        Self(Form::Shared { text: text.into(), on_one_line: true })
    }
}

/// True if there is nothing in a text of which some reader may think that a line ends there, nor anything that begins
/// like it.
pub(crate) fn is_on_one_line(text: &[u8]) -> bool {
    scan::none(text, may_end_line)
}

/// True of line ends, and of the first bytes of U+0085, U+2028 and U+2029, which some readers take for such.
pub(crate) fn may_end_line(byte: u8) -> bool {
    (byte == b'\n') | (byte == b'\r') | (byte == 0xC2) | (byte == 0xE2)
}

impl Frame {
    /// A bare document.
    pub fn new(data: impl Into<Text>) -> Self {
        Self::of(data.into())
    }

    pub(crate) fn of(data: Text) -> Self {
        Self { id: None, event: None, head: Bytes::new(), data, tail: Bytes::new() }
    }

    /// With the number by which a reader can come back to it.
    #[must_use]
    pub fn with_id(mut self, id: Option<u64>) -> Self {
        self.id = id;
        self
    }

    /// With a name that tells readers what sort of event it is; without one it is a plain message. It must be one line.
    #[must_use]
    pub fn with_event(mut self, name: &'static str) -> Self {
        self.event = Some(name);
        self
    }

    /// With an envelope: text that goes before and behind.
    #[must_use]
    pub fn enclosed(mut self, head: Bytes, tail: Bytes) -> Self {
        self.head = head;
        self.tail = tail;
        self
    }

    /// The number by which a reader can come back to it.
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        self.id
    }

    /// The name that tells readers what sort of event it is.
    #[must_use]
    pub fn event(&self) -> Option<&'static str> {
        self.event
    }

    /// The text, in pieces that are to be written one behind the other.
    #[must_use]
    pub fn pieces(&self) -> [&[u8]; 3] {
        [&self.head, &self.data, &self.tail]
    }

    /// True if the document between the envelope's pieces is known to be on one line.
    pub(crate) fn is_on_one_line(&self) -> bool {
        matches!(self.data.0, Form::Shared { on_one_line: true, .. })
    }

    /// How many bytes the text has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len() + self.data.len() + self.tail.len()
    }

    /// True if there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text in one piece.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.pieces().into_iter().flatten().copied().collect()
    }
}
