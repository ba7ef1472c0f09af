//! What a mount knows of HTTP+JSON.

use super::{super::ConfigError, Config, build::path_of};
use crate::{agent_card::AgentCardBuilder, call::Binding};

impl Config {
    /// Below which path HTTP+JSON is served; `None` if it is not.
    pub(super) fn rest_base(&self, rpc_path: &str) -> Result<Option<String>, ConfigError> {
        if !self.settings.rest {
            return Ok(None);
        }
        Ok(Some(match (&self.rest_path, &self.rest_url) {
            (Some(path), _) => path.clone(),
            (None, Some(url)) => path_of(url)?,
            (None, None) => rpc_path.to_owned(),
        }))
    }

    /// With the addresses of HTTP+JSON, behind those of JSON-RPC.
    pub(super) fn with_rest(&self, card: AgentCardBuilder) -> AgentCardBuilder {
        if !self.settings.rest {
            return card;
        }
        let url = self.rest_url.as_ref().unwrap_or(&self.url);
        self.versions_over(Binding::HttpJson).into_iter().fold(card, |card, version| card.rest_of(version, url))
    }
}
