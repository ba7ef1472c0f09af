/// Those of `google.rpc.Code` that errors have here, with their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RpcCode {
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    #[cfg(feature = "grpc")]
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    #[cfg(any(feature = "rest", feature = "grpc"))]
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
}

impl RpcCode {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            #[cfg(feature = "grpc")]
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            #[cfg(any(feature = "rest", feature = "grpc"))]
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
        }
    }
}
