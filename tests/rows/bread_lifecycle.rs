//! B082 to B097: what becomes of tasks.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{
    ALL, BREAD, BREAD_0_3, Event, Events, Ledger, Op, STRICT_0_3, STRICT_1_0, Script, Talk, World, bread,
};

/// A task whose agent is at work, and the stream that began it.
pub(crate) async fn running(world: &World, talk: Talk, text: &str) -> (String, Events) {
    let mut stream = world.stream(talk, text).await;
    let id = stream.until("working").await[0].task_id();
    (id, stream)
}

pub(crate) fn id(id: &str) -> Value {
    json!({ "id": id })
}

pub(crate) fn states(events: &[Event]) -> Vec<String> {
    events.iter().filter_map(Event::state).collect()
}

fn numbers(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.id.as_ref().expect("an id").parse().unwrap()).collect()
}

/// The text of artifacts as a reader puts it together.
fn text(events: &[Event]) -> String {
    events.iter().filter(|event| event.kind == "artifact-update").map(Event::text).collect()
}

#[tokio::test]
async fn b082_the_0_3_example_of_get() {
    let world = World::six().await;
    let (task, _stream) = running(&world, BREAD_0_3, "wait").await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"<taskId>"}}"#.replace("<taskId>", &task);
    let answer = world.verbatim(BREAD_0_3, &body).await.json();
    assert_eq!((&answer["id"], &answer["result"]["id"]), (&json!(1), &json!(task)));
}

#[tokio::test]
async fn b083_get_takes_a_history_length_and_keeps_to_it() {
    let world = World::six().await;
    for talk in ALL {
        let task = world.stream(talk, "hi").await.one().await.task_id();
        let get = async |length: Option<u32>| {
            let mut params = id(&task);
            params.as_object_mut().unwrap().extend(length.map(|length| ("historyLength".to_owned(), length.into())));
            world.ok(talk, Op::Get, params).await["history"].as_array().map_or(0, Vec::len)
        };
        if BREAD.contains(&talk) {
            assert_eq!((get(None).await, get(Some(5)).await), (0, 0), "bread shows none");
        } else {
            assert_eq!((get(None).await, get(Some(5)).await, get(Some(0)).await), (1, 1, 0), "{talk:?}");
        }
    }
}

#[tokio::test]
async fn b084_the_status_comes_from_the_log() {
    for talk in BREAD {
        let (script, log) = (Script::new(), Ledger::default());
        let start = || World::one(&script, bread(talk, &script).task_store(log.clone()).build().unwrap());
        let world = start();
        let task = world.stream(talk, "hi").await.rest().await[0].task_id();
        let before = world.ok(talk, Op::Get, id(&task)).await;
        drop(world);
        assert_eq!(start().ok(talk, Op::Get, id(&task)).await, before);
        assert_eq!(before["status"]["state"], talk.state("completed"));
    }
}

#[tokio::test]
async fn b085_how_a_task_looks() {
    let world = World::six().await;
    for talk in BREAD {
        let (task, _stream) = running(&world, talk, "wait").await;
        let mut got = world.ok(talk, Op::Get, id(&task)).await;
        let got = got.as_object_mut().unwrap();
        assert!(got["status"].as_object_mut().unwrap().remove("timestamp").is_some_and(|stamp| stamp.is_string()));
        let mut expected = json!({ "id": task, "contextId": task, "status": { "state": talk.state("working") } });
        if !talk.new {
            expected["kind"] = "task".into();
        }
        assert_eq!(Value::from(got.clone()), expected);
    }
}

#[tokio::test]
async fn b086_each_state_is_shown() {
    let world = World::six().await;
    for talk in ALL {
        for (text, state) in [
            ("hi", "completed"),
            ("fail", "failed"),
            ("ask", "input-required"),
            ("wait", "working"),
            ("auth", "auth-required"),
            ("reject", "rejected"),
            ("cancel", "canceled"),
        ] {
            let mut stream = world.stream(talk, text).await;
            let events = stream.until(state).await;
            let task = world.ok(talk, Op::Get, id(&events[0].task_id())).await;
            assert_eq!(task["status"]["state"], talk.state(state));
        }
    }
    // Behind an agent that takes no more work a task is submitted.
    let script = Script::new();
    let agent = tower::limit::ConcurrencyLimit::new(script.agent(), 0);
    let mount = a2a_layers::server::Mount::new("busy", agent).url("http://agents.example/strict");
    let world = World::one(&script, mount.build().unwrap());
    for talk in [STRICT_0_3, STRICT_1_0] {
        let sent = world.ok(talk, Op::Send, talk.says_without_waiting("hi")).await;
        let task = world.ok(talk, Op::Get, id(talk.sent_task(&sent)["id"].as_str().unwrap())).await;
        assert_eq!(task["status"]["state"], talk.state("submitted"));
        assert_eq!(script.seen().len(), 0);
    }
}

