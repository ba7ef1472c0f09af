//! B065 to B081: streams.

use serde_json::{Value, json};

use crate::support::{
    ALL, BREAD, BREAD_0_3, BREAD_1_0, Event, Op, SECRET, STRICT_1_0, Script, SpyBlobs, World, files_bread,
};

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

fn updates(events: &[Event]) -> Vec<&Event> {
    events.iter().filter(|event| event.kind == "artifact-update").collect()
}

#[tokio::test]
async fn b065_a_stream_takes_what_a_send_takes() {
    let world = World::six().await;
    let send = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":"hi"}],"messageId":"m1","kind":"message"}}}"#;
    let body = send.replace("message/send", "message/stream");
    let events = world.open_text(BREAD_0_3, &[], "", body).await.rest().await;
    assert_eq!(events[1].text(), "you said: hi");
    assert_eq!(world.script.input(), "hi");
}

#[tokio::test]
async fn b066_a_stream_is_an_event_stream() {
    let world = World::six().await;
    for talk in ALL {
        let mut stream = world.stream(talk, "hi").await;
        assert_eq!(stream.headers["content-type"], "text/event-stream");
        assert_eq!(stream.headers["cache-control"], "no-cache");
        assert_eq!(stream.rest().await.last().unwrap().state().as_deref(), Some("completed"));
    }
}

#[tokio::test]
async fn b067_every_frame_is_an_envelope() {
    let world = World::six().await;
    for talk in ALL.into_iter().filter(|talk| !talk.bare) {
        for id in ["1", "\"req-2\""] {
            let params = talk.says("chunks");
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{}","params":{params}}}"#, talk.method(Op::Stream));
            let events = world.open_text(talk, &talk.headers(), "", body).await.rest().await;
            assert!(events.len() > 3, "{events:?}");
            for event in events {
                let members: Vec<_> = event.data.as_object().unwrap().keys().cloned().collect();
                assert_eq!(members, ["id", "jsonrpc", "result"]);
                assert_eq!((&event.data["jsonrpc"], event.data["id"].to_string().as_str()), (&json!("2.0"), id));
            }
        }
    }
}

#[tokio::test]
async fn b068_how_a_1_0_stream_looks() {
    let world = World::six().await;
    for talk in [BREAD_1_0, STRICT_1_0] {
        let events = world.stream(talk, "hi").await.rest().await;
        let first = &events[0].data["result"];
        assert_eq!(first.as_object().unwrap().keys().collect::<Vec<_>>(), ["task"]);
        let state = if talk == BREAD_1_0 { "TASK_STATE_WORKING" } else { "TASK_STATE_SUBMITTED" };
        assert_eq!(first["task"]["status"]["state"], state);
        let update = updates(&events)[0];
        assert_eq!(update.data["result"]["artifactUpdate"]["artifact"]["parts"], json!([{ "text": "you said: hi" }]));
        let last = &events.last().unwrap().data["result"]["statusUpdate"];
        assert_eq!(last["status"]["state"], "TASK_STATE_COMPLETED");
        assert!(!events.iter().any(|event| event.data.to_string().contains("\"kind\"")), "{events:?}");
    }
}

#[tokio::test]
async fn b069_a_stream_reads_parts_as_a_send_does() {
    let world = World::six().await;
    for talk in BREAD {
        let (text, data, file) = (talk.text("hi"), talk.data(json!({ "a": 1 })), talk.url("u:1"));
        let all = json!([{ "text": "hi" }, { "data": { "a": 1 } }, { "file": { "uri": "u:1" } }]);
        for (parts, expected) in [
            (vec![text.clone(), text.clone()], json!("hi\nhi")),
            (vec![data.clone()], json!({ "a": 1 })),
            (vec![file.clone()], json!({ "uri": "u:1" })),
            (vec![text, data, file], all),
        ] {
            world.open(talk, Op::Stream, talk.message(parts)).await.rest().await;
            assert_eq!(world.script.input(), expected);
        }
    }
}

