//! V067 to V072 and V076 to V084: parts, and what is left unsaid.

use a2a_layers::agent_card::check;
use serde_json::{Value, json};

use crate::{
    support::{Event, Op, Script, SpyBlobs, VIBES, World, vibes},
    vibes_wire::SEND,
};

#[tokio::test]
async fn v067_every_part_has_a_kind() {
    let world = World::six().await;
    for text in ["hi", "files", "data", "ask"] {
        let task = world.task(VIBES, text).await;
        let artifacts = task["artifacts"].as_array().into_iter().flatten();
        let messages = task["history"].as_array().into_iter().flatten().chain(task["status"].get("message"));
        for part in artifacts.chain(messages).flat_map(|holder| holder["parts"].as_array().unwrap()) {
            assert!(["text", "file", "data"].iter().any(|kind| part["kind"] == **kind), "{part}");
        }
    }
    let params = VIBES.message(vec![json!({ "text": "no kind" })]);
    assert_eq!(world.code(VIBES, Op::Send, params).await, -32602);
}

#[tokio::test]
async fn v068_a_text_part() {
    let world = World::six().await;
    let part = json!({ "kind": "text", "text": "hi" });
    let task = world.ok(VIBES, Op::Send, VIBES.message(vec![part.clone()])).await;
    assert_eq!((world.script.input(), &task["history"][0]["parts"][0]), (json!("hi"), &part));
    assert_eq!(task["artifacts"][0]["parts"][0], json!({ "kind": "text", "text": "you said: hi" }));
}

#[tokio::test]
async fn v069_a_file_inline() {
    let (script, blobs) = (Script::new(), SpyBlobs::default());
    let world = World::one(&script, vibes(&script).blob_store(blobs.clone(), None).build().unwrap());
    let part = json!({ "kind": "file", "file": { "mimeType": "text/plain", "name": "a.txt", "bytes": "aGVsbG8=" } });
    world.ok(VIBES, Op::Send, VIBES.message(vec![part])).await;
    let expected = json!({ "uri": "https://blobs.example/1", "mimeType": "text/plain", "name": "a.txt" });
    assert_eq!(script.input(), expected);
    assert_eq!(&*blobs.files()[0].bytes, b"hello");
}

#[tokio::test]
async fn v070_a_file_by_its_url() {
    let world = World::six().await;
    let part =
        r#"{"kind":"file","file":{"mimeType":"application/pdf","name":"a.pdf","uri":"https://example.com/a.pdf"}}"#;
    let part: Value = serde_json::from_str(part).unwrap();
    world.ok(VIBES, Op::Send, VIBES.message(vec![part])).await;
    let expected = json!({ "uri": "https://example.com/a.pdf", "mimeType": "application/pdf", "name": "a.pdf" });
    assert_eq!(world.script.input(), expected);
    let both = json!({ "kind": "file", "file": { "uri": "https://example.com/a", "bytes": "aGk=" } });
    assert_eq!(world.code(VIBES, Op::Send, VIBES.message(vec![both])).await, -32602, "either, not both");
}

