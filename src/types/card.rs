use std::collections::BTreeMap;

use super::{JsonObject, SecurityRequirement, SecurityScheme};

/// What an agent says about itself (spec 1.0 §4.4.1).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AgentCard {
    /// A name for people.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Where and how it can be reached, the preferred way first.
    pub interfaces: Vec<AgentInterface>,
    /// Who runs it.
    pub provider: Option<AgentProvider>,
    /// The agent's own version.
    pub version: String,
    /// Where to read more.
    pub documentation_url: Option<String>,
    /// A picture.
    pub icon_url: Option<String>,
    /// What it can do beyond the basics.
    pub capabilities: AgentCapabilities,
    /// The ways to authenticate, by name.
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// Alternatives, one of which must be met.
    pub security_requirements: Vec<SecurityRequirement>,
    /// Media types that it takes.
    pub default_input_modes: Vec<String>,
    /// Media types that it answers in.
    pub default_output_modes: Vec<String>,
    /// What it is good at.
    pub skills: Vec<AgentSkill>,
    /// Signatures over the card.
    pub signatures: Vec<AgentCardSignature>,
}

/// One place where an agent can be reached (spec 1.0 §4.4.6).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentInterface {
    /// The address.
    pub url: String,
    /// `JSONRPC`, `HTTP+JSON`, `GRPC`, or the URI of a binding of one's own.
    pub protocol_binding: String,
    /// `0.3`, `1.0`.
    pub protocol_version: String,
    /// What to send as tenant.
    pub tenant: Option<String>,
}

/// Who runs an agent (spec 1.0 §4.4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentProvider {
    /// The organization.
    pub organization: String,
    /// Its page.
    pub url: String,
}

/// What an agent can do beyond the basics (spec 1.0 §4.4.3).
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct AgentCapabilities {
    /// Streams of updates.
    pub streaming: bool,
    /// Webhooks.
    pub push_notifications: bool,
    /// A second card for those who authenticate.
    pub extended_agent_card: bool,
    /// Extensions of the protocol.
    pub extensions: Vec<AgentExtension>,
}

/// An extension that an agent supports (spec 1.0 §4.4.4).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AgentExtension {
    /// Which.
    pub uri: String,
    /// How the agent uses it.
    pub description: Option<String>,
    /// True if callers must activate it.
    pub required: bool,
    /// Its own settings.
    pub params: Option<JsonObject>,
}

/// Something an agent is good at (spec 1.0 §4.4.5).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AgentSkill {
    /// Unique within the card.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Prompts that it suits.
    pub examples: Vec<String>,
    /// Media types that it takes, where they differ from the card's.
    pub input_modes: Vec<String>,
    /// Media types that it answers in, where they differ from the card's.
    pub output_modes: Vec<String>,
    /// Alternatives, one of which must be met to use it.
    pub security_requirements: Vec<SecurityRequirement>,
}

/// A signature over a card (spec 1.0 §8.4).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AgentCardSignature {
    /// The protected header, base64url.
    pub protected: String,
    /// The signature, base64url.
    pub signature: String,
    /// The unprotected header.
    pub header: Option<JsonObject>,
}

impl AgentCard {
    /// A card with these words, no interfaces and no skills, for text in and text out.
    pub fn new(name: impl Into<String>, description: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            interfaces: Vec::new(),
            provider: None,
            version: version.into(),
            documentation_url: None,
            icon_url: None,
            capabilities: AgentCapabilities::default(),
            security_schemes: BTreeMap::new(),
            security_requirements: Vec::new(),
            default_input_modes: vec!["text/plain".to_owned()],
            default_output_modes: vec!["text/plain".to_owned()],
            skills: Vec::new(),
            signatures: Vec::new(),
        }
    }
}

impl AgentInterface {
    /// An address, its binding and its protocol version.
    pub fn new(url: impl Into<String>, binding: impl Into<String>, version: impl Into<String>) -> Self {
        Self { url: url.into(), protocol_binding: binding.into(), protocol_version: version.into(), tenant: None }
    }
}

impl AgentProvider {
    /// An organization and its page.
    pub fn new(organization: impl Into<String>, url: impl Into<String>) -> Self {
        Self { organization: organization.into(), url: url.into() }
    }
}

impl AgentExtension {
    /// An extension that callers may activate.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), description: None, required: false, params: None }
    }

    /// An extension that callers must activate.
    pub fn required(uri: impl Into<String>) -> Self {
        Self { required: true, ..Self::new(uri) }
    }
}

impl AgentSkill {
    /// A skill with one tag.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
        tag: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            tags: vec![tag.into()],
            examples: Vec::new(),
            input_modes: Vec::new(),
            output_modes: Vec::new(),
            security_requirements: Vec::new(),
        }
    }
}

impl AgentCardSignature {
    /// A detached JWS.
    pub fn new(protected: impl Into<String>, signature: impl Into<String>) -> Self {
        Self { protected: protected.into(), signature: signature.into(), header: None }
    }
}
