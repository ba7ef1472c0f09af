use std::sync::Arc;

use http::{Request, Uri};
use tower::ServiceBuilder;
use tower_service::Service;

#[cfg(feature = "rest")]
use super::super::bindings::BindingsLayer;
use super::{
    super::{
        A2aService, ConfigError, blobs::MaybeServeBlobsLayer, files::FileLayer, service::Shutdown, shared::SharedLayer,
    },
    Blobs, Config, Extended, Mount,
};
#[cfg(feature = "rest")]
use crate::rest::RestLayer;
use crate::{
    agent::IntoReply,
    agent_card::{AgentCardLayer, AgentCardService},
    blob::BlobStore,
    call::Binding,
    capability::CapabilityLayer,
    dialect::{Dialect, V0_3, V0_3Rest, V1_0},
    error::{BoxError, Error},
    extension::ExtensionLayer,
    json_rpc::JsonRpcLayer,
    media_type::{AcceptedOutputLayer, MediaTypeLayer},
    operation::ProtocolVersion,
    sse::SseLayer,
    task::TaskStore,
    types::{AgentCard, Message},
    version::VersionLayer,
};

impl<M, T, St> Mount<M, T, St> {
    /// Puts all layers around the agent.
    ///
    /// `B` is the server's type of request bodies. It is found out where the service is mounted; where nothing says it,
    /// say it yourself: `build::<axum::body::Body>()`.
    ///
    /// # Errors
    /// If the card breaks a rule of the protocol, a path or URL is none, or there is a retry window over a store that takes
    /// no claims.
    pub fn build<B>(self) -> Result<A2aService<B>, ConfigError>
    where
        M: Service<Request<Arc<Message>>> + Clone + Send + Sync + 'static,
        M::Response: IntoReply,
        M::Error: Into<BoxError>,
        M::Future: Send,
        T: TaskStore,
        St: BlobStore,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let settings = &self.config.settings;
        let rpc_path = match &self.config.rpc_path {
            Some(path) => path.clone(),
            None => path_of(&self.config.url)?,
        };
        #[cfg(feature = "rest")]
        let rest_base = self.config.rest_base(&rpc_path)?;
        let card_path = settings.card_path.clone().ok_or(ConfigError::NoCardPath)?;
        let legacy_card_path = settings.legacy_card_path.clone();
        let paths = [&rpc_path, &card_path].into_iter().chain(&self.config.rpc_aliases).chain(&legacy_card_path);
        #[cfg(feature = "rest")]
        let paths = paths.chain(&rest_base);
        for path in paths {
            if !path.starts_with('/') || path.contains(['?', '#', ' ']) {
                return Err(ConfigError::BadPath(path.clone()));
            }
        }

        let (versions, card_dialects) = self.versions();
        let card = match &self.config.given {
            Some(card) => card.clone(),
            None => self.derived_card()?,
        };
        let mut served = AgentCardService::new(card.clone())?.public_url(self.config.public_url.clone())?;
        for dialect in card_dialects {
            served = served.dialect(dialect)?;
        }
        let mut capability = CapabilityLayer::from_card(&card);
        if let Extended::Card(extended) = &self.config.extended_card {
            crate::agent_card::check(extended)?;
            capability = capability.extended_agent_card(AgentCard::clone(extended));
        }
        let media_types = self.config.takes_stated_modes_only || self.config.given.is_some();
        let json_rpc = self.config.rpc_aliases.iter().fold(JsonRpcLayer::new().path(&rpc_path), JsonRpcLayer::alias);
        let json_rpc = json_rpc.bare_stream_items(settings.bare_sse_frames);
        #[cfg(feature = "rest")]
        let bindings = {
            let rest = rest_base.as_deref().map(|base| RestLayer::new().base(base).plain_json(settings.plain_json));
            BindingsLayer::new(json_rpc, rest)
        };
        #[cfg(feature = "rest")]
        let gate = bindings.clone();
        #[cfg(not(feature = "rest"))]
        let (gate, bindings) = (json_rpc.endpoint(), json_rpc);
        let sse = SseLayer::new()
            .heartbeat(self.config.heartbeat)
            .ids(settings.sse_ids)
            .comments(settings.sse_comments)
            .one_event_per_frame(settings.one_event_per_chunk);
        let tasks = self
            .tasks
            .reply(settings.reply)
            .first_event(settings.first_event)
            .status_only(settings.status_only)
            .context_is_task(settings.context_is_task)
            .cancel_scope(settings.cancel_scope)
            .cancel(settings.cancel)
            .replay(settings.replay)
            .close_on(settings.close_on)
            .named_ids(settings.named_ids)
            .retry_scope(&*self.config.id);
        if tasks.lacks_claims() {
            return Err(ConfigError::NoClaims);
        }
        let shutdown: Shutdown = {
            let tasks = tasks.clone();
            Box::new(move |patience| {
                let tasks = tasks.clone();
                Box::pin(async move { tasks.shutdown(patience).await })
            })
        };
        // The layer's errors have another type than what the layer without it passes on.
        let accepted_output = self.config.accepted_output.then(|| {
            ServiceBuilder::new()
                .map_err(|error: Error| BoxError::from(error))
                .layer(AcceptedOutputLayer::new())
                .into_inner()
        });
        let (blobs, serve) = match self.blobs {
            Blobs::Inline => (FileLayer::Inline, None),
            Blobs::Refused => (FileLayer::Refused, None),
            Blobs::Stored { layer, serve } => (FileLayer::Stored(layer), serve),
        };

