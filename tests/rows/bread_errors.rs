//! B109 to B125: errors. B126 stands with the streams.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::{
    ALL, BREAD, ONLY_0_3, ONLY_1_0, Op, SECRET, STRICT_0_3, STRICT_1_0, Script, SpyBlobs, Talk, World, bread,
    files_bread,
};

/// A task that is over, in each of the ways that tasks end.
async fn ended(world: &World, talk: Talk) -> Vec<String> {
    let mut ids = Vec::new();
    for text in ["hi", "fail", "cancel"] {
        ids.push(world.stream(talk, text).await.rest().await[0].task_id());
    }
    ids
}

#[tokio::test]
async fn b109_errors_come_with_http_200() {
    let world = World::six().await;
    for talk in ALL {
        let answer = world.call(talk, talk.method(Op::Get), json!({ "id": "nope" })).await;
        assert_eq!((answer.status.as_u16(), answer.media_type()), (200, "application/json"));
        let json = answer.json();
        assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), ["error", "id", "jsonrpc"]);
        assert_eq!((&json["jsonrpc"], &json["id"]), (&json!("2.0"), &json!(7)));
        let error = json["error"].as_object().unwrap();
        assert!(error["code"] == -32001 && error["message"].is_string(), "{error:?}");
    }
}

#[tokio::test]
async fn b110_a_stream_that_does_not_begin_is_answered_with_json() {
    let world = World::six().await;
    for talk in ALL {
        assert_eq!(world.code(talk, Op::Stream, talk.message(vec![])).await, -32602);
        assert_eq!(world.code(talk, Op::Stream, json!({})).await, -32602);
        assert_eq!(world.code(talk, Op::Subscribe, json!({ "id": "nope" })).await, -32001);
        assert_eq!(world.call(talk, "message/streams", talk.says("hi")).await.code(), -32601);
        let headers: Vec<_> = talk.headers().into_iter().chain([("accept", "text/event-stream")]).collect();
        assert_eq!(world.post(talk.path, &headers, "{").await.code(), -32700);
    }
}

#[tokio::test]
async fn b111_what_is_no_json() {
    let world = World::six().await;
    for talk in ALL {
        for body in ["{", "", "hi", r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}"#, "\u{feff}"] {
            let answer = world.verbatim(talk, body).await;
            assert_eq!((answer.code(), &answer.json()["id"]), (-32700, &Value::Null), "{body}");
        }
    }
}

