//! S01 to S18: where servers differ from the protocol, and what this one does.

use a2a_layers::{
    server::{ConfigError, Mount, Settings},
    task::CloseOn,
    types::{AgentExtension, AgentProvider},
};
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::{
    bread_lifecycle::{id, states},
    support::{
        ALL, BREAD_0_3, BREAD_1_0, ONLY_0_3, ONLY_1_0, Op, STRICT_0_3, STRICT_1_0, Script, Talk, VIBES, World, strict,
    },
};

const STRICT: [Talk; 4] = [STRICT_0_3, STRICT_1_0, ONLY_0_3, ONLY_1_0];

#[tokio::test]
async fn s01_no_final_in_1_0() {
    let world = World::six().await;
    for talk in ALL.into_iter().filter(|talk| talk.new) {
        for text in ["hi", "fail late", "ask"] {
            let events = world.stream(talk, text).await.rest().await;
            assert!(!events.iter().any(|event| event.data.to_string().contains("\"final\"")), "{events:?}");
        }
    }
}

#[tokio::test]
async fn s02_a_subscription_begins_with_the_task_and_goes_on_behind_it() {
    let world = World::six().await;
    for talk in [STRICT_1_0, ONLY_1_0] {
        let mut live = world.stream(talk, "steps").await;
        let seen = live.until("working").await;
        world.script.step(1);
        let first = live.one().await;
        let (task, cursor) = (seen[0].task_id(), seen.last().unwrap().id.clone().unwrap());
        let mut fresh = world.open(talk, Op::Subscribe, id(&task)).await;
        let method = talk.method(Op::Subscribe);
        let mut resumed = world.open_with(talk, method, id(&task), &[("last-event-id", &cursor)], "").await;
        let (snapshot, earlier) = (fresh.one().await, resumed.one().await);
        assert_eq!((snapshot.kind.as_str(), &snapshot.id), ("task", &first.id), "the task as it is");
        assert_eq!(snapshot.value["artifacts"][0]["parts"], json!([{ "text": "one " }]));
        assert_eq!((earlier.kind.as_str(), &earlier.id), ("task", &Some(cursor)), "the task as it was");
        assert!(earlier.value.get("artifacts").is_none(), "{earlier:?}");
        world.script.step(2);
        let rest = live.rest().await;
        assert_eq!(fresh.rest().await, rest);
        assert_eq!(resumed.rest().await, [vec![first], rest].concat());
    }
}

#[tokio::test]
async fn s03_a_context_holds_several_tasks() {
    let world = World::six().await;
    for talk in STRICT {
        let mut params = talk.says("hi");
        params["message"]["contextId"] = "mine".into();
        let tasks = [
            talk.sent_task(&world.ok(talk, Op::Send, params.clone()).await),
            talk.sent_task(&world.ok(talk, Op::Send, params).await),
        ];
        assert_ne!(tasks[0]["id"], tasks[1]["id"]);
        for task in tasks {
            assert_eq!(task["contextId"], "mine");
        }
        let fresh = world.task(talk, "hi").await;
        assert!(fresh["contextId"].is_string() && fresh["contextId"] != fresh["id"], "{fresh}");
    }
}

#[tokio::test]
async fn s04_the_history_is_as_long_as_it_was_asked_for() {
    let world = World::six().await;
    for talk in STRICT {
        let task = world.task(talk, "ask").await;
        let mut params = talk.says("hi");
        params["message"]["taskId"] = task["id"].clone();
        world.ok(talk, Op::Send, params).await;
        // What was asked, what was asked back, what was answered.
        for (length, expected) in [(json!(0), 0), (json!(1), 1), (json!(2), 2), (json!(9), 3), (Value::Null, 3)] {
            let got = world.ok(talk, Op::Get, json!({ "id": task["id"], "historyLength": length })).await;
            assert_eq!(got["history"].as_array().map_or(0, Vec::len), expected, "{talk:?} {length}");
            if expected == 1 {
                assert_eq!(got["history"][0]["parts"], json!([talk.text("hi")]), "the latest ones");
            }
        }
    }
}

#[tokio::test]
async fn s05_what_ends_a_stream_is_a_setting() {
    for (close_on, ends) in [(CloseOn::InputRequired, true), (CloseOn::Interrupted, true), (CloseOn::Terminal, false)] {
        for talk in [STRICT_0_3, STRICT_1_0] {
            let script = Script::new();
            let settings = Settings::strict().close_on(close_on).card_path("/card").legacy_card_path(None);
            let world = World::one(&script, strict(&script).settings(settings).build().unwrap());
            let mut stream = world.stream(talk, "ask").await;
            let task = stream.until("input-required").await[0].task_id();
            let mut answer = talk.says("hi");
            answer["message"]["taskId"] = task.into();
            world.ok(talk, Op::Send, answer).await;
            let later = states(&stream.rest().await);
            assert_eq!(later.is_empty(), ends, "{close_on:?} {later:?}");
            assert!(ends || later.last().unwrap() == "completed", "{later:?}");
        }
    }
}