#[tokio::test]
async fn b070_a_file_is_told_when_it_is_there() {
    for talk in BREAD {
        let (script, blobs) = (Script::new(), SpyBlobs::default());
        let world = World::one(&script, files_bread(talk, &script, &blobs).build().unwrap());
        let mut stream = world.stream(talk, "file steps").await;
        stream.until("working").await;
        assert_eq!(blobs.files().len(), 0);
        script.step(1);
        // The agent goes on to its words only after the file has been read here.
        let file = stream.one().await;
        let part = &file.value["artifact"]["parts"][0];
        let url = if talk.new { &part["url"] } else { &part["file"]["fileWithUri"] };
        assert_eq!((file.kind.as_str(), url), ("artifact-update", &json!("https://blobs.example/1")));
        assert_eq!(blobs.files().len(), 1);
        script.step(1);
        assert_eq!(stream.one().await.text(), "words");
    }
}

#[tokio::test]
async fn b071_a_file_that_a_tool_made_comes_right_before_the_end() {
    for talk in BREAD {
        let (script, blobs) = (Script::new(), SpyBlobs::default());
        let world = World::one(&script, files_bread(talk, &script, &blobs).build().unwrap());
        let events = world.stream(talk, "file output").await.rest().await;
        let [.., file, last] = &events[..] else { panic!("{events:?}") };
        assert_eq!((file.kind.as_str(), last.state().as_deref()), ("artifact-update", Some("completed")));
        let parts = &file.value["artifact"]["parts"];
        let url = if talk.new { &parts[0]["url"] } else { &parts[0]["file"]["fileWithUri"] };
        assert_eq!((url, parts.as_array().unwrap().len()), (&json!("s3://bucket/report"), 1));
    }
}

#[tokio::test]
async fn b072_data_is_streamed_too() {
    let world = World::six().await;
    for talk in ALL {
        let events = world.stream(talk, "data").await.rest().await;
        let updates = updates(&events);
        assert_eq!(updates.len(), 1);
        assert_eq!(updates[0].value["artifact"]["parts"], json!([talk.data(json!({ "answer": 42 }))]));
    }
}

#[tokio::test]
async fn b073_a_stream_begins_with_the_working_task() {
    let world = World::six().await;
    for talk in BREAD {
        for text in ["hi", "chunks", "fail late", "empty"] {
            let events = world.stream(talk, text).await.rest().await;
            assert_eq!((events[0].kind.as_str(), events[0].state().as_deref()), ("task", Some("working")));
            assert_eq!(kinds(&events).iter().filter(|kind| **kind == "task").count(), 1, "{events:?}");
            assert_eq!(events[0].value["status"]["state"], talk.state("working"));
        }
    }
    let first = &world.stream(BREAD_0_3, "hi").await.one().await.data["result"];
    assert_eq!(first["kind"], "task");
}

#[tokio::test]
async fn b074_text_is_told_as_it_comes() {
    let world = World::six().await;
    for talk in ALL {
        let mut stream = world.stream(talk, "steps").await;
        stream.until("working").await;
        for text in ["one ", "two ", "three"] {
            // The agent goes on only after the piece before has been read here.
            world.script.step(1);
            let event = stream.one().await;
            assert_eq!((event.kind.as_str(), event.text()), ("artifact-update", text), "{talk:?}");
        }
        assert_eq!(stream.rest().await.len(), 1);
        let events = world.stream(talk, "empty").await.rest().await;
        assert_eq!(updates(&events).len(), 0, "zero are as good");
    }
}

#[tokio::test]
async fn b075_text_is_one_artifact_that_grows() {
    let world = World::six().await;
    for talk in ALL {
        let events = world.stream(talk, "chunks").await.rest().await;
        let updates = updates(&events);
        let appends: Vec<_> = updates.iter().map(|event| event.value["append"].as_bool().unwrap_or_default()).collect();
        assert_eq!(appends, [false, true, true], "{talk:?}");
        let id = |event: &Event| event.value["artifact"]["artifactId"].clone();
        assert!(updates.iter().all(|event| id(event) == id(updates[0])), "{updates:?}");
        if !talk.new {
            assert_eq!(updates[0].value["append"], json!(false), "written out in 0.3");
        }
    }
}

