//! What both versions convert alike.

use std::sync::Arc;

use prost_types::Timestamp as WireTimestamp;

use super::proto::{Struct, v1_0};
use crate::{
    dialect::At,
    error::{Error, ErrorKind},
    types::{JsonObject, Role, TaskState, Timestamp},
};

/// Reads the message of a request.
pub(super) fn read<M: prost::Message + Default>(message: bytes::Bytes) -> Result<M, Error> {
    M::decode(message).map_err(|error| Error::new(ErrorKind::InvalidRequest).with_detail(error.to_string()))
}

pub(super) fn write(message: &impl prost::Message) -> Vec<u8> {
    message.encode_to_vec()
}

/// The text here must say something.
pub(super) fn filled(text: String, at: &At<'_>) -> Result<String, Error> {
    if text.is_empty() { Err(at.invalid("must not be empty")) } else { Ok(text) }
}

/// An empty text is one that is not there.
pub(super) fn optional(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

pub(super) fn shared(text: String) -> Option<Arc<str>> {
    optional(text).map(Arc::from)
}

pub(super) fn text_of(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

pub(super) fn read_object(object: Option<Struct>, at: &At<'_>) -> Result<Option<JsonObject>, Error> {
    object.map(|object| object.read(at)).transpose()
}

pub(super) fn object(object: Option<&JsonObject>) -> Result<Option<Struct>, Error> {
    object.map(Struct::from_json).transpose().map_err(Error::internal)
}

pub(super) fn read_role(number: i32, at: &At<'_>) -> Result<Role, Error> {
    match v1_0::Role::try_from(number) {
        Ok(v1_0::Role::User) => Ok(Role::User),
        Ok(v1_0::Role::Agent) => Ok(Role::Agent),
        _ => Err(at.invalid("must be ROLE_USER or ROLE_AGENT")),
    }
}

pub(super) fn role(role: Role) -> i32 {
    let role = match role {
        Role::User => v1_0::Role::User,
        Role::Agent => v1_0::Role::Agent,
    };
    role.into()
}

/// A state to filter by; the unspecified one filters nothing.
pub(super) fn read_state(number: i32, at: &At<'_>) -> Result<Option<TaskState>, Error> {
    if number == 0 {
        return Ok(None);
    }
    let found = TaskState::ALL.into_iter().find(|known| state(*known) == number);
    found.map(Some).ok_or_else(|| at.invalid("must be a task state, such as TASK_STATE_WORKING"))
}

/// The numbers are alike in both versions; only the name of one differs.
pub(super) fn state(state: TaskState) -> i32 {
    let state = match state {
        TaskState::Unspecified => v1_0::TaskState::Unspecified,
        TaskState::Submitted => v1_0::TaskState::Submitted,
        TaskState::Working => v1_0::TaskState::Working,
        TaskState::Completed => v1_0::TaskState::Completed,
        TaskState::Failed => v1_0::TaskState::Failed,
        TaskState::Canceled => v1_0::TaskState::Canceled,
        TaskState::InputRequired => v1_0::TaskState::InputRequired,
        TaskState::Rejected => v1_0::TaskState::Rejected,
        TaskState::AuthRequired => v1_0::TaskState::AuthRequired,
    };
    state.into()
}

/// The years that a timestamp may be of: 1 to 9999.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

pub(super) fn read_timestamp(wire: WireTimestamp, at: &At<'_>) -> Result<Timestamp, Error> {
    if !SECONDS.contains(&wire.seconds) || !(0..1_000_000_000).contains(&wire.nanos) {
        return Err(at.invalid("must be a timestamp of the years 1 to 9999"));
    }
    Ok(Timestamp::from_millis(wire.seconds * 1000 + i64::from(wire.nanos) / 1_000_000))
}

pub(super) fn timestamp(timestamp: Timestamp) -> WireTimestamp {
    let millis = timestamp.as_millis();
    WireTimestamp { seconds: millis.div_euclid(1000), nanos: (millis.rem_euclid(1000) * 1_000_000) as i32 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AT: At<'static> = At::new("x");

    #[test]
    fn f121_every_state_has_a_number_and_comes_back() {
        let numbers: Vec<_> = TaskState::ALL.into_iter().map(state).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
        for known in TaskState::ALL {
            assert_eq!(read_state(state(known), &AT).unwrap(), Some(known));
        }
        assert_eq!(read_state(0, &AT).unwrap(), None);
        for number in [-1, 9, i32::MAX] {
            assert!(read_state(number, &AT).is_err());
            assert!(read_role(number, &AT).is_err());
        }
        assert!(read_role(0, &AT).is_err());
    }

    proptest! {
        #[test]
        fn moments_come_back(millis in SECONDS.start() * 1000..=SECONDS.end() * 1000) {
            let moment = Timestamp::from_millis(millis);
            prop_assert_eq!(read_timestamp(timestamp(moment), &AT).unwrap(), moment);
        }

        #[test]
        fn any_timestamp_is_read_or_refused(seconds: i64, nanos: i32) {
            let _ = read_timestamp(WireTimestamp { seconds, nanos }, &AT);
        }
    }
}
