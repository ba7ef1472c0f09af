//! The call level: one invocation of a method, whatever carried it.
//!
//! A binding ([`json_rpc`](crate::json_rpc)) makes a [`Call`] out of bytes; the [`version`](crate::version) layer
//! turns it into an [`Operation`](crate::operation::Operation). The answer is [`Encoded`](crate::encoded::Encoded).

use std::fmt;

use bytes::Bytes;

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

/// One invocation of a method: its name and its parameters, both slices of the request's body.
#[derive(Clone)]
pub struct Call {
    binding: Binding,
    method: Bytes,
    params: Option<Bytes>,
}

impl Call {
    /// A call of this method without parameters.
    pub fn new(binding: Binding, method: impl Into<String>) -> Self {
        Self { binding, method: Bytes::from(method.into()), params: None }
    }

    /// With these parameters, a JSON text. It should be well-formed; the dialect that reads it refuses it otherwise.
    #[must_use]
    pub fn with_params(mut self, params: impl Into<Bytes>) -> Self {
        self.params = Some(params.into());
        self
    }

    /// A call whose method is a slice of a body that is known to be UTF-8.
    pub(crate) fn from_slices(binding: Binding, method: Bytes, params: Option<Bytes>) -> Self {
        Self { binding, method, params }
    }

    /// What carried it.
    #[must_use]
    pub fn binding(&self) -> Binding {
        self.binding
    }

    /// The method's name.
    #[must_use]
    pub fn method(&self) -> &str {
        std::str::from_utf8(&self.method).unwrap_or_default()
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
            .finish()
    }
}
