use tower::{ServiceBuilder, layer::util::Stack};

#[cfg(feature = "rest")]
use crate::rest::RestLayer;
use crate::{
    agent_card::{AgentCardLayer, AgentCardService},
    blob::{BlobLayer, ServeBlobsLayer},
    body::BodyLayer,
    capability::CapabilityLayer,
    extension::ExtensionLayer,
    json_rpc::JsonRpcLayer,
    media_type::{AcceptedOutputLayer, MediaTypeLayer},
    part::PartLayer,
    sse::SseLayer,
    task::TaskLayer,
    types::AgentCard,
    version::VersionLayer,
};

/// Adds the layers of this crate to a [`ServiceBuilder`], each with its defaults and in the order of the methods below.
///
/// A layer with other settings goes in with [`layer`](ServiceBuilder::layer), and so does one of your own. Tower's
/// `timeout`, `load_shed` and `concurrency_limit` may stand anywhere below [`json_rpc`](Self::json_rpc) or `rest`, where
/// errors become answers; below [`task`](Self::task) they hold for the agent alone, so that a busy agent keeps nobody from
/// looking at a task. Sealed: it is there for `ServiceBuilder` alone.
///
/// ```
/// use std::convert::Infallible;
///
/// use a2a_layers::{
///     ServiceBuilderExt as _,
///     agent_card::{AgentCardBuilder, AgentCardService},
///     part::Input,
///     task::MemoryTaskStore,
/// };
/// use http::{Request, StatusCode};
/// use http_body_util::Full;
/// use tower::{ServiceBuilder, ServiceExt as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), a2a_layers::error::BoxError> {
/// // What the card does not offer, `capability` refuses.
/// let card = AgentCardBuilder::new("echo").json_rpc("http://localhost:8000/").streaming(true).build()?;
/// let service = ServiceBuilder::new()
///     .agent_card(AgentCardService::new(card.clone())?)
///     .sse()
///     .body()
///     .json_rpc("/")
///     .version()
///     .capability(&card)
///     .task(MemoryTaskStore::new())
///     .part()
///     .service_fn(|request: Request<Input>| async move { Ok::<_, Infallible>(request.body().text().to_owned()) });
///
/// let request = Request::get("/.well-known/agent-card.json").body(Full::<bytes::Bytes>::default())?;
/// assert_eq!(service.oneshot(request).await?.status(), StatusCode::OK);
/// # Ok(())
/// # }
/// ```
pub trait ServiceBuilderExt<L>: sealed::Sealed<L> + Sized {
    /// Serves the agent's card at its well-known paths.
    fn agent_card(self, card: AgentCardService) -> ServiceBuilder<Stack<AgentCardLayer, L>>;

    /// Serves the files of a blob store below this path.
    fn serve_blobs<St>(self, path: &str, store: St) -> ServiceBuilder<Stack<ServeBlobsLayer<St>, L>>;

    /// Writes streams as server-sent events.
    fn sse(self) -> ServiceBuilder<Stack<SseLayer, L>>;

    /// Collects the body of each request, under limits of size and time.
    fn body(self) -> ServiceBuilder<Stack<BodyLayer, L>>;

    /// Reads JSON-RPC envelopes that come to this path, and puts one around each answer.
    fn json_rpc(self, path: &str) -> ServiceBuilder<Stack<JsonRpcLayer, L>>;

    /// Serves verbs and paths below this path (HTTP+JSON), in the place of [`json_rpc`](Self::json_rpc).
    #[cfg(feature = "rest")]
    fn rest(self, base: &str) -> ServiceBuilder<Stack<RestLayer, L>>;

    /// Makes operations out of calls in versions 0.3 and 1.0, and answers in the caller's version.
    fn version(self) -> ServiceBuilder<Stack<VersionLayer, L>>;

    /// Serves operations over gRPC, in versions 1.0 and 0.3.
    #[cfg(feature = "grpc")]
    #[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
    fn grpc(self) -> ServiceBuilder<Stack<crate::grpc::GrpcLayer, L>>;

