//! The servers: one port each, with every binding in both versions on it.

use std::time::Duration;

use a2a_layers::{
    body::BodyLayer,
    server::Mount,
    task::ReplyMode,
    types::{AgentCard, AgentExtension, AgentInterface, AgentSkill},
};

use crate::{
    scenarios::{EXTENSION, REQUIRED},
    wire::{Actor, Server},
};

/// Where a scenario is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Offers all there is.
    Full,
    /// Offers no streams, has no extended card though it declares one, takes text alone, and requires an extension.
    Bare,
    /// Runs one task at a time.
    Busy,
    /// Recognises messages that come again.
    Retries,
}

impl Place {
    pub(crate) const ALL: [Self; 4] = [Self::Full, Self::Bare, Self::Busy, Self::Retries];

    pub(crate) async fn start(self) -> Server {
        Server::with(|mount| self.change(mount.grpc().reply(ReplyMode::Auto))).await
    }

    fn change(self, mount: Mount<Actor>) -> Mount<Actor> {
        match self {
            Self::Full => mount
                .body(BodyLayer::new().limit(64 << 10))
                .extension(AgentExtension::new(EXTENSION))
                .extended_agent_card(extended()),
            Self::Bare => mount
                .streaming(false)
                .extended_agent_card_declared()
                .input_modes(["text/plain"])
                .extension(AgentExtension::required(REQUIRED)),
            Self::Busy => mount.tasks(|tasks| tasks.max_runs(1)),
            Self::Retries => mount.tasks(|tasks| tasks.retry_window(Some(Duration::from_secs(600)))),
        }
    }
}

fn extended() -> AgentCard {
    let mut card = AgentCard::new("actor, extended", "For those who authenticate", "1.2.3");
    card.capabilities.streaming = true;
    card.capabilities.extended_agent_card = true;
    card.interfaces.push(AgentInterface::new("http://agents.example/", "JSONRPC", "1.0"));
    card.interfaces.push(AgentInterface::new("http://agents.example/", "JSONRPC", "0.3"));
    card.skills.push(AgentSkill::new("s", "Secret", "Known to those who authenticate", "test"));
    card
}
