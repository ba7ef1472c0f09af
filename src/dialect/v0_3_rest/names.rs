use crate::{
    dialect::{
        read::{At, EnumValue},
        v0_3, v1_0,
    },
    error::Error,
    operation::OperationKind,
    types::{Role, TaskState},
};

pub(super) fn operation(method: &str) -> Option<OperationKind> {
    OperationKind::ALL.into_iter().find(|kind| v0_3::names::method(*kind) == method)
}

/// The proto of 0.3 spells one state otherwise than that of 1.0.
const CANCELED: &str = "TASK_STATE_CANCELLED";

pub(super) const fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Canceled => CANCELED,
        other => v1_0::names::state(other),
    }
}

/// A state to filter by, as either grammar has it; the unspecified one filters nothing.
pub(super) fn read_state(value: &EnumValue<'_>, at: &At<'_>) -> Result<Option<TaskState>, Error> {
    if let EnumValue::Name(name) = value {
        match &**name {
            "unknown" => return Ok(None),
            CANCELED => return Ok(Some(TaskState::Canceled)),
            name => {
                let of_schema = TaskState::ALL.into_iter().find(|state| v0_3::names::state(*state) == name);
                if of_schema.is_some() {
                    return Ok(of_schema);
                }
            }
        }
    }
    v1_0::names::read_state(value, at)
}

/// A role, as either grammar has it.
pub(super) fn read_role(value: &EnumValue<'_>, at: &At<'_>) -> Result<Role, Error> {
    match value {
        EnumValue::Name(name) if &**name == "user" => Ok(Role::User),
        EnumValue::Name(name) if &**name == "agent" => Ok(Role::Agent),
        _ => v1_0::names::read_role(value, at),
    }
}