#[tokio::test]
async fn v071_a_data_part() {
    let world = World::six().await;
    let part = serde_json::from_str(r#"{"kind":"data","data":{"key":"value","count":42}}"#).unwrap();
    world.ok(VIBES, Op::Send, VIBES.message(vec![part])).await;
    assert_eq!(world.script.input(), json!({ "key": "value", "count": 42 }));
}

#[tokio::test]
async fn v072_parts_go_both_ways() {
    let world = World::six().await;
    let task = world.task(VIBES, "files").await;
    assert_eq!(task["history"][0]["parts"][0]["kind"], "text");
    let kinds: Vec<_> =
        task["artifacts"].as_array().unwrap().iter().map(|one| one["parts"][0]["kind"].clone()).collect();
    assert_eq!(kinds, ["file", "file", "text"]);
    let file = json!({ "uri": "https://f.example/1.png", "mimeType": "image/png", "name": "picture.png" });
    assert_eq!(task["artifacts"][0]["parts"][0]["file"], file);
    assert_eq!(world.task(VIBES, "data").await["artifacts"][0]["parts"][0]["data"], json!({ "answer": 42 }));
}

#[tokio::test]
async fn v076_errors_have_the_codes_of_the_protocol() {
    let world = World::six().await;
    let over = world.task(VIBES, "hi").await["id"].clone();
    for (body, code) in [
        ("{".to_owned(), -32700),
        (r#"{"id":1,"method":"tasks/get"}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"foo"}"#.to_owned(), -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{}}"#.to_owned(), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}"#.to_owned(), -32001),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{{"id":{over}}}}}"#), -32002),
    ] {
        assert_eq!(world.verbatim(VIBES, &body).await.code(), code, "{body}");
    }
}

#[tokio::test]
async fn v077_the_card_is_a_valid_one() {
    let world = World::six().await;
    let card = world.card(VIBES).await;
    for member in [
        "protocolVersion",
        "name",
        "description",
        "url",
        "preferredTransport",
        "version",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
    ] {
        assert!(card.get(member).is_some_and(|value| !value.is_null()), "{member}: {card}");
    }
    assert!(card["skills"].as_array().unwrap().iter().all(|skill| skill["tags"].is_array()), "{card}");
    // What the card is made of is checked before it is served.
    assert!(check(&a2a_layers::types::AgentCard::new("", "d", "1")).is_err());
}

#[tokio::test]
async fn v078_there_is_more_than_vibes_has() {
    let world = World::six().await;
    let mut live = world.stream(VIBES, "steps").await;
    let id = json!({ "id": live.until("working").await[0].task_id() });
    let mut again = world.open(VIBES, Op::Subscribe, id).await;
    world.script.step(3);
    let (live, again) = (live.rest().await, again.rest().await);
    assert_eq!(again[again.len() - live.len()..], live, "resubscribe");
    let extended = world.call(VIBES, "agent/getAuthenticatedExtendedCard", json!({})).await;
    assert_eq!(extended.code(), -32007, "known, and not offered by this card");
}

#[tokio::test]
async fn v079_other_parameters_do_not_matter() {
    let world = World::six().await;
    let mut params = VIBES.says("hi");
    params["configuration"] = json!({ "historyLength": 3, "acceptedOutputModes": ["text/plain"], "blocking": true });
    params["metadata"] = json!({ "trace": "x" });
    params["unknown"] = json!([1]);
    let task = world.ok(VIBES, Op::Send, params).await;
    assert_eq!(task["status"]["state"], "completed");
    let got = world.ok(VIBES, Op::Get, json!({ "id": task["id"], "historyLength": 0, "metadata": {} })).await;
    assert_eq!((&got["status"]["state"], got.get("history")), (&json!("completed"), None));
}

#[tokio::test]
async fn v080_a_conversation_goes_on() {
    let world = World::six().await;
    let first = world.task(VIBES, "hi").await;
    let mut params = VIBES.says("hi again");
    params["message"]["contextId"] = first["contextId"].clone();
    let second = world.ok(VIBES, Op::Send, params).await;
    assert_eq!(second["contextId"], first["contextId"]);
    assert_ne!(second["id"], first["id"]);
    assert_ne!(world.task(VIBES, "hi").await["contextId"], first["contextId"], "made anew for each conversation");
}

#[tokio::test]
async fn v081_two_streams_at_once() {
    let world = World::six().await;
    let (mut one, mut other) = (world.stream(VIBES, "steps").await, world.stream(VIBES, "steps").await);
    let ids = [one.until("working").await[0].task_id(), other.until("working").await[0].task_id()];
    assert_ne!(ids[0], ids[1]);
    world.script.step(6);
    for (stream, id) in [(&mut one, &ids[0]), (&mut other, &ids[1])] {
        let events = stream.rest().await;
        assert!(events.iter().all(|event| event.task_id() == *id), "{events:?}");
        let text: String = events.iter().filter(|event| event.kind == "artifact-update").map(Event::text).collect();
        assert_eq!((text.as_str(), events.last().unwrap().state().as_deref()), ("one two three", Some("completed")));
    }
}

#[tokio::test]
async fn v082_runs_share_nothing_of_a_request() {
    let world = World::six().await;
    let mut runs = tokio::task::JoinSet::new();
    for number in 0..20 {
        let world = world.clone();
        runs.spawn(async move {
            let task = world.task(VIBES, &format!("number {number}")).await;
            assert_eq!(task["artifacts"][0]["parts"][0]["text"], format!("you said: number {number}"));
        });
    }
    runs.join_all().await;
    let mut ids: Vec<_> = world.script.seen().into_iter().map(|seen| seen.task_id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 20);
}

#[tokio::test]
async fn v083_the_media_types_of_answers() {
    let world = World::six().await;
    assert_eq!(world.verbatim(VIBES, SEND).await.media_type(), "application/json");
    assert_eq!(world.verbatim(VIBES, "{").await.media_type(), "application/json");
    assert_eq!(world.stream(VIBES, "hi").await.headers["content-type"], "text/event-stream");
}

#[tokio::test]
async fn v084_the_media_type_of_the_card() {
    assert_eq!(World::six().await.get(VIBES.card).await.media_type(), "application/json");
}
