//! V024 to V043, V067 to V072, V075 to V095: what goes over the wire.

use a2a_layers::agent_card::check;
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::support::{Event, Ledger, Op, Script, SpyBlobs, VIBES, World, vibes};

const SEND: &str = r#"{"jsonrpc":"2.0","method":"message/send","id":"req-1","params":{"message":{"role":"user","parts":[{"kind":"text","text":"What is the capital of France?"}]}}}"#;
const STREAM: &str = r#"{"jsonrpc":"2.0","method":"message/stream","id":"req-2","params":{"message":{"role":"user","parts":[{"kind":"text","text":"chunks"}]}}}"#;
const ANSWER: &str = "you said: What is the capital of France?";

/// All that is said of sends, at once.
async fn check_send(world: &World, method: &str) -> Value {
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
async fn check_stream(world: &World, method: &str) -> Vec<Event> {
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

/// A Vibes mount as a server or called by hand, with either store.
async fn mounted(by_hand: bool, own_store: bool) -> (World, Option<Ledger>) {
    let (script, store) = (Script::new(), Ledger::default());
    let world = match (by_hand, own_store) {
        (false, false) => World::sockets(script.clone(), vibes(&script).build::<Incoming>().unwrap()).await,
        (false, true) => {
            let service = vibes(&script).task_store(store.clone()).build::<Incoming>().unwrap();
            World::sockets(script.clone(), service).await
        }
        (true, false) => World::one(&script, vibes(&script).build().unwrap()),
        (true, true) => World::one(&script, vibes(&script).task_store(store.clone()).build().unwrap()),
    };
    (world, own_store.then_some(store))
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
async fn v075_what_each_method_is_answered_with() {
    let world = World::six().await;
    for method in ["message/send", "tasks/send"] {
        check_send(&world, method).await;
    }
    for method in ["message/stream", "tasks/sendSubscribe"] {
        check_stream(&world, method).await;
    }
    let mut stream = world.stream(VIBES, "wait").await;
    let id = json!({ "id": stream.one().await.task_id() });
    for op in [Op::Get, Op::Cancel] {
        assert_eq!(world.ok(VIBES, op, id.clone()).await["kind"], "task");
    }
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

/// Sends or streams under these names, as a server or by hand, with either store.
async fn mirror(sends: &[&str], streams: &[&str], by_hand: bool, own_store: bool) {
    let (world, store) = mounted(by_hand, own_store).await;
    for method in sends {
        check_send(&world, method).await;
    }
    for method in streams {
        check_stream(&world, method).await;
    }
    let count = sends.len() + streams.len();
    assert_eq!(world.script.seen().len(), count);
    assert_eq!(store.map_or(count, |store| store.tasks()), count);
}

macro_rules! mirrors {
    ($($name:ident: $sends:expr, $streams:expr, $by_hand:expr, $own_store:expr;)+) => {$(
        #[tokio::test]
        async fn $name() {
            mirror(&$sends, &$streams, $by_hand, $own_store).await;
        }
    )+};
}

const BY_HAND: bool = true;
const OWN_STORE: bool = true;

mirrors! {
    v085_tasks_send_as_a_server_in_memory: ["tasks/send"], [], !BY_HAND, !OWN_STORE;
    v086_tasks_send_as_a_server_in_another_store: ["tasks/send"], [], !BY_HAND, OWN_STORE;
    v087_tasks_send_by_hand_in_memory: ["tasks/send"], [], BY_HAND, !OWN_STORE;
    v088_tasks_send_by_hand_in_another_store: ["tasks/send"], [], BY_HAND, OWN_STORE;
    v089_tasks_send_subscribe_as_a_server_in_memory: [], ["tasks/sendSubscribe"], !BY_HAND, !OWN_STORE;
    v090_tasks_send_subscribe_as_a_server_in_another_store: [], ["tasks/sendSubscribe"], !BY_HAND, OWN_STORE;
    v091_tasks_send_subscribe_by_hand_in_memory: [], ["tasks/sendSubscribe"], BY_HAND, !OWN_STORE;
    v092_tasks_send_subscribe_by_hand_in_another_store: [], ["tasks/sendSubscribe"], BY_HAND, OWN_STORE;
    v093_both_by_hand_in_memory: ["message/send"], ["message/stream"], BY_HAND, !OWN_STORE;
    v094_both_as_a_server_in_another_store: ["message/send"], ["message/stream"], !BY_HAND, OWN_STORE;
    v095_both_by_hand_in_another_store: ["message/send"], ["message/stream"], BY_HAND, OWN_STORE;
}
