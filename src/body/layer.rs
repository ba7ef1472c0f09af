use std::time::Duration;

use tower_layer::Layer;

use super::{AnyHead, Body};

/// Collects the body of each request. See the [module documentation](super).
#[derive(Clone, Copy, Debug)]
pub struct BodyLayer<G = AnyHead> {
    pub(super) limits: Limits,
    pub(super) gate: G,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) size: usize,
    pub(super) drain: usize,
    pub(super) deadline: Option<Duration>,
}

impl BodyLayer {
    /// The largest body by default: 16 MiB, so that a file of 10 MiB fits as base64 with a message around it.
    pub const DEFAULT_LIMIT: usize = 16 << 20;
    /// How much of a refused body is read and thrown away by default: 64 MiB. Clients that write everything before they
    /// read would otherwise see a reset in place of the answer; a client that sends more than this is past help.
    pub const DEFAULT_DRAIN_LIMIT: usize = 64 << 20;
    /// How long a body may take by default: 30 seconds, in which 16 MiB fit through 5 Mbit/s.
    pub const DEFAULT_READ_DEADLINE: Duration = Duration::from_secs(30);

    /// With the defaults.
    #[must_use]
    pub fn new() -> Self {
        let limits = Limits {
            size: Self::DEFAULT_LIMIT,
            drain: Self::DEFAULT_DRAIN_LIMIT,
            deadline: Some(Self::DEFAULT_READ_DEADLINE),
        };
        Self { limits, gate: AnyHead }
    }
}

impl Default for BodyLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<G> BodyLayer<G> {
    /// The largest body, in bytes; one byte more is answered with 413.
    /// Default: [`DEFAULT_LIMIT`](BodyLayer::DEFAULT_LIMIT).
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limits.size = bytes;
        self
    }

    /// How much of a refused body is read and thrown away before the answer goes out, in bytes.
    /// Default: [`DEFAULT_DRAIN_LIMIT`](BodyLayer::DEFAULT_DRAIN_LIMIT). With 0 every refusal goes out at once.
    #[must_use]
    pub fn drain_limit(mut self, bytes: usize) -> Self {
        self.limits.drain = bytes;
        self
    }

    /// How long a body may take, from its first byte asked for to its last one thrown away; a slower one is answered
    /// with 408. `None`: as long as it likes, for which something outside should have a limit.
    /// Default: [`DEFAULT_READ_DEADLINE`](BodyLayer::DEFAULT_READ_DEADLINE).
    #[must_use]
    pub fn read_deadline(mut self, deadline: impl Into<Option<Duration>>) -> Self {
        self.limits.deadline = deadline.into();
        self
    }

    /// Looks at each request before its body is read, and words the refusals. Default: [`AnyHead`].
    #[must_use]
    pub fn gate<H>(self, gate: H) -> BodyLayer<H> {
        BodyLayer { limits: self.limits, gate }
    }
}

#[cfg(feature = "grpc")]
impl<G> BodyLayer<G> {
    /// The largest body, and how long one may take.
    pub(crate) fn size_and_deadline(&self) -> (usize, Option<Duration>) {
        (self.limits.size, self.limits.deadline)
    }
}

impl<S, G: Clone> Layer<S> for BodyLayer<G> {
    type Service = Body<S, G>;

    fn layer(&self, inner: S) -> Body<S, G> {
        Body::new(inner, self.clone())
    }
}
