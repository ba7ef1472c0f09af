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
}

/// Under which the message of an event is kept, for all who read it.
static KEYS: LazyLock<[DialectKey; 2]> = LazyLock::new(|| [DialectKey::unique(), DialectKey::unique()]);

impl Language {
    pub(super) fn of(version: ProtocolVersion) -> Self {
        if version < ProtocolVersion::V1_0 { Self::V0_3 } else { Self::V1_0 }
    }

    pub(super) fn decode(self, kind: OperationKind, message: Bytes) -> Result<Operation, Error> {
        match self {
            Self::V1_0 => v1_0::decode(kind, message),
            Self::V0_3 => v0_3::decode(kind, message),
        }
    }

    pub(super) fn answer(self, answer: &Answer) -> Result<Text, Error> {
        let message = match self {
            Self::V1_0 => v1_0::answer(answer),
            Self::V0_3 => v0_3::answer(answer),
        };
        message.map(Text::from)
    }

    pub(super) fn event(self, event: &StreamEvent) -> Result<Text, Error> {
        let write = || {
            let message = match self {
                Self::V1_0 => v1_0::event(event),
                Self::V0_3 => v0_3::event(event),
            };
            message.map(|message| Text::shared(&message))
        };
        match event {
            StreamEvent::Logged(entry) => entry.text(KEYS[self as usize], write),
            StreamEvent::Snapshot(..) | StreamEvent::Message(_) => write(),
        }
    }
}
