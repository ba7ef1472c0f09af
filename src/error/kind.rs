use http::StatusCode;

use super::rpc_code::RpcCode;

/// What sort of error an [`Error`](super::Error) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The body is not JSON.
    Parse,
    /// The JSON is no request.
    InvalidRequest,
    /// There is no such method.
    MethodNotFound,
    /// The parameters are not as they must be.
    InvalidParams,
    /// Something went wrong inside.
    Internal,
    /// There is no such task, or the caller may not see it.
    TaskNotFound,
    /// The task is past canceling.
    TaskNotCancelable,
    /// The agent sends no push notifications.
    PushNotificationNotSupported,
    /// The agent, or the task in its state, does not do this.
    UnsupportedOperation,
    /// A media type that the agent does not take or cannot answer in.
    ContentTypeNotSupported,
    /// The agent answered with something that is no answer.
    InvalidAgentResponse,
    /// The agent has a second card, but it is not set.
    ExtendedAgentCardNotConfigured,
    /// The agent needs an extension that the caller did not activate.
    ExtensionSupportRequired,
    /// The agent does not speak this version.
    VersionNotSupported,
    /// The request is larger than allowed.
    PayloadTooLarge,
    /// The request came too slowly.
    RequestTimeout,
    /// There is too much to do; try again later.
    Overloaded,
    /// Something that is needed inside, such as the task store, is not there just now; try again later.
    Unavailable,
    /// An error of a code of one's own.
    Custom,
}

impl ErrorKind {
    /// Every kind that the protocol names, in the order of their codes (spec 1.0 §5.4), then the kinds of this crate.
    pub const ALL: [Self; 19] = [
        Self::Parse,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::Internal,
        Self::TaskNotFound,
        Self::TaskNotCancelable,
        Self::PushNotificationNotSupported,
        Self::UnsupportedOperation,
        Self::ContentTypeNotSupported,
        Self::InvalidAgentResponse,
        Self::ExtendedAgentCardNotConfigured,
        Self::ExtensionSupportRequired,
        Self::VersionNotSupported,
        Self::PayloadTooLarge,
        Self::RequestTimeout,
        Self::Overloaded,
        Self::Unavailable,
        Self::Custom,
    ];

    /// The JSON-RPC code (spec 1.0 §5.4). What the protocol has no code for is an invalid request if the caller can
    /// mend it, and an internal error otherwise.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest | Self::PayloadTooLarge | Self::RequestTimeout => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal | Self::Overloaded | Self::Unavailable | Self::Custom => -32603,
            Self::TaskNotFound => -32001,
            Self::TaskNotCancelable => -32002,
            Self::PushNotificationNotSupported => -32003,
            Self::UnsupportedOperation => -32004,
            Self::ContentTypeNotSupported => -32005,
            Self::InvalidAgentResponse => -32006,
            Self::ExtendedAgentCardNotConfigured => -32007,
            Self::ExtensionSupportRequired => -32008,
            Self::VersionNotSupported => -32009,
        }
    }

    /// The HTTP status (spec 1.0.1 §5.4), where a binding uses one.
    #[must_use]
    pub const fn http_status(self) -> StatusCode {
        match self {
            Self::MethodNotFound | Self::TaskNotFound => StatusCode::NOT_FOUND,
            Self::Internal | Self::InvalidAgentResponse | Self::Custom => StatusCode::INTERNAL_SERVER_ERROR,
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::Overloaded | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// The name of its `google.rpc.Code` (spec 1.0.1 §5.4), as a `google.rpc.Status` in JSON has it.
    #[must_use]
    pub const fn status_name(self) -> &'static str {
        self.rpc_code().name()
    }

    /// Its `google.rpc.Code`. What the protocol leaves open goes by the HTTP status, so that the two never contradict each
    /// other.
    const fn rpc_code(self) -> RpcCode {
        match self {
            Self::MethodNotFound | Self::TaskNotFound => RpcCode::NotFound,
            Self::TaskNotCancelable
            | Self::PushNotificationNotSupported
            | Self::UnsupportedOperation
            | Self::ExtendedAgentCardNotConfigured
            | Self::ExtensionSupportRequired
            | Self::VersionNotSupported => RpcCode::FailedPrecondition,
            Self::Internal | Self::InvalidAgentResponse | Self::Custom => RpcCode::Internal,
            Self::RequestTimeout => RpcCode::DeadlineExceeded,
            Self::Overloaded | Self::Unavailable => RpcCode::Unavailable,
            Self::Parse
            | Self::InvalidRequest
            | Self::InvalidParams
            | Self::ContentTypeNotSupported
            | Self::PayloadTooLarge => RpcCode::InvalidArgument,
        }
    }

    /// The code of a gRPC status: the same, but for the two that gRPC itself has a code for.
    #[cfg(feature = "grpc")]
    pub(crate) const fn grpc_code(self) -> RpcCode {
        match self {
            Self::MethodNotFound => RpcCode::Unimplemented,
            Self::PayloadTooLarge => RpcCode::ResourceExhausted,
            kind => kind.rpc_code(),
        }
    }

    /// The words of the protocol's schemas.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Parse => "Invalid JSON payload",
            Self::InvalidRequest => "Request payload validation error",
            Self::MethodNotFound => "Method not found",
            Self::InvalidParams => "Invalid parameters",
            Self::Internal | Self::Unavailable | Self::Custom => "Internal error",
            Self::TaskNotFound => "Task not found",
            Self::TaskNotCancelable => "Task cannot be canceled",
            Self::PushNotificationNotSupported => "Push Notification is not supported",
            Self::UnsupportedOperation => "This operation is not supported",
            Self::ContentTypeNotSupported => "Incompatible content types",
            Self::InvalidAgentResponse => "Invalid agent response",
            Self::ExtendedAgentCardNotConfigured => "Authenticated Extended Card is not configured",
            Self::ExtensionSupportRequired => "A required extension is not activated",
            Self::VersionNotSupported => "This protocol version is not supported",
            Self::PayloadTooLarge => "Request payload is too large",
            Self::RequestTimeout => "Request payload came too slowly",
            Self::Overloaded => "Too much to do, try again later",
        }
    }

    /// The reason of a `google.rpc.ErrorInfo` (spec 1.0 §10.6); `None` where the protocol names none.
    #[must_use]
    pub const fn reason(self) -> Option<&'static str> {
        Some(match self {
            Self::TaskNotFound => "TASK_NOT_FOUND",
            Self::TaskNotCancelable => "TASK_NOT_CANCELABLE",
            Self::PushNotificationNotSupported => "PUSH_NOTIFICATION_NOT_SUPPORTED",
            Self::UnsupportedOperation => "UNSUPPORTED_OPERATION",
            Self::ContentTypeNotSupported => "CONTENT_TYPE_NOT_SUPPORTED",
            Self::InvalidAgentResponse => "INVALID_AGENT_RESPONSE",
            Self::ExtendedAgentCardNotConfigured => "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            Self::ExtensionSupportRequired => "EXTENSION_SUPPORT_REQUIRED",
            Self::VersionNotSupported => "VERSION_NOT_SUPPORTED",
            _ => return None,
        })
    }

    /// True if the request has to change before it can be served; trying it again as it is would be in vain.
    #[must_use]
    pub const fn is_callers_fault(self) -> bool {
        !matches!(
            self,
            Self::Internal | Self::InvalidAgentResponse | Self::Overloaded | Self::Unavailable | Self::Custom
        )
    }
}
