//! What a mount knows of HTTP+JSON.

use super::{super::ConfigError, Config, build::path_of};
use crate::{call::Binding, types::AgentInterface};

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

    /// What the card says of it: one entry for each version that is spoken over it.
    pub(super) fn rest_interfaces(&self) -> Vec<AgentInterface> {
        if !self.settings.rest {
            return Vec::new();
        }
        let mut versions = self.settings.versions();
        for dialect in self.dialects.iter().filter(|dialect| dialect.speaks(Binding::HttpJson)) {
            if !versions.contains(&dialect.version()) {
                versions.push(dialect.version());
            }
        }
        // Clients put paths behind it, and not all of them look for a slash at its end.
        let url = self.rest_url.as_ref().unwrap_or(&self.url).trim_end_matches('/');
        let interface = |version: &crate::operation::ProtocolVersion| {
            AgentInterface::new(url, Binding::HttpJson.name(), version.to_string())
        };
        versions.iter().map(interface).collect()
    }
}
