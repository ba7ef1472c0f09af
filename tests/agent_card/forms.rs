use std::collections::BTreeMap;

use a2a_layers::{
    agent_card::AgentCardBuilder,
    operation::ProtocolVersion,
    types::{
        AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeyLocation,
        OAuthFlow, OAuthFlowKind, SecurityScheme, SecuritySchemeKind,
    },
};
use serde_json::{Value, json};

use crate::{URL, card, served};

fn requirement(name: &str, scopes: &[&str]) -> BTreeMap<String, Vec<String>> {
    BTreeMap::from([(name.to_owned(), scopes.iter().map(ToString::to_string).collect())])
}

/// A card with something in every member.
fn full() -> AgentCard {
    let mut skill = AgentSkill::new("say", "Say", "Says it again", "words");
    skill.examples = vec!["say hi".to_owned()];
    skill.input_modes = vec!["text/plain".to_owned()];
    skill.output_modes = vec!["text/markdown".to_owned()];
    skill.security_requirements = vec![requirement("key", &[])];
    let mut code = OAuthFlow::new(OAuthFlowKind::AuthorizationCode);
    code.authorization_url = Some("https://auth.example/authorize".to_owned());
    code.token_url = Some("https://auth.example/token".to_owned());
    code.scopes = BTreeMap::from([("read".to_owned(), "Reading".to_owned())]);
    code.pkce_required = true;
    let oauth = SecuritySchemeKind::OAuth2 { flows: vec![code], metadata_url: None };
    let mut key =
        SecurityScheme::new(SecuritySchemeKind::ApiKey { location: ApiKeyLocation::Header, name: "X-Key".to_owned() });
    key.description = Some("A key".to_owned());
    let mut extension = AgentExtension::required("https://example.com/ext");
    extension.description = Some("Why".to_owned());
    AgentCardBuilder::new("echo")
        .description("Says it again")
        .version("2.1.0")
        .json_rpc(URL)
        .provider(AgentProvider::new("Example", "https://example.com"))
        .documentation_url("https://example.com/docs")
        .icon_url("https://example.com/icon.png")
        .streaming(true)
        .extended_agent_card(true)
        .extension(extension)
        .security_scheme("key", key)
        .security_scheme("oauth", SecurityScheme::new(oauth))
        .security_requirement(requirement("oauth", &["read"]))
        .skill(skill)
        .signature(AgentCardSignature::new("eyJhbGciOiJFUzI1NiJ9", "c2ln"))
        .build()
        .unwrap()
}

fn full_1_0() -> Value {
    json!({
        "name": "echo",
        "description": "Says it again",
        "supportedInterfaces": [
            {"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
        ],
        "provider": {"organization": "Example", "url": "https://example.com"},
        "version": "2.1.0",
        "documentationUrl": "https://example.com/docs",
        "iconUrl": "https://example.com/icon.png",
        "capabilities": {
            "streaming": true,
            "pushNotifications": false,
            "extendedAgentCard": true,
            "extensions": [{"uri": "https://example.com/ext", "description": "Why", "required": true}]
        },
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"description": "A key", "location": "header", "name": "X-Key"}},
            "oauth": {"oauth2SecurityScheme": {"flows": {"authorizationCode": {
                "authorizationUrl": "https://auth.example/authorize",
                "tokenUrl": "https://auth.example/token",
                "scopes": {"read": "Reading"},
                "pkceRequired": true
            }}}}
        },
        "securityRequirements": [{"schemes": {"oauth": {"list": ["read"]}}}],
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [{
            "id": "say",
            "name": "Say",
            "description": "Says it again",
            "tags": ["words"],
            "examples": ["say hi"],
            "inputModes": ["text/plain"],
            "outputModes": ["text/markdown"],
            "securityRequirements": [{"schemes": {"key": {"list": []}}}]
        }],
        "signatures": [{"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "c2ln"}]
    })
}

