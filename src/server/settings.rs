use crate::{
    operation::ProtocolVersion,
    task::{CancelMode, CancelScope, CloseOn, FirstEvent, Replay, ReplyMode},
};

/// How a mount behaves where servers differ. Each method below is one such difference, and says what the default is.
///
/// They decide
/// - which version is spoken: [`pinned`](Self::pinned), [`lenient_version`](Self::lenient_version);
/// - what a send is answered with: [`reply`](Self::reply);
/// - what streams look like: [`bare_sse_frames`](Self::bare_sse_frames), [`sse_comments`](Self::sse_comments),
///   [`sse_ids`](Self::sse_ids), [`one_event_per_chunk`](Self::one_event_per_chunk);
/// - where they begin and end: [`first_event`](Self::first_event), [`replay`](Self::replay), [`close_on`](Self::close_on);
/// - where the card is, and what it says unasked: [`card_path`](Self::card_path),
///   [`legacy_card_path`](Self::legacy_card_path), [`bare_card`](Self::bare_card);
/// - what a cancel does, and to which tasks: [`cancel`](Self::cancel), [`cancel_scope`](Self::cancel_scope);
/// - what tasks and files look like: [`status_only`](Self::status_only), [`context_is_task`](Self::context_is_task),
///   [`named_ids`](Self::named_ids), [`artifact_index`](Self::artifact_index), [`file_with_keys`](Self::file_with_keys);
/// - which bindings stand beside JSON-RPC: `rest` and `grpc`, with the features of these names;
/// - what they are like: `plain_json`, `base64_files`;
/// - what is taken from callers: [`lenient_messages`](Self::lenient_messages), [`strict_data`](Self::strict_data).
///
/// A profile is nothing but a set of these: [`strict`](Self::strict) negotiates the version, [`strict_1_0`](Self::strict_1_0) and
/// [`strict_0_3`](Self::strict_0_3) speak one, [`bread`](Self::bread) and [`vibes`](Self::vibes) behave like two older
/// servers, for clients that were written against those. Mounts of different settings live side by side in one process.
#[derive(Clone, Debug)]
#[must_use]
pub struct Settings {
    pub(super) pinned: Option<ProtocolVersion>,
    pub(super) lenient_version: bool,
    pub(super) reply: ReplyMode,
    pub(super) bare_sse_frames: bool,
    pub(super) first_event: FirstEvent,
    pub(super) sse_comments: bool,
    pub(super) sse_ids: bool,
    pub(super) one_event_per_chunk: bool,
    pub(super) card_path: Option<String>,
    pub(super) legacy_card_path: Option<String>,
    pub(super) file_with_keys: bool,
    pub(super) status_only: bool,
    pub(super) context_is_task: bool,
    pub(super) cancel_scope: CancelScope,
    pub(super) cancel: CancelMode,
    pub(super) replay: Replay,
    pub(super) close_on: CloseOn,
    pub(super) artifact_index: bool,
    pub(super) named_ids: bool,
    pub(super) lenient_messages: bool,
    pub(super) strict_data: bool,
    pub(super) bare_card: bool,
    pub(super) base64_files: bool,
    #[cfg(feature = "rest")]
    pub(super) rest: bool,
    #[cfg(feature = "rest")]
    pub(super) plain_json: bool,
    #[cfg(feature = "grpc")]
    pub(super) grpc: bool,
}

/// Where cards have been since 0.3 (spec 1.0 §8.2).
pub(super) const CARD_PATH: &str = "/.well-known/agent-card.json";
/// Where cards were before 0.3.
pub(super) const LEGACY_CARD_PATH: &str = "/.well-known/agent.json";

impl Settings {
    /// What the protocol says, in both versions: each request says which one it is in. This is the default.
    pub fn strict() -> Self {
        Self {
            pinned: None,
            lenient_version: false,
            reply: ReplyMode::Task,
            bare_sse_frames: false,
            first_event: FirstEvent::Submitted,
            sse_comments: true,
            sse_ids: true,
            one_event_per_chunk: false,
            card_path: Some(CARD_PATH.to_owned()),
            legacy_card_path: Some(LEGACY_CARD_PATH.to_owned()),
            file_with_keys: false,
            status_only: false,
            context_is_task: false,
            cancel_scope: CancelScope::Any,
            cancel: CancelMode::Final,
            replay: Replay::ByVersion,
            close_on: CloseOn::InputRequired,
            artifact_index: false,
            named_ids: false,
            lenient_messages: false,
            strict_data: false,
            bare_card: false,
            base64_files: false,
            #[cfg(feature = "rest")]
            rest: true,
            #[cfg(feature = "rest")]
            plain_json: false,
            #[cfg(feature = "grpc")]
            grpc: false,
        }
    }