    /// Refuses what the card does not promise: streams too, unless it says that the agent
    /// [streams](crate::agent_card::AgentCardBuilder::streaming).
    fn capability(self, card: &AgentCard) -> ServiceBuilder<Stack<CapabilityLayer, L>>;

    /// Activates the card's protocol extensions, and demands those that it requires.
    fn extension(self, card: &AgentCard) -> ServiceBuilder<Stack<ExtensionLayer, L>>;

    /// Refuses parts whose stated media type the card does not name.
    fn media_type(self, card: &AgentCard) -> ServiceBuilder<Stack<MediaTypeLayer, L>>;

    /// Carries operations out against this store, and runs the agent.
    fn task<T>(self, store: T) -> ServiceBuilder<Stack<TaskLayer<T>, L>>;

    /// Puts inline files into this store, and their URLs in their place.
    fn blob<St>(self, store: St) -> ServiceBuilder<Stack<BlobLayer<St>, L>>;

    /// Refuses answers in none of the media types that the caller takes.
    fn accepted_output(self) -> ServiceBuilder<Stack<AcceptedOutputLayer, L>>;

    /// Turns messages into what an agent reads: a text, a JSON value, a file, or a list of them.
    fn part(self) -> ServiceBuilder<Stack<PartLayer, L>>;
}

impl<L> ServiceBuilderExt<L> for ServiceBuilder<L> {
    fn agent_card(self, card: AgentCardService) -> ServiceBuilder<Stack<AgentCardLayer, L>> {
        self.layer(AgentCardLayer::new(card))
    }

    fn serve_blobs<St>(self, path: &str, store: St) -> ServiceBuilder<Stack<ServeBlobsLayer<St>, L>> {
        self.layer(ServeBlobsLayer::new(path, store))
    }

    fn sse(self) -> ServiceBuilder<Stack<SseLayer, L>> {
        self.layer(SseLayer::new())
    }

    fn body(self) -> ServiceBuilder<Stack<BodyLayer, L>> {
        self.layer(BodyLayer::new())
    }

    fn json_rpc(self, path: &str) -> ServiceBuilder<Stack<JsonRpcLayer, L>> {
        self.layer(JsonRpcLayer::new().path(path))
    }

    #[cfg(feature = "rest")]
    fn rest(self, base: &str) -> ServiceBuilder<Stack<RestLayer, L>> {
        self.layer(RestLayer::new().base(base))
    }

    fn version(self) -> ServiceBuilder<Stack<VersionLayer, L>> {
        self.layer(VersionLayer::new())
    }

    #[cfg(feature = "grpc")]
    fn grpc(self) -> ServiceBuilder<Stack<crate::grpc::GrpcLayer, L>> {
        self.layer(crate::grpc::GrpcLayer::new())
    }

    fn capability(self, card: &AgentCard) -> ServiceBuilder<Stack<CapabilityLayer, L>> {
        self.layer(CapabilityLayer::from_card(card))
    }

    fn extension(self, card: &AgentCard) -> ServiceBuilder<Stack<ExtensionLayer, L>> {
        self.layer(ExtensionLayer::from_card(card))
    }

    fn media_type(self, card: &AgentCard) -> ServiceBuilder<Stack<MediaTypeLayer, L>> {
        self.layer(MediaTypeLayer::from_card(card))
    }

    fn task<T>(self, store: T) -> ServiceBuilder<Stack<TaskLayer<T>, L>> {
        self.layer(TaskLayer::with_store(store))
    }

    fn blob<St>(self, store: St) -> ServiceBuilder<Stack<BlobLayer<St>, L>> {
        self.layer(BlobLayer::new(store))
    }

    fn accepted_output(self) -> ServiceBuilder<Stack<AcceptedOutputLayer, L>> {
        self.layer(AcceptedOutputLayer::new())
    }

    fn part(self) -> ServiceBuilder<Stack<PartLayer, L>> {
        self.layer(PartLayer::new())
    }
}

mod sealed {
    pub trait Sealed<L> {}
    impl<L> Sealed<L> for tower::ServiceBuilder<L> {}
}
