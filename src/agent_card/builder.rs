use http::Uri;

use super::{CardError, check};
use crate::{
    call::Binding,
    operation::ProtocolVersion,
    types::{
        AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider, AgentSkill,
        SecurityRequirement, SecurityScheme,
    },
};

/// The version of an agent that states none.
const VERSION: &str = "1.0.0";
/// What an agent takes and answers in unless it says otherwise: text and structured data.
const MODES: [&str; 2] = ["text/plain", "application/json"];

/// Makes an [`AgentCard`] of what an agent knows about itself.
///
/// Only an id and an address are needed:
///
/// ```
/// use a2a_layers::agent_card::AgentCardBuilder;
///
/// let card = AgentCardBuilder::new("poet")
///     .instructions("You write short poems.\nNever rhyme.")
///     .json_rpc("https://agents.example/poet")
///     .build()?;
///
/// assert_eq!(card.name, "poet");
/// assert_eq!(card.description, "You write short poems.");
/// assert_eq!(card.skills[0].id, "poet");
/// # Ok::<_, a2a_layers::agent_card::CardError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct AgentCardBuilder {
    id: String,
    name: Option<String>,
    instructions: String,
    description: Option<String>,
    input_modes: Option<Vec<String>>,
    output_modes: Option<Vec<String>>,
    files: bool,
    bare: bool,
    card: AgentCard,
}

impl AgentCardBuilder {
    /// The card of the agent of this id, which is also its name unless it has another.
    pub fn new(agent_id: impl Into<String>) -> Self {
        Self {
            id: agent_id.into(),
            name: None,
            instructions: String::new(),
            description: None,
            input_modes: None,
            output_modes: None,
            files: false,
            bare: false,
            card: AgentCard::new("", "", VERSION),
        }
    }