#[tokio::test]
async fn b087_a_question_is_a_state() {
    let world = World::six().await;
    for talk in BREAD {
        let task = world.stream(talk, "ask").await.one().await.task_id();
        assert_eq!(world.ok(talk, Op::Get, id(&task)).await["status"]["state"], talk.state("input-required"));
    }
}

#[tokio::test]
async fn b088_artifacts_and_history_are_there_unless_a_mount_hides_them() {
    let world = World::six().await;
    for talk in ALL {
        let task = world.stream(talk, "chunks").await.rest().await[0].task_id();
        let task = world.ok(talk, Op::Get, id(&task)).await;
        if BREAD.contains(&talk) {
            assert!(task.get("artifacts").is_none() && task.get("history").is_none(), "{task}");
        } else {
            assert_eq!(task["artifacts"][0]["parts"], json!([talk.text("one two three")]), "{talk:?}");
            assert_eq!(task["history"][0]["parts"], json!([talk.text("chunks")]));
        }
    }
}

#[tokio::test]
async fn b089_an_unknown_task_is_not_found() {
    let world = World::six().await;
    for talk in ALL {
        assert_eq!(world.code(talk, Op::Get, id("nope")).await, -32001);
    }
}

#[tokio::test]
async fn b090_the_examples_of_resubscribe() {
    let world = World::six().await;
    for talk in BREAD {
        let (task, _stream) = running(&world, talk, "wait").await;
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"<method>","params":{"id":"<taskId>"}}"#;
        let body = body.replace("<method>", talk.method(Op::Subscribe)).replace("<taskId>", &task);
        let first = world.open_text(talk, &[], "", body).await.one().await;
        assert_eq!((first.task_id(), &first.data["id"]), (task, &json!(1)));
    }
}

#[tokio::test]
async fn b091_a_replay_begins_at_the_header_or_the_query_or_the_start() {
    let world = World::six().await;
    for talk in BREAD {
        let mut live = world.stream(talk, "steps").await;
        let mut events = live.until("working").await;
        world.script.step(2);
        events.extend([live.one().await, live.one().await]);
        let task = events[0].task_id();
        let subscribe = async |header: Option<u64>, query: &str| {
            let header = header.map(|number| number.to_string());
            let headers: Vec<_> = header.iter().map(|number| ("last-event-id", number.as_str())).collect();
            world.open_with(talk, talk.method(Op::Subscribe), id(&task), &headers, query).await
        };
        let [.., second, third] = numbers(&events)[..] else { panic!("{events:?}") };
        let mut from_start = subscribe(None, "").await;
        let mut by_query = subscribe(None, &format!("?after={second}")).await;
        let mut by_header = subscribe(Some(second), "?after=0").await;
        let mut at_end = subscribe(Some(third), "?after=1").await;
        world.script.step(1);
        let rest = live.rest().await;
        let all: Vec<_> = events.iter().chain(&rest).cloned().collect();
        // The live part follows the replay without a gap and without anything twice.
        assert_eq!(from_start.rest().await, all);
        assert_eq!(by_query.rest().await, all[all.len() - rest.len() - 1..]);
        assert_eq!(by_header.rest().await, all[all.len() - rest.len() - 1..]);
        assert_eq!(at_end.rest().await, rest);
    }
}

