//! The operation level: what a caller wants, and what it gets, in the canonical language.
//!
//! The [`version`](crate::version) layer makes an [`Operation`] of a [`Call`](crate::call::Call); layers at this level
//! look at it, refuse it or answer it; [`task`](crate::task) carries it out. The answer is an [`Outcome`].

mod outcome;
mod request;

use std::{fmt, sync::Arc};

pub use self::{
    outcome::{Answer, ListTasksPage, Outcome, StreamEvent, TaskView},
    request::{
        CancelTask, GetTask, ListTasks, OperationKind, OperationRequest, PushConfigOf, SendConfiguration, SendMessage,
        SubscribeToTask,
    },
};
use crate::call::Binding;

/// A protocol version as it is compared: `Major.Minor` (spec 1.0 §3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion {
    major: u16,
    minor: u16,
}

impl ProtocolVersion {
    /// Version 0.3.
    pub const V0_3: Self = Self::new(0, 3);
    /// Version 1.0.
    pub const V1_0: Self = Self::new(1, 0);

    /// The version of these numbers.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }

    /// The first number.
    #[must_use]
    pub const fn major(self) -> u16 {
        self.major
    }

    /// The second number.
    #[must_use]
    pub const fn minor(self) -> u16 {
        self.minor
    }

    /// Reads `Major.Minor`; a third number is allowed and does not count.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // What nearly every request says need not be taken apart.
        match text {
            "1.0" => return Some(Self::V1_0),
            "0.3" => return Some(Self::V0_3),
            _ => {}
        }
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if digits { text.parse::<u16>().ok() } else { None }
        };
        let mut numbers = text.split('.');
        let (major, minor) = (number(numbers.next()?)?, number(numbers.next()?)?);
        let patch = numbers.next().map(number);
        (patch != Some(None) && numbers.next().is_none()).then_some(Self { major, minor })
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What a caller wants, in the canonical language.
#[derive(Clone, Debug)]
pub struct Operation {
    version: ProtocolVersion,
    binding: Binding,
    tenant: Option<Arc<str>>,
    request: OperationRequest,
}

impl Operation {
    /// A request that came in this version over this binding.
    pub fn new(version: ProtocolVersion, binding: Binding, request: impl Into<OperationRequest>) -> Self {
        Self { version, binding, tenant: None, request: request.into() }
    }

    /// For this tenant.
    #[must_use]
    pub fn with_tenant(mut self, tenant: Option<Arc<str>>) -> Self {
        self.tenant = tenant;
        self
    }

    /// The version that the caller speaks.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// What carried the call.
    #[must_use]
    pub fn binding(&self) -> Binding {
        self.binding
    }

    /// The tenant that the caller named.
    #[must_use]
    pub fn tenant(&self) -> Option<&Arc<str>> {
        self.tenant.as_ref()
    }

    /// Which operation it is.
    #[must_use]
    pub fn kind(&self) -> OperationKind {
        self.request.kind()
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> &OperationRequest {
        &self.request
    }

    /// The request, to be changed.
    pub fn request_mut(&mut self) -> &mut OperationRequest {
        &mut self.request
    }

    /// The request alone.
    #[must_use]
    pub fn into_request(self) -> OperationRequest {
        self.request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f15_versions_compare_by_major_and_minor() {
        assert_eq!(ProtocolVersion::parse("1.0"), Some(ProtocolVersion::V1_0));
        assert_eq!(ProtocolVersion::parse("1.0.1"), Some(ProtocolVersion::V1_0));
        assert_eq!(ProtocolVersion::parse("0.3.0"), Some(ProtocolVersion::V0_3));
        assert_ne!(ProtocolVersion::parse("0.35"), Some(ProtocolVersion::V0_3));
        assert_ne!(ProtocolVersion::parse("1.9"), Some(ProtocolVersion::V1_0));
        for text in ["", "1", "1.", ".0", "1.0.", "1.0.x", "1.0.0.0", "v1.0", "1.+0", "1.99999", " 1.0"] {
            assert_eq!(ProtocolVersion::parse(text), None, "{text}");
        }
    }
}
