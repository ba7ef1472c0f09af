//! Starts each example as its own program and talks to it over a socket. `cargo test` builds them first; with `--test` it
//! takes them as they were built last.

mod client;
#[path = "../postgres/database.rs"]
#[allow(dead_code, reason = "the example starts its own")]
mod database;
mod stand_in;

use std::time::Duration;

use client::{Example, PATIENCE, get, get_events, message, text_of};
use http::StatusCode;
use serde_json::{Value, json};

/// Checks a send in both versions, a stream and the card of an agent that answers with these words.
async fn speaks(example: &Example, words: &str) {
    let sent = example.send("hello").await;
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(text_of(&sent["task"]), words);

    let old =
        json!({ "kind": "message", "messageId": "m", "role": "user", "parts": [{ "kind": "text", "text": "hello" }] });
    let sent = example.envelope("0.3", "message/send", json!({ "message": old })).await;
    assert_eq!(text_of(&sent["result"]), words);

    let events = example.stream("hello").await;
    assert!(events[0].get("task").is_some(), "{events:?}");
    assert_eq!(streamed_text(&events), words);
    assert_eq!(last_state(&events), "TASK_STATE_COMPLETED");

    let (status, _, card) = get(&format!("{}/.well-known/agent-card.json", example.origin()), &[]).await;
    assert_eq!(status, StatusCode::OK);
    let card: Value = serde_json::from_slice(&card).unwrap();
    assert_eq!(card["supportedInterfaces"][0]["url"], example.url);
}

