//! What the forms of an agent card have in common, and the form that is two at once.
//!
//! Versions 0.3 and 1.0 agree on most of a card. Each dialect says in a [`CardForm`] what it writes beyond that; no
//! member of the two means different things, so a pair of forms is a form too: the union card.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{v0_3, v1_0};
use crate::{
    error::Error,
    types::{
        AgentCapabilities, AgentCard, AgentExtension, AgentSkill, ApiKeyLocation, OAuthFlow, OAuthFlowKind,
        SecurityScheme,
    },
};

/// Writes a card that readers of 0.3 and of 1.0 both understand. Signatures are written as they were given.
pub(crate) fn encode_union(card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
    encode(card, (v0_3::card::Form, v1_0::card::Form), out)
}

/// Writes a card of version 0.3.
pub(crate) fn encode_0_3(card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
    v0_3::card::encode(card, out)
}

/// Writes a card of version 1.0.
pub(crate) fn encode_1_0(card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
    v1_0::card::encode(card, out)
}

pub(super) fn encode(card: &AgentCard, form: impl CardForm, out: &mut Vec<u8>) -> Result<(), Error> {
    serde_json::to_writer(out, &Card(card, form)).map_err(Error::internal)
}

/// What one version writes that the others do not.
pub(super) trait CardForm: Copy {
    fn card<M: SerializeMap>(self, card: &AgentCard, map: &mut M) -> Result<(), M::Error>;
    fn capabilities<M: SerializeMap>(self, capabilities: &AgentCapabilities, map: &mut M) -> Result<(), M::Error>;
    fn skill<M: SerializeMap>(self, skill: &AgentSkill, map: &mut M) -> Result<(), M::Error>;
    fn scheme<M: SerializeMap>(self, scheme: &SecurityScheme, map: &mut M) -> Result<(), M::Error>;
}

impl<A: CardForm, B: CardForm> CardForm for (A, B) {
    fn card<M: SerializeMap>(self, card: &AgentCard, map: &mut M) -> Result<(), M::Error> {
        self.0.card(card, map)?;
        self.1.card(card, map)
    }

    fn capabilities<M: SerializeMap>(self, capabilities: &AgentCapabilities, map: &mut M) -> Result<(), M::Error> {
        self.0.capabilities(capabilities, map)?;
        self.1.capabilities(capabilities, map)
    }

    fn skill<M: SerializeMap>(self, skill: &AgentSkill, map: &mut M) -> Result<(), M::Error> {
        self.0.skill(skill, map)?;
        self.1.skill(skill, map)
    }

    fn scheme<M: SerializeMap>(self, scheme: &SecurityScheme, map: &mut M) -> Result<(), M::Error> {
        self.0.scheme(scheme, map)?;
        self.1.scheme(scheme, map)
    }
}

struct Card<'a, F>(&'a AgentCard, F);

impl<F: CardForm> Serialize for Card<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(card, form) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &card.name)?;
        map.serialize_entry("description", &card.description)?;
        form.card(card, &mut map)?;
        if let Some(provider) = &card.provider {
            let provider = Provider { organization: &provider.organization, url: &provider.url };
            map.serialize_entry("provider", &provider)?;
        }
        map.serialize_entry("version", &card.version)?;
        optional(&mut map, "documentationUrl", card.documentation_url.as_ref())?;
        optional(&mut map, "iconUrl", card.icon_url.as_ref())?;
        map.serialize_entry("capabilities", &Capabilities(&card.capabilities, form))?;
        if !card.security_schemes.is_empty() {
            let schemes = card.security_schemes.iter().map(|(name, scheme)| (name, Scheme(scheme, form)));
            map.serialize_entry("securitySchemes", &Object(schemes))?;
        }
        map.serialize_entry("defaultInputModes", &card.default_input_modes)?;
        map.serialize_entry("defaultOutputModes", &card.default_output_modes)?;
        map.serialize_entry("skills", &Array(card.skills.iter().map(|skill| Skill(skill, form))))?;
        if !card.signatures.is_empty() {
            let signatures = card.signatures.iter().map(|signature| Signature {
                protected: &signature.protected,
                signature: &signature.signature,
                header: signature.header.as_ref(),
            });
            map.serialize_entry("signatures", &Array(signatures))?;
        }
        map.end()
    }
}

struct Capabilities<'a, F>(&'a AgentCapabilities, F);