#[tokio::test]
async fn b092_all_streams_carry_rising_ids() {
    let world = World::six().await;
    for talk in ALL.into_iter().filter(|talk| !talk.bare) {
        let (task, mut live) = running(&world, talk, "steps").await;
        let headers = [("last-event-id", "1")];
        let mut again = world.open_with(talk, talk.method(Op::Subscribe), id(&task), &headers, "").await;
        world.script.step(3);
        for events in [live.rest().await, again.rest().await] {
            let numbers = numbers(&events);
            assert!(numbers.len() > 3 && numbers.windows(2).all(|pair| pair[0] < pair[1]), "{talk:?} {numbers:?}");
        }
        for stream in [&live, &again] {
            let text = String::from_utf8(stream.chunks.concat()).unwrap();
            let blocks: Vec<_> = text.split_terminator("\n\n").filter(|block| !block.starts_with(':')).collect();
            assert!(blocks.iter().all(|block| block.starts_with("id: ") && block.contains("\ndata: ")), "{text}");
        }
    }
}

#[tokio::test]
async fn b093_an_artifact_keeps_its_id_for_every_reader() {
    let world = World::six().await;
    for talk in ALL {
        let mut live = world.stream(talk, "steps").await;
        let task = live.until("working").await[0].task_id();
        world.script.step(1);
        let first = live.one().await;
        // Two readers come back after the first piece, and go on with the same artifact.
        let cursor = first.id.clone().unwrap_or_else(|| "3".to_owned());
        let mut readers = Vec::new();
        for _ in 0..2 {
            let headers = [("last-event-id", cursor.as_str())];
            readers.push(world.open_with(talk, talk.method(Op::Subscribe), id(&task), &headers, "").await);
        }
        world.script.step(2);
        for mut reader in readers {
            let events = reader.rest().await;
            let updates: Vec<_> = events.iter().filter(|event| event.kind == "artifact-update").collect();
            assert_eq!(text(&events), "two three", "{talk:?}");
            for update in updates {
                assert_eq!(update.value["artifact"]["artifactId"], first.value["artifact"]["artifactId"]);
                assert_eq!(update.value["append"], json!(true));
            }
        }
    }
}

#[tokio::test]
async fn b094_an_unknown_task_cannot_be_subscribed_to() {
    let world = World::six().await;
    for talk in ALL {
        assert_eq!(world.code(talk, Op::Subscribe, id("nope")).await, -32001);
    }
}

#[tokio::test]
async fn b095_a_task_that_is_over_cannot_be_subscribed_to() {
    let world = World::six().await;
    for talk in ALL {
        for text in ["hi", "fail", "reject", "cancel"] {
            let task = world.stream(talk, text).await.rest().await[0].task_id();
            assert_eq!(world.code(talk, Op::Subscribe, id(&task)).await, -32004, "{talk:?} {text}");
        }
    }
}

#[tokio::test]
async fn b096_a_stream_says_at_once_that_it_is_connected() {
    let world = World::six().await;
    for talk in ALL.into_iter().filter(|talk| !talk.bare) {
        let mut live = world.stream(talk, "silent").await;
        assert_eq!(live.block().await.as_deref(), Some(": connected"));
        let seen = live.until("working").await;
        let (task, last) = (seen[0].task_id(), seen.last().unwrap().id.clone().unwrap());
        // Nothing is left to replay, and nothing will come: it is there all the same.
        let began = std::time::Instant::now();
        let headers = [("last-event-id", last.as_str())];
        let mut again = world.open_with(talk, talk.method(Op::Subscribe), id(&task), &headers, "").await;
        assert!(again.chunk().await);
        assert!(again.chunks[0].starts_with(b": connected\n\n"), "{:?}", again.chunks);
        assert!(began.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test(start_paused = true)]
async fn b097_a_silent_stream_pings_after_15_seconds() {
    let world = World::six_here();
    for talk in ALL.into_iter().filter(|talk| !talk.bare) {
        let (task, live) = running(&world, talk, "silent").await;
        let again = world.open(talk, Op::Subscribe, id(&task)).await;
        for mut stream in [live, again] {
            let mut began = Instant::now();
            let mut pings = 0;
            while pings < 2 {
                let block = stream.block().await.unwrap();
                if block == ": ping" {
                    assert_eq!(began.elapsed().as_secs(), 15, "{talk:?}");
                    began = Instant::now();
                    pings += 1;
                } else {
                    assert_eq!(began.elapsed(), Duration::ZERO, "{talk:?} {block}");
                }
            }
        }
    }
}
