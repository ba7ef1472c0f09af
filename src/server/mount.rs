use std::{fmt, sync::Arc, time::Duration};

use http::{Request, Uri};
use tower::ServiceBuilder;
use tower_service::Service;

use super::{A2aService, ConfigError, Settings, blobs::MaybeServeBlobsLayer, files::FileLayer};
use crate::{
    agent::IntoReply,
    agent_card::{AgentCardBuilder, AgentCardLayer, AgentCardService, PublicUrl},
    blob::{BlobLayer, BlobStore, NoBlobStore},
    body::BodyLayer,
    capability::CapabilityLayer,
    dialect::{Dialect, V0_3, V1_0},
    error::BoxError,
    extension::ExtensionLayer,
    json_rpc::JsonRpcLayer,
    media_type::{AcceptedOutputLayer, MediaTypeLayer},
    operation::ProtocolVersion,
    part::{Input, Parts},
    sse::SseLayer,
    task::{MemoryTaskStore, ReplyMode, TaskLayer, TaskStore},
    types::{AgentCard, AgentExtension, AgentSkill, Message},
    version::VersionLayer,
};

/// Where an agent is unless it is [told](Mount::url) (row V007).
const DEFAULT_URL: &str = "http://localhost:8000";

/// One agent, its card and its settings, on the way to being a service.
///
/// [`build`](Self::build) puts the layers of this crate around the agent, in the order of the crate's map. Whatever it
/// does can be spelled out with a `ServiceBuilder`.
#[must_use]
pub struct Mount<M, T = MemoryTaskStore, St = NoBlobStore> {
    agent: M,
    id: String,
    card: AgentCardBuilder,
    given: Option<AgentCard>,
    takes_stated_modes_only: bool,
    streaming: bool,
    extended_card: Extended,
    url: String,
    public_url: PublicUrl,
    rpc_path: Option<String>,
    rpc_aliases: Vec<String>,
    settings: Settings,
    dialects: Vec<Arc<dyn Dialect>>,
    tasks: TaskLayer<T>,
    blobs: Blobs<St>,
    body: BodyLayer,
    heartbeat: Option<Duration>,
}

/// What there is for those who authenticate.
#[derive(Clone, Debug)]
enum Extended {
    Nothing,
    Declared,
    Card(Box<AgentCard>),
}

/// Where files go.
#[derive(Clone, Debug)]
enum Blobs<St> {
    Inline,
    Refused,
    Stored { layer: BlobLayer<St>, serve: Option<(String, St)> },
}

impl<A> Mount<Parts<A>> {
    /// An agent that reads [`Input`]: a text, an object, a file, or a list of them. It is known by this id.
    pub fn new(id: impl Into<String>, agent: A) -> Self
    where
        A: Service<Request<Input>>,
    {
        Mount::of(id.into(), Parts::new(agent))
    }
}

impl<M> Mount<M> {
    /// An agent that reads whole messages. It is known by this id.
    pub fn messages(id: impl Into<String>, agent: M) -> Self
    where
        M: Service<Request<Message>>,
    {
        let mount = Self::of(id.into(), agent);
        let card = mount.card.clone().files(true);
        Self { card, ..mount }
    }

    fn of(id: String, agent: M) -> Self {
        Self {
            agent,
            card: AgentCardBuilder::new(&id),
            id,
            given: None,
            takes_stated_modes_only: false,
            streaming: true,
            extended_card: Extended::Nothing,
            url: DEFAULT_URL.to_owned(),
            public_url: PublicUrl::fixed(),
            rpc_path: None,
            rpc_aliases: Vec::new(),
            settings: Settings::strict(),
            dialects: Vec::new(),
            tasks: TaskLayer::new(),
            blobs: Blobs::Inline,
            body: BodyLayer::new(),
            heartbeat: Some(SseLayer::DEFAULT_HEARTBEAT),
        }
    }
}

impl<M, T, St> Mount<M, T, St> {
    /// Where clients reach the agent: the full URL of its JSON-RPC endpoint. Default: `http://localhost:8000`.
    ///
    /// The endpoint is served at the path of the URL, unless a [path](Self::rpc_path) is set.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Where the server sees the endpoint, if something in front of it changes paths.
    pub fn rpc_path(mut self, path: impl Into<String>) -> Self {
        self.rpc_path = Some(path.into());
        self
    }

    /// One more path where the endpoint is, for clients that know it from before (C06).
    pub fn rpc_alias(mut self, path: impl Into<String>) -> Self {
        self.rpc_aliases.push(path.into());
        self
    }

    /// Takes the public URL from the headers of a proxy that is trusted. Default: [`PublicUrl::fixed`].
    pub fn public_url(mut self, from: PublicUrl) -> Self {
        self.public_url = from;
        self
    }

    /// How the mount behaves where servers differ. Default: [`Settings::strict`].
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// What a send is answered with; a short way to set it in the [settings](Self::settings) as they are now.
    pub fn reply(mut self, mode: ReplyMode) -> Self {
        self.settings = self.settings.reply(mode);
        self
    }

