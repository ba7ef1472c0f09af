//! The canonical language: one version-free set of A2A objects.
//!
//! These types say what A2A 1.0 says (spec 1.0 §4). Wire versions are [dialects](crate::dialect)
//! that read and write them; nothing in here knows how a member is spelled on the wire.
//!
//! Snapshots and events are shared between many readers, so the larger objects sit behind [`Arc`](std::sync::Arc)
//! and ids are `Arc<str>`: copying a [`Task`] does not copy its messages.

mod artifact;
mod card;
mod event;
mod few;
mod history;
mod inline;
mod json;
mod message;
mod part;
mod push;
mod security;
mod state;
mod task;
mod timestamp;

pub(crate) use self::message::fresh_id;
pub use self::{
    artifact::Artifact,
    card::{
        AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider, AgentSkill,
    },
    event::{Event, TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    few::{Few, FewIntoIter},
    history::{History, HistoryIter, Messages},
    inline::InlineBytes,
    json::{Json, JsonError, JsonObject},
    message::{Message, Role},
    part::{Part, PartContent},
    push::{PushAuthentication, PushNotificationConfig},
    security::{ApiKeyLocation, OAuthFlow, OAuthFlowKind, SecurityRequirement, SecurityScheme, SecuritySchemeKind},
    state::{StateKind, TaskState},
    task::{Task, TaskStatus},
    timestamp::Timestamp,
};
