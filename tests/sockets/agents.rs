//! Agents that fail, and agents that do not stop.

use std::time::Duration;

use a2a_layers::task::ReplyMode;
use serde_json::json;

use crate::wire::{SECRET, Server, Version, error_code, error_text, state, task};

#[tokio::test]
async fn f65_a_panic_before_or_after_the_first_event_harms_its_task_alone() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut bystander = server.open(version, version.stream(), version.script("wait")).await;
        bystander.next().await.unwrap();
        for script in ["panic", "panic late", "fail", "fail late"] {
            for _ in 0..20 {
                let envelope = server.play(version, script).await;
                assert_eq!(state(&envelope), "failed");
                assert!(!envelope.to_string().contains(SECRET));
                let events = server.open(version, version.stream(), version.script(script)).await.rest().await;
                assert_eq!(state(events.last().unwrap()), "failed");
            }
        }
        server.stage.gate.add_permits(1);
        assert_eq!(state(bystander.rest().await.last().unwrap()), "completed");
    }
}

#[tokio::test]
async fn an_agent_that_panics_when_it_is_dropped_harms_nobody() {
    let grace = Duration::from_millis(10);
    let auto = Server::with(|mount| mount.reply(ReplyMode::Auto)).await;
    let server = Server::with(|mount| mount.tasks(|tasks| tasks.cancel_grace(grace))).await;
    for version in Version::BOTH {
        for (script, end) in [("panic when dropped", "input-required"), ("panic when dropped at the end", "completed")]
        {
            assert_eq!(state(&server.play(version, script).await), end);
            let events = server.open(version, version.stream(), version.script(script)).await.rest().await;
            assert_eq!(state(events.last().unwrap()), end);
        }
        let script = "panic when dropped after a message";
        assert!(auto.play(version, script).await.to_string().contains("all of it"));
        assert_eq!(auto.open(version, version.stream(), version.script(script)).await.rest().await.len(), 1);
        let mut events = server.open(version, version.stream(), version.script("panic when canceled")).await;
        let id = task(&events.next().await.unwrap())["id"].clone();
        assert_eq!(state(&server.call(version, version.cancel(), json!({ "id": id })).await), "canceled");
        assert_eq!(state(events.rest().await.last().unwrap()), "canceled");
        assert_eq!(state(&server.play(version, "done").await), "completed");
    }
}

#[tokio::test]
async fn an_agent_that_never_ends_is_ended() {
    let limits =
        [("too long", Some(Duration::from_millis(50)), None), ("silent", None, Some(Duration::from_millis(50)))];
    for (words, total, idle) in limits {
        let server = Server::with(|mount| mount.tasks(|tasks| tasks.run_timeout(total).idle_timeout(idle))).await;
        for version in Version::BOTH {
            for script in ["deaf", "wait"] {
                let envelope = server.play(version, script).await;
                assert_eq!(state(&envelope), "failed");
                let said = task(&envelope)["status"]["message"]["parts"][0]["text"].as_str().unwrap();
                assert!(said.contains(words), "{said}");
                let events = server.open(version, version.stream(), version.script(script)).await.rest().await;
                assert_eq!(state(events.last().unwrap()), "failed");
            }
        }
    }
}

#[tokio::test]
async fn a_stream_shows_that_it_is_alive_until_a_silent_agent_is_ended() {
    let idle = Some(Duration::from_millis(500));
    let server =
        Server::with(|mount| mount.heartbeat(Some(Duration::from_millis(5))).tasks(|tasks| tasks.idle_timeout(idle)))
            .await;
    for version in Version::BOTH {
        let mut events = server.open(version, version.stream(), version.script("deaf")).await;
        for expected in ["connected", "ping", "ping"] {
            assert_eq!(events.comment().await.as_deref(), Some(expected));
        }
        assert_eq!(state(events.rest().await.last().unwrap()), "failed");
    }
}

#[tokio::test]
async fn a_task_at_work_takes_no_message_and_is_not_harmed() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut events = server.open(version, version.stream(), version.script("wait")).await;
        let id = task(&events.next().await.unwrap())["id"].as_str().unwrap().to_owned();
        for method in [version.send(), version.stream()] {
            let envelope = server.call(version, method, version.follow_up("panic", &id)).await;
            assert_eq!(error_code(&envelope), -32004);
            assert!(error_text(&envelope).contains("still at work"), "{envelope}");
        }
        server.stage.gate.add_permits(1);
        assert_eq!(state(events.rest().await.last().unwrap()), "completed");
    }
}

#[tokio::test]
async fn an_agent_that_never_stops_talking_is_stopped_at_the_limit_of_events() {
    let server = Server::with(|mount| mount.tasks(|tasks| tasks.max_events(100))).await;
    for version in Version::BOTH {
        let envelope = server.play(version, "burst 1000000000").await;
        assert_eq!(state(&envelope), "failed");
        assert_eq!(state(&server.play(version, "burst 50").await), "completed");
    }
}

#[tokio::test]
async fn a_send_that_may_wait_only_so_long_is_answered_with_the_task_as_it_is() {
    let wait = Some(Duration::from_millis(50));
    let server = Server::with(|mount| mount.tasks(|tasks| tasks.max_wait(wait))).await;
    for version in Version::BOTH {
        let envelope = server.play(version, "wait").await;
        assert_eq!(state(&envelope), "working");
        let id = task(&envelope)["id"].clone();
        assert_eq!(state(&server.call(version, version.cancel(), json!({ "id": id })).await), "canceled");
    }
}

#[tokio::test]
async fn one_run_too_many_is_refused_and_harms_none() {
    for version in Version::BOTH {
        let server = Server::with(|mount| mount.tasks(|tasks| tasks.max_runs(2))).await;
        let mut params = version.script("wait");
        params["configuration"] = version.at_once();
        let mut ids = Vec::new();
        for _ in 0..2 {
            ids.push(task(&server.call(version, version.send(), params.clone()).await)["id"].clone());
        }
        for method in [version.send(), version.stream()] {
            assert_eq!(error_code(&server.call(version, method, params.clone()).await), -32603);
        }
        for id in ids {
            assert_eq!(state(&server.call(version, version.get(), json!({ "id": id })).await), "working");
            assert_eq!(state(&server.call(version, version.cancel(), json!({ "id": id })).await), "canceled");
        }
        // The runs end by themselves a moment later.
        while error_code(&server.play(version, "done").await) != 0 {
            tokio::task::yield_now().await;
        }
    }
}
