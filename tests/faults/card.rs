use a2a_layers::{
    agent_card::PublicUrl,
    server::Mount,
    types::{AgentCard, AgentExtension, AgentInterface},
};
use serde_json::{Value, json};

use crate::wire::{Actor, Answer, Server, Version, error_code, state};

async fn get(server: &Server, path: &str, headers: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: agent.example\r\n{headers}\r\n");
    server.raw(request.as_bytes()).await.expect("an answer")
}

async fn card(server: &Server, headers: &str) -> Value {
    let answer = get(server, "/.well-known/agent-card.json", headers).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    serde_json::from_slice(&answer.body).expect("JSON")
}

#[tokio::test]
async fn f102_the_smallest_card_has_all_that_is_required() {
    let server = Server::start().await;
    let new = card(&server, "A2A-Version: 1.0\r\n").await;
    let common =
        ["name", "description", "version", "capabilities", "defaultInputModes", "defaultOutputModes", "skills"];
    for member in common.iter().chain(&["supportedInterfaces"]) {
        assert!(!new[member].is_null(), "{member}: {new}");
    }
    for member in ["url", "protocolBinding", "protocolVersion"] {
        assert!(new["supportedInterfaces"][0][member].is_string(), "{member}: {new}");
    }
    let old = card(&server, "A2A-Version: 0.3\r\n").await;
    for member in common.iter().chain(&["protocolVersion", "url", "preferredTransport"]) {
        assert!(!old[member].is_null(), "{member}: {old}");
    }
    for card in [new, old] {
        for member in ["id", "name", "description"] {
            assert!(card["skills"][0][member].is_string(), "{member}: {card}");
        }
        assert!(card["skills"][0]["tags"].as_array().is_some_and(|tags| !tags.is_empty()), "{card}");
    }
}

#[tokio::test]
async fn f103_the_card_says_where_the_agent_is_and_believes_no_stranger() {
    let forwarded = "X-Forwarded-Host: agents.example\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Prefix: /a\r\n";
    let url = async |server: &Server| card(server, forwarded).await["supportedInterfaces"][0]["url"].clone();
    let server = Server::start().await;
    assert_eq!(url(&server).await, format!("http://{}/", server.address));
    let inside = "http://localhost:8000";
    let trusting =
        |mount: Mount<Actor>| mount.url(format!("{inside}/")).public_url(PublicUrl::from_x_forwarded(inside));
    assert_eq!(url(&Server::with(trusting).await).await, "https://agents.example/a/");
}

#[tokio::test]
async fn f104_the_card_is_at_both_paths_and_is_not_sent_twice() {
    let server = Server::start().await;
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json"] {
        let answer = get(&server, path, "").await;
        assert_eq!(answer.status, 200);
        let tag = answer.header("etag").expect("a tag").to_owned();
        assert!(answer.header("cache-control").is_some_and(|value| value.contains("max-age")), "{answer:?}");
        assert_ne!(answer.header("access-control-allow-credentials"), Some("true"));
        let again = get(&server, path, &format!("If-None-Match: {tag}\r\n")).await;
        assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(&*tag)));
        let other = get(&server, path, "If-None-Match: \"another\"\r\n").await;
        assert_eq!(other.status, 200);
    }
}

#[tokio::test]
async fn f107_what_the_card_does_not_offer_is_refused_with_the_right_code() {
    let push = [
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
    ];
    let server = Server::with(|mount| mount.streaming(false)).await;
    for method in push {
        let params = json!({ "taskId": "t", "id": "c", "url": "https://hook.example" });
        assert_eq!(error_code(&server.call(Version::New, method, params).await), -32003, "{method}");
    }
    for method in ["set", "get", "list", "delete"] {
        let params = json!({
            "id": "t", "taskId": "t", "pushNotificationConfigId": "c",
            "pushNotificationConfig": { "url": "https://hook.example" },
        });
        let method = format!("tasks/pushNotificationConfig/{method}");
        assert_eq!(error_code(&server.call(Version::Old, &method, params).await), -32003, "{method}");
    }
    for version in Version::BOTH {
        let stream = server.call(version, version.stream(), version.script("done")).await;
        let subscribe = server.call(version, version.subscribe(), json!({ "id": "t" })).await;
        assert_eq!((error_code(&stream), error_code(&subscribe)), (-32004, -32004));
        assert_eq!(state(&server.play(version, "done").await), "completed");
    }
    let extended = async |server: &Server| server.call(Version::New, "GetExtendedAgentCard", json!({})).await;
    assert_eq!(error_code(&extended(&server).await), -32004);
    let declared = Server::with(|mount| mount.extended_agent_card_declared()).await;
    assert_eq!(error_code(&extended(&declared).await), -32007);
    let mut second = AgentCard::new("second", "for those who authenticate", "1");
    second.interfaces.push(AgentInterface::new("https://agent.example/", "JSONRPC", "1.0"));
    second.skills.push(a2a_layers::types::AgentSkill::new("s", "S", "skill", "tag"));
    let set = Server::with(|mount| mount.extended_agent_card(second)).await;
    assert_eq!(extended(&set).await["result"]["name"], "second");
}

#[tokio::test]
async fn f122_a_required_extension_must_be_named() {
    const URI: &str = "https://ext.example/required";
    let server = Server::with(|mount| mount.extension(AgentExtension::required(URI))).await;
    for version in Version::BOTH {
        for (headers, code) in [
            (String::new(), -32008),
            ("A2A-Extensions: https://ext.example/other\r\n".to_owned(), -32008),
            (format!("A2A-Extensions: https://ext.example/other, {URI}\r\n"), 0),
            (format!("X-A2A-Extensions: {URI}\r\n"), 0),
        ] {
            let headers = format!("{}{headers}", version.header());
            let envelope = server.call_with(&headers, version.send(), version.script("done")).await;
            assert_eq!(error_code(&envelope), code, "{headers}");
        }
    }
}
