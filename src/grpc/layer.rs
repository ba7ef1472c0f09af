use std::time::Duration;

use tower_layer::Layer;

use super::Grpc;
use crate::{
    body::BodyLayer,
    capability::{CapabilityLayer, Offered},
    operation::ProtocolVersion,
};

/// Serves operations over gRPC; see the [module docs](super).
#[derive(Clone, Copy, Debug)]
pub struct GrpcLayer {
    pub(super) config: Config,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    pub(super) only: Option<ProtocolVersion>,
    pub(super) limit: usize,
    pub(super) read_deadline: Option<Duration>,
    pub(super) strict_data: bool,
    pub(super) base64_files: bool,
    pub(super) offered: Option<Offered>,
}

impl Config {
    /// The versions that are spoken.
    pub(super) fn versions(&self) -> &[ProtocolVersion] {
        const BOTH: [ProtocolVersion; 2] = [ProtocolVersion::V1_0, ProtocolVersion::V0_3];
        self.only.as_ref().map_or(&BOTH, std::slice::from_ref)
    }
}

impl GrpcLayer {
    /// Versions 1.0 and 0.3, with the limits of [`BodyLayer`].
    #[must_use]
    pub fn new() -> Self {
        let config = Config {
            only: None,
            limit: 0,
            read_deadline: None,
            strict_data: false,
            base64_files: false,
            offered: None,
        };
        Self { config }.body(&BodyLayer::new())
    }

    /// One version alone; the methods of the other are unknown then. `None`, the default, is both.
    #[must_use]
    pub fn only(mut self, version: impl Into<Option<ProtocolVersion>>) -> Self {
        self.config.only = version.into();
        self
    }

    /// The largest message that a caller may send, in bytes; one byte more is `RESOURCE_EXHAUSTED`.
    /// Default: [`BodyLayer::DEFAULT_LIMIT`].
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.config.limit = bytes;
        self
    }

    /// How long a message may take to come; a slower one is `DEADLINE_EXCEEDED`. `None`: as long as it likes.
    /// Default: [`BodyLayer::DEFAULT_READ_DEADLINE`].
    #[must_use]
    pub fn read_deadline(mut self, deadline: impl Into<Option<Duration>>) -> Self {
        self.config.read_deadline = deadline.into();
        self
    }

    /// Whether data must be a JSON object in 1.0 too, as in 0.3. Off by default.
    #[must_use]
    pub fn strict_data(mut self, on: bool) -> Self {
        self.config.strict_data = on;
        self
    }

    /// Whether the bytes of files are base64 text in 0.3, both ways, as the Python and Go SDKs of that version have them,
    /// whatever the type of the field says. Off by default: they are bytes.
    #[must_use]
    pub fn base64_files(mut self, on: bool) -> Self {
        self.config.base64_files = on;
        self
    }

    /// What the [`capability`](crate::capability) layer further in refuses. With it, a stream or a webhook that the agent does
    /// not offer is refused for that reason too where the message lacks a field. Without it, as it comes, the caller is told
    /// about the field first.
    #[must_use]
    pub fn capability(mut self, capability: &CapabilityLayer) -> Self {
        self.config.offered = Some(capability.offered());
        self
    }

    /// The limits of size and time that this layer has.
    #[must_use]
    pub fn body<G>(mut self, body: &BodyLayer<G>) -> Self {
        (self.config.limit, self.config.read_deadline) = body.size_and_deadline();
        self
    }
}

impl Default for GrpcLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for GrpcLayer {
    type Service = Grpc<S>;

    fn layer(&self, inner: S) -> Grpc<S> {
        Grpc::new(inner, *self)
    }
}
