use tower_layer::Layer;

use super::Parts;

/// Turns messages into inputs. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct PartLayer {
    strict_data: bool,
}

impl PartLayer {
    /// A layer that takes data of any shape.
    #[must_use]
    pub const fn new() -> Self {
        Self { strict_data: false }
    }

    /// Whether data that is no JSON object is refused with `-32602`. Off by default: 1.0 allows any JSON value
    /// (spec 1.0 §4.1.6), and where 0.3 is spoken its dialect keeps to objects already.
    #[must_use]
    pub const fn strict_data(mut self, strict: bool) -> Self {
        self.strict_data = strict;
        self
    }
}

impl<S> Layer<S> for PartLayer {
    type Service = Parts<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Parts::new(inner).strict_data(self.strict_data)
    }
}