fn streamed_text(events: &[Value]) -> String {
    let parts = events.iter().filter_map(|event| event["artifactUpdate"]["artifact"]["parts"].as_array()).flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

fn last_state(events: &[Value]) -> &str {
    events.iter().rev().find_map(|event| event["statusUpdate"]["status"]["state"].as_str()).unwrap_or_default()
}

#[tokio::test]
async fn hyper_mount() {
    speaks(&Example::start("hyper_mount").await, "hyper heard: hello").await;
}

#[tokio::test]
async fn axum_mount() {
    let example = Example::start("axum_mount").await;
    speaks(&example, "axum heard: hello").await;
    let (status, _, body) = get(&format!("{}/health", example.origin()), &[]).await;
    assert_eq!((status, &body[..]), (StatusCode::OK, &b"I am well"[..]));
    let (status, ..) = get(&format!("{}/nothing", example.origin()), &[]).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn tonic_mount() {
    let example = Example::start("tonic_mount").await;
    speaks(&example, "heard beside tonic: hello").await;
    // An empty message; the answer is SERVING, the first field of its message.
    let answer = client::grpc(&example.origin(), "/grpc.health.v1.Health/Check", &[]).await;
    assert_eq!(answer, [0x08, 0x01]);
}

#[cfg(feature = "grpc")]
#[tokio::test]
async fn grpc_mount() {
    use prost::Message as _;

    let example = Example::start("grpc_mount").await;
    let message = a2a_layers::grpc::proto::v1_0::SendMessageRequest {
        message: Some(a2a_layers::grpc::proto::v1_0::Message {
            message_id: "m1".into(),
            role: 1,
            parts: vec![a2a_layers::grpc::proto::v1_0::Part {
                content: Some(a2a_layers::grpc::proto::v1_0::part::Content::Text("hello".into())),
                ..Default::default()
            }],
            ..Default::default()
        }),
        ..Default::default()
    };
    let path = "/lf.a2a.v1.A2AService/SendMessage";
    let answer = client::grpc(&example.origin(), path, &message.encode_to_vec()).await;
    assert!(String::from_utf8_lossy(&answer).contains("heard by tonic: hello"));
    assert_eq!(client::grpc(&example.origin(), "/grpc.health.v1.Health/Check", &[]).await, [0x08, 0x01]);
}

#[tokio::test]
async fn one_layer() {
    let example = Example::start("one_layer").await;
    let mut events = get_events(&example.url, &[("last-event-id", "7")]).await;
    assert_eq!(events.next_raw().await, Some((Some(8), r#"{"left":2}"#.to_owned())));
    assert_eq!(events.next_raw().await, Some((Some(9), r#"{"left":1}"#.to_owned())));
    assert_eq!(events.next_raw().await, Some((Some(10), r#"{"left":0}"#.to_owned())));
    assert_eq!(events.next_raw().await, None);
}

#[tokio::test]
async fn swap_layer() {
    speaks(&Example::start("swap_layer").await, r#"1 words, the last is Some("hello")"#).await;
}

#[tokio::test]
async fn own_store() {
    let mut example = Example::start("own_store").await;
    let sent = example.send("hello").await;
    let id = sent["task"]["id"].as_str().unwrap();
    assert_eq!(example.line().await, format!("audit: task {id} has 1 more events, 1 in all, and is Submitted"));
    let mut line = example.line().await;
    while !line.ends_with("is Completed") {
        assert!(line.starts_with(&format!("audit: task {id} has ")), "{line}");
        line = example.line().await;
    }
    speaks(&example, "on record: hello").await;
}

#[tokio::test]
async fn own_dialect() {
    let example = Example::start("own_dialect").await;
    speaks(&example, "plainly: hello").await;
    let said = example.envelope("9.0", "say", json!({ "text": "hello" })).await;
    assert_eq!(said["result"], json!({ "text": "plainly: hello" }));

    let mut events = example.events_of("9.0", "tell", json!({ "text": "hello" })).await;
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event);
    }
    assert!(all.contains(&json!({ "text": "plainly: hello" })), "{all:?}");
    assert_eq!(all.last(), Some(&json!({ "state": "Completed" })));

    let wrong = example.envelope("9.0", "say", json!({ "text": 1 })).await;
    assert_eq!(wrong["error"]["code"], -32602);
    let unknown = example.envelope("9.0", "SendMessage", message("hello")).await;
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn ask_back() {
    let example = Example::start("ask_back").await;
    let order = |data: Value| {
        let mut params = message("please");
        params["message"]["parts"].as_array_mut().unwrap().push(json!({ "data": data }));
        params
    };
    let on = |task: &Value, mut params: Value| {
        params["message"]["taskId"] = task["id"].clone();
        params
    };
    let asked = example.call("SendMessage", order(json!({ "pizza": "margherita" }))).await;
    let task = &asked["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(task["status"]["message"]["parts"][0]["text"], "Which size?");

    for (wrong, field) in [(json!({ "size": 3 }), "size"), (json!({ "drink": "water" }), "drink")] {
        let refused = example.envelope("1.0", "SendMessage", on(task, order(wrong))).await;
        assert_eq!(refused["error"]["code"], -32602);
        let words = refused["error"]["message"].as_str().unwrap();
        assert!(words.contains(&format!("message.parts[1].data.{field}")), "{words}");
    }

    let again = example.call("SendMessage", on(task, order(json!({ "size": "small" })))).await;
    assert_eq!(again["task"]["status"]["message"]["parts"][0]["text"], "Where to?");
    let done = example.call("SendMessage", on(task, order(json!({ "address": "Main Street" })))).await;
    assert_eq!(done["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    let complete = json!({ "pizza": "margherita", "size": "small", "address": "Main Street" });
    assert_eq!(done["task"]["artifacts"][0]["parts"][0]["data"], complete);
}

#[tokio::test]
async fn two_mounts() {
    let mut example = Example::start("two_mounts").await;
    let origin = example.origin();
    let (status, _, body) = get(&format!("{origin}/health"), &[]).await;
    assert_eq!((status, &body[..]), (StatusCode::OK, &b"I am well"[..]));
    for (path, name) in [("/.well-known/agent-card.json", "scribe"), ("/parrot/agent-card.json", "parrot")] {
        let (status, _, card) = get(&format!("{origin}{path}"), &[]).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert_eq!(serde_json::from_slice::<Value>(&card).unwrap()["name"], name);
    }

    let sent = example.call_as("ann", "SendMessage", message("hello")).await["result"]["task"].take();
    let url = sent["artifacts"][0]["parts"][0]["url"].as_str().unwrap();
    let (status, _, file) = get(url, &[]).await;
    assert_eq!((status, &file[..]), (StatusCode::OK, &b"hello"[..]));
    let asked = json!({ "id": sent["id"] });
    assert_eq!(example.call_as("ann", "GetTask", asked.clone()).await["result"]["id"], sent["id"]);
    assert_eq!(example.call_as("bob", "GetTask", asked).await["error"]["code"], -32001);

    example.url = format!("{origin}/parrot");
    let old =
        json!({ "kind": "message", "messageId": "m", "role": "user", "parts": [{ "kind": "text", "text": "hi" }] });
    let said = example.envelope("0.3", "message/send", json!({ "message": old })).await;
    assert_eq!(text_of(&said["result"]), "hi");
    example.interrupt().await;
}

#[tokio::test]
async fn stream_everything() {
    let example = Example::start("stream_everything").await;
    let events = example.stream("three little words").await;
    assert_eq!(last_state(&events), "TASK_STATE_COMPLETED");
    assert_eq!(streamed_text(&events), "There are 3 words.began\nended\n");
    let progress = |event: &Value| event["statusUpdate"]["status"]["message"]["parts"][0]["text"] == "Counting";
    assert!(events.iter().any(progress), "{events:?}");

    let task = example.send("three little words").await["task"].take();
    let parts: Vec<Value> = task["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|artifact| artifact["parts"].as_array().unwrap().clone())
        .collect();
    assert_eq!(parts[0]["text"], "There are 3 words.");
    assert_eq!(parts[1]["data"], json!({ "words": 3 }));
    assert_eq!((&parts[2]["filename"], &parts[2]["mediaType"]), (&json!("count.csv"), &json!("text/csv")));
    let (status, headers, file) = get(parts[2]["url"].as_str().unwrap(), &[]).await;
    assert_eq!((status, &file[..]), (StatusCode::OK, &b"what,count\nwords,3\n"[..]));
    assert_eq!(headers["content-type"], "text/csv");
}

#[tokio::test]
async fn command_agent() {
    speaks(&Example::start("command_agent").await, "HELLO").await;

    let failing = Example::start_with("command_agent", &["sh", "-c", "echo half; exit 3"], &[]).await;
    let task = failing.send("").await["task"].take();
    assert_eq!(task["status"]["state"], "TASK_STATE_FAILED");
    assert_eq!(text_of(&task), "half\n");

    let missing = Example::start_with("command_agent", &["/there/is/no/such/program"], &[]).await;
    let task = missing.send("").await["task"].take();
    assert_eq!(task["status"]["state"], "TASK_STATE_FAILED");
    assert!(!task.to_string().contains("No such file"), "{task}");
}

#[tokio::test]
async fn command_agent_streams_and_is_killed_by_a_cancel() {
    let example = Example::start_with("command_agent", &["sh", "-c", "echo $$; exec sleep 600"], &[]).await;
    let mut events = example.events("SendStreamingMessage", message("")).await;
    let task = events.next().await.unwrap()["task"].take();
    let pid: u32 = loop {
        let event = events.next().await.unwrap();
        if let Some(line) = event["artifactUpdate"]["artifact"]["parts"][0]["text"].as_str() {
            break line.trim().parse().unwrap();
        }
    };
    let is_alive =
        || std::process::Command::new("kill").args(["-0", &pid.to_string()]).output().unwrap().status.success();
    assert!(is_alive());
    let canceled = example.call("CancelTask", json!({ "id": task["id"] })).await;
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
    let gone = async {
        while is_alive() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the child lives on");
}

#[tokio::test]
async fn chat_model() {
    let model = stand_in::start().await;
    let variables = [("OPENAI_BASE_URL", &*model.url), ("OPENAI_MODEL", "tiny"), ("OPENAI_API_KEY", "secret")];
    let example = Example::start_with("chat_model", &[], &variables).await;
    speaks(&example, "tiny heard: hello, grüß dich").await;

    let sent = example.send("hello").await;
    let mut follow_up = message("recall");
    follow_up["message"]["referenceTaskIds"] = json!([sent["task"]["id"]]);
    let recalled = example.call("SendMessage", follow_up).await;
    let said: Vec<Value> = text_of(&recalled["task"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        said,
        [
            json!({ "role": "user", "content": "hello" }),
            json!({ "role": "assistant", "content": "tiny heard: hello, grüß dich" }),
            json!({ "role": "user", "content": "recall" }),
        ]
    );

    let failed = example.send("fail").await["task"].take();
    assert_eq!(failed["status"]["state"], "TASK_STATE_FAILED");
    assert_eq!(failed["status"]["message"]["parts"][0]["text"], "Internal error");
    let broken = example.send("break").await["task"].take();
    assert_eq!(broken["status"]["state"], "TASK_STATE_FAILED");
    assert!(!broken.to_string().contains("out of memory"), "{broken}");
}

#[tokio::test]
async fn chat_model_stops_when_it_is_canceled() {
    let model = stand_in::start().await;
    let example = Example::start_with("chat_model", &[], &[("OPENAI_BASE_URL", &*model.url)]).await;
    let mut events = example.events("SendStreamingMessage", message("forever")).await;
    let task = events.next().await.unwrap()["task"].take();
    while events.next().await.unwrap()["artifactUpdate"].is_null() {}
    example.call("CancelTask", json!({ "id": task["id"] })).await;
    tokio::time::timeout(PATIENCE, model.is_left()).await.expect("the model goes on");
}

#[cfg(unix)]
#[tokio::test]
async fn replicas() {
    let (Some(_), Some(_)) = (database::binaries(), database::shell()) else {
        database::url("the example with replicas");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/replicas/run.sh");
    let run = tokio::process::Command::new(script).env("PROGRAM", client::program("replicas")).output();
    let output = tokio::time::timeout(PATIENCE, run).await.expect("it does not end").unwrap();
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains("the task, whole, by another replica: process "), "{said}");
}
