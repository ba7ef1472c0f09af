//! C01 to C21: where servers differ from each other, and what this one does. S01 to S18 stand in `protocol.rs`.

use a2a_layers::{
    server::{Mount, Settings},
    task::{CancelMode, ReplyMode},
};
use hyper::body::Incoming;
use serde_json::json;

use crate::bread_lifecycle::{id, states};
use crate::support::{
    ALL, BREAD, BREAD_0_3, BREAD_1_0, Ledger, ONLY_0_3, ONLY_1_0, Op, STRICT_0_3, STRICT_1_0, Script, Talk, VIBES,
    World, strict,
};

/// A strict mount at the root, with all of its defaults.
fn plain() -> (World, Talk) {
    let script = Script::new();
    let world = World::one(&script, Mount::new("plain", script.agent()).build().unwrap());
    (world, Talk { path: "/", ..STRICT_0_3 })
}

#[tokio::test]
async fn c01_what_a_send_is_answered_with_is_a_setting() {
    let world = World::six().await;
    for talk in ALL {
        let result = world.ok(talk, Op::Send, talk.says("hi")).await;
        let is_message = if talk.new { result.get("message").is_some() } else { result["kind"] == "message" };
        assert_eq!(is_message, talk.messages, "{talk:?} {result}");
    }
    for (mode, expected) in [(ReplyMode::Task, "task"), (ReplyMode::Message, "message"), (ReplyMode::Auto, "task")] {
        let script = Script::new();
        let world = World::one(&script, strict(&script).reply(mode).build().unwrap());
        assert_eq!(world.ok(STRICT_0_3, Op::Send, STRICT_0_3.says("hi")).await["kind"], expected);
    }
    let agent = tower::service_fn(async |_: http::Request<a2a_layers::part::Input>| {
        Ok::<_, a2a_layers::error::BoxError>(a2a_layers::types::Message::agent("a message of my own"))
    });
    let mount = Mount::new("auto", agent).url("http://agents.example/strict").reply(ReplyMode::Auto);
    let world = World::one(&Script::new(), mount.build().unwrap());
    assert_eq!(world.ok(STRICT_0_3, Op::Send, STRICT_0_3.says("hi")).await["kind"], "message");
}

#[tokio::test]
async fn c02_frames_are_envelopes_except_for_vibes() {
    let world = World::six().await;
    for talk in ALL {
        let event = world.stream(talk, "hi").await.one().await;
        assert_eq!(event.data.get("jsonrpc").is_some(), talk != VIBES, "{event:?}");
    }
}

#[tokio::test]
async fn c03_the_task_comes_first_except_for_vibes() {
    let world = World::six().await;
    for talk in ALL {
        let event = world.stream(talk, "hi").await.one().await;
        let state = if BREAD.contains(&talk) { "working" } else { "submitted" };
        let kind = if talk == VIBES { "status-update" } else { "task" };
        assert_eq!((event.kind.as_str(), event.state().as_deref()), (kind, Some(state)), "{talk:?}");
    }
}

#[tokio::test]
async fn c04_ids_and_comments_are_there_except_for_vibes() {
    let world = World::six().await;
    for talk in ALL {
        let mut stream = world.stream(talk, "hi").await;
        let events = stream.rest().await;
        let text = String::from_utf8(stream.chunks.concat()).unwrap();
        assert_eq!(text.starts_with(": connected\n\n"), talk != VIBES, "{text}");
        assert!(events.iter().all(|event| event.id.is_some() == (talk != VIBES)), "{events:?}");
        if talk == VIBES {
            assert!(text.split_terminator("\n\n").all(|block| block.starts_with("data: ")), "{text}");
        }
    }
}

