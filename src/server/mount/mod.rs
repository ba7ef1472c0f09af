mod build;
#[cfg(feature = "grpc")]
mod grpc;
#[cfg(feature = "rest")]
mod rest;

use std::{fmt, sync::Arc, time::Duration};

use http::Request;
use tower_service::Service;

use super::Settings;
use crate::{
    agent::IntoReply,
    agent_card::{AgentCardBuilder, PublicUrl},
    blob::{BlobLayer, BlobStore, NoBlobStore},
    body::BodyLayer,
    dialect::Dialect,
    error::BoxError,
    part::{Input, Parts},
    sse::SseLayer,
    task::{MemoryTaskStore, ReplyMode, TaskLayer, TaskStore},
    types::{AgentCard, AgentExtension, AgentSkill, Message},
};

/// Where an agent is unless it is [told](Mount::url).
const DEFAULT_URL: &str = "http://localhost:8000";

/// One agent, its card and its settings, on the way to being a service.
///
/// [`build`](Self::build) puts the layers of this crate around the agent, in the order of the crate's map. Whatever it
/// does can be spelled out with a `ServiceBuilder`.
#[must_use]
pub struct Mount<M, T = MemoryTaskStore, St = NoBlobStore> {
    agent: M,
    tasks: TaskLayer<T>,
    blobs: Blobs<St>,
    config: Config,
}

/// What does not depend on the types of the agent and the stores.
struct Config {
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
    #[cfg(feature = "rest")]
    rest_url: Option<String>,
    #[cfg(feature = "rest")]
    rest_path: Option<String>,
    settings: Settings,
    dialects: Vec<Arc<dyn Dialect>>,
    accepted_output: bool,
    body: BodyLayer,
    heartbeat: Option<Duration>,
    #[cfg(feature = "grpc")]
    grpc: grpc::GrpcConfig,
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
    ///
    /// An agent is a service whose clones share what they need and may be used by any thread, and whose futures may
    /// move between threads. Its answer is anything that becomes a reply ([`IntoReply`]), its error anything that is
    /// `Into<BoxError>`: [`Error`](crate::error::Error), `std::io::Error`, a [`BoxError`], `Infallible`. A plain
    /// `Box<dyn Error>` is not, because it may not leave its thread.
    pub fn new(id: impl Into<String>, agent: A) -> Self
    where
        A: Service<Request<Input>> + Clone + Send + Sync + 'static,
        A::Response: IntoReply,
        A::Error: Into<BoxError>,
        A::Future: Send,
    {
        Mount::of(id.into(), Parts::new(agent))
    }
}

impl<M> Mount<M> {
    /// An agent that reads whole messages. It is known by this id. What an agent has to be is said at
    /// [`new`](Mount::new).
    pub fn messages(id: impl Into<String>, agent: M) -> Self
    where
        M: Service<Request<Arc<Message>>> + Clone + Send + Sync + 'static,
        M::Response: IntoReply,
        M::Error: Into<BoxError>,
        M::Future: Send,
    {
        Self::of(id.into(), agent).describe(|card| card.files(true))
    }

    fn of(id: String, agent: M) -> Self {
        let config = Config {
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
            #[cfg(feature = "rest")]
            rest_url: None,
            #[cfg(feature = "rest")]
            rest_path: None,
            settings: Settings::strict(),
            dialects: Vec::new(),
            accepted_output: true,
            body: BodyLayer::new(),
            heartbeat: Some(SseLayer::DEFAULT_HEARTBEAT),
            #[cfg(feature = "grpc")]
            grpc: grpc::GrpcConfig::default(),
        };
        Self { agent, tasks: TaskLayer::new(), blobs: Blobs::Inline, config }
    }
}

