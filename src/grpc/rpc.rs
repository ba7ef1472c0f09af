//! Which method of which package a path is.

use std::fmt;

use crate::operation::{OperationKind, ProtocolVersion};

/// The service of version 1.0.
pub(super) const SERVICE_1_0: &str = "lf.a2a.v1.A2AService";
/// The service of version 0.3.
pub(super) const SERVICE_0_3: &str = "a2a.v1.A2AService";

/// One method of one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rpc {
    pub(super) version: ProtocolVersion,
    pub(super) kind: OperationKind,
}

/// Why a path is no method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unknown;

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such method")
    }
}

impl Rpc {
    /// The method of this path, if its version is among these.
    pub(super) fn find(path: &str, versions: &[ProtocolVersion]) -> Result<Self, Unknown> {
        let (service, method) = path.strip_prefix('/').and_then(|path| path.split_once('/')).ok_or(Unknown)?;
        let (version, kind) = match service {
            SERVICE_1_0 => (ProtocolVersion::V1_0, method_1_0(method)),
            SERVICE_0_3 => (ProtocolVersion::V0_3, method_0_3(method)),
            _ => return Err(Unknown),
        };
        match kind {
            Some(kind) if versions.contains(&version) => Ok(Self { version, kind }),
            _ => Err(Unknown),
        }
    }
}

/// The table of spec 1.0 §5.3.
fn method_1_0(method: &str) -> Option<OperationKind> {
    Some(match method {
        "SendMessage" => OperationKind::SendMessage,
        "SendStreamingMessage" => OperationKind::SendStreamingMessage,
        "GetTask" => OperationKind::GetTask,
        "ListTasks" => OperationKind::ListTasks,
        "CancelTask" => OperationKind::CancelTask,
        "SubscribeToTask" => OperationKind::SubscribeToTask,
        "CreateTaskPushNotificationConfig" => OperationKind::CreatePushConfig,
        "GetTaskPushNotificationConfig" => OperationKind::GetPushConfig,
        "ListTaskPushNotificationConfigs" => OperationKind::ListPushConfigs,
        "DeleteTaskPushNotificationConfig" => OperationKind::DeletePushConfig,
        "GetExtendedAgentCard" => OperationKind::GetExtendedAgentCard,
        _ => return None,
    })
}

/// The table of spec 0.3 §3.5.6.
fn method_0_3(method: &str) -> Option<OperationKind> {
    Some(match method {
        "SendMessage" => OperationKind::SendMessage,
        "SendStreamingMessage" => OperationKind::SendStreamingMessage,
        "GetTask" => OperationKind::GetTask,
        "CancelTask" => OperationKind::CancelTask,
        "TaskSubscription" => OperationKind::SubscribeToTask,
        "CreateTaskPushNotificationConfig" => OperationKind::CreatePushConfig,
        "GetTaskPushNotificationConfig" => OperationKind::GetPushConfig,
        "ListTaskPushNotificationConfig" => OperationKind::ListPushConfigs,
        "DeleteTaskPushNotificationConfig" => OperationKind::DeletePushConfig,
        "GetAgentCard" => OperationKind::GetExtendedAgentCard,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::grpc::proto::FILE_DESCRIPTOR_SET;

    const BOTH: [ProtocolVersion; 2] = [ProtocolVersion::V1_0, ProtocolVersion::V0_3];

    #[test]
    fn the_tables_are_those_of_the_packages() {
        let files = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
        let mut methods = 0;
        for file in &files.file {
            for service in &file.service {
                for method in &service.method {
                    methods += 1;
                    let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                    let rpc = Rpc::find(&path, &BOTH).unwrap();
                    assert_eq!(rpc.kind.is_streaming(), method.server_streaming(), "{path}");
                }
            }
        }
        assert_eq!(methods, 11 + 10);
    }

    #[test]
    fn f19_what_a_version_does_not_have_is_unknown() {
        for path in [
            "/a2a.v1.A2AService/ListTasks",
            "/a2a.v1.A2AService/SubscribeToTask",
            "/lf.a2a.v1.A2AService/TaskSubscription",
            "/lf.a2a.v1.A2AService/sendMessage",
            "/lf.a2a.v1.A2AService/SendMessage/",
            "/lf.a2a.v1.A2AService",
            "lf.a2a.v1.A2AService/SendMessage",
            "/",
            "",
            "/other.Service/SendMessage",
        ] {
            assert_eq!(Rpc::find(path, &BOTH), Err(Unknown), "{path}");
        }
        assert!(Rpc::find("/a2a.v1.A2AService/SendMessage", &BOTH[..1]).is_err());
    }
}
