//! B054 to B064: what the agent answers.

use a2a_layers::{
    agent::IntoReply,
    error::{BoxError, Error},
    part::{Form, Input},
    server::Mount,
};
use http::Request;
use serde::Deserialize;
use serde_json::{Value, json};
use tower::service_fn;

use crate::support::{
    BREAD, BREAD_0_3, BREAD_1_0, Event, Op, STRICT_1_0, Script, SpyBlobs, Talk, World, bread, files_bread,
};

/// A file part as a bread mount sends it.
fn file(talk: Talk, url: &str, media_type: &str, name: &str) -> Value {
    if talk.new {
        json!({ "url": url, "mediaType": media_type, "filename": name })
    } else {
        json!({ "kind": "file", "file": { "fileWithUri": url, "mimeType": media_type, "name": name } })
    }
}

fn picture(talk: Talk, number: u32) -> Value {
    file(talk, &format!("https://f.example/{number}.png"), "image/png", "picture.png")
}

fn updates(events: &[Event]) -> Vec<&Event> {
    events.iter().filter(|event| event.kind == "artifact-update").collect()
}

fn with_blobs(talk: Talk) -> (World, SpyBlobs) {
    let (script, blobs) = (Script::new(), SpyBlobs::default());
    let service = files_bread(talk, &script, &blobs).build().unwrap();
    (World::one(&script, service), blobs)
}

#[tokio::test]
async fn b054_each_file_that_is_made_is_stored_and_told() {
    for talk in BREAD {
        let (world, blobs) = with_blobs(talk);
        let events = world.stream(talk, "inline file").await.rest().await;
        let url = "https://blobs.example/1";
        let part = &updates(&events)[0].value["artifact"]["parts"][0];
        assert_eq!((if talk.new { &part["url"] } else { &part["file"]["fileWithUri"] }), url);
        assert_eq!(&*blobs.files()[0].bytes, b"\x89PNG");
        let events = world.stream(talk, "files").await.rest().await;
        let told: Vec<_> = updates(&events).iter().map(|event| event.value["artifact"]["parts"].clone()).collect();
        assert_eq!(told[..2], [json!([picture(talk, 1)]), json!([picture(talk, 2)])]);
    }
}

#[tokio::test]
async fn b055_a_file_that_cannot_be_stored_fails_the_run() {
    for talk in BREAD {
        let script = Script::new();
        let world = World::one(&script, bread(talk, &script).build().unwrap());
        let answer = world.call(talk, talk.method(Op::Send), talk.says("inline file")).await;
        assert_eq!(answer.code(), -32603);
        assert!(answer.json()["error"]["message"].to_string().contains("BLOB_STORE_NOT_CONFIGURED"), "{answer:?}");
        let events = world.stream(talk, "inline file").await.rest().await;
        let last = events.last().unwrap();
        assert_eq!(last.state().as_deref(), Some("failed"));
        assert!(last.value["status"]["message"].to_string().contains("BLOB_STORE_NOT_CONFIGURED"), "{last:?}");
    }
}

#[tokio::test]
async fn b056_an_output_that_says_it_is_a_file_is_one() {
    for talk in BREAD {
        let (world, blobs) = with_blobs(talk);
        let parts = world.parts(talk, "file output").await;
        let expected = file(talk, "s3://bucket/report", "text/csv", "report.csv");
        assert_eq!(parts, json!([expected, talk.text("explained")]));
        assert_eq!(blobs.files().len(), 0);
    }
}

#[tokio::test]
async fn b057_structured_output_does_not_shut_out_files() {
    // Data, files and text come out of one and the same run, whatever the agent's output is.
    let agent = service_fn(async |_: Request<Input>| {
        let data = a2a_layers::types::Part::data(json!({ "rows": 3 }));
        Ok::<_, BoxError>(vec![data, a2a_layers::types::Part::url("u:1"), "text".into()].into_reply())
    });
    let world =
        World::one(&Script::new(), Mount::new("all", agent).url("http://agents.example/strict").build().unwrap());
    let task = world.task(STRICT_1_0, "go").await;
    let artifacts: Vec<_> = task["artifacts"].as_array().unwrap().iter().map(|one| one["parts"][0].clone()).collect();
    assert_eq!(artifacts, [json!({ "data": { "rows": 3 } }), json!({ "url": "u:1" }), json!({ "text": "text" })]);
}

