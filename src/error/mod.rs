//! The one error of this crate: a kind, words that are safe for callers, typed details, and a private cause.
//!
//! Every layer answers with an [`Error`]; a binding writes it in its own form. The table that gives each
//! [`ErrorKind`] its JSON-RPC code, HTTP status and reason is that of spec 1.0 §5.4 (see [`ErrorKind::code`]).

mod find;
mod kind;
mod rpc_code;

use std::{borrow::Cow, error::Error as StdError, fmt, time::Duration};

#[cfg(feature = "rest")]
pub(crate) use self::rpc_code::RpcCode;
pub use self::{find::find_error, kind::ErrorKind};
use crate::types::Json;

/// Any error, as tower's layers pass it on.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a request was not served.
///
/// What it shows ([`message`](Self::message), details) goes to callers, so it must hold nothing private. What led to it
/// belongs in the [`source`](StdError::source), which is logged and never sent.
///
/// ```
/// use a2a_layers::error::{Error, ErrorKind};
///
/// let error = Error::invalid_params("message.parts", "must not be empty");
/// assert_eq!(error.kind(), ErrorKind::InvalidParams);
/// assert_eq!(error.code(), -32602);
/// assert_eq!(error.message(), "Invalid parameters: message.parts must not be empty");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    code: Option<i32>,
    detail: Option<Cow<'static, str>>,
    info: Vec<(&'static str, String)>,
    violations: Vec<FieldViolation>,
    retry_after: Option<Duration>,
    data: Option<Json>,
    source: Option<BoxError>,
}

/// One field of a request that is not as it must be (`google.rpc.BadRequest.FieldViolation`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldViolation {
    /// The path of the field, such as `message.parts[0].text`.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
}

impl Error {
    /// An error that says no more than its kind does.
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            code: None,
            detail: None,
            info: Vec::new(),
            violations: Vec::new(),
            retry_after: None,
            data: None,
            source: None,
        }))
    }

    /// A field of the parameters is not as it must be.
    pub fn invalid_params(field: impl Into<String>, description: impl Into<String>) -> Self {
        let (field, description) = (field.into(), description.into());
        let detail = if field.is_empty() { description.clone() } else { format!("{field} {description}") };
        Self::new(ErrorKind::InvalidParams).with_detail(detail).with_violation(field, description)
    }

    /// There is no such task, or the caller may not see it.
    pub fn task_not_found(task_id: impl Into<String>) -> Self {
        Self::new(ErrorKind::TaskNotFound).with_info("taskId", task_id)
    }

    /// Something went wrong inside; the cause is logged and never sent.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        Self::new(ErrorKind::Internal).with_source(source)
    }

    /// An error of a code of one's own, for services that are no A2A agents.
    pub fn custom(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let mut error = Self::new(ErrorKind::Custom).with_detail(message);
        error.0.code = Some(code);
        error
    }

    /// With words that say more than the kind does. They go to callers.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// With a fact for programs (`google.rpc.ErrorInfo.metadata`). It goes to callers.
    #[must_use]
    pub fn with_info(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.info.push((name, value.into()));
        self
    }

    /// With one more field that is not as it must be. It goes to callers.
    #[must_use]
    pub fn with_violation(mut self, field: impl Into<String>, description: impl Into<String>) -> Self {
        self.0.violations.push(FieldViolation { field: field.into(), description: description.into() });
        self
    }

    /// With the time after which a retry makes sense. It goes to callers.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.0.retry_after = Some(after);
        self
    }

    /// With what led to it, for the log alone.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// With the `data` member of a JSON-RPC error. The [`version`](crate::version) layer sets it, in the form that the
    /// caller's version wants.
    #[must_use]
    pub fn with_data(mut self, data: Json) -> Self {
        self.0.data = Some(data);
        self
    }

    /// What sort of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Its JSON-RPC code.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.0.code.unwrap_or_else(|| self.0.kind.code())
    }

    /// What callers are told: the words of the kind, and the detail behind them.
    #[must_use]
    pub fn message(&self) -> Cow<'_, str> {
        match (&self.0.detail, self.0.kind) {
            (None, kind) => Cow::Borrowed(kind.message()),
            (Some(detail), ErrorKind::Custom) => Cow::Borrowed(detail),
            (Some(detail), kind) => Cow::Owned(format!("{}: {detail}", kind.message())),
        }
    }

    /// Facts for programs.
    #[must_use]
    pub fn info(&self) -> &[(&'static str, String)] {
        &self.0.info
    }

    /// Fields that are not as they must be.
    #[must_use]
    pub fn violations(&self) -> &[FieldViolation] {
        &self.0.violations
    }

    /// When a retry makes sense.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The `data` member of a JSON-RPC error.
    #[must_use]
    pub fn data(&self) -> Option<&Json> {
        self.0.data.as_ref()
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug.field("kind", &self.0.kind).field("message", &self.message());
        if let Some(source) = &self.0.source {
            debug.field("source", source);
        }
        debug.finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.detail, self.0.kind) {
            (None, kind) => f.write_str(kind.message()),
            (Some(detail), ErrorKind::Custom) => f.write_str(detail),
            (Some(detail), kind) => write!(f, "{}: {detail}", kind.message()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}