#[tokio::test]
async fn s06_a_0_3_card_names_its_transport() {
    let world = World::six().await;
    for talk in [STRICT_0_3, ONLY_0_3, BREAD_0_3, VIBES] {
        assert_eq!(world.card(talk).await["preferredTransport"], "JSONRPC", "{talk:?}");
    }
}

#[tokio::test]
async fn s07_1_0_takes_data_of_any_shape_except_for_bread() {
    let world = World::six().await;
    for data in [json!([1, 2]), json!("x"), json!(7), json!(false), Value::Null] {
        for talk in [STRICT_1_0, ONLY_1_0] {
            world.ok(talk, Op::Send, talk.message(vec![talk.data(data.clone())])).await;
            assert_eq!(world.script.input(), data);
        }
        for talk in [STRICT_0_3, ONLY_0_3, BREAD_0_3, BREAD_1_0, VIBES] {
            assert_eq!(
                world.code(talk, Op::Send, talk.message(vec![talk.data(data.clone())])).await,
                -32602,
                "{talk:?}"
            );
        }
    }
}

#[tokio::test]
async fn s08_unknown_members_are_ignored() {
    let world = World::six().await;
    for talk in ALL {
        let mut part = talk.text("hi");
        part["extra"] = json!({ "deep": [1] });
        if talk.new {
            part["kind"] = "text".into();
        }
        let mut params = talk.message(vec![part]);
        params["message"]["extra"] = json!(1);
        params["extra"] = Value::Null;
        world.ok(talk, Op::Send, params).await;
        assert_eq!(world.script.input(), "hi");
    }
}

#[tokio::test]
async fn s09_inline_bytes_that_are_not_taken_are_invalid_parameters() {
    let world = World::six().await;
    for talk in ALL {
        assert_eq!(world.code(talk, Op::Send, talk.message(vec![talk.raw("aGk=")])).await, -32602, "not -32005");
    }
}

#[tokio::test]
async fn s10_a_subscription_to_what_is_over_is_unsupported() {
    let world = World::six().await;
    for talk in ALL {
        let task = world.stream(talk, "hi").await.rest().await[0].task_id();
        assert_eq!(world.code(talk, Op::Subscribe, id(&task)).await, -32004);
    }
}

#[tokio::test]
async fn s11_1_0_errors_have_typed_details() {
    let world = World::six().await;
    for talk in ALL {
        let answer = world.call(talk, talk.method(Op::Get), id("nope")).await.json();
        let data = &answer["error"]["data"];
        if talk.new {
            let info = &data[0];
            assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo", "{answer}");
            assert_eq!((&info["reason"], &info["domain"]), (&json!("TASK_NOT_FOUND"), &json!("a2a-protocol.org")));
            assert_eq!(info["metadata"]["taskId"], "nope");
        } else {
            assert!(data.get(0).is_none(), "{answer}");
        }
    }
}

#[tokio::test]
async fn s12_one_endpoint_negotiates_and_a_pinned_one_does_not() {
    let world = World::six().await;
    let call = async |path: &str, version: &[(&str, &str)], talk: Talk| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": talk.method(Op::Send), "params": talk.says("hi") });
        let json = world.post(path, version, body.to_string()).await.json();
        json["error"]["code"].as_i64().unwrap_or(0)
    };
    let (old, new) = (STRICT_0_3, STRICT_1_0);
    for (path, version, talk, code) in [
        ("/strict", &[][..], old, 0),
        ("/strict", &[], new, -32601),
        ("/strict", &[("a2a-version", "")], old, 0),
        ("/strict", &[("a2a-version", "0.3")], old, 0),
        ("/strict", &[("a2a-version", "1.0")], new, 0),
        ("/strict", &[("a2a-version", "1.0")], old, -32601),
        ("/strict?A2A-Version=1.0", &[], new, 0),
        ("/strict", &[("a2a-version", "2.0")], new, -32009),
        ("/strict-1.0", &[], new, 0),
        ("/strict-1.0", &[("a2a-version", "0.3")], old, -32009),
        ("/strict-0.3", &[], old, 0),
        ("/strict-0.3", &[("a2a-version", "1.0")], new, -32009),
        ("/a2a-v1", &[], new, 0),
    ] {
        assert_eq!(call(path, version, talk).await, code, "{path} {version:?} {talk:?}");
    }
}

