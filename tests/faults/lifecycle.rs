use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::wire::{Server, Version, error_code, state, task};

/// Waits for what the server does by itself.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < Duration::from_secs(30), "never: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn id(envelope: &Value) -> String {
    task(envelope)["id"].as_str().expect("a task's id").to_owned()
}

#[tokio::test]
async fn f57_an_unknown_task_is_not_found_and_not_made() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let params = version.follow_up("done", "nope");
        assert_eq!(error_code(&server.call(version, version.send(), params).await), -32001);
        assert_eq!(error_code(&server.call(version, version.get(), json!({ "id": "nope" })).await), -32001);
    }
    let list = server.call(Version::New, "ListTasks", json!({})).await;
    assert_eq!((&list["result"]["totalSize"], server.stage.calls.load(Ordering::SeqCst)), (&json!(0), 0));
}

#[tokio::test]
async fn f58_no_task_id_and_an_empty_one_make_a_task() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let first = server.play(version, "done").await;
        let second = server.call(version, version.send(), version.follow_up("done", "")).await;
        assert!(!id(&first).is_empty() && !id(&second).is_empty() && id(&first) != id(&second));
    }
}

#[tokio::test]
async fn f59_a_finished_task_takes_no_messages() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for script in ["done", "fail", "reject"] {
            let over = server.play(version, script).await;
            let calls = server.stage.calls.load(Ordering::SeqCst);
            for method in [version.send(), version.stream()] {
                let envelope = server.call(version, method, version.follow_up("done", &id(&over))).await;
                assert_eq!(error_code(&envelope), -32004);
            }
            assert_eq!(server.stage.calls.load(Ordering::SeqCst), calls, "the agent is not asked");
            let now = server.call(version, version.get(), json!({ "id": id(&over) })).await;
            assert_eq!(task(&now), task(&over), "and the task is as it was");
        }
    }
}

#[tokio::test]
async fn f60_f61_contexts_are_opaque_kept_and_never_changed() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut params = version.script("ask");
        params["message"]["contextId"] = json!("conv-7 / ü");
        let asked = server.call(version, version.send(), params).await;
        assert_eq!(task(&asked)["contextId"], "conv-7 / ü");
        let mut wrong = version.follow_up("done", &id(&asked));
        wrong["message"]["contextId"] = json!("another");
        assert_eq!(error_code(&server.call(version, version.send(), wrong).await), -32602);
        let answered = server.call(version, version.send(), version.follow_up("done", &id(&asked))).await;
        assert_eq!((state(&answered), &task(&answered)["contextId"]), ("completed".into(), &json!("conv-7 / ü")));
    }
}

#[tokio::test]
async fn f62_a_send_waits_for_the_end_with_all_artifacts_in() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let open = async {
            until("the agent waits", async || server.stage.waiting.load(Ordering::SeqCst) > 0).await;
            server.stage.gate.add_permits(1);
        };
        let (envelope, ()) = tokio::join!(server.play(version, "wait"), open);
        assert_eq!(state(&envelope), "completed");
        assert_eq!(task(&envelope)["artifacts"][0]["parts"][0]["text"], "done");
    }
}

#[tokio::test]
async fn f63_a_send_comes_back_when_the_agent_asks() {
    let server = Server::start().await;
    for version in Version::BOTH {
        assert_eq!(state(&server.play(version, "ask").await), "input-required");
        assert_eq!(state(&server.play(version, "auth").await), "auth-required");
    }
}

#[tokio::test]
async fn f64_at_auth_required_the_stream_stays_and_the_work_goes_on() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut events = server.open(version, version.stream(), version.script("auth")).await;
        while state(&events.next().await.expect("the stream is open")) != "auth-required" {}
        server.stage.gate.add_permits(1);
        let events = events.rest().await;
        assert_eq!(state(events.last().unwrap()), "completed");
        assert!(events.iter().any(|event| event.to_string().contains("done")));
    }
}