#[tokio::test]
async fn b112_the_version_of_json_rpc_must_be_there() {
    let world = World::six().await;
    for talk in ALL {
        let (method, params) = (talk.method(Op::Send), talk.says("hi"));
        for version in [r#""jsonrpc":"1.0","#, "", r#""jsonrpc":2.0,"#, r#""jsonrpc":null,"#] {
            let body = format!(r#"{{{version}"id":1,"method":"{method}","params":{params}}}"#);
            assert_eq!(world.verbatim(talk, &body).await.code(), -32600, "{body}");
        }
    }
    assert_eq!(world.script.seen().len(), 0);
}

#[tokio::test]
async fn b113_the_method_must_be_a_string() {
    let world = World::six().await;
    for talk in ALL {
        for method in ["", r#""method":7,"#, r#""method":null,"#, r#""method":["message/send"],"#] {
            let body = format!(r#"{{"jsonrpc":"2.0",{method}"id":1,"params":{}}}"#, talk.says("hi"));
            assert_eq!(world.verbatim(talk, &body).await.code(), -32600, "{body}");
        }
    }
    assert_eq!(world.script.seen().len(), 0);
}

#[tokio::test]
async fn b114_methods_of_the_other_version_are_unknown() {
    let world = World::six().await;
    let (old, new) = (ONLY_0_3, ONLY_1_0);
    for talk in ALL {
        let other = if talk.new { old } else { new };
        for op in [Op::Send, Op::Stream, Op::Get, Op::Cancel, Op::Subscribe] {
            assert_eq!(world.call(talk, other.method(op), talk.says("hi")).await.code(), -32601, "{talk:?} {op:?}");
        }
        for method in ["foo", "message/Send", "sendMessage", "tasks", "message/send "] {
            assert_eq!(world.call(talk, method, talk.says("hi")).await.code(), -32601, "{talk:?} {method}");
        }
    }
}

#[tokio::test]
async fn b115_a_message_must_have_parts() {
    let world = World::six().await;
    for talk in ALL {
        for op in [Op::Send, Op::Stream] {
            let mut params = talk.message(vec![]);
            assert_eq!(world.code(talk, op, params.clone()).await, -32602);
            params["message"].as_object_mut().unwrap().remove("parts");
            assert_eq!(world.code(talk, op, params).await, -32602);
        }
    }
    assert_eq!(world.script.seen().len(), 0);
}

#[tokio::test]
async fn b116_a_part_must_be_one_that_is_known() {
    let world = World::six().await;
    for talk in ALL {
        for part in [json!({}), json!({ "kind": "x" }), json!({ "metadata": {} }), json!({ "kind": "text" })] {
            let params = talk.message(vec![talk.text("hi"), part]);
            let answer = world.call(talk, talk.method(Op::Send), params).await;
            assert_eq!(answer.code(), -32602);
            assert!(answer.json()["error"]["message"].to_string().contains("message.parts[1]"), "{answer:?}");
        }
    }
    assert_eq!(world.script.seen().len(), 0);
}

#[tokio::test]
async fn b117_data_must_be_an_object() {
    let world = World::six().await;
    for talk in ALL {
        // What strict 1.0 takes is row S07.
        if talk.new && !talk.messages {
            continue;
        }
        for data in [json!([1]), json!("x"), json!(7), json!(true), Value::Null] {
            for op in [Op::Send, Op::Stream] {
                let answer = world.call(talk, talk.method(op), talk.message(vec![talk.data(data.clone())])).await;
                assert_eq!(answer.code(), -32602, "{talk:?} {data}");
                let words = answer.json()["error"]["message"].to_string();
                assert!(words.contains("message.parts[0]"), "{words}");
            }
        }
    }
    assert_eq!(world.script.seen().len(), 0);
}

#[tokio::test]
async fn b118_an_inline_file_over_the_limit() {
    let large = "A".repeat(14 * 1024 * 1024);
    for talk in BREAD {
        let script = Script::new();
        let world = World::one(&script, files_bread(talk, &script, &SpyBlobs::default()).build().unwrap());
        for op in [Op::Send, Op::Stream] {
            assert_eq!(world.code(talk, op, talk.message(vec![talk.raw(&large)])).await, -32602);
        }
        assert_eq!(script.seen().len(), 0);
    }
}

#[tokio::test]
async fn b119_an_inline_file_without_a_store() {
    let world = World::six().await;
    for talk in BREAD {
        for op in [Op::Send, Op::Stream] {
            assert_eq!(world.code(talk, op, talk.message(vec![talk.raw("aGk=")])).await, -32602);
        }
    }
    assert_eq!(world.script.seen().len(), 0);
}

#[tokio::test]
async fn b120_an_id_must_be_a_string_that_says_something() {
    let world = World::six().await;
    for talk in ALL {
        for op in [Op::Get, Op::Subscribe, Op::Cancel] {
            for params in
                [json!({}), json!({ "id": 7 }), json!({ "id": "" }), json!({ "id": null }), json!({ "id": ["x"] })]
            {
                assert_eq!(world.code(talk, op, params.clone()).await, -32602, "{talk:?} {op:?} {params}");
            }
        }
    }
}

#[tokio::test]
async fn b121_a_cursor_must_be_a_number() {
    let world = World::six().await;
    for talk in ALL {
        let mut live = world.stream(talk, "silent").await;
        let id = json!({ "id": live.until("working").await[0].task_id() });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": talk.method(Op::Subscribe), "params": id }).to_string();
        for bad in ["abc", "-1", "1.5", "0x1", "99999999999999999999"] {
            let headers: Vec<_> = talk.headers().into_iter().chain([("last-event-id", bad)]).collect();
            assert_eq!(world.post(talk.path, &headers, body.clone()).await.code(), -32602, "{bad}");
            let path = format!("{}?after={bad}", talk.path);
            assert_eq!(world.post(&path, &talk.headers(), body.clone()).await.code(), -32602, "{bad}");
        }
    }
}

/// What is logged in this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Words<'a>(&'a Log);

        impl tracing::field::Visit for Words<'_> {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.0.lock().unwrap().push_str(&format!("{field}={value:?} "));
            }
        }

        event.record(&mut Words(self));
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn b122_a_run_that_throws_is_an_internal_error_whose_cause_is_in_the_log() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    for talk in BREAD {
        let script = Script::new();
        let world = World::one(&script, bread(talk, &script).build().unwrap());
        for text in ["fail", "fail late"] {
            log.0.lock().unwrap().clear();
            let answer = world.call(talk, talk.method(Op::Send), talk.says(text)).await;
            assert_eq!(answer.code(), -32603, "{talk:?} {text}");
            assert_eq!(answer.json()["error"]["message"], "Internal error");
            assert!(!format!("{answer:?}").contains(SECRET), "{answer:?}");
            let logged = log.0.lock().unwrap().clone();
            assert!(logged.contains(SECRET) && logged.contains(&script.last().task_id), "{logged}");
        }
        let answer = world.call(talk, talk.method(Op::Send), talk.says("panic")).await;
        assert_eq!(answer.code(), -32603, "{talk:?}");
        assert!(!format!("{answer:?}").contains(SECRET), "{answer:?}");
    }
    // Where a send is answered with a task, the task has failed, and it says no more than that either.
    for talk in [STRICT_0_3, STRICT_1_0] {
        let script = Script::new();
        let world = World::one(&script, crate::support::strict(&script).build().unwrap());
        for text in ["fail", "fail late", "panic"] {
            let task = world.task(talk, text).await;
            assert_eq!(task["status"]["state"], talk.state("failed"));
            assert!(!task.to_string().contains(SECRET), "{task}");
        }
    }
}

