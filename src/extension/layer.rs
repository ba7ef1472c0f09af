use std::sync::Arc;

use tower_layer::Layer;

use super::Extension;
use crate::types::{AgentCard, AgentExtension};

/// Activates extensions of the protocol. See the [module docs](super).
#[derive(Clone, Debug)]
#[must_use]
pub struct ExtensionLayer {
    pub(super) supported: Arc<[Supported]>,
}

#[derive(Clone, Debug)]
pub(super) struct Supported {
    pub(super) uri: Arc<str>,
    pub(super) required: bool,
}

impl ExtensionLayer {
    /// Supports these extensions.
    pub fn new(extensions: impl IntoIterator<Item = AgentExtension>) -> Self {
        let supported =
            |extension: AgentExtension| Supported { uri: extension.uri.into(), required: extension.required };
        Self { supported: extensions.into_iter().map(supported).collect() }
    }

    /// Supports what this card says.
    pub fn from_card(card: &AgentCard) -> Self {
        Self::new(card.capabilities.extensions.iter().cloned())
    }
}

impl<S> Layer<S> for ExtensionLayer {
    type Service = Extension<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Extension::new(inner, self.clone())
    }
}