#[tokio::test]
async fn f65_a_failing_agent_ends_its_task_and_every_request() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for script in ["panic", "panic late", "fail", "fail late"] {
            let envelope = server.play(version, script).await;
            assert_eq!(state(&envelope), "failed", "{script}");
            let kept = server.call(version, version.get(), json!({ "id": id(&envelope) })).await;
            assert_eq!(task(&kept), task(&envelope));

            let mut params = version.script(script);
            params["configuration"] = version.at_once();
            let task_id = id(&server.call(version, version.send(), params).await);
            until("the task fails", async || {
                state(&server.call(version, version.get(), json!({ "id": task_id })).await) == "failed"
            })
            .await;

            let events = server.open(version, version.stream(), version.script(script)).await.rest().await;
            assert_eq!(state(events.last().unwrap()), "failed");
        }
        assert_eq!(state(&server.play(version, "done").await), "completed", "and the server serves on");
    }
}

#[tokio::test]
async fn f66_a_typed_error_of_the_agent_is_the_answer() {
    let server = Server::start().await;
    for version in Version::BOTH {
        assert_eq!(error_code(&server.play(version, "refuse").await), -32005);
    }
}

#[tokio::test]
async fn f67_f68_a_cancel_is_final_and_shows_the_canceled_task() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut events = server.open(version, version.stream(), version.script("wait")).await;
        let task_id = id(&events.next().await.unwrap());
        let canceled = server.call(version, version.cancel(), json!({ "id": task_id })).await;
        assert_eq!(state(&canceled), "canceled");
        assert_eq!(state(events.rest().await.last().unwrap()), "canceled");
        let again = server.call(version, version.cancel(), json!({ "id": task_id })).await;
        assert_eq!(error_code(&again), -32002);
        let over = server.play(version, "done").await;
        let late = server.call(version, version.cancel(), json!({ "id": id(&over) })).await;
        assert_eq!(error_code(&late), -32002, "a cancel that lost says so");
        let envelope = server.play(version, "late words").await;
        assert_eq!((state(&envelope), &task(&envelope)["artifacts"]), ("completed".into(), &Value::Null));
    }
}

#[tokio::test]
async fn f69_a_cancel_stops_the_work() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut params = version.script("wait");
        params["configuration"] = version.at_once();
        let task_id = id(&server.call(version, version.send(), params).await);
        assert_eq!(state(&server.call(version, version.cancel(), json!({ "id": task_id })).await), "canceled");
        until("the agent has stopped", async || server.stage.waiting.load(Ordering::SeqCst) == 0).await;
        assert_eq!(server.stage.deeds.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn f69_an_agent_that_does_not_listen_is_dropped_after_its_grace() {
    let server = Server::with(|mount| mount.tasks(|tasks| tasks.cancel_grace(Duration::from_millis(10)))).await;
    for version in Version::BOTH {
        let mut params = version.script("deaf");
        params["configuration"] = version.at_once();
        let task_id = id(&server.call(version, version.send(), params).await);
        assert_eq!(server.stage.waiting.load(Ordering::SeqCst), 1);
        assert_eq!(state(&server.call(version, version.cancel(), json!({ "id": task_id })).await), "canceled");
        until("the agent is dropped", async || server.stage.waiting.load(Ordering::SeqCst) == 0).await;
    }
}

#[tokio::test]
async fn f70_every_turn_is_in_the_history_once() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let asked = server.play(version, "ask").await;
        let facts = server.call(version, version.send(), version.follow_up("who", &id(&asked))).await;
        assert_eq!(task(&facts)["artifacts"][0]["parts"][0]["data"]["history"], 2, "the agent knows what was said");
        let said: Vec<_> =
            task(&facts)["history"].as_array().unwrap().iter().map(|m| m["parts"][0]["text"].clone()).collect();
        assert_eq!(said, ["ask", "which?", "who"]);
        assert_eq!(task(&facts)["status"].get("message"), None, "what was asked is not asked any more");
    }
}

#[tokio::test]
async fn f71_pieces_of_an_artifact_become_one() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let envelope = server.play(version, "chunks").await;
        let kept = server.call(version, version.get(), json!({ "id": id(&envelope) })).await;
        let artifacts = task(&kept)["artifacts"].as_array().unwrap();
        assert_eq!(artifacts.len(), 1);
        let parts = artifacts[0]["parts"].as_array().unwrap();
        let text: String = parts.iter().map(|part| part["text"].as_str().unwrap()).collect();
        assert_eq!(text, "one two three");
        assert_eq!(artifacts[0]["metadata"], json!({ "first": 1, "last": 3 }));
    }
}