#[tokio::test]
async fn b076_a_stream_ends_with_one_final_status() {
    let world = World::six().await;
    for talk in BREAD {
        for (text, state) in [("chunks", "completed"), ("fail late", "failed")] {
            let events = world.stream(talk, text).await.rest().await;
            let statuses: Vec<_> = events.iter().filter(|event| event.kind == "status-update").collect();
            assert_eq!(statuses.len(), 1, "{events:?}");
            assert_eq!(statuses[0], events.last().unwrap());
            assert_eq!(statuses[0].value["status"]["state"], talk.state(state));
            let flag = (!talk.new).then_some(json!(true));
            assert_eq!(statuses[0].value.get("final").cloned(), flag, "1.0 has no such member (S01)");
        }
    }
}

#[tokio::test]
async fn b077_the_connection_closes_behind_the_end() {
    let world = World::six().await;
    for talk in ALL {
        for text in ["hi", "fail late"] {
            let mut stream = world.stream(talk, text).await;
            let last = if text == "hi" { "completed" } else { "failed" };
            stream.until(last).await;
            assert_eq!(stream.block().await, None);
        }
    }
}

#[tokio::test]
async fn b078_no_update_is_called_the_last() {
    let world = World::six().await;
    for talk in ALL {
        let events = world.stream(talk, "chunks").await.rest().await;
        for update in updates(&events) {
            let flag = update.value.get("lastChunk").cloned();
            assert_eq!(flag.unwrap_or(json!(false)), json!(false), "{talk:?}");
        }
    }
    let events = world.stream(BREAD_0_3, "chunks").await.rest().await;
    assert_eq!(updates(&events)[2].value["lastChunk"], json!(false), "written out in 0.3");
}

#[tokio::test]
async fn b079_the_task_id_is_real_and_of_use_later() {
    let world = World::six().await;
    for talk in ALL {
        let mut ids = Vec::new();
        for _ in 0..2 {
            let events = world.stream(talk, "hi").await.rest().await;
            let id = events[0].task_id();
            assert!(events.iter().all(|event| event.task_id() == id), "{events:?}");
            assert_eq!(world.script.last().task_id, id);
            assert_eq!(world.state(talk, &id).await, "completed");
            ids.push(id);
        }
        assert_ne!(ids[0], ids[1]);
    }
}

#[tokio::test]
async fn b080_a_question_is_seen_live() {
    let world = World::six().await;
    for talk in ALL {
        let mut stream = world.stream(talk, "ask slowly").await;
        stream.until("working").await;
        world.script.step(1);
        let event = stream.one().await;
        assert_eq!((event.kind.as_str(), event.state().as_deref()), ("status-update", Some("input-required")));
        assert_eq!(event.value["status"]["message"]["parts"], json!([talk.text("which?")]));
    }
}

#[tokio::test]
async fn b081_a_question_is_seen_later() {
    let world = World::six().await;
    for talk in ALL {
        let id = world.stream(talk, "ask").await.one().await.task_id();
        let task = world.ok(talk, Op::Get, json!({ "id": id })).await;
        assert_eq!(task["status"]["state"], talk.state("input-required"));
        let events = world.open(talk, Op::Subscribe, json!({ "id": id })).await.until("input-required").await;
        let message = &events.last().unwrap().value["status"]["message"];
        assert_eq!(message["parts"], json!([talk.text("which?")]), "{talk:?}");
    }
}

#[tokio::test]
async fn b126_a_failure_within_a_stream_is_its_last_event() {
    let world = World::six().await;
    for talk in ALL {
        for text in ["fail", "fail late", "panic"] {
            let events = world.stream(talk, text).await.rest().await;
            let last = events.last().unwrap();
            assert_eq!((last.kind.as_str(), last.state().as_deref()), ("status-update", Some("failed")), "{talk:?}");
            let parts = last.value["status"]["message"]["parts"].as_array().unwrap();
            let data: Vec<&Value> = parts.iter().map(|part| &part["data"]).filter(|data| data.is_object()).collect();
            assert_eq!(data, [&json!({ "code": -32603, "message": "Internal error" })]);
            assert!(!format!("{events:?}").contains(SECRET), "{events:?}");
            assert!(events.iter().all(|event| event.data.get("error").is_none()), "{events:?}");
        }
    }
}