impl<M, T, St> Mount<M, T, St> {
    /// Where clients reach the agent: the full URL of its JSON-RPC endpoint, and, with the feature `rest`, what the paths
    /// of HTTP+JSON stand behind. Default: `http://localhost:8000`.
    ///
    /// The endpoint is served at the path of the URL, unless a [path](Self::rpc_path) is set. There must be no query and no
    /// fragment.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.config.url = url.into();
        self
    }

    /// Where the server sees the endpoint, if something in front of it changes paths. Default: the path of the
    /// [URL](Self::url).
    ///
    /// axum's `nest_service("/x", service)` is such a thing: it takes `/x` off every path. Set `"/"` here then, and give
    /// a blob store its public URL with `/x` and the path at which it is served without. The card is nested too, so
    /// whoever looks for it at its well-known path needs a route of its own.
    pub fn rpc_path(mut self, path: impl Into<String>) -> Self {
        self.config.rpc_path = Some(path.into());
        self
    }

    /// One more path where the endpoint is, for clients that know it from before.
    pub fn rpc_alias(mut self, path: impl Into<String>) -> Self {
        self.config.rpc_aliases.push(path.into());
        self
    }

    /// Where clients reach the agent over HTTP+JSON: the full URL that `/message:send` and its like stand behind, and
    /// `/v1/message:send` in version 0.3. Default: the [URL](Self::url). The paths are served below the path of this URL,
    /// unless another [path](Self::rest_path) is set.
    ///
    /// It is for mounts whose [settings](Settings::rest) have HTTP+JSON; for others it means nothing.
    #[cfg(feature = "rest")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rest")))]
    pub fn rest_url(mut self, url: impl Into<String>) -> Self {
        self.config.rest_url = Some(url.into());
        self
    }

    /// Where the server sees the paths of HTTP+JSON begin, if something in front of it changes paths. Default: the path
    /// of the [REST URL](Self::rest_url) if one is set, else that of the JSON-RPC endpoint, which goes on answering at
    /// exactly its own.
    #[cfg(feature = "rest")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rest")))]
    pub fn rest_path(mut self, path: impl Into<String>) -> Self {
        self.config.rest_path = Some(path.into());
        self
    }

    /// Takes the public URL from the headers of a proxy that is trusted. Default: [`PublicUrl::fixed`].
    pub fn public_url(mut self, from: PublicUrl) -> Self {
        self.config.public_url = from;
        self
    }

    /// How the mount behaves where servers differ. Default: [`Settings::strict`].
    pub fn settings(mut self, settings: Settings) -> Self {
        self.config.settings = settings;
        self
    }

    /// What a send is answered with; a short way to set it in the [settings](Self::settings) as they are now.
    pub fn reply(mut self, mode: ReplyMode) -> Self {
        self.config.settings = self.config.settings.reply(mode);
        self
    }

    /// Where the card is, and nowhere else; a short way to set it in the [settings](Self::settings) as they are now.
    /// [Mounts](super::Mounts) that stand together need one each.
    pub fn card_path(mut self, path: impl Into<String>) -> Self {
        self.config.settings = self.config.settings.card_path(path).legacy_card_path(None);
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
        self.config.takes_stated_modes_only = true;
        self.describe(|card| card.input_modes(modes))
    }

    /// Media types that the agent answers in, for its card. Default: text and JSON. Answers are held to what their callers
    /// take, whatever is said here.
    pub fn output_modes<I: Into<String>>(self, modes: impl IntoIterator<Item = I>) -> Self {
        self.describe(|card| card.output_modes(modes))
    }

    /// Whether an answer fails if it is in none of the media types that its caller takes. Default: true. See
    /// [`AcceptedOutputLayer`](crate::media_type::AcceptedOutputLayer).
    pub fn accepted_output(mut self, held: bool) -> Self {
        self.config.accepted_output = held;
        self
    }

    /// Anything else that the card says.
    pub fn describe(mut self, describe: impl FnOnce(AgentCardBuilder) -> AgentCardBuilder) -> Self {
        self.config.card = describe(self.config.card);
        self
    }

    /// The whole card, interfaces included, instead of one made of what the mount knows. Its capabilities, extensions
    /// and input modes are what the mount then holds callers to.
    pub fn card(mut self, card: AgentCard) -> Self {
        self.config.given = Some(card);
        self
    }

    /// Whether streams are offered. Default: true.
    pub fn streaming(mut self, offered: bool) -> Self {
        self.config.streaming = offered;
        self
    }

    /// A second card, for those who authenticate; who they are is for a layer outside to find out.
    pub fn extended_agent_card(mut self, card: AgentCard) -> Self {
        self.config.extended_card = Extended::Card(Box::new(card));
        self
    }

    /// Declares a second card without having one: callers are told that it is not configured.
    pub fn extended_agent_card_declared(mut self) -> Self {
        self.config.extended_card = Extended::Declared;
        self
    }

    /// Another wire version beside those of the settings, or in the place of one of them.
    pub fn dialect(mut self, dialect: impl Dialect) -> Self {
        self.config.dialects.push(Arc::new(dialect));
        self
    }

    /// Limits on request bodies. Default: [`BodyLayer::new`].
    pub fn body(mut self, body: BodyLayer) -> Self {
        self.config.body = body;
        self
    }

    /// After how much silence a stream says that it is alive; `None` for never. Default: 15 s.
    pub fn heartbeat(mut self, after: Option<Duration>) -> Self {
        self.config.heartbeat = after;
        self
    }

    /// Refuses to send files inline: an answer with one fails instead. Default: they are sent inline.
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

    /// Keeps tasks in this store. Default: in a [`MemoryTaskStore`] of the mount's own.
    pub fn task_store<U: TaskStore>(self, store: U) -> Mount<M, U, St> {
        Mount { tasks: self.tasks.store(store), agent: self.agent, blobs: self.blobs, config: self.config }
    }

    /// Puts inline files into this store, and serves them below this path of the mount's server if one is given. The
    /// store must give out URLs that lead there.
    pub fn blob_store<U: BlobStore>(self, store: U, serve_at: Option<&str>) -> Mount<M, T, U> {
        self.blob_layer(BlobLayer::new(store), serve_at)
    }

    /// As [`blob_store`](Self::blob_store), with limits of one's own: how large a file may be, and whether data that
    /// says it is a file is sent as one.
    ///
    /// ```
    /// use a2a_layers::{
    ///     blob::{BlobLayer, MemoryBlobStore},
    ///     part::Input,
    ///     server::Mount,
    /// };
    /// use http::Request;
    /// use tower::service_fn;
    ///
    /// let agent = service_fn(async |request: Request<Input>| Ok::<_, std::io::Error>(request.body().text().to_owned()));
    /// let store = MemoryBlobStore::new("http://localhost:8000/files");
    /// let mount = Mount::new("small", agent).blob_layer(BlobLayer::new(store).max_bytes(64 << 10), Some("/files"));
    /// assert!(mount.build::<axum::body::Body>().is_ok());
    /// ```
    pub fn blob_layer<U: BlobStore>(self, layer: BlobLayer<U>, serve_at: Option<&str>) -> Mount<M, T, U> {
        let serve = serve_at.map(|path| (path.to_owned(), layer.store().clone()));
        let Mount { agent, tasks, config, .. } = self.describe(|card| card.files(true));
        Mount { agent, tasks, blobs: Blobs::Stored { layer, serve }, config }
    }
}

impl<M, T, St> fmt::Debug for Mount<M, T, St> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount")
            .field("id", &self.config.id)
            .field("url", &self.config.url)
            .field("settings", &self.config.settings)
            .finish_non_exhaustive()
    }
}
