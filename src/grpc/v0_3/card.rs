use super::super::{
    convert::text_of,
    proto::v0_3 as wire,
    v1_0::{extension, provider, requirements, schemes, signature, skill},
};
use crate::{
    dialect::interfaces_of_0_3,
    error::Error,
    types::{AgentCard, OAuthFlowKind},
};

/// The card as 0.3 has it.
pub(super) fn card(card: &AgentCard) -> Result<wire::AgentCard, Error> {
    let (version, main, all) = interfaces_of_0_3(card);
    let capabilities = &card.capabilities;
    Ok(wire::AgentCard {
        protocol_version: version.into_owned(),
        name: card.name.clone(),
        description: card.description.clone(),
        url: main.map(|main| main.url.clone()).unwrap_or_default(),
        preferred_transport: main.map_or("JSONRPC", |main| &main.protocol_binding).to_owned(),
        additional_interfaces: all
            .map(|interface| wire::AgentInterface {
                url: interface.url.clone(),
                transport: interface.protocol_binding.clone(),
            })
            .collect(),
        provider: card.provider.as_ref().map(provider),
        version: card.version.clone(),
        documentation_url: text_of(card.documentation_url.as_deref()),
        capabilities: Some(wire::AgentCapabilities {
            streaming: capabilities.streaming,
            push_notifications: capabilities.push_notifications,
            extensions: capabilities.extensions.iter().map(extension).collect::<Result<_, _>>()?,
        }),
        security_schemes: schemes(card, |flow| flow.kind != OAuthFlowKind::DeviceCode),
        security: requirements(&card.security_requirements),
        default_input_modes: card.default_input_modes.clone(),
        default_output_modes: card.default_output_modes.clone(),
        skills: card.skills.iter().map(skill).collect(),
        supports_authenticated_extended_card: capabilities.extended_agent_card,
        signatures: card.signatures.iter().map(signature).collect::<Result<_, _>>()?,
        icon_url: text_of(card.icon_url.as_deref()),
    })
}