        let mut paths = vec![rpc_path, card_path.clone()];
        paths.extend(self.config.rpc_aliases.iter().cloned());
        #[cfg(feature = "rest")]
        if let Some(base) = rest_base.filter(|base| !paths.contains(base)) {
            paths.push(base);
        }
        paths.extend(legacy_card_path.clone());
        paths.extend(serve.as_ref().map(|(path, _)| path.clone()));
        let operations = ServiceBuilder::new()
            .layer(capability.clone())
            .layer(ExtensionLayer::from_card(&card))
            .option_layer(media_types.then(|| MediaTypeLayer::from_card(&card)))
            .layer(tasks)
            .layer(blobs)
            .option_layer(accepted_output)
            .map_err(Into::<BoxError>::into)
            .map_response(IntoReply::into_reply)
            .service(self.agent);
        #[cfg(feature = "grpc")]
        let grpc = self.config.grpc_side(operations.clone(), &capability);
        let service = ServiceBuilder::new()
            .layer(MaybeServeBlobsLayer::new(serve))
            .layer(sse)
            .layer(self.config.body.gate(gate))
            .layer(SharedLayer)
            .layer(bindings)
            .layer(versions.capability(&capability))
            .service(operations);
        let card = AgentCardLayer::new(served).path(card_path).legacy_path(legacy_card_path.as_deref());
        let service = A2aService::new(self.config.id, paths, card, service, shutdown);
        #[cfg(feature = "grpc")]
        let service = service.with_grpc(grpc);
        Ok(service)
    }

    /// The layer that chooses the version, and what the card has to know beyond the versions of this crate.
    fn versions(&self) -> (VersionLayer, Vec<Arc<dyn Dialect>>) {
        let old = V0_3::new()
            .file_with_keys(self.config.settings.file_with_keys)
            .artifact_index(self.config.settings.artifact_index)
            .generated_message_ids(self.config.settings.lenient_messages);
        let old_rest = V0_3Rest::new()
            .generated_message_ids(self.config.settings.lenient_messages)
            .double_base64(self.config.settings.base64_files);
        let new = V1_0::new().strict_data(self.config.settings.strict_data);
        let layer = match self.config.settings.pinned {
            Some(ProtocolVersion::V1_0) => VersionLayer::only(new),
            Some(_) => VersionLayer::only(old).dialect(old_rest),
            None => {
                let layer = VersionLayer::new().dialect(old).dialect(old_rest).dialect(new);
                layer.lenient(self.config.settings.lenient_version)
            }
        };
        let layer = self.config.dialects.iter().fold(layer, |layer, dialect| layer.dialect(Arc::clone(dialect)));
        (layer, self.config.dialects.clone())
    }

    fn derived_card(&self) -> Result<AgentCard, ConfigError> {
        let mut card = self.config.card.clone().streaming(self.config.streaming).bare(self.config.settings.bare_card);
        card = card.extended_agent_card(!matches!(self.config.extended_card, Extended::Nothing));
        for version in self.config.versions_over(Binding::JsonRpc) {
            card = card.json_rpc_of(version, &self.config.url);
        }
        #[cfg(feature = "rest")]
        let card = self.config.with_rest(card);
        #[cfg(feature = "grpc")]
        let card = self.config.with_grpc(card);
        Ok(card.build()?)
    }
}

impl Config {
    /// The versions that are spoken over a binding that dialects are for, each of them once.
    pub(super) fn versions_over(&self, binding: Binding) -> Vec<ProtocolVersion> {
        let mut versions = self.settings.versions();
        for dialect in self.dialects.iter().filter(|dialect| dialect.speaks(binding)) {
            if !versions.contains(&dialect.version()) {
                versions.push(dialect.version());
            }
        }
        versions
    }
}

pub(super) fn path_of(url: &str) -> Result<String, ConfigError> {
    let bad = || ConfigError::BadUrl(url.to_owned());
    let parsed: Uri = url.parse().map_err(|_| bad())?;
    // Each binding puts paths of its own behind it, and a reader of URIs drops a fragment without a word.
    if url.contains(['?', '#']) {
        return Err(ConfigError::UrlWithQuery(url.to_owned()));
    }
    match (parsed.scheme_str(), parsed.authority()) {
        (Some("http" | "https"), Some(_)) => Ok(parsed.path().to_owned()),
        _ => Err(bad()),
    }
}
