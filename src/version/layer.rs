use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use tower_layer::Layer;

use super::{Version, negotiate::Offer, speaker::Speaker};
use crate::{
    capability::CapabilityLayer,
    dialect::{Dialect, V0_3, V0_3Rest, V1_0},
    operation::ProtocolVersion,
};

/// Makes operations out of calls; see the [module docs](super).
#[derive(Clone)]
pub struct VersionLayer {
    offer: Arc<Offer>,
}

/// Shared by all layers that have nothing changed, so that they share the texts of events too.
static BUILT_IN: LazyLock<[Speaker; 3]> =
    LazyLock::new(|| [Speaker::new(V0_3::new()), Speaker::new(V0_3Rest::new()), Speaker::new(V1_0::new())]);

impl VersionLayer {
    /// Versions 0.3 and 1.0; without a header it is 0.3.
    #[must_use]
    pub fn new() -> Self {
        Self { offer: Arc::new(Offer::new(BUILT_IN.to_vec(), ProtocolVersion::V0_3)) }
    }

    /// One dialect alone, whose version is also taken for granted where the caller names none.
    pub fn only(dialect: impl Dialect) -> Self {
        let granted = dialect.version();
        Self { offer: Arc::new(Offer::new(vec![Speaker::new(dialect)], granted)) }
    }

    /// With one more dialect, in place of what spoke its version over its bindings before.
    #[must_use]
    pub fn dialect(mut self, dialect: impl Dialect) -> Self {
        Arc::make_mut(&mut self.offer).add(Speaker::new(dialect));
        self
    }

    /// Whether a caller that names no version is served in the version that knows its method: `SendMessage` without a
    /// header is 1.0 then, and so is `POST /message:send`. Off by default, because the specification says that no version means 0.3.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        Arc::make_mut(&mut self.offer).lenient = lenient;
        self
    }

    /// What the [`capability`](crate::capability) layer further in refuses. With it, a stream or a webhook that the agent does
    /// not offer is refused for that reason too where its parameters cannot be read. Without it, as it comes, the caller is
    /// told about the parameters first.
    #[must_use]
    pub fn capability(mut self, capability: &CapabilityLayer) -> Self {
        Arc::make_mut(&mut self.offer).offered = Some(capability.offered());
        self
    }
}

impl Default for VersionLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for VersionLayer {
    type Service = Version<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Version::new(inner, Arc::clone(&self.offer))
    }
}

impl fmt::Debug for VersionLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VersionLayer").field("offer", &self.offer).finish()
    }
}
