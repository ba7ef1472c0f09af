//! Answers as JSON text: one document, or a stream of frames.
//!
//! At the call level a document is the bare result of a method, and the items of a stream are
//! `Result<Frame, Error>`. At the whole level a binding has put its envelope around them, errors included, and the
//! items are plain [`Frame`]s, ready for the [`sse`](crate::sse) layer.

use std::fmt;

use bytes::Bytes;

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
    head: Bytes,
    data: Bytes,
    tail: Bytes,
}

impl Frame {
    /// A bare document.
    pub fn new(data: impl Into<Bytes>) -> Self {
        Self { id: None, head: Bytes::new(), data: data.into(), tail: Bytes::new() }
    }

    /// With the number by which a reader can come back to it.
    #[must_use]
    pub fn with_id(mut self, id: Option<u64>) -> Self {
        self.id = id;
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

    /// The text, in pieces that are to be written one behind the other.
    #[must_use]
    pub fn pieces(&self) -> [&Bytes; 3] {
        [&self.head, &self.data, &self.tail]
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
