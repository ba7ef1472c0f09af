use std::{borrow::Cow, collections::HashSet};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use http::{Uri, uri::Authority};

use super::CardError;
use crate::{
    call::Binding,
    operation::ProtocolVersion,
    types::{
        AgentCard, AgentCardSignature, AgentInterface, AgentSkill, Json, OAuthFlow, OAuthFlowKind, SecurityRequirement,
        SecurityScheme, SecuritySchemeKind,
    },
};

type Checked = Result<(), CardError>;

/// Looks whether a card keeps the rules of the protocol: every REQUIRED member is there and says something, addresses can
/// be called, ids are unique, requirements name schemes that there are, signatures can be read.
///
/// # Errors
/// The first field that breaks a rule.
pub fn check(card: &AgentCard) -> Checked {
    filled("name", &card.name)?;
    filled("description", &card.description)?;
    filled("version", &card.version)?;
    if card.interfaces.is_empty() {
        return Err(CardError::new(
            "supportedInterfaces",
            "must name at least one place where the agent can be reached",
        ));
    }
    for (at, interface) in card.interfaces.iter().enumerate() {
        check_interface(&format!("supportedInterfaces[{at}]"), interface)?;
    }
    if let Some(provider) = &card.provider {
        filled("provider.organization", &provider.organization)?;
        filled("provider.url", &provider.url)?;
    }
    for (name, url) in [("documentationUrl", &card.documentation_url), ("iconUrl", &card.icon_url)] {
        url.as_ref().map_or(Ok(()), |url| filled(name, url))?;
    }
    for (at, extension) in card.capabilities.extensions.iter().enumerate() {
        filled(format!("capabilities.extensions[{at}].uri"), &extension.uri)?;
    }
    for (name, scheme) in &card.security_schemes {
        filled("securitySchemes", name)?;
        check_scheme(&format!("securitySchemes.{name}"), scheme)?;
    }
    check_requirements("securityRequirements", &card.security_requirements, card)?;
    check_modes("defaultInputModes", &card.default_input_modes)?;
    check_modes("defaultOutputModes", &card.default_output_modes)?;
    let mut ids = HashSet::new();
    for (at, skill) in card.skills.iter().enumerate() {
        check_skill(&format!("skills[{at}]"), skill, card)?;
        if !ids.insert(&skill.id) {
            return Err(CardError::new(format!("skills[{at}].id"), "must differ from those of the other skills"));
        }
    }
    for (at, signature) in card.signatures.iter().enumerate() {
        check_signature(&format!("signatures[{at}]"), signature)?;
    }
    Ok(())
}

fn filled<'a>(field: impl Into<Cow<'a, str>>, text: &str) -> Checked {
    if text.trim().is_empty() { Err(CardError::new(field.into(), "must not be empty")) } else { Ok(()) }
}

fn check_interface(field: &str, interface: &AgentInterface) -> Checked {
    let url = || format!("{field}.url");
    filled(url(), &interface.url)?;
    filled(format!("{field}.protocolBinding"), &interface.protocol_binding)?;
    let version = &interface.protocol_version;
    if ProtocolVersion::parse(version).is_none_or(|parsed| parsed.to_string() != *version) {
        return Err(CardError::new(format!("{field}.protocolVersion"), "must be Major.Minor, such as 1.0"));
    }
    let uri = interface.url.parse::<Uri>().ok();
    let is_http = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = match interface.protocol_binding.as_str() {
        binding if binding == Binding::JsonRpc.name() || binding == Binding::HttpJson.name() => {
            let authority = uri.filter(is_http).and_then(|uri| uri.authority().cloned());
            authority.ok_or_else(|| CardError::new(url(), "must be an absolute http or https URL"))?
        }
        binding if binding == Binding::Grpc.name() => {
            let bare = interface.url.parse::<Authority>().ok().filter(|authority| authority.port_u16().is_some());
            let authority = bare.or_else(|| uri.filter(is_http)?.authority().cloned());
            authority.ok_or_else(|| CardError::new(url(), "must be host:port, or an absolute http or https URL"))?
        }
        // What an address of a binding of one's own looks like is its own affair.
        _ => return Ok(()),
    };
    if matches!(authority.host(), "" | "0.0.0.0" | "[::]") || authority.port_u16() == Some(0) {
        return Err(CardError::new(url(), "must be an address to call the agent at, not one to listen at"));
    }
    Ok(())
}

