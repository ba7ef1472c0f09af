use crate::{
    operation::ProtocolVersion,
    task::{CancelMode, CancelScope, CloseOn, FirstEvent, Replay, ReplyMode},
};

/// How a mount behaves where servers differ; each setting names the row of the comparison that it decides (C01-C21).
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

    /// Like the bread server: one version a mount, a card path that must be [set](Self::card_path), sends answered with
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
            ..Self::strict()
        }
    }

    /// Like the Vibes adapter: version 0.3 with the aliases of 0.1, the card at the old path, bare events on streams and
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
            ..Self::strict()
        }
    }

    /// Pins the mount to one version; `None` lets each request choose (S12).
    pub fn pinned(mut self, version: Option<ProtocolVersion>) -> Self {
        self.pinned = version;
        self
    }

    /// Whether a 1.0 method without a version header is served as 1.0, instead of being unknown to 0.3. Default: false.
    pub fn lenient_version(mut self, lenient: bool) -> Self {
        self.lenient_version = lenient;
        self
    }

    /// What a send is answered with (C01). Default: [`ReplyMode::Task`].
    pub fn reply(mut self, mode: ReplyMode) -> Self {
        self.reply = mode;
        self
    }

    /// Whether stream events come without the JSON-RPC envelope (C02). Default: false.
    pub fn bare_sse_frames(mut self, bare: bool) -> Self {
        self.bare_sse_frames = bare;
        self
    }

    /// What a stream begins with (C03, C14). Default: [`FirstEvent::Submitted`].
    pub fn first_event(mut self, first: FirstEvent) -> Self {
        self.first_event = first;
        self
    }

    /// Whether streams carry comments: the one at their beginning, and heartbeats (C04). Default: true.
    pub fn sse_comments(mut self, comments: bool) -> Self {
        self.sse_comments = comments;
        self
    }

    /// Whether stream events carry ids (C04). Default: true.
    pub fn sse_ids(mut self, ids: bool) -> Self {
        self.sse_ids = ids;
        self
    }

    /// Whether every stream event is a chunk of its own (V036). Default: false, those that are ready together share one.
    pub fn one_event_per_chunk(mut self, alone: bool) -> Self {
        self.one_event_per_chunk = alone;
        self
    }

    /// Where the card is (C05). Default: `/.well-known/agent-card.json`.
    pub fn card_path(mut self, path: impl Into<String>) -> Self {
        self.card_path = Some(path.into());
        self
    }

    /// Where the card is too, for old clients (C05). Default: `/.well-known/agent.json`.
    pub fn legacy_card_path(mut self, path: Option<&str>) -> Self {
        self.legacy_card_path = path.map(str::to_owned);
        self
    }

    /// Whether 0.3 files go out as `fileWithUri` and `fileWithBytes` (C07). Default: false, as `uri` and `bytes`.
    pub fn file_with_keys(mut self, long: bool) -> Self {
        self.file_with_keys = long;
        self
    }

    /// Whether `tasks/get` shows the status alone (C08). Default: false.
    pub fn status_only(mut self, status_only: bool) -> Self {
        self.status_only = status_only;
        self
    }

    /// Whether a fresh task is its own conversation (S03). Default: false.
    pub fn context_is_task(mut self, same: bool) -> Self {
        self.context_is_task = same;
        self
    }

    /// Which tasks can be canceled (C10). Default: [`CancelScope::Any`].
    pub fn cancel_scope(mut self, scope: CancelScope) -> Self {
        self.cancel_scope = scope;
        self
    }

    /// What a cancel does (C11). Default: [`CancelMode::Final`].
    pub fn cancel(mut self, mode: CancelMode) -> Self {
        self.cancel = mode;
        self
    }

    /// Where a subscription without a cursor begins (C12, S02). Default: [`Replay::ByVersion`].
    pub fn replay(mut self, replay: Replay) -> Self {
        self.replay = replay;
        self
    }

    /// Which interrupted states end a stream (S05). Default: [`CloseOn::InputRequired`].
    pub fn close_on(mut self, states: CloseOn) -> Self {
        self.close_on = states;
        self
    }

    /// Whether 0.3 artifacts carry an `index` (C13). Default: false.
    pub fn artifact_index(mut self, index: bool) -> Self {
        self.artifact_index = index;
        self
    }

    /// Whether fresh ids say what they are of (V043). Default: false.
    pub fn named_ids(mut self, named: bool) -> Self {
        self.named_ids = named;
        self
    }

    /// Whether a 0.3 message may come without `messageId` and `role` (C15). Default: false.
    pub fn lenient_messages(mut self, lenient: bool) -> Self {
        self.lenient_messages = lenient;
        self
    }

    /// Whether data must be an object in 1.0 too (S07). Default: false.
    pub fn strict_data(mut self, strict: bool) -> Self {
        self.strict_data = strict;
        self
    }

    /// Whether a card says no more than what it was told: no skill of the agent's own name, and text as the only media
    /// type (V009, V023). More than the card says is taken all the same. Default: false.
    pub fn bare_card(mut self, bare: bool) -> Self {
        self.bare_card = bare;
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
