use crate::{
    dialect::read::{At, EnumValue},
    error::Error,
    operation::OperationKind,
    types::{Role, TaskState},
};

/// The table of spec 1.0 §5.3.
pub(super) fn operation(method: &str) -> Option<OperationKind> {
    OperationKind::ALL.into_iter().find(|kind| kind.name() == method)
}

/// In the order of their numbers.
const STATES: [TaskState; 9] = [
    TaskState::Unspecified,
    TaskState::Submitted,
    TaskState::Working,
    TaskState::Completed,
    TaskState::Failed,
    TaskState::Canceled,
    TaskState::InputRequired,
    TaskState::Rejected,
    TaskState::AuthRequired,
];

pub(in crate::dialect) const fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Unspecified => "TASK_STATE_UNSPECIFIED",
        TaskState::Submitted => "TASK_STATE_SUBMITTED",
        TaskState::Working => "TASK_STATE_WORKING",
        TaskState::Completed => "TASK_STATE_COMPLETED",
        TaskState::Failed => "TASK_STATE_FAILED",
        TaskState::Canceled => "TASK_STATE_CANCELED",
        TaskState::InputRequired => "TASK_STATE_INPUT_REQUIRED",
        TaskState::Rejected => "TASK_STATE_REJECTED",
        TaskState::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
    }
}

/// A state to filter by; the unspecified one filters nothing.
pub(in crate::dialect) fn read_state(value: &EnumValue<'_>, at: &At<'_>) -> Result<Option<TaskState>, Error> {
    let found = match value {
        EnumValue::Name(name) => STATES.into_iter().find(|known| state(*known) == &**name),
        EnumValue::Number(number) => usize::try_from(*number).ok().and_then(|number| STATES.get(number).copied()),
    };
    match found {
        Some(TaskState::Unspecified) => Ok(None),
        Some(state) => Ok(Some(state)),
        None => Err(at.invalid("must be a task state, such as TASK_STATE_WORKING")),
    }
}

pub(in crate::dialect) const fn role(role: Role) -> &'static str {
    match role {
        Role::User => "ROLE_USER",
        Role::Agent => "ROLE_AGENT",
    }
}

pub(in crate::dialect) fn read_role(value: &EnumValue<'_>, at: &At<'_>) -> Result<Role, Error> {
    match value {
        EnumValue::Name(name) if &**name == "ROLE_USER" => Ok(Role::User),
        EnumValue::Name(name) if &**name == "ROLE_AGENT" => Ok(Role::Agent),
        EnumValue::Number(1) => Ok(Role::User),
        EnumValue::Number(2) => Ok(Role::Agent),
        _ => Err(at.invalid("must be ROLE_USER or ROLE_AGENT")),
    }
}