#[tokio::test]
async fn b058_how_a_file_looks_in_an_answer() {
    let world = World::six().await;
    let parts = world.parts(BREAD_0_3, "files").await;
    let expected = r#"{"kind":"file","file":{"fileWithUri":"https://f.example/1.png","mimeType":"image/png","name":"picture.png"}}"#;
    assert_eq!(parts[0], serde_json::from_str::<Value>(expected).unwrap());
    let parts = world.parts(BREAD_1_0, "files").await;
    let expected = r#"{"url":"https://f.example/1.png","mediaType":"image/png","filename":"picture.png"}"#;
    assert_eq!(parts[0], serde_json::from_str::<Value>(expected).unwrap());
}

#[tokio::test]
async fn b059_files_come_first() {
    for talk in BREAD {
        let world = World::six().await;
        let expected = json!([picture(talk, 1), picture(talk, 2), talk.text("explained")]);
        assert_eq!(world.parts(talk, "files").await, expected);
        // Even if the agent said something before it.
        let expected = json!([picture(talk, 9), talk.text("before, after")]);
        assert_eq!(world.parts(talk, "mixed files").await, expected);
    }
}

#[tokio::test]
async fn b060_a_string_is_a_text_part() {
    let world = World::six().await;
    for talk in BREAD {
        assert_eq!(world.parts(talk, "hi").await, json!([talk.text("you said: hi")]));
        assert_eq!(world.parts(talk, "chunks").await, json!([talk.text("one two three")]));
    }
}

#[tokio::test]
async fn b061_any_other_object_is_a_data_part() {
    let world = World::six().await;
    for talk in BREAD {
        assert_eq!(world.parts(talk, "data").await, json!([talk.data(json!({ "answer": 42 }))]));
    }
}

#[tokio::test]
async fn b062_files_and_words_fit_in_one_answer() {
    let world = World::six().await;
    for talk in BREAD {
        let parts = world.parts(talk, "files").await;
        let parts = parts.as_array().unwrap();
        assert!(parts.contains(&picture(talk, 1)) && parts.contains(&talk.text("explained")), "{parts:?}");
    }
}

#[tokio::test]
async fn b063_a_send_is_answered_with_a_message() {
    let world = World::six().await;
    let message = world.ok(BREAD_0_3, Op::Send, BREAD_0_3.says("hi")).await;
    assert_eq!((&message["kind"], &message["role"]), (&json!("message"), &json!("agent")));
    assert!(message["messageId"].as_str().is_some_and(|id| !id.is_empty()) && message["parts"].is_array(), "{message}");
    let result = world.ok(BREAD_1_0, Op::Send, BREAD_1_0.says("hi")).await;
    assert_eq!(result.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
    let message = &result["message"];
    assert_eq!(message["role"], "ROLE_AGENT");
    assert!(message["messageId"].as_str().is_some_and(|id| !id.is_empty()) && message["parts"].is_array(), "{message}");
}

#[tokio::test]
async fn b064_a_list_is_read_into_a_type_too() {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Piece {
        Text(String),
        Data { a: u32 },
    }

    let agent = service_fn(async |request: Request<Input>| {
        assert!(matches!(request.body().form(), Form::Parts(_)));
        let pieces: Vec<Piece> = request.body().read()?;
        let words = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Data { a } => format!("a is {a}"),
        });
        Ok::<_, Error>(words.collect::<Vec<_>>().join(", "))
    });
    let service = Mount::new("typed", agent).url("http://agents.example/strict").build().unwrap();
    let world = World::one(&Script::new(), service);
    let say = |data: Value| STRICT_1_0.message(vec![json!({ "text": "t" }), json!({ "data": data })]);
    let result = world.ok(STRICT_1_0, Op::Send, say(json!({ "a": 7 }))).await;
    assert_eq!(result["task"]["artifacts"][0]["parts"][0]["text"], "t, a is 7");
    assert_eq!(world.code(STRICT_1_0, Op::Send, say(json!({ "a": "seven" }))).await, -32602);
}
