use serde::{Serialize, ser::SerializeMap};

use crate::{
    dialect::card::{self, Array, CardForm, Flow, Object, flow_name, location_name, optional},
    error::Error,
    types::{
        AgentCapabilities, AgentCard, AgentInterface, AgentSkill, OAuthFlow, OAuthFlowKind, SecurityRequirement,
        SecurityScheme, SecuritySchemeKind,
    },
};

/// Writes a card as 1.0 has it (spec 1.0 §4.4.1).
pub(in crate::dialect) fn encode(card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
    card::encode(card, Form, out)
}

/// What only 1.0 writes.
#[derive(Clone, Copy)]
pub(in crate::dialect) struct Form;

impl CardForm for Form {
    fn card<M: SerializeMap>(self, card: &AgentCard, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("supportedInterfaces", &Array(card.interfaces.iter().map(Interface::new)))?;
        requirements(&card.security_requirements, map)
    }

    fn capabilities<M: SerializeMap>(self, capabilities: &AgentCapabilities, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("extendedAgentCard", &capabilities.extended_agent_card)
    }

    fn skill<M: SerializeMap>(self, skill: &AgentSkill, map: &mut M) -> Result<(), M::Error> {
        requirements(&skill.security_requirements, map)
    }

    fn scheme<M: SerializeMap>(self, scheme: &SecurityScheme, map: &mut M) -> Result<(), M::Error> {
        let name = match scheme.kind {
            SecuritySchemeKind::ApiKey { .. } => "apiKeySecurityScheme",
            SecuritySchemeKind::Http { .. } => "httpAuthSecurityScheme",
            SecuritySchemeKind::OAuth2 { .. } => "oauth2SecurityScheme",
            SecuritySchemeKind::OpenIdConnect { .. } => "openIdConnectSecurityScheme",
            SecuritySchemeKind::MutualTls => "mtlsSecurityScheme",
        };
        map.serialize_entry(name, &Wrapped(scheme))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Interface<'a> {
    url: &'a str,
    protocol_binding: &'a str,
    protocol_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
}

impl<'a> Interface<'a> {
    fn new(interface: &'a AgentInterface) -> Self {
        Self {
            url: &interface.url,
            protocol_binding: &interface.protocol_binding,
            protocol_version: &interface.protocol_version,
            tenant: interface.tenant.as_deref(),
        }
    }
}

fn requirements<M: SerializeMap>(requirements: &[SecurityRequirement], map: &mut M) -> Result<(), M::Error> {
    if requirements.is_empty() {
        return Ok(());
    }
    map.serialize_entry("securityRequirements", &Array(requirements.iter().map(Requirement)))
}

struct Requirement<'a>(&'a SecurityRequirement);

impl Serialize for Requirement<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Scopes<'a> {
            list: &'a [String],
        }

        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("schemes", &Object(self.0.iter().map(|(name, list)| (name, Scopes { list }))))?;
        map.end()
    }
}

/// A scheme without the name that tells its kind.
struct Wrapped<'a>(&'a SecurityScheme);

impl Serialize for Wrapped<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        optional(&mut map, "description", self.0.description.as_ref())?;
        match &self.0.kind {
            SecuritySchemeKind::ApiKey { location, name } => {
                map.serialize_entry("location", location_name(*location))?;
                map.serialize_entry("name", name)?;
            }
            SecuritySchemeKind::Http { scheme, bearer_format } => {
                map.serialize_entry("scheme", scheme)?;
                optional(&mut map, "bearerFormat", bearer_format.as_ref())?;
            }
            SecuritySchemeKind::OAuth2 { flows, metadata_url } => {
                let flow = only_flow(flows).map(|flow| (flow_name(flow.kind), Flow { flow, with_pkce: true }));
                map.serialize_entry("flows", &Object(flow))?;
                optional(&mut map, "oauth2MetadataUrl", metadata_url.as_ref())?;
            }
            SecuritySchemeKind::OpenIdConnect { url } => map.serialize_entry("openIdConnectUrl", url)?,
            SecuritySchemeKind::MutualTls => {}
        }
        map.end()
    }
}

/// 1.0 has room for one flow: the first that is not deprecated.
pub(crate) fn only_flow(flows: &[OAuthFlow]) -> impl Iterator<Item = &OAuthFlow> + Clone {
    let deprecated = |flow: &&OAuthFlow| matches!(flow.kind, OAuthFlowKind::Implicit | OAuthFlowKind::Password);
    flows.iter().find(|flow| !deprecated(flow)).or(flows.first()).into_iter()
}
