use std::sync::LazyLock;

use bytes::Bytes;

use super::{v0_3, v1_0};
use crate::{
    dialect::DialectKey,
    encoded::Text,
    error::Error,
    operation::{Answer, Operation, OperationKind, ProtocolVersion, StreamEvent},
};

/// One version's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    V1_0,
    V0_3,
    /// Version 0.3 with the bytes of files in base64.
    V0_3Base64,
}

/// Under which the message of an event is kept, for all who read it.
static KEYS: LazyLock<[DialectKey; 3]> = LazyLock::new(|| [(); 3].map(|()| DialectKey::unique()));

impl Language {
    pub(super) fn of(version: ProtocolVersion, base64_files: bool) -> Self {
        match (version < ProtocolVersion::V1_0, base64_files) {
            (false, _) => Self::V1_0,
            (true, false) => Self::V0_3,
            (true, true) => Self::V0_3Base64,
        }
    }

    /// How this version has the bytes of files.
    const fn files(self) -> v0_3::Files {
        if matches!(self, Self::V0_3Base64) { v0_3::Files::Base64 } else { v0_3::Files::Bytes }
    }

    pub(super) fn decode(self, kind: OperationKind, message: Bytes) -> Result<Operation, Error> {
        match self {
            Self::V1_0 => v1_0::decode(kind, message),
            Self::V0_3 | Self::V0_3Base64 => v0_3::decode(kind, message, self.files()),
        }
    }

    pub(super) fn answer(self, answer: &Answer) -> Result<Text, Error> {
        let message = match self {
            Self::V1_0 => v1_0::answer(answer),
            Self::V0_3 | Self::V0_3Base64 => v0_3::answer(answer, self.files()),
        };
        message.map(Text::from)
    }

    pub(super) fn event(self, event: &StreamEvent) -> Result<Text, Error> {
        let write = || {
            let message = match self {
                Self::V1_0 => v1_0::event(event),
                Self::V0_3 | Self::V0_3Base64 => v0_3::event(event, self.files()),
            };
            message.map(|message| Text::shared(&message))
        };
        match event {
            StreamEvent::Logged(entry) => entry.text(KEYS[self as usize], write),
            StreamEvent::Passed(_) | StreamEvent::Snapshot(..) | StreamEvent::Message(_) => write(),
        }
    }
}
