//! B031 to B053: what reaches the agent.

use a2a_layers::{error::BoxError, part::Input, server::Mount, types::Message};
use http::Request;
use serde_json::{Value, json};
use tower::{ServiceBuilder, service_fn};

use crate::support::{ALL, BREAD, BREAD_0_3, BREAD_1_0, Op, STRICT_1_0, Script, SpyBlobs, Talk, World, files_bread};

/// `hello` as base64.
const HELLO: &str = "aGVsbG8=";
/// What fits inline.
const LIMIT: usize = 10 * 1024 * 1024;

/// What the agent reads if it is sent these parts.
async fn input(world: &World, talk: Talk, parts: Vec<Value>) -> Value {
    world.ok(talk, Op::Send, talk.message(parts)).await;
    world.script.input()
}

/// A bread mount with a place for files.
fn with_blobs(talk: Talk) -> (World, SpyBlobs) {
    let (script, blobs) = (Script::new(), SpyBlobs::default());
    let service = files_bread(talk, &script, &blobs).build().unwrap();
    (World::one(&script, service), blobs)
}

#[tokio::test]
async fn b031_the_0_3_example_is_taken() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":"hi"}],"messageId":"m1","kind":"message"}}}"#;
    let world = World::six().await;
    let answer = world.verbatim(BREAD_0_3, body).await.json();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)));
    assert_eq!(answer["result"]["parts"][0]["text"], "you said: hi");
    assert_eq!(world.script.input(), "hi");
}

#[tokio::test]
async fn b032_the_1_0_example_is_taken() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"role":"ROLE_USER","parts":[{"text":"hi"}],"messageId":"m1"}}}"#;
    let world = World::six().await;
    let answer = world.verbatim(BREAD_1_0, body).await.json();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)));
    assert_eq!(answer["result"]["message"]["parts"][0]["text"], "you said: hi");
    assert_eq!(world.script.input(), "hi");
}

#[tokio::test]
async fn b033_a_1_0_part_is_what_it_holds() {
    let (world, _) = with_blobs(BREAD_1_0);
    for (part, expected) in [
        (json!({ "text": "hi" }), json!("hi")),
        (json!({ "raw": HELLO }), json!({ "uri": "https://blobs.example/1" })),
        (json!({ "url": "s3://b/k" }), json!({ "uri": "s3://b/k" })),
        (json!({ "data": { "a": 1 } }), json!({ "a": 1 })),
    ] {
        assert_eq!(input(&world, BREAD_1_0, vec![part]).await, expected);
    }
}

#[tokio::test]
async fn b034_a_kind_in_a_1_0_part_is_ignored() {
    let world = World::six().await;
    for talk in [BREAD_1_0, STRICT_1_0] {
        for kind in [json!("text"), json!("file"), json!(7)] {
            assert_eq!(input(&world, talk, vec![json!({ "kind": kind, "text": "hi" })]).await, "hi");
        }
    }
}

#[tokio::test]
async fn b035_text_data_and_files_are_taken_in_both_versions() {
    let world = World::six().await;
    for talk in BREAD {
        assert_eq!(input(&world, talk, vec![talk.text("hi")]).await, "hi");
        assert_eq!(input(&world, talk, vec![talk.data(json!({ "a": 1 }))]).await, json!({ "a": 1 }));
        assert_eq!(input(&world, talk, vec![talk.url("https://f/1")]).await, json!({ "uri": "https://f/1" }));
    }
}

#[tokio::test]
async fn b036_a_file_by_its_url_needs_no_store() {
    let world = World::six().await;
    for talk in ALL {
        assert_eq!(input(&world, talk, vec![talk.url("https://f/1")]).await, json!({ "uri": "https://f/1" }));
    }
}

#[tokio::test]
async fn b037_inline_files_need_a_store() {
    let without = World::six().await;
    for talk in BREAD {
        let params = talk.message(vec![talk.raw(HELLO)]);
        assert_eq!(without.code(talk, Op::Send, params.clone()).await, -32602);
        let (with, _) = with_blobs(talk);
        with.ok(talk, Op::Send, params).await;
        assert_eq!(with.script.input(), json!({ "uri": "https://blobs.example/1" }));
    }
    assert_eq!(without.script.seen().len(), 0);
}

#[tokio::test]
async fn b038_the_parts_are_the_input_of_one_run() {
    let world = World::six().await;
    for (at, talk) in BREAD.into_iter().enumerate() {
        let parts = vec![talk.text("a"), talk.data(json!({})), talk.url("u:1")];
        let expected = json!([{ "text": "a" }, { "data": {} }, { "file": { "uri": "u:1" } }]);
        assert_eq!(input(&world, talk, parts).await, expected);
        assert_eq!(world.script.seen().len(), at + 1);
    }
}

