//! The call level: one invocation of a method, whatever carried it.
//!
//! A binding ([`json_rpc`](crate::json_rpc), `rest`) makes a [`Call`] out of bytes; the [`version`](crate::version)
//! layer turns it into an [`Operation`](crate::operation::Operation). The answer is
//! [`Encoded`](crate::encoded::Encoded).

use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::{operation::ProtocolVersion, short::ShortText};

/// What carries calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Binding {
    /// JSON-RPC 2.0 over HTTP.
    JsonRpc,
    /// HTTP verbs and paths with JSON bodies.
    HttpJson,
    /// gRPC.
    Grpc,
}

impl Binding {
    /// Every binding of the protocol.
    pub const ALL: [Self; 3] = [Self::JsonRpc, Self::HttpJson, Self::Grpc];

    /// Its name on an agent card.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
            Self::Grpc => "GRPC",
        }
    }
}

/// One invocation of a method: its name and its parameters, which are a slice of the request's body where they come from
/// one.
#[derive(Clone)]
pub struct Call {
    binding: Binding,
    method: ShortText,
    params: Option<Bytes>,
    version: Option<ProtocolVersion>,
    path: PathFields,
}

/// Fields that stand in a request's path. They win over those of the same meaning among the parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathFields {
    /// Whose agent is meant.
    pub tenant: Option<Arc<str>>,
    /// Which task is meant.
    pub task_id: Option<Arc<str>>,
    /// Which of the task's webhooks is meant.
    pub config_id: Option<Arc<str>>,
}

impl Call {
    /// A call of this method without parameters.
    pub fn new(binding: Binding, method: impl Into<String>) -> Self {
        Self::of(binding, ShortText::new(method.into().as_bytes()), None)
    }

    /// With these parameters, a JSON text. It should be well-formed; the dialect that reads it refuses it otherwise.
    #[must_use]
    pub fn with_params(mut self, params: impl Into<Bytes>) -> Self {
        self.params = Some(params.into());
        self
    }

    /// A call of a method whose name is known to be UTF-8.
    pub(crate) fn of(binding: Binding, method: ShortText, params: Option<Bytes>) -> Self {
        Self { binding, method, params, version: None, path: PathFields::default() }
    }

    /// In this version, because the path that it came by is one of that version alone.
    #[must_use]
    pub fn with_version(mut self, version: Option<ProtocolVersion>) -> Self {
        self.version = version;
        self
    }

    /// With fields that stand in the path.
    #[must_use]
    pub fn with_path(mut self, path: PathFields) -> Self {
        self.path = path;
        self
    }

    /// What carried it.
    #[must_use]
    pub fn binding(&self) -> Binding {
        self.binding
    }

    /// The method's name.
    #[must_use]
    pub fn method(&self) -> &str {
        std::str::from_utf8(self.method.as_bytes()).unwrap_or_default()
    }

    /// The version that the path is of; `None` if it is of none.
    #[must_use]
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    /// The fields that stand in the path. There are none where a binding has one path for everything.
    #[must_use]
    pub fn path(&self) -> &PathFields {
        &self.path
    }

    /// The parameters, a JSON text; `None` if there were none.
    #[must_use]
    pub fn params(&self) -> Option<&Bytes> {
        self.params.as_ref()
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("binding", &self.binding)
            .field("method", &self.method())
            .field("params", &self.params.as_ref().map(Bytes::len))
            .field("version", &self.version)
            .field("path", &self.path)
            .finish()
    }
}
