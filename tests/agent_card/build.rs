use a2a_layers::{
    agent_card::{AgentCardService, check},
    types::{
        AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider, AgentSkill, OAuthFlow,
        OAuthFlowKind, SecurityScheme, SecuritySchemeKind,
    },
};

use crate::{URL, builder, card};

#[test]
fn b024_v005_the_name_is_the_agents_id() {
    assert_eq!(card().name, "echo");
    assert_eq!(builder().name("Echo").build().unwrap().name, "Echo");
}

#[test]
fn b025_the_description_is_the_first_line_of_the_instructions() {
    let described = |text: &str| builder().instructions(text).build().unwrap().description;
    assert_eq!(described("You echo.\nSecrets follow."), "You echo.");
    assert_eq!(described("\n\n  You echo. \r\nMore"), "You echo.");
}

#[test]
fn b026_c21_without_instructions_there_is_a_description_too() {
    for instructions in ["", " \n\t\n"] {
        assert_eq!(builder().instructions(instructions).build().unwrap().description, "Agent \"echo\"");
    }
    assert_eq!(builder().instructions("You echo.").description("Mine").build().unwrap().description, "Mine");
}

#[test]
fn b027_skills_are_those_given() {
    let skills = [AgentSkill::new("a", "A", "Does a", "t"), AgentSkill::new("b", "B", "Does b", "t")];
    assert_eq!(builder().skills(skills.clone()).build().unwrap().skills, skills);
}

#[test]
fn b028_without_skills_the_agent_is_one() {
    let card = builder().name("Echo").description("Says it again").build().unwrap();
    assert_eq!(card.skills, [AgentSkill::new("echo", "Echo", "Says it again", "echo")]);
}

#[test]
fn v022_s14_a_skill_is_completed() {
    let mut bare = AgentSkill::new("say", "", "", "");
    bare.tags.clear();
    assert_eq!(builder().skill(bare).build().unwrap().skills, [AgentSkill::new("say", "say", "say", "say")]);
}

#[test]
fn v008_the_version_is_1_0_0_unless_stated() {
    assert_eq!(card().version, "1.0.0");
    assert_eq!(builder().version("7").build().unwrap().version, "7");
}

#[test]
fn b029_modes_say_what_is_taken() {
    assert_eq!(card().default_input_modes, ["text/plain", "application/json"]);
    assert_eq!(builder().files(true).build().unwrap().default_input_modes, ["text/plain", "application/json", "*/*"]);
    let stated = builder().input_modes(["text/csv"]).output_modes(["image/png"]).files(true).build().unwrap();
    assert_eq!((&*stated.default_input_modes[0], &*stated.default_output_modes[0]), ("text/csv", "image/png"));
    assert_eq!(stated.default_input_modes.len(), 1);
}

#[test]
fn v021_links_are_kept() {
    let card = builder().documentation_url("https://d.example").icon_url("https://i.example").build().unwrap();
    assert_eq!(card.documentation_url.as_deref(), Some("https://d.example"));
    assert_eq!(card.icon_url.as_deref(), Some("https://i.example"));
}