impl<F: CardForm> Serialize for Capabilities<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(capabilities, form) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("streaming", &capabilities.streaming)?;
        map.serialize_entry("pushNotifications", &capabilities.push_notifications)?;
        form.capabilities(capabilities, &mut map)?;
        if !capabilities.extensions.is_empty() {
            map.serialize_entry("extensions", &Array(capabilities.extensions.iter().map(Extension::new)))?;
        }
        map.end()
    }
}

struct Skill<'a, F>(&'a AgentSkill, F);

impl<F: CardForm> Serialize for Skill<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(skill, form) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &skill.id)?;
        map.serialize_entry("name", &skill.name)?;
        map.serialize_entry("description", &skill.description)?;
        map.serialize_entry("tags", &skill.tags)?;
        for (name, list) in
            [("examples", &skill.examples), ("inputModes", &skill.input_modes), ("outputModes", &skill.output_modes)]
        {
            if !list.is_empty() {
                map.serialize_entry(name, list)?;
            }
        }
        form.skill(skill, &mut map)?;
        map.end()
    }
}

struct Scheme<'a, F>(&'a SecurityScheme, F);

impl<F: CardForm> Serialize for Scheme<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.1.scheme(self.0, &mut map)?;
        map.end()
    }
}

#[derive(Serialize)]
struct Provider<'a> {
    organization: &'a str,
    url: &'a str,
}

#[derive(Serialize)]
struct Signature<'a> {
    protected: &'a str,
    signature: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<&'a crate::types::JsonObject>,
}

#[derive(Serialize)]
struct Extension<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a crate::types::JsonObject>,
}

impl<'a> Extension<'a> {
    fn new(extension: &'a AgentExtension) -> Self {
        Self {
            uri: &extension.uri,
            description: extension.description.as_deref(),
            required: extension.required,
            params: extension.params.as_ref(),
        }
    }
}

/// The members of one flow; which are there depends on its kind, and those that are required are there even if unset.
pub(super) struct Flow<'a> {
    pub(super) flow: &'a OAuthFlow,
    /// Only 1.0 tells whether PKCE is required.
    pub(super) with_pkce: bool,
}

impl Serialize for Flow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use OAuthFlowKind::{AuthorizationCode, DeviceCode, Implicit};

        let Self { flow, with_pkce } = *self;
        let mut map = serializer.serialize_map(None)?;
        let authorization = match flow.kind {
            AuthorizationCode | Implicit => Some("authorizationUrl"),
            DeviceCode => Some("deviceAuthorizationUrl"),
            _ => None,
        };
        if let Some(name) = authorization {
            map.serialize_entry(name, flow.authorization_url.as_deref().unwrap_or_default())?;
        }
        if flow.kind != Implicit {
            map.serialize_entry("tokenUrl", flow.token_url.as_deref().unwrap_or_default())?;
        }
        optional(&mut map, "refreshUrl", flow.refresh_url.as_ref())?;
        map.serialize_entry("scopes", &flow.scopes)?;
        if with_pkce && flow.pkce_required && flow.kind == AuthorizationCode {
            map.serialize_entry("pkceRequired", &true)?;
        }
        map.end()
    }
}

/// The name of a flow, alike in both versions.
pub(super) const fn flow_name(kind: OAuthFlowKind) -> &'static str {
    match kind {
        OAuthFlowKind::AuthorizationCode => "authorizationCode",
        OAuthFlowKind::ClientCredentials => "clientCredentials",
        OAuthFlowKind::Implicit => "implicit",
        OAuthFlowKind::Password => "password",
        OAuthFlowKind::DeviceCode => "deviceCode",
    }
}

/// The name of a place for an API key, alike in both versions.
pub(super) const fn location_name(location: ApiKeyLocation) -> &'static str {
    match location {
        ApiKeyLocation::Query => "query",
        ApiKeyLocation::Header => "header",
        ApiKeyLocation::Cookie => "cookie",
    }
}

pub(super) fn optional<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    value: Option<&String>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// An iterator, written as an array.
pub(super) struct Array<I>(pub(super) I);

impl<I> Serialize for Array<I>
where
    I: Iterator + Clone,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// An iterator over pairs, written as an object.
pub(super) struct Object<I>(pub(super) I);

impl<I, K, V> Serialize for Object<I>
where
    I: Iterator<Item = (K, V)> + Clone,
    K: Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}
