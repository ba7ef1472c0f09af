//! B017 to B030: the agent card.

use a2a_layers::{server::Mount, types::AgentSkill};
use serde_json::{Value, json};

use crate::support::{BREAD, BREAD_0_3, BREAD_1_0, STRICT_0_3, Script, SpyBlobs, Talk, World, bread, files_bread};

/// The card of a bread mount after this change.
async fn card_of<M, T, St>(talk: Talk, mount: Mount<M, T, St>) -> Value
where
    M: tower::Service<
            http::Request<std::sync::Arc<a2a_layers::types::Message>>,
            Response: a2a_layers::agent::IntoReply,
            Future: Send,
        >,
    M: Clone + Send + Sync + 'static,
    M::Error: Into<a2a_layers::error::BoxError>,
    T: a2a_layers::task::TaskStore,
    St: a2a_layers::blob::BlobStore,
{
    World::one(&Script::new(), mount.build().unwrap()).card(talk).await
}

#[tokio::test]
async fn b017_the_card_is_json_behind_a_get() {
    let world = World::six().await;
    let answer = world.get("/.well-known/agent-card.json").await;
    assert_eq!((answer.status.as_u16(), answer.media_type()), (200, "application/json"));
    assert_eq!(answer.json()["name"], "scripted");
    assert_eq!(world.post("/.well-known/agent-card.json", &[], "{}").await.status, 405);
}

#[tokio::test]
async fn b018_a_second_mount_has_its_card_elsewhere() {
    let world = World::six().await;
    let one = world.get("/.well-known/agent-card-v03.json").await.json();
    let other = world.get("/.well-known/agent-card-v1.json").await.json();
    assert_eq!(one["url"], "http://agents.example/a2a");
    assert_eq!(other["supportedInterfaces"][0]["url"], "http://agents.example/a2a-v1");
}

#[tokio::test]
async fn b019_the_url_and_version_of_a_0_3_card() {
    let card = World::six().await.card(BREAD_0_3).await;
    assert_eq!((&card["url"], &card["protocolVersion"]), (&json!("http://agents.example/a2a"), &json!("0.3.0")));
    assert!(card.get("supportedInterfaces").is_none(), "{card}");
}

#[tokio::test]
async fn b020_the_capabilities_of_a_0_3_card() {
    let card = World::six().await.card(BREAD_0_3).await;
    let expected = json!({ "streaming": true, "pushNotifications": false, "stateTransitionHistory": false });
    assert_eq!(card["capabilities"], expected);
}

#[tokio::test]
async fn b021_the_interfaces_of_a_1_0_card() {
    let card = World::six().await.card(BREAD_1_0).await;
    let url = "http://agents.example/a2a-v1";
    let expected = json!([{ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }]);
    assert_eq!(card["supportedInterfaces"], expected);
    for old in ["url", "protocolVersion", "preferredTransport", "additionalInterfaces"] {
        assert!(card.get(old).is_none(), "{card}");
    }
}

#[tokio::test]
async fn b022_the_capabilities_of_a_1_0_card() {
    let card = World::six().await.card(BREAD_1_0).await;
    let expected = json!({ "streaming": true, "pushNotifications": false, "extendedAgentCard": false });
    assert_eq!(card["capabilities"], expected);
}

#[tokio::test]
async fn b023_both_versions_say_the_same_of_the_agent() {
    let world = World::six().await;
    let (old, new) = (world.card(BREAD_0_3).await, world.card(BREAD_1_0).await);
    for member in ["name", "description", "skills"] {
        assert!(old.get(member).is_some_and(|value| *value == new[member]), "{member}");
    }
}

#[tokio::test]
async fn b024_the_name_is_the_id_where_there_is_no_other() {
    for talk in BREAD {
        assert_eq!(card_of(talk, bread(talk, &Script::new())).await["name"], "scripted");
        let named = bread(talk, &Script::new()).describe(|card| card.name("Ann"));
        assert_eq!(card_of(talk, named).await["name"], "Ann");
    }
}

#[tokio::test]
async fn b025_the_description_is_the_first_line_of_the_instructions() {
    for talk in BREAD {
        let mount = bread(talk, &Script::new()).instructions("You help with bread.\nBe brief.\n");
        assert_eq!(card_of(talk, mount).await["description"], "You help with bread.");
        let mount = bread(talk, &Script::new()).instructions("first\nsecond").description("its own");
        assert_eq!(card_of(talk, mount).await["description"], "its own");
    }
}

#[tokio::test]
async fn b026_without_instructions_the_description_names_the_agent() {
    for talk in BREAD {
        for instructions in ["", " \n \n"] {
            let mount = bread(talk, &Script::new()).instructions(instructions);
            assert_eq!(card_of(talk, mount).await["description"], "Agent \"scripted\"");
        }
    }
}

#[tokio::test]
async fn b027_the_skills_are_the_agents() {
    for talk in BREAD {
        let mount = bread(talk, &Script::new())
            .skill(AgentSkill::new("bake", "Baking", "Bakes bread", "food"))
            .skill(AgentSkill::new("slice", "Slicing", "Slices bread", "food"));
        let expected = json!([
            { "id": "bake", "name": "Baking", "description": "Bakes bread", "tags": ["food"] },
            { "id": "slice", "name": "Slicing", "description": "Slices bread", "tags": ["food"] },
        ]);
        assert_eq!(card_of(talk, mount).await["skills"], expected);
    }
}

#[tokio::test]
async fn b028_without_skills_there_is_one_made_of_the_id() {
    for talk in BREAD {
        let card = card_of(talk, bread(talk, &Script::new())).await;
        let skills = card["skills"].as_array().unwrap();
        assert_eq!(skills.len(), 1, "{card}");
        assert_eq!(skills[0]["id"], "scripted");
        assert_eq!(skills[0]["name"], "scripted");
    }
}

#[tokio::test]
async fn b029_the_modes_are_what_is_taken_and_can_be_set() {
    let modes = |card: &Value| (card["defaultInputModes"].clone(), card["defaultOutputModes"].clone());
    for talk in BREAD {
        // Text comes first, and the data that is taken too is not concealed.
        let both = json!(["text/plain", "application/json"]);
        let card = card_of(talk, bread(talk, &Script::new())).await;
        assert_eq!(modes(&card), (both.clone(), both.clone()));
        let card = card_of(talk, files_bread(talk, &Script::new(), &SpyBlobs::default())).await;
        assert_eq!(modes(&card), (json!(["text/plain", "application/json", "*/*"]), both));
        let plain =
            bread(talk, &Script::new()).describe(|card| card.input_modes(["text/plain"]).output_modes(["text/plain"]));
        assert_eq!(modes(&card_of(talk, plain).await), (json!(["text/plain"]), json!(["text/plain"])));
    }
}

#[tokio::test]
async fn b030_no_card_promises_a_history_of_states() {
    let world = World::six().await;
    for talk in crate::support::ALL {
        let flag = world.card(talk).await["capabilities"].get("stateTransitionHistory").cloned();
        assert_eq!(flag, (!talk.new || talk.path == STRICT_0_3.path).then_some(json!(false)), "{talk:?}");
    }
}