#[test]
fn f102_a_card_that_breaks_a_rule_is_refused_by_the_fields_name() {
    type Break = fn(&mut AgentCard);
    let cases: &[(&str, Break)] = &[
        ("name", |card| card.name.clear()),
        ("description", |card| card.description = " ".to_owned()),
        ("version", |card| card.version.clear()),
        ("supportedInterfaces", |card| card.interfaces.clear()),
        ("supportedInterfaces[0].url", |card| card.interfaces[0].url.clear()),
        ("supportedInterfaces[0].protocolBinding", |card| card.interfaces[0].protocol_binding.clear()),
        ("supportedInterfaces[1].protocolVersion", |card| card.interfaces[1].protocol_version = "0.3.0".to_owned()),
        ("supportedInterfaces[0].protocolVersion", |card| card.interfaces[0].protocol_version = "v1".to_owned()),
        ("provider.url", |card| card.provider = Some(AgentProvider::new("Example", ""))),
        ("provider.organization", |card| card.provider = Some(AgentProvider::new("", "https://example.com"))),
        ("documentationUrl", |card| card.documentation_url = Some(String::new())),
        ("iconUrl", |card| card.icon_url = Some(String::new())),
        ("capabilities.extensions[0].uri", |card| card.capabilities.extensions = vec![AgentExtension::new("")]),
        ("defaultInputModes", |card| card.default_input_modes.clear()),
        ("defaultOutputModes[0]", |card| card.default_output_modes[0].clear()),
        ("skills[0].id", |card| card.skills[0].id.clear()),
        ("skills[0].name", |card| card.skills[0].name.clear()),
        ("skills[0].description", |card| card.skills[0].description.clear()),
        ("skills[0].tags", |card| card.skills[0].tags.clear()),
        ("skills[0].inputModes[0]", |card| card.skills[0].input_modes = vec![String::new()]),
        ("skills[1].id", |card| card.skills.push(card.skills[0].clone())),
        ("securityRequirements[0]", |card| {
            card.security_requirements = vec![[("key".to_owned(), vec![])].into()];
        }),
        ("skills[0].securityRequirements[0]", |card| {
            card.skills[0].security_requirements = vec![[("key".to_owned(), vec![])].into()];
        }),
        ("securitySchemes.o.flows", |card| {
            let kind = SecuritySchemeKind::OAuth2 { flows: Vec::new(), metadata_url: None };
            card.security_schemes.insert("o".to_owned(), SecurityScheme::new(kind));
        }),
        ("securitySchemes.o.flows.clientCredentials.tokenUrl", |card| {
            let flows = vec![OAuthFlow::new(OAuthFlowKind::ClientCredentials)];
            let kind = SecuritySchemeKind::OAuth2 { flows, metadata_url: None };
            card.security_schemes.insert("o".to_owned(), SecurityScheme::new(kind));
        }),
        ("securitySchemes.h.scheme", |card| {
            let kind = SecuritySchemeKind::Http { scheme: String::new(), bearer_format: None };
            card.security_schemes.insert("h".to_owned(), SecurityScheme::new(kind));
        }),
        ("signatures[0].protected", |card| card.signatures = vec![AgentCardSignature::new("e30=", "c2ln")]),
        ("signatures[0].protected", |card| card.signatures = vec![AgentCardSignature::new("W10", "c2ln")]),
        ("signatures[0].signature", |card| card.signatures = vec![AgentCardSignature::new("e30", "c/ln")]),
        ("signatures[0].signature", |card| card.signatures = vec![AgentCardSignature::new("e30", "")]),
    ];
    for (field, break_it) in cases {
        let mut card = card();
        assert_eq!(check(&card), Ok(()));
        break_it(&mut card);
        let error = check(&card).expect_err(field);
        assert_eq!(error.field(), *field);
        assert!(error.to_string().starts_with(&format!("agent card: {field} ")), "{error}");
        assert_eq!(AgentCardService::new(card).expect_err(field), error);
    }
}

#[test]
fn s14_a_provider_without_a_url_is_refused_by_the_builder() {
    let error = builder().provider(AgentProvider::new("Example", "")).build().unwrap_err();
    assert_eq!((error.field(), error.problem()), ("provider.url", "must not be empty"));
}

#[test]
fn f103_an_address_is_one_to_call_at() {
    let with = |binding: &str, url: &str| {
        let mut card = card();
        card.interfaces = vec![AgentInterface::new(url, binding, "1.0")];
        check(&card)
    };
    for (binding, url) in [
        ("JSONRPC", URL),
        ("HTTP+JSON", "http://localhost:8000"),
        ("JSONRPC", "http://[::1]:8000/a"),
        ("GRPC", "agents.example:443"),
        ("GRPC", "https://agents.example"),
        ("https://example.com/binding", "custom:anything"),
    ] {
        assert_eq!(with(binding, url), Ok(()), "{binding} {url}");
    }
    for (binding, url) in [
        ("JSONRPC", "/echo"),
        ("JSONRPC", "agents.example:443"),
        ("JSONRPC", "ftp://agents.example"),
        ("HTTP+JSON", "http://0.0.0.0:8000"),
        ("JSONRPC", "http://[::]:8000"),
        ("JSONRPC", "http://localhost:0/echo"),
        ("GRPC", "agents.example"),
        ("GRPC", "0.0.0.0:443"),
    ] {
        let error = with(binding, url).expect_err(url);
        assert_eq!(error.field(), "supportedInterfaces[0].url", "{url}");
    }
}