#[tokio::test]
async fn f72_a_piece_of_an_artifact_that_is_not_there_makes_it() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let envelope = server.play(version, "orphan").await;
        assert_eq!(state(&envelope), "completed");
        assert_eq!(task(&envelope)["artifacts"][0]["parts"][0]["text"], "orphan");
    }
}

#[tokio::test]
async fn f73_f74_the_length_of_the_history_is_as_asked_everywhere_and_trims_only_the_answer() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let turns = |envelope: &Value| task(envelope)["history"].as_array().map_or(0, Vec::len);
        let asked = server.play(version, "ask").await;
        for (length, expected) in [(Some(0), 0), (None, 1), (Some(1), 1), (Some(5), 1)] {
            let mut params = json!({ "id": id(&asked) });
            if let Some(length) = length {
                params["historyLength"] = json!(length);
            }
            let got = server.call(version, version.get(), params).await;
            assert_eq!(turns(&got), expected, "get {length:?}");
            if length == Some(0) {
                assert_eq!(task(&got).get("history"), None);
            }
            let mut params = version.script("ask");
            params["configuration"] = json!({ "historyLength": length });
            let sent = server.call(version, version.send(), params.clone()).await;
            assert_eq!(turns(&sent), expected, "send {length:?}");
            let mut events = server.open(version, version.stream(), params).await;
            assert_eq!(turns(&events.next().await.unwrap()), expected, "stream {length:?}");
        }
        for bad in [json!(-1), json!(i64::from(i32::MAX) + 1), json!(1.5), json!("x"), json!({})] {
            let get = server.call(version, version.get(), json!({ "id": id(&asked), "historyLength": bad })).await;
            assert_eq!(error_code(&get), -32602, "{bad}");
            let mut params = version.script("ask");
            params["configuration"] = json!({ "historyLength": bad });
            for method in [version.send(), version.stream()] {
                assert_eq!(error_code(&server.call(version, method, params.clone()).await), -32602, "{bad}");
            }
        }
    }
    let lengths = async |length: Value| {
        let list = server.call(Version::New, "ListTasks", json!({ "historyLength": length })).await;
        list["result"]["tasks"].as_array().unwrap().iter().map(|t| t["history"].as_array().map_or(0, Vec::len)).max()
    };
    assert_eq!(
        (lengths(json!(0)).await, lengths(Value::Null).await, lengths(json!(1)).await),
        (Some(0), Some(1), Some(1))
    );
    let bad = server.call(Version::New, "ListTasks", json!({ "historyLength": -1 })).await;
    assert_eq!(error_code(&bad), -32602);
}

#[tokio::test]
async fn f108_a_finished_task_has_no_stream_and_an_idle_one_has_its_snapshot() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let over = server.play(version, "done").await;
        let subscribe = async |id: &str| server.call(version, version.subscribe(), json!({ "id": id })).await;
        assert_eq!(error_code(&subscribe(&id(&over)).await), -32004);
        assert_eq!(error_code(&subscribe("none").await), -32001);
        let asked = server.play(version, "ask").await;
        let mut events = server.open(version, version.subscribe(), json!({ "id": id(&asked) })).await;
        assert_eq!(task(&events.next().await.unwrap())["id"], task(&asked)["id"]);
    }
}

#[tokio::test]
async fn f87_sends_that_wait_hold_nobody_up() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let waiting = futures_util::future::join_all((0..64).map(|_| server.play(version, "wait")));
        let others = async {
            until("all wait", async || server.stage.waiting.load(Ordering::SeqCst) == 64).await;
            assert_eq!(state(&server.play(version, "done").await), "completed", "nothing is ahead of it");
            server.stage.gate.add_permits(64);
        };
        let (envelopes, ()) = tokio::join!(waiting, others);
        assert!(envelopes.iter().all(|envelope| state(envelope) == "completed"));
    }
}