fn check_modes(field: &str, modes: &[String]) -> Checked {
    if modes.is_empty() {
        return Err(CardError::new(field, "must name at least one media type"));
    }
    modes.iter().enumerate().try_for_each(|(at, mode)| filled(format!("{field}[{at}]"), mode))
}

fn check_skill(field: &str, skill: &AgentSkill, card: &AgentCard) -> Checked {
    filled(format!("{field}.id"), &skill.id)?;
    filled(format!("{field}.name"), &skill.name)?;
    filled(format!("{field}.description"), &skill.description)?;
    if skill.tags.is_empty() {
        return Err(CardError::new(format!("{field}.tags"), "must have at least one tag"));
    }
    for (name, modes) in [("inputModes", &skill.input_modes), ("outputModes", &skill.output_modes)] {
        if !modes.is_empty() {
            check_modes(&format!("{field}.{name}"), modes)?;
        }
    }
    check_requirements(&format!("{field}.securityRequirements"), &skill.security_requirements, card)
}

fn check_requirements(field: &str, requirements: &[SecurityRequirement], card: &AgentCard) -> Checked {
    for (at, requirement) in requirements.iter().enumerate() {
        if let Some(unknown) = requirement.keys().find(|name| !card.security_schemes.contains_key(*name)) {
            let problem = format!("names {unknown:?}, which is none of the securitySchemes");
            return Err(CardError::new(format!("{field}[{at}]"), problem));
        }
    }
    Ok(())
}

fn check_scheme(field: &str, scheme: &SecurityScheme) -> Checked {
    match &scheme.kind {
        SecuritySchemeKind::ApiKey { name, .. } => filled(format!("{field}.name"), name),
        SecuritySchemeKind::Http { scheme, .. } => filled(format!("{field}.scheme"), scheme),
        SecuritySchemeKind::OpenIdConnect { url } => filled(format!("{field}.openIdConnectUrl"), url),
        SecuritySchemeKind::MutualTls => Ok(()),
        SecuritySchemeKind::OAuth2 { flows, .. } if flows.is_empty() => {
            Err(CardError::new(format!("{field}.flows"), "must have a flow"))
        }
        SecuritySchemeKind::OAuth2 { flows, .. } => {
            flows.iter().try_for_each(|flow| check_flow(&format!("{field}.flows"), flow))
        }
    }
}

fn check_flow(field: &str, flow: &OAuthFlow) -> Checked {
    let (name, authorizes, fetches) = match flow.kind {
        OAuthFlowKind::AuthorizationCode => ("authorizationCode", Some("authorizationUrl"), true),
        OAuthFlowKind::ClientCredentials => ("clientCredentials", None, true),
        OAuthFlowKind::Implicit => ("implicit", Some("authorizationUrl"), false),
        OAuthFlowKind::Password => ("password", None, true),
        OAuthFlowKind::DeviceCode => ("deviceCode", Some("deviceAuthorizationUrl"), true),
    };
    if let Some(member) = authorizes {
        filled(format!("{field}.{name}.{member}"), flow.authorization_url.as_deref().unwrap_or_default())?;
    }
    if fetches {
        filled(format!("{field}.{name}.tokenUrl"), flow.token_url.as_deref().unwrap_or_default())
    } else {
        Ok(())
    }
}

fn check_signature(field: &str, signature: &AgentCardSignature) -> Checked {
    let decode = |name: &str, text: &str| {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok().filter(|bytes| !bytes.is_empty());
        bytes.ok_or_else(|| CardError::new(format!("{field}.{name}"), "must be base64url without padding"))
    };
    decode("signature", &signature.signature)?;
    let protected = decode("protected", &signature.protected)?;
    let header = std::str::from_utf8(&protected).ok().and_then(|text| Json::parse(text).ok());
    if header.is_none_or(|header| !header.is_object()) {
        return Err(CardError::new(format!("{field}.protected"), "must be a JSON object in base64url"));
    }
    Ok(())
}
