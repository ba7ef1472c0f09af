use tower_layer::Layer;

use super::{Endpoint, JsonRpc};

/// Puts JSON-RPC 2.0 around a service of calls. See the [module documentation](super).
#[derive(Clone, Debug, Default)]
pub struct JsonRpcLayer {
    pub(super) endpoint: Endpoint,
    pub(super) bare_stream_items: bool,
}

impl JsonRpcLayer {
    /// JSON-RPC at every path.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves this path alone. See [`Endpoint::path`].
    #[must_use]
    pub fn path(mut self, path: impl AsRef<str>) -> Self {
        self.endpoint = self.endpoint.path(path);
        self
    }

    /// Serves one more path. See [`Endpoint::alias`].
    #[must_use]
    pub fn alias(mut self, path: impl AsRef<str>) -> Self {
        self.endpoint = self.endpoint.alias(path);
        self
    }

    /// Leaves the envelope off the items of streams, for readers that look for an event's members at the top.
    /// Default: off, as the protocol wants an envelope on each (1.0 §9.4.2). Errors keep theirs.
    #[must_use]
    pub fn bare_stream_items(mut self, bare: bool) -> Self {
        self.bare_stream_items = bare;
        self
    }

    /// What this layer asks of a request's head, for [`BodyLayer::gate`](crate::body::BodyLayer::gate).
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }
}

#[cfg(feature = "rest")]
impl JsonRpcLayer {
    /// True if requests to this path are for it.
    pub(crate) fn serves(&self, path: &str) -> bool {
        self.endpoint.serves(path)
    }

    pub(crate) fn gate(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl<S> Layer<S> for JsonRpcLayer {
    type Service = JsonRpc<S>;

    fn layer(&self, inner: S) -> JsonRpc<S> {
        JsonRpc::new(inner, self.clone())
    }
}
