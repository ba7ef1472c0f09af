use std::collections::BTreeMap;

use super::super::{
    convert::{object, text_of},
    proto::v1_0 as wire,
};
use crate::{
    dialect::only_flow,
    error::Error,
    types::{
        AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeyLocation,
        OAuthFlow, OAuthFlowKind, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
    },
};

/// The card as 1.0 has it.
pub(super) fn card(card: &AgentCard) -> Result<wire::AgentCard, Error> {
    let capabilities = &card.capabilities;
    Ok(wire::AgentCard {
        name: card.name.clone(),
        description: card.description.clone(),
        supported_interfaces: card.interfaces.iter().map(interface).collect(),
        provider: card.provider.as_ref().map(provider),
        version: card.version.clone(),
        documentation_url: card.documentation_url.clone(),
        capabilities: Some(wire::AgentCapabilities {
            streaming: Some(capabilities.streaming),
            push_notifications: Some(capabilities.push_notifications),
            extensions: capabilities.extensions.iter().map(extension).collect::<Result<_, _>>()?,
            extended_agent_card: Some(capabilities.extended_agent_card),
        }),
        security_schemes: schemes(card, |_| true),
        security_requirements: requirements(&card.security_requirements),
        default_input_modes: card.default_input_modes.clone(),
        default_output_modes: card.default_output_modes.clone(),
        skills: card.skills.iter().map(skill).collect(),
        signatures: card.signatures.iter().map(signature).collect::<Result<_, _>>()?,
        icon_url: card.icon_url.clone(),
    })
}

fn interface(interface: &AgentInterface) -> wire::AgentInterface {
    wire::AgentInterface {
        url: interface.url.clone(),
        protocol_binding: interface.protocol_binding.clone(),
        tenant: text_of(interface.tenant.as_deref()),
        protocol_version: interface.protocol_version.clone(),
    }
}

// What follows is alike in both versions.

pub(in crate::grpc) fn provider(provider: &AgentProvider) -> wire::AgentProvider {
    wire::AgentProvider { url: provider.url.clone(), organization: provider.organization.clone() }
}

pub(in crate::grpc) fn extension(extension: &AgentExtension) -> Result<wire::AgentExtension, Error> {
    Ok(wire::AgentExtension {
        uri: extension.uri.clone(),
        description: text_of(extension.description.as_deref()),
        required: extension.required,
        params: object(extension.params.as_ref())?,
    })
}

pub(in crate::grpc) fn skill(skill: &AgentSkill) -> wire::AgentSkill {
    wire::AgentSkill {
        id: skill.id.clone(),
        name: skill.name.clone(),
        description: skill.description.clone(),
        tags: skill.tags.clone(),
        examples: skill.examples.clone(),
        input_modes: skill.input_modes.clone(),
        output_modes: skill.output_modes.clone(),
        security_requirements: requirements(&skill.security_requirements),
    }
}

pub(in crate::grpc) fn signature(signature: &AgentCardSignature) -> Result<wire::AgentCardSignature, Error> {
    Ok(wire::AgentCardSignature {
        protected: signature.protected.clone(),
        signature: signature.signature.clone(),
        header: object(signature.header.as_ref())?,
    })
}

pub(in crate::grpc) fn requirements(requirements: &[SecurityRequirement]) -> Vec<wire::SecurityRequirement> {
    let scopes = |(name, list): (&String, &Vec<String>)| (name.clone(), wire::StringList { list: list.clone() });
    let requirement = |requirement: &SecurityRequirement| wire::SecurityRequirement {
        schemes: requirement.iter().map(scopes).collect(),
    };
    requirements.iter().map(requirement).collect()
}

/// The schemes of a card, each with the one flow that there is room for, of those that the version knows.
pub(in crate::grpc) fn schemes(
    card: &AgentCard,
    knows: fn(&OAuthFlow) -> bool,
) -> BTreeMap<String, wire::SecurityScheme> {
    card.security_schemes.iter().map(|(name, kind)| (name.clone(), scheme(kind, knows))).collect()
}

fn scheme(scheme: &SecurityScheme, knows: fn(&OAuthFlow) -> bool) -> wire::SecurityScheme {
    use wire::security_scheme::Scheme;

    let description = text_of(scheme.description.as_deref());
    let scheme = match &scheme.kind {
        SecuritySchemeKind::ApiKey { location, name } => Scheme::ApiKeySecurityScheme(wire::ApiKeySecurityScheme {
            description,
            location: match location {
                ApiKeyLocation::Query => "query",
                ApiKeyLocation::Header => "header",
                ApiKeyLocation::Cookie => "cookie",
            }
            .to_owned(),
            name: name.clone(),
        }),
        SecuritySchemeKind::Http { scheme, bearer_format } => {
            Scheme::HttpAuthSecurityScheme(wire::HttpAuthSecurityScheme {
                description,
                scheme: scheme.clone(),
                bearer_format: text_of(bearer_format.as_deref()),
            })
        }
        SecuritySchemeKind::OAuth2 { flows, metadata_url } => {
            let known: Vec<OAuthFlow> = flows.iter().filter(|flow| knows(flow)).cloned().collect();
            Scheme::Oauth2SecurityScheme(wire::OAuth2SecurityScheme {
                description,
                flows: Some(wire::OAuthFlows { flow: only_flow(&known).next().map(flow) }),
                oauth2_metadata_url: text_of(metadata_url.as_deref()),
            })
        }
        SecuritySchemeKind::OpenIdConnect { url } => {
            Scheme::OpenIdConnectSecurityScheme(wire::OpenIdConnectSecurityScheme {
                description,
                open_id_connect_url: url.clone(),
            })
        }
        SecuritySchemeKind::MutualTls => Scheme::MtlsSecurityScheme(wire::MutualTlsSecurityScheme { description }),
    };
    wire::SecurityScheme { scheme: Some(scheme) }
}

fn flow(flow: &OAuthFlow) -> wire::o_auth_flows::Flow {
    use wire::o_auth_flows::Flow;

    let authorization_url = text_of(flow.authorization_url.as_deref());
    let token_url = text_of(flow.token_url.as_deref());
    let refresh_url = text_of(flow.refresh_url.as_deref());
    let scopes = flow.scopes.clone();
    match flow.kind {
        OAuthFlowKind::AuthorizationCode => Flow::AuthorizationCode(wire::AuthorizationCodeOAuthFlow {
            authorization_url,
            token_url,
            refresh_url,
            scopes,
            pkce_required: flow.pkce_required,
        }),
        OAuthFlowKind::ClientCredentials => {
            Flow::ClientCredentials(wire::ClientCredentialsOAuthFlow { token_url, refresh_url, scopes })
        }
        OAuthFlowKind::Implicit => Flow::Implicit(wire::ImplicitOAuthFlow { authorization_url, refresh_url, scopes }),
        OAuthFlowKind::Password => Flow::Password(wire::PasswordOAuthFlow { token_url, refresh_url, scopes }),
        OAuthFlowKind::DeviceCode => Flow::DeviceCode(wire::DeviceCodeOAuthFlow {
            device_authorization_url: authorization_url,
            token_url,
            refresh_url,
            scopes,
        }),
    }
}
