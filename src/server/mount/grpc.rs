//! What a mount knows of gRPC.

use super::{super::grpc::Side, Config, Mount};
use crate::{
    agent_card::AgentCardBuilder,
    capability::CapabilityLayer,
    error::BoxError,
    grpc::{Grpc, GrpcLayer},
    operation::ProtocolVersion,
    server::grpc::Operations,
};

#[derive(Clone, Debug, Default)]
pub(super) struct GrpcConfig {
    is_served: bool,
    url: Option<String>,
    #[cfg(feature = "grpc-health")]
    health: bool,
    #[cfg(feature = "grpc-reflection")]
    reflection: bool,
}

impl<M, T, St> Mount<M, T, St> {
    /// Serves gRPC on the same port, and names it on the card, whatever the [settings](Self::settings) say about it, before
    /// or after; there it is said why it is not a default. The server has to speak HTTP/2, as
    /// [`serve`](crate::server::serve) does.
    #[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
    pub fn grpc(mut self) -> Self {
        self.config.grpc.is_served = true;
        self
    }

    /// Where clients reach the agent over gRPC: an http or https URL, whose path does not count. Default: the
    /// [URL](Self::url).
    #[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
    pub fn grpc_url(mut self, url: impl Into<String>) -> Self {
        self.config.grpc.url = Some(url.into());
        self
    }

    /// Whether gRPC's health protocol (`grpc.health.v1`) is served beside [gRPC](Self::grpc), for load balancers and
    /// probes. Default: false.
    #[cfg(feature = "grpc-health")]
    #[cfg_attr(docsrs, doc(cfg(feature = "grpc-health")))]
    pub fn grpc_health(mut self, served: bool) -> Self {
        self.config.grpc.health = served;
        self
    }

    /// Whether gRPC's reflection protocol (`grpc.reflection`, `v1` and `v1alpha`) is served beside [gRPC](Self::grpc), so
    /// that tools such as grpcurl find out what there is to call. Default: false.
    #[cfg(feature = "grpc-reflection")]
    #[cfg_attr(docsrs, doc(cfg(feature = "grpc-reflection")))]
    pub fn grpc_reflection(mut self, served: bool) -> Self {
        self.config.grpc.reflection = served;
        self
    }
}

impl Config {
    fn serves_grpc(&self) -> bool {
        self.settings.grpc || self.grpc.is_served
    }

    /// The versions that are spoken over gRPC.
    pub(super) fn grpc_versions(&self) -> Vec<ProtocolVersion> {
        if self.serves_grpc() { self.settings.versions() } else { Vec::new() }
    }

    /// With gRPC's addresses, behind those of the other bindings.
    pub(super) fn with_grpc(&self, card: AgentCardBuilder) -> AgentCardBuilder {
        let url = self.grpc.url.as_ref().unwrap_or(&self.url);
        self.grpc_versions().into_iter().fold(card, |card, version| card.grpc_of(version, url))
    }

    /// What serves gRPC over these operations; `None` if nothing does.
    pub(super) fn grpc_side<B, S>(&self, operations: S, capability: &CapabilityLayer) -> Option<Side<B>>
    where
        S: Operations,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        if !self.serves_grpc() {
            return None;
        }
        let layer = GrpcLayer::new()
            .body(&self.body)
            .only(self.settings.pinned)
            .capability(capability)
            .strict_data(self.settings.strict_data)
            .base64_files(self.settings.base64_files);
        let side = Side::new(Grpc::new(operations, layer), &self.grpc_versions());
        #[cfg(any(feature = "grpc-health", feature = "grpc-reflection"))]
        let side = side.read_deadline(self.body.size_and_deadline().1);
        #[cfg(feature = "grpc-health")]
        let side = if self.grpc.health { side.with_health() } else { side };
        #[cfg(feature = "grpc-reflection")]
        let side = if self.grpc.reflection { side.with_reflection() } else { side };
        Some(side)
    }
}