#[tokio::test]
async fn b039_all_text_parts_are_joined_by_newlines() {
    let world = World::six().await;
    for talk in BREAD {
        for (texts, expected) in
            [(vec!["a"], "a"), (vec!["a", "b"], "a\nb"), (vec!["a\n", "", "ü 漢"], "a\n\n\nü 漢"), (vec![""], "")]
        {
            let parts = texts.into_iter().map(|text| talk.text(text)).collect();
            assert_eq!(input(&world, talk, parts).await, expected);
        }
    }
}

#[tokio::test]
async fn b040_one_data_part_is_the_object() {
    let world = World::six().await;
    let data = json!({ "rows": [{ "id": 7 }], "nested": { "text": "x\ny" }, "null": null, "big": 1e300 });
    for talk in BREAD {
        assert_eq!(input(&world, talk, vec![talk.data(data.clone())]).await, data);
    }
}

#[tokio::test]
async fn b041_one_file_is_its_uri_type_and_name() {
    let world = World::six().await;
    for talk in BREAD {
        let part = talk.named(talk.url("https://f/1"), "image/png", "a.png");
        let expected = json!({ "uri": "https://f/1", "mimeType": "image/png", "name": "a.png" });
        assert_eq!(input(&world, talk, vec![part]).await, expected);
        assert_eq!(input(&world, talk, vec![talk.url("https://f/1")]).await, json!({ "uri": "https://f/1" }));
    }
}

#[tokio::test]
async fn b042_the_uri_is_the_clients_or_the_stores() {
    for talk in BREAD {
        let (world, blobs) = with_blobs(talk);
        assert_eq!(input(&world, talk, vec![talk.url("ftp://me/x")]).await["uri"], "ftp://me/x");
        assert_eq!(blobs.files().len(), 0);
        assert_eq!(input(&world, talk, vec![talk.raw(HELLO)]).await["uri"], "https://blobs.example/1");
        assert_eq!(blobs.files().len(), 1);
    }
}

#[tokio::test]
async fn b043_any_other_mix_is_a_list() {
    let world = World::six().await;
    for talk in BREAD {
        let (text, data, file) = (talk.text("hi"), talk.data(json!({ "a": 1 })), talk.url("u:1"));
        let all = json!([{ "text": "hi" }, { "data": { "a": 1 } }, { "file": { "uri": "u:1" } }]);
        for (parts, expected) in [
            (vec![text.clone(), data.clone(), file.clone()], all.clone()),
            (vec![text.clone(), data.clone()], json!([all[0], all[1]])),
            (vec![text.clone(), file.clone()], json!([all[0], all[2]])),
            (vec![data.clone(), data.clone()], json!([all[1], all[1]])),
            (vec![file.clone(), file.clone()], json!([all[2], all[2]])),
        ] {
            assert_eq!(input(&world, talk, parts).await, expected);
        }
    }
}

#[tokio::test]
async fn b044_the_list_keeps_the_order() {
    let world = World::six().await;
    for talk in BREAD {
        let parts = [talk.text("hi"), talk.data(json!({})), talk.url("u:1")];
        let tagged = [json!({ "text": "hi" }), json!({ "data": {} }), json!({ "file": { "uri": "u:1" } })];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let sent = order.iter().map(|at| parts[*at].clone()).collect();
            let expected: Value = order.iter().map(|at| tagged[*at].clone()).collect();
            assert_eq!(input(&world, talk, sent).await, expected);
        }
    }
}

#[tokio::test]
async fn b045_data_is_never_joined_to_text() {
    let world = World::six().await;
    for talk in BREAD {
        let parts = vec![talk.text("one\ntwo"), talk.data(json!({ "a": "b\nc" }))];
        let expected = json!([{ "text": "one\ntwo" }, { "data": { "a": "b\nc" } }]);
        assert_eq!(input(&world, talk, parts).await, expected);
    }
}

#[tokio::test]
async fn b046_every_way_to_send_a_file_ends_the_same() {
    for talk in BREAD {
        let (world, _) = with_blobs(talk);
        let stored = "https://blobs.example/1";
        for part in [talk.raw(HELLO), talk.url(stored)] {
            let part = talk.named(part, "text/plain", "hello.txt");
            let expected = json!({ "uri": stored, "mimeType": "text/plain", "name": "hello.txt" });
            assert_eq!(input(&world, talk, vec![part]).await, expected);
        }
    }
}

#[tokio::test]
async fn b047_a_url_is_passed_on_and_never_fetched() {
    // Nothing in this crate can fetch: it has no HTTP client among its dependencies.
    let (dependencies, _) = include_str!("../../Cargo.toml").split_once("[dev-dependencies]").unwrap();
    let clients = dependencies.lines().filter(|line| line.contains("\"client") || line.starts_with("reqwest"));
    assert_eq!(clients.count(), 0);
    for talk in BREAD {
        let (world, blobs) = with_blobs(talk);
        for odd in ["HTTP://EXAMPLE.com:80/a/../b?q=ü#f", "data:text/plain,hi", "urn:x:y", "../up", "not a url %zz"] {
            assert_eq!(input(&world, talk, vec![talk.url(odd)]).await, json!({ "uri": odd }));
        }
        assert_eq!(blobs.files().len(), 0);
    }
}

