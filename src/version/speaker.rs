use std::{cell::Cell, fmt, mem, sync::Arc};

use bytes::Bytes;

use crate::{
    call::{Binding, Call},
    dialect::{Dialect, DialectKey},
    encoded::{Frame, Text},
    error::Error,
    operation::{Answer, ProtocolVersion, StreamEvent},
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

    /// True if it speaks this version over this binding.
    pub(super) fn speaks(&self, version: ProtocolVersion, binding: Binding) -> bool {
        self.dialect.version() == version && self.dialect.speaks(binding)
    }

    /// True if it can read the method of a call.
    pub(super) fn knows(&self, call: &Call) -> bool {
        self.dialect.speaks(call.binding()) && self.dialect.operation(call.method()).is_some()
    }

    pub(super) fn answer(&self, answer: &Answer) -> Result<Bytes, Error> {
        written(Bytes::copy_from_slice, |out| self.dialect.encode(answer, out)).map_err(|error| self.error(error))
    }

    pub(super) fn frame(&self, event: &StreamEvent) -> Result<Frame, Error> {
        let shared = if self.dialect.writes_one_line() { Text::shared_line } else { Text::shared };
        let write = || written(shared, |out| self.dialect.encode_event(event, out)).map_err(|error| self.error(error));
        let text = match event {
            StreamEvent::Logged(entry) => entry.text(self.key, write),
            StreamEvent::Passed(_) | StreamEvent::Snapshot(..) | StreamEvent::Message(_) => write(),
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

/// The largest text, in bytes, that is copied out of the scratch buffer. Each thread keeps a buffer of that size, or of
/// up to twice that if a text has made it grow.
const SCRATCH: usize = 16 << 10;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A text, in memory that fits it.
///
/// Nobody knows beforehand how long a text will be. It is written into a buffer that is there already and copied out,
/// which costs less than growing a new buffer step by step, and an event whose text is kept takes no room to spare.
fn written<T: From<Vec<u8>>>(
    copy: impl FnOnce(&[u8]) -> T,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<T, Error> {
    // A dialect that writes within its writing finds an empty buffer, and all is well.
    let mut out = BUFFER.take();
    out.clear();
    out.reserve(SCRATCH);
    let result = write(&mut out);
    let text = if out.len() > SCRATCH { mem::take(&mut out).into() } else { copy(&out) };
    if out.capacity() <= 2 * SCRATCH {
        BUFFER.set(out);
    }
    result.map(|()| text)
}

impl fmt::Debug for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dialect.version())
    }
}
