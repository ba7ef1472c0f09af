use crate::{
    dialect::read::{At, Text},
    error::Error,
    operation::OperationKind,
    types::{Role, TaskState},
};

/// The table of spec 0.3 §3.5.6.
pub(super) fn operation(method: &str) -> Option<OperationKind> {
    Some(match method {
        "message/send" => OperationKind::SendMessage,
        "message/stream" => OperationKind::SendStreamingMessage,
        "tasks/get" => OperationKind::GetTask,
        "tasks/cancel" => OperationKind::CancelTask,
        "tasks/resubscribe" => OperationKind::SubscribeToTask,
        "tasks/pushNotificationConfig/set" => OperationKind::CreatePushConfig,
        "tasks/pushNotificationConfig/get" => OperationKind::GetPushConfig,
        "tasks/pushNotificationConfig/list" => OperationKind::ListPushConfigs,
        "tasks/pushNotificationConfig/delete" => OperationKind::DeletePushConfig,
        "agent/getAuthenticatedExtendedCard" => OperationKind::GetExtendedAgentCard,
        _ => return None,
    })
}

pub(super) const fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Unspecified => "unknown",
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired => "input-required",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "auth-required",
    }
}

pub(super) const fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent => "agent",
    }
}

pub(super) fn read_role(name: &Text<'_>, at: &At<'_>) -> Result<Role, Error> {
    match &**name {
        "user" => Ok(Role::User),
        "agent" => Ok(Role::Agent),
        _ => Err(at.invalid("must be user or agent")),
    }
}