#[tokio::test]
async fn b048_inline_bytes_are_decoded_and_stored() {
    for talk in BREAD {
        let (world, blobs) = with_blobs(talk);
        let part = talk.named(talk.raw(HELLO), "text/plain", "hello.txt");
        assert_eq!(input(&world, talk, vec![part]).await["uri"], "https://blobs.example/1");
        let files = blobs.files();
        assert_eq!(files.len(), 1);
        assert_eq!(&*files[0].bytes, b"hello");
        assert_eq!(files[0].media_type.as_deref(), Some("text/plain"));
        assert_eq!(files[0].filename.as_deref(), Some("hello.txt"));
    }
}

#[tokio::test]
async fn b049_inline_bytes_without_a_store_are_refused_by_name() {
    let world = World::six().await;
    for talk in ALL {
        for op in [Op::Send, Op::Stream] {
            let params = talk.message(vec![talk.text("see"), talk.raw(HELLO)]);
            let answer = world.call(talk, talk.method(op), params).await;
            assert_eq!(answer.code(), -32602, "{talk:?}");
            let words = answer.json()["error"]["message"].to_string();
            assert!(words.contains("message.parts[1]") && words.contains("no blob store"), "{words}");
        }
    }
    assert_eq!(world.script.seen().len(), 0);
}

#[tokio::test]
async fn b050_inline_bytes_over_the_limit_are_refused_by_name() {
    use base64::{Engine, prelude::BASE64_STANDARD};

    for talk in BREAD {
        let (world, blobs) = with_blobs(talk);
        let sized = |size: usize| talk.message(vec![talk.raw(&BASE64_STANDARD.encode(vec![7; size]))]);
        world.ok(talk, Op::Send, sized(LIMIT)).await;
        assert_eq!(blobs.files()[0].bytes.len(), LIMIT);
        let answer = world.call(talk, talk.method(Op::Send), sized(LIMIT + 1)).await;
        assert_eq!(answer.code(), -32602);
        let words = answer.json()["error"]["message"].to_string();
        assert!(words.contains(&LIMIT.to_string()) && words.contains(&(LIMIT + 1).to_string()), "{words}");
        assert_eq!((blobs.files().len(), world.script.seen().len()), (1, 1));
    }
}

#[tokio::test]
async fn b051_the_size_is_looked_at_before_the_bytes() {
    for talk in BREAD {
        let (world, blobs) = with_blobs(talk);
        // One file that would do, and behind it one that is too large by a byte, as its length alone tells: had any been
        // decoded before all were looked at, the first would be in the store.
        let large = "A".repeat((LIMIT + 1).div_ceil(3) * 4);
        let params = talk.message(vec![talk.raw(HELLO), talk.raw(&large)]);
        let answer = world.call(talk, talk.method(Op::Send), params).await;
        assert_eq!(answer.code(), -32602);
        let words = answer.json()["error"]["message"].to_string();
        assert!(words.contains("message.parts[1]") && words.contains("allowed"), "{words}");
        assert_eq!((blobs.files().len(), world.script.seen().len()), (0, 0));
    }
}

#[tokio::test]
async fn b052_what_is_no_text_is_json_for_the_model() {
    let world = World::six().await;
    for talk in BREAD {
        for (parts, prompt) in [
            (vec![talk.text("plain \"text\"")], r#"plain "text""#),
            (vec![talk.data(json!({ "a": [1, "x"] }))], r#"{"a":[1,"x"]}"#),
            (vec![talk.url("u:1")], r#"{"uri":"u:1"}"#),
            (vec![talk.text("t"), talk.data(json!({ "a": 1 }))], r#"[{"text":"t"},{"data":{"a":1}}]"#),
        ] {
            input(&world, talk, parts).await;
            assert_eq!(world.script.last().prompt, prompt);
        }
    }
}

#[tokio::test]
async fn b053_a_layer_before_the_agent_may_rewrite_its_input() {
    // What a hook does elsewhere, any layer between `part` and the agent does here.
    let csv = |request: Request<Input>| {
        request.map(|input| {
            let rows: Vec<(String, u32)> = input.data().and_then(|data| data.read_as().ok()).unwrap_or_default();
            let lines: Vec<_> = rows.iter().map(|(name, count)| format!("{name},{count}")).collect();
            Input::new(Message::user(lines.join("\n"))).unwrap()
        })
    };
    let agent = ServiceBuilder::new()
        .map_request(csv)
        .service(service_fn(async |request: Request<Input>| Ok::<_, BoxError>(request.body().text().to_owned())));
    let service = Mount::new("csv", agent).url("http://agents.example/strict").build().unwrap();
    let world = World::one(&Script::new(), service);
    let params = STRICT_1_0.message(vec![json!({ "data": [["bread", 2], ["jam", 1]] })]);
    let result = world.ok(STRICT_1_0, Op::Send, params).await;
    assert_eq!(result["task"]["artifacts"][0]["parts"][0]["text"], "bread,2\njam,1");
}
