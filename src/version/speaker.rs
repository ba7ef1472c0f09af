use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::{
    dialect::{Dialect, DialectKey},
    encoded::Frame,
    error::Error,
    operation::{Answer, StreamEvent},
};

/// A dialect, and the key under which its texts are kept.
#[derive(Clone)]
pub(super) struct Speaker {
    dialect: Arc<dyn Dialect>,
    key: DialectKey,
}

impl Speaker {
    pub(super) fn new(dialect: impl Dialect) -> Self {
        Self { dialect: Arc::new(dialect), key: DialectKey::unique() }
    }

    pub(super) fn dialect(&self) -> &dyn Dialect {
        &*self.dialect
    }

    pub(super) fn answer(&self, answer: &Answer) -> Result<Bytes, Error> {
        let mut out = Vec::new();
        self.dialect.encode(answer, &mut out).map_err(|error| self.error(error))?;
        Ok(out.into())
    }

    pub(super) fn frame(&self, event: &StreamEvent) -> Result<Frame, Error> {
        let write = || {
            let mut out = Vec::new();
            self.dialect.encode_event(event, &mut out).map_err(|error| self.error(error))?;
            Ok(Bytes::from(out))
        };
        let text: Result<Bytes, Error> = match event {
            StreamEvent::Logged(entry) => entry.text(self.key, write),
            StreamEvent::Snapshot(..) | StreamEvent::Message(_) => write(),
        };
        Ok(Frame::new(text?).with_id(event.number()))
    }

    /// The error with its details as this dialect says them.
    pub(super) fn error(&self, error: Error) -> Error {
        if error.data().is_some() {
            return error;
        }
        match self.dialect.error_data(&error) {
            Some(data) => error.with_data(data),
            None => error,
        }
    }
}

impl fmt::Debug for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dialect.version())
    }
}
