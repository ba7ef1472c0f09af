use crate::{
    dialect::read::{At, Text},
    error::Error,
    operation::OperationKind,
    types::{Role, TaskState},
};

/// The table of spec 0.3 §3.5.6.
pub(super) fn operation(method: &str) -> Option<OperationKind> {
    OperationKind::ALL.into_iter().find(|kind| *kind != OperationKind::ListTasks && self::method(*kind) == method)
}

/// What [`operation`] knows it by. Lists have a name of the same kind, though JSON-RPC has no such method.
pub(in crate::dialect) const fn method(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::SendMessage => "message/send",
        OperationKind::SendStreamingMessage => "message/stream",
        OperationKind::GetTask => "tasks/get",
        OperationKind::ListTasks => "tasks/list",
        OperationKind::CancelTask => "tasks/cancel",
        OperationKind::SubscribeToTask => "tasks/resubscribe",
        OperationKind::CreatePushConfig => "tasks/pushNotificationConfig/set",
        OperationKind::GetPushConfig => "tasks/pushNotificationConfig/get",
        OperationKind::ListPushConfigs => "tasks/pushNotificationConfig/list",
        OperationKind::DeletePushConfig => "tasks/pushNotificationConfig/delete",
        OperationKind::GetExtendedAgentCard => "agent/getAuthenticatedExtendedCard",
    }
}

pub(in crate::dialect) const fn state(state: TaskState) -> &'static str {
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
