//! V024 to V043: sends and streams.

use serde_json::{Value, json};

use crate::support::{Event, Op, VIBES, World};

pub(crate) const SEND: &str = r#"{"jsonrpc":"2.0","method":"message/send","id":"req-1","params":{"message":{"role":"user","parts":[{"kind":"text","text":"What is the capital of France?"}]}}}"#;
const STREAM: &str = r#"{"jsonrpc":"2.0","method":"message/stream","id":"req-2","params":{"message":{"role":"user","parts":[{"kind":"text","text":"chunks"}]}}}"#;
const ANSWER: &str = "you said: What is the capital of France?";

/// All that is said of sends, at once.
pub(crate) async fn check_send(world: &World, method: &str) -> Value {
    let answer = world.verbatim(VIBES, &SEND.replace("message/send", method)).await;
    assert_eq!((answer.status.as_u16(), answer.media_type()), (200, "application/json"));
    let answer = answer.json();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!("req-1")));
    let task = &answer["result"];
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")));
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], ANSWER);
    let got = world.ok(VIBES, Op::Get, json!({ "id": task["id"] })).await;
    assert_eq!(got, *task);
    task.clone()
}

/// All that is said of streams, at once.
pub(crate) async fn check_stream(world: &World, method: &str) -> Vec<Event> {
    let mut stream = world.open_text(VIBES, &[], "", STREAM.replace("message/stream", method)).await;
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    let events = stream.rest().await;
    assert_eq!(sample_reader(&stream.chunks), ["one ", "two ", "three"]);
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    let updates = ["artifact-update"; 3];
    assert_eq!(kinds, [&["status-update"; 2][..], &updates, &["status-update"]].concat());
    let states: Vec<_> = events.iter().filter_map(Event::state).collect();
    assert_eq!(states, ["submitted", "working", "completed"]);
    let finals: Vec<_> = events.iter().filter_map(|event| event.value.get("final")?.as_bool()).collect();
    assert_eq!(finals, [false, false, true]);
    let got = world.ok(VIBES, Op::Get, json!({ "id": events[0].task_id() })).await;
    assert_eq!(got["artifacts"][0]["parts"], json!([{ "kind": "text", "text": "one two three" }]));
    events
}

/// The reader of the Vibes documentation: it takes each chunk as one event.
fn sample_reader(chunks: &[bytes::Bytes]) -> Vec<String> {
    let mut texts = Vec::new();
    for chunk in chunks {
        let chunk = std::str::from_utf8(chunk).unwrap();
        if let Some(rest) = chunk.strip_prefix("data: ") {
            let event: Value = serde_json::from_str(rest).expect("one JSON text a chunk");
            if event["kind"] == "artifact-update" {
                texts.push(event["artifact"]["parts"][0]["text"].as_str().unwrap().to_owned());
            }
        }
    }
    texts
}

#[tokio::test]
async fn v024_a_send_is_json_to_the_root() {
    let world = World::six().await;
    let answer = world.post("/", &[], SEND).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["result"]["kind"]), (200, &json!("task")));
}

#[tokio::test]
async fn v025_the_example_of_send_is_taken() {
    let world = World::six().await;
    let task = check_send(&world, "message/send").await;
    assert_eq!(world.script.input(), "What is the capital of France?");
    let said = &task["history"][0];
    assert!(said["messageId"].as_str().is_some_and(|id| !id.is_empty()), "one is made up: {said}");
}

#[tokio::test]
async fn v026_tasks_send_is_the_same() {
    check_send(&World::six().await, "tasks/send").await;
}

#[tokio::test]
async fn v027_a_send_waits_for_the_whole_answer() {
    let world = World::six().await;
    let other = world.clone();
    let sent = tokio::spawn(async move { other.task(VIBES, "steps").await });
    world.script.step(2);
    while world.script.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(!sent.is_finished());
    world.script.step(1);
    assert_eq!(sent.await.unwrap()["artifacts"][0]["parts"][0]["text"], "one two three");
}

#[tokio::test]
async fn v028_a_send_is_answered_with_a_task_and_all_its_artifacts() {
    let task = World::six().await.task(VIBES, "files").await;
    assert_eq!((&task["kind"], task["artifacts"].as_array().unwrap().len()), (&json!("task"), 3));
}

#[tokio::test]
async fn v029_the_task_is_completed() {
    assert_eq!(World::six().await.task(VIBES, "hi").await["status"]["state"], "completed");
}

#[tokio::test]
async fn v030_the_first_text_is_the_whole_answer() {
    let world = World::six().await;
    assert_eq!(world.task(VIBES, "hi").await["artifacts"][0]["parts"][0]["text"], "you said: hi");
    assert_eq!(world.task(VIBES, "chunks").await["artifacts"][0]["parts"][0]["text"], "one two three");
}

#[tokio::test]
async fn v031_ids_that_are_strings_come_back() {
    let world = World::six().await;
    for id in ["req-1", "", "ü \"q\"", "123"] {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "message/send", "params": VIBES.says("hi") });
        assert_eq!(world.verbatim(VIBES, &body.to_string()).await.json()["id"], *id);
    }
}

#[tokio::test]
async fn v032_the_example_of_stream_is_taken() {
    check_stream(&World::six().await, "message/stream").await;
}

#[tokio::test]
async fn v033_tasks_send_subscribe_is_the_same() {
    check_stream(&World::six().await, "tasks/sendSubscribe").await;
}