fn full_0_3() -> Value {
    json!({
        "name": "echo",
        "description": "Says it again",
        "protocolVersion": "0.3.0",
        "url": URL,
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": URL, "transport": "JSONRPC"}],
        "provider": {"organization": "Example", "url": "https://example.com"},
        "version": "2.1.0",
        "documentationUrl": "https://example.com/docs",
        "iconUrl": "https://example.com/icon.png",
        "capabilities": {
            "streaming": true,
            "pushNotifications": false,
            "stateTransitionHistory": false,
            "extensions": [{"uri": "https://example.com/ext", "description": "Why", "required": true}]
        },
        "securitySchemes": {
            "key": {"type": "apiKey", "description": "A key", "in": "header", "name": "X-Key"},
            "oauth": {"type": "oauth2", "flows": {"authorizationCode": {
                "authorizationUrl": "https://auth.example/authorize",
                "tokenUrl": "https://auth.example/token",
                "scopes": {"read": "Reading"}
            }}}
        },
        "security": [{"oauth": ["read"]}],
        "supportsAuthenticatedExtendedCard": true,
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [{
            "id": "say",
            "name": "Say",
            "description": "Says it again",
            "tags": ["words"],
            "examples": ["say hi"],
            "inputModes": ["text/plain"],
            "outputModes": ["text/markdown"],
            "security": [{"key": []}]
        }],
        "signatures": [{"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "c2ln"}]
    })
}

/// Every member of both, at every depth.
fn union(mut left: Value, right: Value) -> Value {
    match (&mut left, right) {
        (Value::Object(members), Value::Object(others)) => {
            for (name, other) in others {
                let own = members.remove(&name);
                members.insert(name, own.map_or(other.clone(), |own| union(own, other)));
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            *items = items.drain(..).zip(others).map(|(own, other)| union(own, other)).collect();
        }
        _ => {}
    }
    left
}

#[tokio::test]
async fn f106_the_whole_card_in_version_1_0() {
    assert_eq!(served(full(), "1.0").await, full_1_0());
}

#[tokio::test]
async fn f106_the_whole_card_in_version_0_3() {
    assert_eq!(served(full(), "0.3").await, full_0_3());
}

#[tokio::test]
async fn the_union_card_has_every_member_of_both() {
    assert_eq!(served(full(), "").await, union(full_1_0(), full_0_3()));
}

#[tokio::test]
async fn b019_b020_a_0_3_card_has_a_flat_url_and_its_capabilities() {
    let card = served(card(), "0.3").await;
    assert_eq!((&card["url"], &card["protocolVersion"]), (&json!(URL), &json!("0.3.0")));
    let capabilities = json!({"streaming": false, "pushNotifications": false, "stateTransitionHistory": false});
    assert_eq!(card["capabilities"], capabilities);
    assert!(card.get("supportedInterfaces").is_none());
}

#[tokio::test]
async fn b021_b022_a_1_0_card_has_interfaces_and_no_flat_url() {
    let only = AgentCardBuilder::new("echo").json_rpc_of(ProtocolVersion::V1_0, URL).build().unwrap();
    let card = served(only, "1.0").await;
    let interfaces = json!([{"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]);
    assert_eq!(card["supportedInterfaces"], interfaces);
    let capabilities = json!({"streaming": false, "pushNotifications": false, "extendedAgentCard": false});
    assert_eq!(card["capabilities"], capabilities);
    for absent in ["url", "preferredTransport", "protocolVersion", "additionalInterfaces"] {
        assert!(card.get(absent).is_none(), "{absent}");
    }
}

#[tokio::test]
async fn b023_both_versions_say_the_same_about_the_agent() {
    let (old, new) = (served(card(), "0.3").await, served(card(), "1.0").await);
    for member in ["name", "description", "skills", "version", "defaultInputModes", "defaultOutputModes"] {
        assert_eq!(old[member], new[member], "{member}");
    }
}

#[tokio::test]
async fn b030_c17_history_of_states_is_promised_nowhere() {
    assert_eq!(served(card(), "0.3").await["capabilities"]["stateTransitionHistory"], false);
    assert!(served(card(), "1.0").await["capabilities"].get("stateTransitionHistory").is_none());
}

#[tokio::test]
async fn c16_s06_a_0_3_card_names_its_version_and_transport() {
    let card = served(card(), "0.3").await;
    assert_eq!((&card["protocolVersion"], &card["preferredTransport"]), (&json!("0.3.0"), &json!("JSONRPC")));
}

#[tokio::test]
async fn v018_v019_the_smallest_0_3_card() {
    let card = AgentCardBuilder::new("vibes")
        .description("Does things")
        .json_rpc_of(ProtocolVersion::V0_3, "http://localhost:8000")
        .provider(AgentProvider::new("Example", "https://example.com"))
        .input_modes(["text/plain"])
        .output_modes(["text/plain"])
        .streaming(true)
        .build()
        .unwrap();
    let expected = json!({
        "name": "vibes",
        "description": "Does things",
        "protocolVersion": "0.3.0",
        "url": "http://localhost:8000",
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": "http://localhost:8000", "transport": "JSONRPC"}],
        "provider": {"organization": "Example", "url": "https://example.com"},
        "version": "1.0.0",
        "capabilities": {"streaming": true, "pushNotifications": false, "stateTransitionHistory": false},
        "supportsAuthenticatedExtendedCard": false,
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "vibes", "name": "vibes", "description": "Does things", "tags": ["vibes"]}]
    });
    assert_eq!(served(card, "").await, expected);
}

#[tokio::test]
async fn f22_a_card_without_a_0_3_interface_is_served_in_1_0_whoever_asks() {
    let only = || AgentCardBuilder::new("echo").json_rpc_of(ProtocolVersion::V1_0, URL).build().unwrap();
    let expected = served(only(), "1.0").await;
    for version in ["", "0.3", "2.0", "nonsense"] {
        assert_eq!(served(only(), version).await, expected, "{version}");
    }
}

#[tokio::test]
async fn the_0_3_url_is_that_of_the_preferred_0_3_interface() {
    let card = AgentCardBuilder::new("echo")
        .json_rpc_of(ProtocolVersion::V1_0, "https://agents.example/new")
        .interface(AgentInterface::new("https://agents.example/rest", "HTTP+JSON", "0.3"))
        .json_rpc_of(ProtocolVersion::V0_3, "https://agents.example/old")
        .build()
        .unwrap();
    let card = served(card, "0.3").await;
    assert_eq!(card["url"], "https://agents.example/rest");
    assert_eq!(card["preferredTransport"], "HTTP+JSON");
    let interfaces = json!([
        {"url": "https://agents.example/rest", "transport": "HTTP+JSON"},
        {"url": "https://agents.example/old", "transport": "JSONRPC"}
    ]);
    assert_eq!(card["additionalInterfaces"], interfaces);
}

#[tokio::test]
async fn f106_each_kind_of_scheme_has_its_name_in_each_version() {
    let flow = |kind| {
        let mut flow = OAuthFlow::new(kind);
        flow.authorization_url = Some("https://a.example".to_owned());
        flow.token_url = Some("https://t.example".to_owned());
        flow
    };
    let flows = vec![flow(OAuthFlowKind::Implicit), flow(OAuthFlowKind::DeviceCode), flow(OAuthFlowKind::Password)];
    let card = || {
        crate::builder()
            .security_scheme(
                "http",
                SecurityScheme::new(SecuritySchemeKind::Http {
                    scheme: "Bearer".to_owned(),
                    bearer_format: Some("JWT".to_owned()),
                }),
            )
            .security_scheme("mtls", SecurityScheme::new(SecuritySchemeKind::MutualTls))
            .security_scheme(
                "oauth",
                SecurityScheme::new(SecuritySchemeKind::OAuth2 {
                    flows: flows.clone(),
                    metadata_url: Some("https://m.example".to_owned()),
                }),
            )
            .security_scheme(
                "oidc",
                SecurityScheme::new(SecuritySchemeKind::OpenIdConnect { url: "https://o.example".to_owned() }),
            )
            .build()
            .unwrap()
    };
    let old = json!({
        "http": {"type": "http", "scheme": "Bearer", "bearerFormat": "JWT"},
        "mtls": {"type": "mutualTLS"},
        "oauth": {"type": "oauth2", "oauth2MetadataUrl": "https://m.example", "flows": {
            "implicit": {"authorizationUrl": "https://a.example", "scopes": {}},
            "password": {"tokenUrl": "https://t.example", "scopes": {}}
        }},
        "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://o.example"}
    });
    assert_eq!(served(card(), "0.3").await["securitySchemes"], old);
    let device = json!({
        "deviceAuthorizationUrl": "https://a.example", "tokenUrl": "https://t.example", "scopes": {}
    });
    let new = json!({
        "http": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
        "mtls": {"mtlsSecurityScheme": {}},
        "oauth": {"oauth2SecurityScheme": {"oauth2MetadataUrl": "https://m.example", "flows": {"deviceCode": device}}},
        "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://o.example"}}
    });
    assert_eq!(served(card(), "1.0").await["securitySchemes"], new);
}