    /// Version 1.0 alone, which then needs no header.
    pub fn strict_1_0() -> Self {
        Self { pinned: Some(ProtocolVersion::V1_0), ..Self::strict() }
    }

    /// Version 0.3 alone, which then needs no header.
    pub fn strict_0_3() -> Self {
        Self { pinned: Some(ProtocolVersion::V0_3), ..Self::strict() }
    }

    /// Like the bread server: JSON-RPC alone, one version a mount, a card path that must be [set](Self::card_path), sends answered with
    /// messages, `tasks/get` with the status alone, files as `fileWithUri`, cancels for streams of this process only.
    pub fn bread(version: ProtocolVersion) -> Self {
        Self {
            pinned: Some(version),
            reply: ReplyMode::Message,
            first_event: FirstEvent::Working,
            card_path: None,
            legacy_card_path: None,
            file_with_keys: true,
            status_only: true,
            context_is_task: true,
            cancel_scope: CancelScope::OwnStreams,
            cancel: CancelMode::Attempt,
            replay: Replay::FromStart,
            strict_data: true,
            #[cfg(feature = "rest")]
            rest: false,
            ..Self::strict()
        }
    }

    /// Like the Vibes adapter: JSON-RPC alone, version 0.3 with the aliases of 0.1, the card at the old path, bare events on streams and
    /// one a chunk, no task at their head, an `index` on artifacts, messages without ids taken.
    pub fn vibes() -> Self {
        Self {
            pinned: Some(ProtocolVersion::V0_3),
            bare_sse_frames: true,
            first_event: FirstEvent::StatusOnly,
            sse_comments: false,
            sse_ids: false,
            one_event_per_chunk: true,
            card_path: Some(LEGACY_CARD_PATH.to_owned()),
            legacy_card_path: None,
            artifact_index: true,
            named_ids: true,
            lenient_messages: true,
            bare_card: true,
            #[cfg(feature = "rest")]
            rest: false,
            ..Self::strict()
        }
    }

    /// Pins the mount to one version; `None` lets each request choose.
    pub fn pinned(mut self, version: Option<ProtocolVersion>) -> Self {
        self.pinned = version;
        self
    }

    /// Whether a 1.0 method without a version header is served as 1.0, instead of being unknown to 0.3. Default: false,
    /// because without a header a request is in 0.3 (spec 1.0 §3.6).
    pub fn lenient_version(mut self, lenient: bool) -> Self {
        self.lenient_version = lenient;
        self
    }

    /// What a send is answered with. Default: [`ReplyMode::Task`].
    pub fn reply(mut self, mode: ReplyMode) -> Self {
        self.reply = mode;
        self
    }

    /// Whether stream events come without the JSON-RPC envelope. Default: false.
    pub fn bare_sse_frames(mut self, bare: bool) -> Self {
        self.bare_sse_frames = bare;
        self
    }

    /// What a stream begins with. Default: [`FirstEvent::Submitted`].
    pub fn first_event(mut self, first: FirstEvent) -> Self {
        self.first_event = first;
        self
    }

    /// Whether streams carry comments: the one at their beginning, and heartbeats. Default: true.
    pub fn sse_comments(mut self, comments: bool) -> Self {
        self.sse_comments = comments;
        self
    }

    /// Whether stream events carry ids. Default: true.
    pub fn sse_ids(mut self, ids: bool) -> Self {
        self.sse_ids = ids;
        self
    }

    /// Whether every stream event is a chunk of its own. Default: false, those that are ready together share one.
    pub fn one_event_per_chunk(mut self, alone: bool) -> Self {
        self.one_event_per_chunk = alone;
        self
    }

    /// Where the card is. Default: `/.well-known/agent-card.json`.
    pub fn card_path(mut self, path: impl Into<String>) -> Self {
        self.card_path = Some(path.into());
        self
    }

