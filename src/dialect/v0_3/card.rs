use std::borrow::Cow;

use serde::{Serialize, ser::SerializeMap};

use crate::{
    dialect::card::{self, Array, CardForm, Flow, Object, flow_name, location_name, optional},
    error::Error,
    operation::ProtocolVersion,
    types::{
        AgentCapabilities, AgentCard, AgentInterface, AgentSkill, OAuthFlow, OAuthFlowKind, SecurityScheme,
        SecuritySchemeKind,
    },
};

/// Writes a card as 0.3 has it (spec 0.3 §5.5).
///
/// It speaks of the interfaces of 0.3. A card that has none is written with its first interface, so that whoever wants
/// it in this form gets one that is true at least (spec 1.0 §8.3.1).
pub(in crate::dialect) fn encode(card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
    card::encode(card, Form, out)
}

/// What only 0.3 writes.
#[derive(Clone, Copy)]
pub(in crate::dialect) struct Form;

impl CardForm for Form {
    fn card<M: SerializeMap>(self, card: &AgentCard, map: &mut M) -> Result<(), M::Error> {
        let (version, main, alike) = interfaces(card);
        map.serialize_entry("protocolVersion", &version)?;
        map.serialize_entry("url", main.map_or("", |main| &main.url))?;
        map.serialize_entry("preferredTransport", main.map_or("JSONRPC", |main| &main.protocol_binding))?;
        if main.is_some() {
            let alike = alike.map(|other| Interface { url: &other.url, transport: &other.protocol_binding });
            map.serialize_entry("additionalInterfaces", &Array(alike))?;
        }
        if !card.security_requirements.is_empty() {
            map.serialize_entry("security", &card.security_requirements)?;
        }
        map.serialize_entry("supportsAuthenticatedExtendedCard", &card.capabilities.extended_agent_card)
    }

    fn capabilities<M: SerializeMap>(self, _: &AgentCapabilities, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("stateTransitionHistory", &false)
    }

    fn skill<M: SerializeMap>(self, skill: &AgentSkill, map: &mut M) -> Result<(), M::Error> {
        if skill.security_requirements.is_empty() {
            return Ok(());
        }
        map.serialize_entry("security", &skill.security_requirements)
    }

    fn scheme<M: SerializeMap>(self, scheme: &SecurityScheme, map: &mut M) -> Result<(), M::Error> {
        let kind = match scheme.kind {
            SecuritySchemeKind::ApiKey { .. } => "apiKey",
            SecuritySchemeKind::Http { .. } => "http",
            SecuritySchemeKind::OAuth2 { .. } => "oauth2",
            SecuritySchemeKind::OpenIdConnect { .. } => "openIdConnect",
            SecuritySchemeKind::MutualTls => "mutualTLS",
        };
        map.serialize_entry("type", kind)?;
        optional(map, "description", scheme.description.as_ref())?;
        match &scheme.kind {
            SecuritySchemeKind::ApiKey { location, name } => {
                map.serialize_entry("in", location_name(*location))?;
                map.serialize_entry("name", name)
            }
            SecuritySchemeKind::Http { scheme, bearer_format } => {
                map.serialize_entry("scheme", scheme)?;
                optional(map, "bearerFormat", bearer_format.as_ref())
            }
            SecuritySchemeKind::OAuth2 { flows, metadata_url } => {
                map.serialize_entry("flows", &Object(known_flows(flows)))?;
                optional(map, "oauth2MetadataUrl", metadata_url.as_ref())
            }
            SecuritySchemeKind::OpenIdConnect { url } => map.serialize_entry("openIdConnectUrl", url),
            SecuritySchemeKind::MutualTls => Ok(()),
        }
    }
}

/// The version of a card as 0.3 has it, its main interface, and all those of the same version.
pub(crate) fn interfaces(
    card: &AgentCard,
) -> (Cow<'_, str>, Option<&AgentInterface>, impl Iterator<Item = &AgentInterface> + Clone) {
    let interfaces = &card.interfaces;
    let main = interfaces.iter().find(|interface| is_0_3(interface)).or(interfaces.first());
    let version = main.map_or(Cow::Borrowed("0.3.0"), three_numbers);
    let alike = interfaces.iter().filter(move |other| main.is_some_and(|main| is_0_3(other) == is_0_3(main)));
    (version, main, alike)
}

#[derive(Serialize)]
struct Interface<'a> {
    url: &'a str,
    transport: &'a str,
}

fn is_0_3(interface: &AgentInterface) -> bool {
    ProtocolVersion::parse(&interface.protocol_version) == Some(ProtocolVersion::V0_3)
}

/// A version as 0.3 writes it, with a patch number.
fn three_numbers(interface: &AgentInterface) -> Cow<'_, str> {
    let version = interface.protocol_version.as_str();
    match ProtocolVersion::parse(version) {
        Some(ProtocolVersion::V0_3) => Cow::Borrowed("0.3.0"),
        Some(numbers) => Cow::Owned(format!("{numbers}.0")),
        None => Cow::Borrowed(version),
    }
}

/// 0.3 knows four flows, each at most once.
fn known_flows(flows: &[OAuthFlow]) -> impl Iterator<Item = (&'static str, Flow<'_>)> + Clone {
    const KNOWN: [OAuthFlowKind; 4] = [
        OAuthFlowKind::AuthorizationCode,
        OAuthFlowKind::ClientCredentials,
        OAuthFlowKind::Implicit,
        OAuthFlowKind::Password,
    ];
    KNOWN.iter().filter_map(|kind| {
        let flow = flows.iter().find(|flow| flow.kind == *kind)?;
        Some((flow_name(*kind), Flow { flow, with_pkce: false }))
    })
}
