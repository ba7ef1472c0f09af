use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower_layer::Layer;

use super::{AgentCardService, ServeAgentCard};

/// Serves an agent's card at its well-known paths and passes everything else on. See the [module docs](super).
#[derive(Clone, Debug)]
#[must_use]
pub struct AgentCardLayer {
    pub(super) card: AgentCardService,
    pub(super) path: Arc<str>,
    pub(super) legacy_path: Option<Arc<str>>,
}

impl AgentCardLayer {
    /// Where clients since version 0.3 look for a card (spec 1.0 §8.2).
    pub const PATH: &'static str = "/.well-known/agent-card.json";
    /// Where clients before version 0.3 look for it.
    pub const LEGACY_PATH: &'static str = "/.well-known/agent.json";

    /// Serves this card at [`PATH`](Self::PATH) and, marked as deprecated, at [`LEGACY_PATH`](Self::LEGACY_PATH).
    pub fn new(card: AgentCardService) -> Self {
        Self { card, path: Self::PATH.into(), legacy_path: Some(Self::LEGACY_PATH.into()) }
    }

    /// At this path instead, which begins with a slash. Two agents in one process need two paths.
    pub fn path(mut self, path: impl Into<Arc<str>>) -> Self {
        self.path = path.into();
        self
    }

    /// The old path at this place instead, or nowhere.
    pub fn legacy_path(mut self, path: Option<&str>) -> Self {
        self.legacy_path = path.map(Arc::from);
        self
    }

    /// Every path that it answers, so that whoever mounts several agents can tell whether two of them want the same.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.path).chain(self.legacy_path.as_deref())
    }
}

impl AgentCardLayer {
    /// The answer, if the request is for the card.
    pub(crate) fn answer<B>(&self, request: &Request<B>) -> Option<Response<Full<Bytes>>> {
        let wanted = request.uri().path();
        let legacy = self.legacy_path.as_deref() == Some(wanted);
        (legacy || wanted == &*self.path).then(|| self.card.respond(request, legacy && wanted != &*self.path))
    }
}

impl<S> Layer<S> for AgentCardLayer {
    type Service = ServeAgentCard<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ServeAgentCard::new(inner, self.clone())
    }
}