    /// Where the card is too, for old clients. Default: `/.well-known/agent.json`.
    pub fn legacy_card_path(mut self, path: Option<&str>) -> Self {
        self.legacy_card_path = path.map(str::to_owned);
        self
    }

    /// Whether 0.3 files go out as `fileWithUri` and `fileWithBytes`. Default: false, as `uri` and `bytes`.
    pub fn file_with_keys(mut self, long: bool) -> Self {
        self.file_with_keys = long;
        self
    }

    /// Whether `tasks/get` shows the status alone. Default: false.
    pub fn status_only(mut self, status_only: bool) -> Self {
        self.status_only = status_only;
        self
    }

    /// Whether a fresh task is its own conversation. Default: false.
    pub fn context_is_task(mut self, same: bool) -> Self {
        self.context_is_task = same;
        self
    }

    /// Which tasks can be canceled. Default: [`CancelScope::Any`].
    pub fn cancel_scope(mut self, scope: CancelScope) -> Self {
        self.cancel_scope = scope;
        self
    }

    /// What a cancel does. Default: [`CancelMode::Final`].
    pub fn cancel(mut self, mode: CancelMode) -> Self {
        self.cancel = mode;
        self
    }

    /// Where a subscription without a cursor begins. Default: [`Replay::ByVersion`].
    pub fn replay(mut self, replay: Replay) -> Self {
        self.replay = replay;
        self
    }

    /// Which interrupted states end a stream. Default: [`CloseOn::InputRequired`].
    pub fn close_on(mut self, states: CloseOn) -> Self {
        self.close_on = states;
        self
    }

    /// Whether 0.3 artifacts carry an `index`. Default: false.
    pub fn artifact_index(mut self, index: bool) -> Self {
        self.artifact_index = index;
        self
    }

    /// Whether fresh ids say what they are of. Default: false.
    pub fn named_ids(mut self, named: bool) -> Self {
        self.named_ids = named;
        self
    }

    /// Whether a 0.3 message may come without `messageId` and `role` in JSON. Default: false.
    pub fn lenient_messages(mut self, lenient: bool) -> Self {
        self.lenient_messages = lenient;
        self
    }

    /// Whether data must be an object in 1.0 too. Default: false.
    pub fn strict_data(mut self, strict: bool) -> Self {
        self.strict_data = strict;
        self
    }

    /// Whether a card says no more than what it was told: no skill of the agent's own name, and text as the only media
    /// type. More than the card says is taken all the same. Default: false.
    pub fn bare_card(mut self, bare: bool) -> Self {
        self.bare_card = bare;
        self
    }

    /// Whether HTTP+JSON is served beside JSON-RPC, and named on the card. Default: true, because it takes nothing but
    /// paths below the agent's own.
    #[cfg(feature = "rest")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rest")))]
    pub fn rest(mut self, served: bool) -> Self {
        self.rest = served;
        self
    }

    /// Whether 1.0 answers over HTTP+JSON say that they are `application/json`, for clients that know no other. Default:
    /// false, they are `application/a2a+json`.
    #[cfg(feature = "rest")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rest")))]
    pub fn plain_json(mut self, plain: bool) -> Self {
        self.plain_json = plain;
        self
    }

    /// Whether the bytes of 0.3 files are base64 text where the proto has bytes, as the Python and Go clients of 0.3 read
    /// them: over gRPC both ways, over HTTP+JSON, whose JSON encodes them once more, on the way out; both are understood
    /// there on the way in. Default: false, they are bytes, as the proto has it.
    #[cfg(any(feature = "rest", feature = "grpc"))]
    #[cfg_attr(docsrs, doc(cfg(any(feature = "rest", feature = "grpc"))))]
    pub fn base64_files(mut self, on: bool) -> Self {
        self.base64_files = on;
        self
    }

    /// Whether gRPC is served beside the rest, and named on the card. Default: false, even with the feature: its paths are
    /// the same for every agent, so that of several mounts on one port one alone can have it, and the server has to speak
    /// HTTP/2.
    #[cfg(feature = "grpc")]
    #[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
    pub fn grpc(mut self, served: bool) -> Self {
        self.grpc = served;
        self
    }

    /// The versions that a mount offers.
    pub(super) fn versions(&self) -> Vec<ProtocolVersion> {
        self.pinned.map_or_else(|| vec![ProtocolVersion::V1_0, ProtocolVersion::V0_3], |version| vec![version])
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::strict()
    }
}