#[tokio::test]
async fn c05_s17_the_card_is_at_both_paths() {
    let (world, _) = plain();
    let new = world.get("/.well-known/agent-card.json").await;
    let old = world.get("/.well-known/agent.json").await;
    assert_eq!((new.status.as_u16(), old.status.as_u16()), (200, 200));
    assert_eq!(new.json(), old.json());
    assert!(old.headers.contains_key("deprecation") && !new.headers.contains_key("deprecation"));
    let script = Script::new();
    let settings = Settings::strict().card_path("/cards/a.json").legacy_card_path(Some("/old.json"));
    let world = World::one(&script, Mount::new("a", script.agent()).settings(settings).build().unwrap());
    for (path, status) in [("/cards/a.json", 200), ("/old.json", 200), ("/.well-known/agent.json", 404)] {
        assert_eq!(world.get(path).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn c06_the_endpoint_is_at_any_path_and_its_aliases() {
    let (world, root) = plain();
    assert_eq!(world.task(root, "hi").await["kind"], "task");
    let script = Script::new();
    let mount = Mount::new("a", script.agent()).url("http://agents.example/deep/path").rpc_alias("/").rpc_alias("/rpc");
    let world = World::sockets(script, mount.build::<Incoming>().unwrap()).await;
    for path in ["/deep/path", "/deep/path/", "/", "/rpc", "/rpc/"] {
        assert_eq!(world.task(Talk { path, ..STRICT_0_3 }, "hi").await["kind"], "task", "{path}");
    }
    assert_eq!(world.post("/deep", &[], "{}").await.status, 404);
}

#[tokio::test]
async fn c07_files_are_read_in_either_spelling_and_written_in_the_right_one() {
    let world = World::six().await;
    for talk in ALL.into_iter().filter(|talk| !talk.new) {
        for key in ["uri", "fileWithUri"] {
            let part = json!({ "kind": "file", "file": { key: "https://f/1" } });
            world.ok(talk, Op::Send, talk.message(vec![part])).await;
            assert_eq!(world.script.input(), json!({ "uri": "https://f/1" }), "{talk:?} {key}");
        }
        for key in ["bytes", "fileWithBytes"] {
            let answer = world
                .call(talk, "message/send", talk.message(vec![json!({ "kind": "file", "file": { key: "aGk=" } })]))
                .await;
            assert!(answer.json()["error"]["message"].to_string().contains("inline"), "known as a file: {answer:?}");
        }
        let events = world.stream(talk, "files").await.rest().await;
        let update = events.iter().find(|event| event.kind == "artifact-update").unwrap();
        let file = &update.value["artifact"]["parts"][0]["file"];
        let (there, gone) = if talk == BREAD_0_3 { ("fileWithUri", "uri") } else { ("uri", "fileWithUri") };
        assert_eq!((file[there].as_str(), file.get(gone)), (Some("https://f.example/1.png"), None), "{talk:?}");
    }
}

#[tokio::test]
async fn c08_get_shows_the_whole_task_except_for_bread() {
    let world = World::six().await;
    for talk in ALL {
        let task = world.stream(talk, "hi").await.rest().await[0].task_id();
        let task = world.ok(talk, Op::Get, id(&task)).await;
        let is_bread = BREAD.contains(&talk);
        assert_eq!(task.get("artifacts").is_none(), is_bread, "{task}");
        assert_eq!(task["contextId"] == task["id"], is_bread, "{task}");
    }
}

#[tokio::test]
async fn c09_the_log_is_the_truth_and_the_task_its_projection() {
    // This store keeps nothing but logs, and every answer about a task is folded from one.
    let (script, store) = (Script::new(), Ledger::default());
    let world = World::one(&script, strict(&script).task_store(store.clone()).build().unwrap());
    for talk in [STRICT_0_3, STRICT_1_0] {
        for text in ["chunks", "files", "fail late", "ask"] {
            let task = world.task(talk, text).await;
            assert_eq!(world.ok(talk, Op::Get, json!({ "id": task["id"] })).await, task);
        }
    }
    assert_eq!(store.tasks(), 8);
}

#[tokio::test]
async fn c10_any_task_can_be_canceled_except_for_bread() {
    let world = World::six().await;
    for talk in ALL {
        // One that waits for its caller, and so runs nowhere.
        let task = world.stream(talk, "ask").await.rest().await[0].task_id();
        if BREAD.contains(&talk) {
            assert_eq!(world.code(talk, Op::Cancel, id(&task)).await, -32002);
        } else {
            assert_eq!(world.ok(talk, Op::Cancel, id(&task)).await["status"]["state"], talk.state("canceled"));
            assert_eq!(world.code(talk, Op::Cancel, id(&task)).await, -32002, "it is over now");
        }
    }
}

#[tokio::test]
async fn c11_a_cancel_is_final_or_an_attempt() {
    for (mode, state) in [(CancelMode::Final, "canceled"), (CancelMode::Attempt, "working")] {
        let script = Script::new();
        let mount = strict(&script).settings(Settings::strict().cancel(mode).card_path("/card").legacy_card_path(None));
        let world = World::one(&script, mount.build().unwrap());
        let mut stream = world.stream(STRICT_1_0, "stubborn").await;
        let task = stream.one().await.task_id();
        let canceled = world.ok(STRICT_1_0, Op::Cancel, id(&task)).await;
        assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
        assert_eq!(world.state(STRICT_1_0, &task).await, state, "{mode:?}");
    }
}

#[tokio::test]
async fn c12_every_mount_has_resubscribe() {
    let world = World::six().await;
    for talk in ALL {
        let mut live = world.stream(talk, "steps").await;
        let task = live.until("working").await[0].task_id();
        let mut again = world.open(talk, Op::Subscribe, id(&task)).await;
        world.script.step(3);
        let (live, again) = (live.rest().await, again.rest().await);
        assert_eq!(again[again.len() - live.len()..], live, "{talk:?}");
    }
}

#[tokio::test]
async fn c13_what_an_artifact_update_carries() {
    let world = World::six().await;
    for talk in ALL {
        let events = world.stream(talk, "chunks").await.rest().await;
        let updates: Vec<_> = events.iter().filter(|event| event.kind == "artifact-update").collect();
        assert_eq!(updates[1].value["append"], json!(true), "{talk:?}");
        for update in updates {
            assert_eq!(update.value["artifact"].get("index").cloned(), (talk == VIBES).then_some(json!(0)), "{talk:?}");
        }
    }
}

#[tokio::test]
async fn c14_the_states_of_a_stream() {
    let world = World::six().await;
    for talk in ALL {
        let seen = states(&world.stream(talk, "hi").await.rest().await);
        if BREAD.contains(&talk) {
            assert_eq!(seen, ["working", "completed"], "{talk:?}");
        } else {
            assert_eq!(seen, ["submitted", "working", "completed"], "{talk:?}");
        }
    }
}

#[tokio::test]
async fn c15_a_message_id_is_made_up_for_vibes_alone() {
    let world = World::six().await;
    for talk in ALL {
        let mut params = talk.says("hi");
        params["message"].as_object_mut().unwrap().remove("messageId");
        if talk == VIBES {
            assert_eq!(world.ok(talk, Op::Send, params).await["status"]["state"], "completed");
        } else {
            let answer = world.call(talk, talk.method(Op::Send), params).await;
            assert_eq!(answer.code(), -32602);
            assert!(answer.json()["error"]["message"].to_string().contains("message.messageId"), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn c16_every_card_says_its_version() {
    let world = World::six().await;
    for talk in ALL {
        let card = world.card(talk).await;
        if talk.new || talk.negotiated {
            assert_eq!(card["supportedInterfaces"][0]["protocolVersion"], "1.0", "{talk:?}");
        }
        if !talk.new || talk.negotiated {
            assert_eq!(card["protocolVersion"], "0.3.0", "{talk:?}");
        }
    }
}

#[tokio::test]
async fn c17_state_transition_history_is_false_in_0_3_and_absent_in_1_0() {
    let world = World::six().await;
    for (talk, expected) in [
        (ONLY_0_3, Some(json!(false))),
        (BREAD_0_3, Some(json!(false))),
        (VIBES, Some(json!(false))),
        (ONLY_1_0, None),
        (BREAD_1_0, None),
    ] {
        assert_eq!(world.card(talk).await["capabilities"].get("stateTransitionHistory").cloned(), expected, "{talk:?}");
    }
}

#[tokio::test]
async fn c18_no_card_promises_push() {
    let world = World::six().await;
    for talk in ALL {
        assert_eq!(world.card(talk).await["capabilities"]["pushNotifications"], json!(false));
    }
}

#[tokio::test]
async fn c19_what_is_not_offered_has_codes_of_its_own() {
    let world = World::six().await;
    for talk in ALL {
        let (push, extended, code) = if talk.new {
            ("GetTaskPushNotificationConfig", "GetExtendedAgentCard", -32004)
        } else {
            ("tasks/pushNotificationConfig/get", "agent/getAuthenticatedExtendedCard", -32007)
        };
        let params = if talk.new { json!({ "taskId": "t", "id": "c" }) } else { id("t") };
        assert_eq!(world.call(talk, push, params).await.code(), -32003, "{talk:?}");
        assert_eq!(world.call(talk, extended, json!({})).await.code(), code, "{talk:?}");
    }
}

#[tokio::test]
async fn c20_who_may_see_the_card_is_for_the_routes() {
    // Cards and endpoints have paths of their own, so a policy outside can tell them apart; B127 and B128 use that.
    let service = strict(&Script::new()).build::<Incoming>().unwrap();
    assert_eq!(service.paths(), ["/strict", "/.well-known/agent-card.json"]);
}

#[tokio::test]
async fn c21_every_card_has_a_description() {
    let world = World::six().await;
    for talk in ALL {
        assert_eq!(world.card(talk).await["description"], "Agent \"scripted\"");
    }
}