#[tokio::test]
async fn b123_unknown_tasks_are_not_found() {
    let world = World::six().await;
    for talk in ALL {
        for op in [Op::Get, Op::Subscribe, Op::Cancel] {
            assert_eq!(world.code(talk, op, json!({ "id": "0b1e" })).await, -32001, "{talk:?} {op:?}");
        }
    }
}

#[tokio::test]
async fn b124_what_cannot_be_canceled() {
    let world = World::six().await;
    for talk in BREAD {
        for id in ended(&world, talk).await {
            assert_eq!(world.code(talk, Op::Cancel, json!({ "id": id })).await, -32002);
        }
        let sent = world.ok(talk, Op::Send, talk.says_without_waiting("wait")).await;
        let id = talk.sent_message(&sent)["taskId"].clone();
        assert_eq!(world.code(talk, Op::Cancel, json!({ "id": id })).await, -32002);
    }
}

#[tokio::test]
async fn b125_what_cannot_be_subscribed_to() {
    let world = World::six().await;
    for talk in BREAD {
        for id in ended(&world, talk).await {
            assert_eq!(world.code(talk, Op::Subscribe, json!({ "id": id })).await, -32004);
        }
        // A task that was canceled from outside is as much over as one that ended itself.
        let mut live = world.stream(talk, "wait").await;
        let id = json!({ "id": live.one().await.task_id() });
        world.ok(talk, Op::Cancel, id.clone()).await;
        live.rest().await;
        assert_eq!(world.code(talk, Op::Subscribe, id).await, -32004);
    }
}
