use std::time::Duration;

use tower_layer::Layer;

use super::Sse;

/// Writes streams as server-sent events. See the [module documentation](super).
#[derive(Clone, Copy, Debug)]
pub struct SseLayer {
    pub(super) heartbeat: Option<Duration>,
    pub(super) ids: bool,
    pub(super) comments: bool,
    pub(super) one_event_per_frame: bool,
}

impl SseLayer {
    /// How long a stream may be silent by default: 15 seconds, well under the 30 to 60 after which proxies give up.
    pub const DEFAULT_HEARTBEAT: Duration = Duration::from_secs(15);

    /// How much of the events that are ready together goes into one body frame, in bytes: 64 KiB, as much as a socket
    /// takes at once. An event is never split, so a frame can be longer by one event.
    pub const FRAME_SIZE: usize = 64 << 10;

    /// With ids, comments and heartbeats.
    #[must_use]
    pub fn new() -> Self {
        Self { heartbeat: Some(Self::DEFAULT_HEARTBEAT), ids: true, comments: true, one_event_per_frame: false }
    }

    /// Sends a `: ping` comment after so much silence; `None` sends none.
    /// Default: [`DEFAULT_HEARTBEAT`](Self::DEFAULT_HEARTBEAT).
    #[must_use]
    pub fn heartbeat(mut self, after: impl Into<Option<Duration>>) -> Self {
        self.heartbeat = after.into();
        self
    }

    /// Writes an `id:` line with each event that has a number, by which a reader can come back to it. Default: on.
    #[must_use]
    pub fn ids(mut self, on: bool) -> Self {
        self.ids = on;
        self
    }

    /// Writes comments: `: connected` at once, and the heartbeats. Default: on.
    #[must_use]
    pub fn comments(mut self, on: bool) -> Self {
        self.comments = on;
        self
    }

    /// Puts each event, and each comment, into a body frame of its own, for readers that take a chunk for an event.
    /// Default: off; events that are ready together share a frame.
    #[must_use]
    pub fn one_event_per_frame(mut self, on: bool) -> Self {
        self.one_event_per_frame = on;
        self
    }
}

impl Default for SseLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for SseLayer {
    type Service = Sse<S>;

    fn layer(&self, inner: S) -> Sse<S> {
        Sse::new(inner, *self)
    }
}