    /// What the agent does, for people. Default: the first line of its [instructions](Self::instructions), else
    /// `Agent "<id>"`.
    pub fn description(self, description: impl Into<String>) -> Self {
        self.describe(|card| card.description(description))
    }

    /// The agent's system prompt, whose first line describes it where nothing else does.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.describe(|card| card.instructions(instructions))
    }

    /// Something the agent is good at. Default: one skill that is named after the agent.
    pub fn skill(self, skill: AgentSkill) -> Self {
        self.describe(|card| card.skill(skill))
    }

    /// An extension of the protocol that the agent supports, or requires.
    pub fn extension(self, extension: AgentExtension) -> Self {
        self.describe(|card| card.extension(extension))
    }

    /// Media types that the agent takes. Parts that state another are then refused. Default: text and data, and, where
    /// there is somewhere to put them, any file; then nothing is refused.
    pub fn input_modes<I: Into<String>>(mut self, modes: impl IntoIterator<Item = I>) -> Self {
        self.takes_stated_modes_only = true;
        self.describe(|card| card.input_modes(modes))
    }

    /// Anything else that the card says.
    pub fn describe(mut self, describe: impl FnOnce(AgentCardBuilder) -> AgentCardBuilder) -> Self {
        self.card = describe(self.card);
        self
    }

    /// The whole card, interfaces included, instead of one made of what the mount knows. Its capabilities, extensions
    /// and input modes are what the mount then holds callers to.
    pub fn card(mut self, card: AgentCard) -> Self {
        self.given = Some(card);
        self
    }

    /// Whether streams are offered. Default: true.
    pub fn streaming(mut self, offered: bool) -> Self {
        self.streaming = offered;
        self
    }

    /// A second card, for those who authenticate; who they are is for a layer outside to find out.
    pub fn extended_agent_card(mut self, card: AgentCard) -> Self {
        self.extended_card = Extended::Card(Box::new(card));
        self
    }

    /// Declares a second card without having one: callers are told that it is not configured.
    pub fn extended_agent_card_declared(mut self) -> Self {
        self.extended_card = Extended::Declared;
        self
    }

    /// Another wire version beside those of the settings, or in the place of one of them.
    pub fn dialect(mut self, dialect: impl Dialect) -> Self {
        self.dialects.push(Arc::new(dialect));
        self
    }

    /// Limits on request bodies. Default: [`BodyLayer::new`].
    pub fn body(mut self, body: BodyLayer) -> Self {
        self.body = body;
        self
    }

    /// After how much silence a stream says that it is alive; `None` for never. Default: 15 s.
    pub fn heartbeat(mut self, after: Option<Duration>) -> Self {
        self.heartbeat = after;
        self
    }

    /// Refuses to send files inline: an answer with one fails instead (row B055). Default: they are sent inline.
    pub fn demand_blob_store(mut self) -> Self {
        if matches!(self.blobs, Blobs::Inline) {
            self.blobs = Blobs::Refused;
        }
        self
    }

    /// Sets limits of the tasks: how many run, for how long, how a cancel ends. What [`Settings`] decide is theirs.
    pub fn tasks(mut self, change: impl FnOnce(TaskLayer<T>) -> TaskLayer<T>) -> Self {
        self.tasks = change(self.tasks);
        self
    }

    /// Keeps tasks in this store. Limits that were set with [`tasks`](Self::tasks) before are forgotten.
    pub fn task_store<U: TaskStore>(self, store: U) -> Mount<M, U, St> {
        Mount {
            tasks: TaskLayer::with_store(store),
            agent: self.agent,
            id: self.id,
            card: self.card,
            given: self.given,
            takes_stated_modes_only: self.takes_stated_modes_only,
            streaming: self.streaming,
            extended_card: self.extended_card,
            url: self.url,
            public_url: self.public_url,
            rpc_path: self.rpc_path,
            rpc_aliases: self.rpc_aliases,
            settings: self.settings,
            dialects: self.dialects,
            blobs: self.blobs,
            body: self.body,
            heartbeat: self.heartbeat,
        }
    }

    /// Puts inline files into this store, and serves them below this path of the mount's server if one is given. The
    /// store must give out URLs that lead there.
    pub fn blob_store<U: BlobStore>(self, store: U, serve_at: Option<&str>) -> Mount<M, T, U> {
        let serve = serve_at.map(|path| (path.to_owned(), store.clone()));
        self.blobs(BlobLayer::new(store), serve)
    }

    fn blobs<U>(self, layer: BlobLayer<U>, serve: Option<(String, U)>) -> Mount<M, T, U> {
        Mount {
            blobs: Blobs::Stored { layer, serve },
            card: self.card.files(true),
            agent: self.agent,
            id: self.id,
            given: self.given,
            takes_stated_modes_only: self.takes_stated_modes_only,
            streaming: self.streaming,
            extended_card: self.extended_card,
            url: self.url,
            public_url: self.public_url,
            rpc_path: self.rpc_path,
            rpc_aliases: self.rpc_aliases,
            settings: self.settings,
            dialects: self.dialects,
            tasks: self.tasks,
            body: self.body,
            heartbeat: self.heartbeat,
        }
    }

    /// Puts all layers around the agent.
    ///
    /// # Errors
    /// If the card breaks a rule of the protocol, or a path or URL is none.
    pub fn build<B>(self) -> Result<A2aService<B>, ConfigError>
    where
        M: Service<Request<Message>> + Clone + Send + Sync + 'static,
        M::Response: IntoReply,
        M::Error: Into<BoxError>,
        M::Future: Send,
        T: TaskStore,
        St: BlobStore,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let settings = &self.settings;
        let rpc_path = match &self.rpc_path {
            Some(path) => path.clone(),
            None => path_of(&self.url)?,
        };
        let card_path = settings.card_path.clone().ok_or(ConfigError::NoCardPath)?;
        let legacy_card_path = settings.legacy_card_path.clone();
        for path in [&rpc_path, &card_path].into_iter().chain(&self.rpc_aliases).chain(&legacy_card_path) {
            if !path.starts_with('/') || path.contains(['?', '#', ' ']) {
                return Err(ConfigError::BadPath(path.clone()));
            }
        }

        let (versions, card_dialects) = self.versions();
        let card = match &self.given {
            Some(card) => card.clone(),
            None => self.derived_card()?,
        };
        let mut served = AgentCardService::new(card.clone())?.public_url(self.public_url.clone())?;
        for dialect in card_dialects {
            served = served.dialect(dialect)?;
        }
        let mut capability = CapabilityLayer::from_card(&card);
        if let Extended::Card(extended) = &self.extended_card {
            crate::agent_card::check(extended)?;
            capability = capability.extended_agent_card(AgentCard::clone(extended));
        }
        let media_types = self.takes_stated_modes_only || self.given.is_some();
        let json_rpc = self.rpc_aliases.iter().fold(JsonRpcLayer::new().path(&rpc_path), JsonRpcLayer::alias);
        let json_rpc = json_rpc.bare_stream_items(settings.bare_sse_frames);
        let sse = SseLayer::new()
            .heartbeat(self.heartbeat)
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
            .named_ids(settings.named_ids);
        let (blobs, serve) = match self.blobs {
            Blobs::Inline => (FileLayer::Inline, None),
            Blobs::Refused => (FileLayer::Refused, None),
            Blobs::Stored { layer, serve } => (FileLayer::Stored(layer), serve),
        };

        let mut paths = vec![rpc_path, card_path.clone()];
        paths.extend(self.rpc_aliases);
        paths.extend(legacy_card_path.clone());
        paths.extend(serve.as_ref().map(|(path, _)| path.clone()));
        let service = ServiceBuilder::new()
            .layer(AgentCardLayer::new(served).path(card_path).legacy_path(legacy_card_path.as_deref()))
            .layer(MaybeServeBlobsLayer::new(serve))
            .layer(sse)
            .layer(self.body.gate(json_rpc.endpoint()))
            .layer(json_rpc)
            .layer(versions)
            .layer(capability)
            .layer(ExtensionLayer::from_card(&card))
            .option_layer(media_types.then(|| MediaTypeLayer::from_card(&card)))
            .layer(tasks)
            .layer(blobs)
            .layer(AcceptedOutputLayer::new())
            .service(self.agent);
        Ok(A2aService::new(self.id, paths, service))
    }

    /// The layer that chooses the version, and what the card has to know beyond the versions of this crate.
    fn versions(&self) -> (VersionLayer, Vec<Arc<dyn Dialect>>) {
        let old = V0_3::new()
            .file_with_keys(self.settings.file_with_keys)
            .artifact_index(self.settings.artifact_index)
            .generated_message_ids(self.settings.lenient_messages);
        let new = V1_0::new().strict_data(self.settings.strict_data);
        let layer = match self.settings.pinned {
            Some(ProtocolVersion::V1_0) => VersionLayer::only(new),
            Some(_) => VersionLayer::only(old),
            None => VersionLayer::new().dialect(old).dialect(new).lenient(self.settings.lenient_version),
        };
        let layer = self.dialects.iter().fold(layer, |layer, dialect| layer.dialect(Arc::clone(dialect)));
        (layer, self.dialects.clone())
    }

    fn derived_card(&self) -> Result<AgentCard, ConfigError> {
        let mut card = self.card.clone().streaming(self.streaming).bare(self.settings.bare_card);
        card = card.extended_agent_card(!matches!(self.extended_card, Extended::Nothing));
        let own = self.dialects.iter().map(|dialect| dialect.version());
        for version in self.settings.versions().into_iter().chain(own) {
            card = card.json_rpc_of(version, &self.url);
        }
        Ok(card.build()?)
    }
}

fn path_of(url: &str) -> Result<String, ConfigError> {
    let bad = || ConfigError::BadUrl(url.to_owned());
    let parsed: Uri = url.parse().map_err(|_| bad())?;
    match (parsed.scheme_str(), parsed.authority()) {
        (Some("http" | "https"), Some(_)) => Ok(parsed.path().to_owned()),
        _ => Err(bad()),
    }
}

impl<M, T, St> fmt::Debug for Mount<M, T, St> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount")
            .field("id", &self.id)
            .field("url", &self.url)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