#[tokio::test]
async fn s13_the_aliases_take_the_parameters_of_0_1_too() {
    let world = World::six().await;
    for talk in [STRICT_0_3, VIBES] {
        let parameters = json!({
            "id": format!("chosen{}", talk.path),
            "sessionId": "session-1",
            "message": { "role": "user", "parts": [{ "type": "text", "text": "hi" }] },
        });
        let answer = world.call(talk, "tasks/send", parameters.clone()).await.json();
        let task = &answer["result"];
        assert_eq!((&task["id"], &task["contextId"]), (&parameters["id"], &json!("session-1")), "{answer}");
        assert_eq!(task["artifacts"][0]["parts"][0]["text"], "you said: hi");
        let mut params = parameters;
        params["id"] = format!("streamed{}", talk.path).into();
        let events = world.open_with(talk, "tasks/sendSubscribe", params.clone(), &[], "").await.rest().await;
        assert_eq!(events[0].task_id(), params["id"].as_str().unwrap());
    }
}

#[tokio::test]
async fn s14_what_the_protocol_requires_of_a_card_is_there_or_refused() {
    let world = World::six().await;
    for talk in ALL {
        let card = world.card(talk).await;
        assert!(card["skills"].as_array().unwrap().iter().all(|skill| skill["tags"].is_array()), "{card}");
    }
    for settings in [Settings::strict(), Settings::vibes()] {
        let provider = AgentProvider::new("Example", "");
        let mount = Mount::new("a", Script::new().agent()).settings(settings).describe(|card| card.provider(provider));
        let error = mount.build::<Incoming>().unwrap_err();
        assert!(matches!(error, ConfigError::Card(_)) && error.to_string().contains("provider.url"), "{error}");
    }
}

#[tokio::test]
async fn s15_messages_of_the_agent_have_ids() {
    let world = World::six().await;
    for talk in ALL {
        for text in ["ask", "fail late"] {
            let events = world.stream(talk, text).await.rest().await;
            let message = &events.last().unwrap().value["status"]["message"];
            assert!(message["messageId"].as_str().is_some_and(|id| !id.is_empty()), "{talk:?} {message}");
        }
    }
}

#[tokio::test]
async fn s16_a_status_without_words_has_no_message() {
    let world = World::six().await;
    for talk in ALL {
        for event in world.stream(talk, "hi").await.rest().await {
            assert!(event.value["status"].get("message").is_none(), "{talk:?} {event:?}");
        }
    }
}

#[tokio::test]
async fn s18_extensions_are_echoed_and_tasks_are_listed() {
    let script = Script::new();
    let mount = strict(&script).extension(AgentExtension::new("https://ext.example/a"));
    let world = World::one(&script, mount.build().unwrap());
    let asked = "https://ext.example/a, https://ext.example/unknown";
    for (talk, header) in [(STRICT_0_3, "x-a2a-extensions"), (STRICT_1_0, "a2a-extensions")] {
        let headers: Vec<_> = talk.headers().into_iter().chain([(header, asked)]).collect();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": talk.method(Op::Send), "params": talk.says("hi") });
        let answer = world.post(talk.path, &headers, body.to_string()).await;
        assert_eq!(answer.headers[header], "https://ext.example/a");
        assert_eq!(script.last().extensions, ["https://ext.example/a"]);
    }
    let listed = world.call(STRICT_1_0, "ListTasks", json!({})).await.json();
    let page = &listed["result"];
    assert_eq!((page["tasks"].as_array().unwrap().len(), &page["totalSize"]), (2, &json!(2)));
    assert_eq!((&page["nextPageToken"], &page["pageSize"]), (&json!(""), &json!(50)));
    // And what a caller says beside the message reaches the agent.
    let first = page["tasks"][0]["id"].clone();
    let mut params = STRICT_1_0.says("hi");
    params["message"]["referenceTaskIds"] = json!([first]);
    params["configuration"] = json!({ "acceptedOutputModes": ["text/plain"] });
    params["metadata"] = json!({ "a": 1 });
    world.ok(STRICT_1_0, Op::Send, params).await;
    let seen = script.last();
    assert_eq!(seen.referenced, [first.as_str().unwrap()]);
    assert_eq!(seen.accepted_output_modes, ["text/plain"]);
    assert_eq!(seen.metadata.as_deref(), Some(r#"{"a":1}"#));
    assert!(!seen.context_id.is_empty());
}