    /// The name for people.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The agent's instructions (its system prompt). Their first line is the description unless there is another; the
    /// rest is not shown to anyone.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// What it does. The default is the first line of the instructions, and without any `Agent "<id>"`.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The agent's own version. The default is `1.0.0`.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.card.version = version.into();
        self
    }

    /// One more place where it can be reached, the preferred one first.
    pub fn interface(mut self, interface: AgentInterface) -> Self {
        self.card.interfaces.push(interface);
        self
    }

    /// JSON-RPC at this URL, in versions 1.0 and 0.3.
    pub fn json_rpc(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.json_rpc_of(ProtocolVersion::V1_0, url.clone()).json_rpc_of(ProtocolVersion::V0_3, url)
    }

    /// JSON-RPC at this URL, in this version alone.
    pub fn json_rpc_of(self, version: ProtocolVersion, url: impl Into<String>) -> Self {
        self.interface(AgentInterface::new(url, Binding::JsonRpc.name(), version.to_string()))
    }

    /// HTTP+JSON below this URL, in versions 1.0 and 0.3. Clients put `/message:send` and its like behind it, and not all of
    /// them look for a slash at its end, so the card has it without.
    pub fn rest(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.rest_of(ProtocolVersion::V1_0, url.clone()).rest_of(ProtocolVersion::V0_3, url)
    }

    /// HTTP+JSON below this URL, in this version alone.
    pub fn rest_of(self, version: ProtocolVersion, url: impl Into<String>) -> Self {
        let mut url = url.into();
        url.truncate(url.trim_end_matches('/').len());
        self.interface(AgentInterface::new(url, Binding::HttpJson.name(), version.to_string()))
    }

    /// gRPC at the host and port of this http or https URL, in versions 1.0 and 0.3.
    pub fn grpc(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.grpc_of(ProtocolVersion::V1_0, url.clone()).grpc_of(ProtocolVersion::V0_3, url)
    }

    /// gRPC at the host and port of this http or https URL, in this version alone.
    ///
    /// The card has them as `host:port` in both versions: 1.0 asks for it, and where 0.3 asks for a URL, its clients give
    /// what is there to a library of gRPC that knows no URLs. For a client that wants one there is
    /// [`interface`](Self::interface).
    pub fn grpc_of(self, version: ProtocolVersion, url: impl Into<String>) -> Self {
        let url = url.into();
        let address = url.parse().ok().and_then(|uri| host_and_port(&uri));
        // What is no such URL is left as it is, for the check to complain of.
        self.interface(AgentInterface::new(address.unwrap_or(url), Binding::Grpc.name(), version.to_string()))
    }

    /// Who runs it. Both the organization and its page are needed.
    pub fn provider(mut self, provider: AgentProvider) -> Self {
        self.card.provider = Some(provider);
        self
    }

    /// Where to read more.
    pub fn documentation_url(mut self, url: impl Into<String>) -> Self {
        self.card.documentation_url = Some(url.into());
        self
    }

    /// A picture.
    pub fn icon_url(mut self, url: impl Into<String>) -> Self {
        self.card.icon_url = Some(url.into());
        self
    }

    /// One more skill. Without any, the agent as a whole is its only skill. A skill without a name is named by its id, one
    /// without a description is described by its name, and one without tags is tagged with its id.
    pub fn skill(mut self, skill: AgentSkill) -> Self {
        self.card.skills.push(skill);
        self
    }

    /// More skills.
    pub fn skills(mut self, skills: impl IntoIterator<Item = AgentSkill>) -> Self {
        self.card.skills.extend(skills);
        self
    }

    /// The media types that it takes. The default is text and JSON, and everything if it takes [`files`](Self::files).
    pub fn input_modes<M: Into<String>>(mut self, modes: impl IntoIterator<Item = M>) -> Self {
        self.input_modes = Some(modes.into_iter().map(Into::into).collect());
        self
    }

    /// The media types that it answers in. The default is text and JSON.
    pub fn output_modes<M: Into<String>>(mut self, modes: impl IntoIterator<Item = M>) -> Self {
        self.output_modes = Some(modes.into_iter().map(Into::into).collect());
        self
    }

    /// Whether it takes files of any type, so that `*/*` joins the input modes that were not stated. The default is no.
    pub fn files(mut self, taken: bool) -> Self {
        self.files = taken;
        self
    }

    /// Whether the card says no more than what it was told: no skill is made up, and text is the only media type that is
    /// not stated. The default is no.
    pub fn bare(mut self, bare: bool) -> Self {
        self.bare = bare;
        self
    }

    /// Whether it streams. The default is no, and yes for the card of a [`Mount`](crate::server::Mount).
    pub fn streaming(mut self, offered: bool) -> Self {
        self.card.capabilities.streaming = offered;
        self
    }

    /// Whether it calls webhooks. The default is no.
    pub fn push_notifications(mut self, offered: bool) -> Self {
        self.card.capabilities.push_notifications = offered;
        self
    }

    /// Whether it has another card for those who authenticate. The default is no.
    pub fn extended_agent_card(mut self, offered: bool) -> Self {
        self.card.capabilities.extended_agent_card = offered;
        self
    }

    /// One more extension that it supports.
    pub fn extension(mut self, extension: AgentExtension) -> Self {
        self.card.capabilities.extensions.push(extension);
        self
    }

    /// All capabilities at once.
    pub fn capabilities(mut self, capabilities: AgentCapabilities) -> Self {
        self.card.capabilities = capabilities;
        self
    }

    /// One more way to authenticate, under this name.
    pub fn security_scheme(mut self, name: impl Into<String>, scheme: SecurityScheme) -> Self {
        self.card.security_schemes.insert(name.into(), scheme);
        self
    }

    /// One more alternative, any of which lets a caller in.
    pub fn security_requirement(mut self, requirement: SecurityRequirement) -> Self {
        self.card.security_requirements.push(requirement);
        self
    }

    /// One more signature.
    pub fn signature(mut self, signature: AgentCardSignature) -> Self {
        self.card.signatures.push(signature);
        self
    }

    /// The card.
    ///
    /// # Errors
    /// If it breaks a rule; see [`check`](super::check).
    pub fn build(self) -> Result<AgentCard, CardError> {
        let Self { id, name, instructions, description, input_modes, output_modes, files, bare, mut card } = self;
        let modes = if bare { &MODES[..1] } else { &MODES };
        card.name = name.unwrap_or_else(|| id.clone());
        card.description = description.unwrap_or_else(|| match instructions.trim().lines().next().map(str::trim_end) {
            Some(line) if !line.is_empty() => line.to_owned(),
            _ => format!("Agent \"{id}\""),
        });
        card.default_input_modes = input_modes.unwrap_or_else(|| {
            let all = (files && !bare).then_some("*/*");
            modes.iter().copied().chain(all).map(str::to_owned).collect()
        });
        card.default_output_modes = output_modes.unwrap_or_else(|| modes.iter().copied().map(str::to_owned).collect());
        if card.skills.is_empty() && !bare {
            card.skills.push(AgentSkill::new(id.clone(), card.name.clone(), card.description.clone(), id));
        }
        card.skills.iter_mut().for_each(complete);
        check(&card)?;
        Ok(card)
    }
}

/// Where an http or https URL leads, as `host:port`.
pub(super) fn host_and_port(uri: &Uri) -> Option<String> {
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let port = authority.port_u16().or(match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    })?;
    Some(format!("{}:{port}", authority.host()))
}

fn complete(skill: &mut AgentSkill) {
    if skill.name.is_empty() {
        skill.name.clone_from(&skill.id);
    }
    if skill.description.is_empty() {
        skill.description.clone_from(&skill.name);
    }
    if skill.tags.is_empty() {
        skill.tags.push(skill.id.clone());
    }
}