#[tokio::test]
async fn v034_events_come_while_the_agent_works() {
    let world = World::six().await;
    let mut stream = world.stream(VIBES, "steps").await;
    stream.until("working").await;
    for text in ["one ", "two ", "three"] {
        world.script.step(1);
        assert_eq!(stream.one().await.text(), text);
    }
    assert_eq!(stream.rest().await.len(), 1);
}

#[tokio::test]
async fn v035_a_frame_is_the_bare_event() {
    let events = check_stream(&World::six().await, "message/stream").await;
    for event in events {
        assert!(event.data["kind"].is_string(), "{event:?}");
        assert!(event.data.get("jsonrpc").is_none() && event.data.get("result").is_none(), "{event:?}");
    }
}

#[tokio::test]
async fn v036_a_chunk_is_one_frame() {
    let world = World::six().await;
    for text in ["chunks", "files", "ask", "fail late", "hi"] {
        let mut stream = world.stream(VIBES, text).await;
        let events = stream.rest().await;
        assert_eq!(stream.chunks.len(), events.len(), "{text}");
        for (chunk, event) in stream.chunks.iter().zip(&events) {
            assert_eq!(*chunk, format!("data: {}\n\n", one_line(chunk)), "{text}");
            assert_eq!(serde_json::from_str::<Value>(one_line(chunk)).unwrap(), event.data);
        }
    }
}

fn one_line(chunk: &[u8]) -> &str {
    std::str::from_utf8(chunk).unwrap().strip_prefix("data: ").expect("data first").trim_end_matches('\n')
}

#[tokio::test]
async fn v037_there_are_two_kinds_of_events() {
    let world = World::six().await;
    for text in ["hi", "chunks", "files", "ask", "fail late", "reject"] {
        for event in world.stream(VIBES, text).await.rest().await {
            assert!(["status-update", "artifact-update"].contains(&event.kind.as_str()), "{text} {event:?}");
        }
    }
}

#[tokio::test]
async fn v038_every_change_of_state_is_told() {
    let world = World::six().await;
    for (text, last) in
        [("hi", "completed"), ("fail late", "failed"), ("ask", "input-required"), ("cancel", "canceled")]
    {
        let events = world.stream(VIBES, text).await.rest().await;
        let states: Vec<_> = events.iter().filter_map(Event::state).collect();
        assert_eq!(states, ["submitted", "working", last], "{text}");
    }
}

#[tokio::test]
async fn v039_how_a_status_update_looks() {
    let world = World::six().await;
    let mut event = world.stream(VIBES, "hi").await.one().await.data;
    let status = event["status"].as_object_mut().unwrap();
    assert!(status.remove("timestamp").is_some_and(|stamp| stamp.is_string()));
    let (task, context) = (event["taskId"].clone(), event["contextId"].clone());
    let expected = json!({
        "kind": "status-update", "taskId": task, "contextId": context, "status": { "state": "submitted" }, "final": false,
    });
    assert_eq!(event, expected, "a message without parts is left out (S16)");
    let events = world.stream(VIBES, "ask").await.rest().await;
    let message = &events.last().unwrap().data["status"]["message"];
    assert_eq!(
        (&message["role"], &message["parts"]),
        (&json!("agent"), &json!([{ "kind": "text", "text": "which?" }]))
    );
}

#[tokio::test]
async fn v040_final_marks_the_last_event() {
    let world = World::six().await;
    for text in ["hi", "fail", "fail late", "cancel"] {
        let events = world.stream(VIBES, text).await.rest().await;
        let finals: Vec<_> = events.iter().map(|event| event.data["final"] == json!(true)).collect();
        let (last, others) = finals.split_last().unwrap();
        assert!(*last && !others.contains(&true), "{text}: {finals:?}");
    }
}

#[tokio::test]
async fn v041_every_chunk_of_output_is_told() {
    let events = World::six().await.stream(VIBES, "chunks").await.rest().await;
    let texts: Vec<_> = events.iter().filter(|event| event.kind == "artifact-update").map(Event::text).collect();
    assert_eq!(texts, ["one ", "two ", "three"]);
}

#[tokio::test]
async fn v042_how_an_artifact_update_looks() {
    let events = World::six().await.stream(VIBES, "hi").await.rest().await;
    let event = &events[2].data;
    let artifact =
        json!({ "artifactId": "artifact-1", "parts": [{ "kind": "text", "text": "you said: hi" }], "index": 0 });
    let (task, context) = (&event["taskId"], &event["contextId"]);
    let expected = json!({
        "kind": "artifact-update", "taskId": task, "contextId": context, "artifact": artifact,
        "append": false, "lastChunk": false,
    });
    assert_eq!(*event, expected);
}

#[tokio::test]
async fn v043_ids_say_what_they_are_of() {
    let event = World::six().await.stream(VIBES, "hi").await.rest().await.remove(2);
    let (task, context) = (event.data["taskId"].as_str().unwrap(), event.data["contextId"].as_str().unwrap());
    assert!(task.strip_prefix("task-").is_some_and(|rest| !rest.is_empty()), "{task}");
    assert!(context.strip_prefix("ctx-").is_some_and(|rest| !rest.is_empty()), "{context}");
    assert_ne!(task.trim_start_matches("task-"), context.trim_start_matches("ctx-"));
    assert_eq!(event.data["artifact"]["artifactId"], "artifact-1");
}
