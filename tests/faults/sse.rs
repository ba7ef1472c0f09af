use std::{sync::atomic::Ordering, time::Duration};

use a2a_layers::task::MemoryTaskStore;
use serde_json::{Value, json};

use crate::wire::{Events, Server, Version, error_code, post, state, task};

/// Waits for what the server does by itself.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

#[tokio::test]
async fn f42_the_first_event_is_the_task_or_the_one_message() {
    let server = Server::with(|mount| mount.reply(a2a_layers::task::ReplyMode::Auto)).await;
    for version in Version::BOTH {
        for script in ["done", "wait", "chunks", "panic late", "ask"] {
            let mut events = server.open(version, version.stream(), version.script(script)).await;
            let first = events.next().await.unwrap();
            assert!(task(&first)["id"].is_string() && task(&first)["contextId"].is_string(), "{script}: {first}");
        }
        let events = server.open(version, version.stream(), version.script("message")).await.rest().await;
        assert_eq!(events.len(), 1);
        assert!(events[0].to_string().contains("a direct message"), "{events:?}");
    }
}

#[tokio::test]
async fn f43_a_stream_ends_right_after_the_last_event() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for script in ["done", "reject", "fail", "fail late", "panic", "panic late", "ask", "late words"] {
            for _ in 0..5 {
                let events = server.open(version, version.stream(), version.script(script)).await.rest().await;
                let last = state(events.last().unwrap());
                assert!(["completed", "rejected", "failed", "input-required"].contains(&&*last), "{script}: {last}");
            }
        }
    }
}

#[tokio::test]
async fn f44_no_event_is_lost_between_the_snapshot_and_the_subscription() {
    let server = Server::start().await;
    let mut seen_live = 0;
    for version in Version::BOTH {
        for _ in 0..100 {
            let mut params = version.script("wait");
            params["configuration"] = version.at_once();
            let envelope = server.call(version, version.send(), params).await;
            let id = task(&envelope)["id"].clone();
            // The end races with the subscription.
            let body = json!({ "jsonrpc": "2.0", "id": "s-1", "method": version.subscribe(), "params": { "id": id } });
            let mut connection = server.connect().await;
            connection.write(&post(version.header(), body.to_string().as_bytes())).await;
            server.stage.gate.add_permits(1);
            let head = connection.head().await.unwrap();
            if head.header("content-type") == Some("application/json") {
                let envelope = server.call(version, version.get(), json!({ "id": id })).await;
                assert_eq!(state(&envelope), "completed", "it was over already");
                continue;
            }
            seen_live += 1;
            let events = Events::with(connection, head).rest().await;
            let ends = events.iter().filter(|event| state(event) == "completed").count();
            assert_eq!(ends, 1, "{events:?}");
            assert!(events.iter().any(|event| event.to_string().contains("done")), "{events:?}");
        }
    }
    assert!(seen_live > 0, "no subscription came in time");
}

#[tokio::test]
async fn f45_events_are_answers_with_the_id_of_the_request() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for event in server.open(version, version.stream(), version.script("chunks")).await.rest().await {
            assert_eq!(event["id"], "s-1");
            assert!(event["result"].is_object());
        }
    }
}

#[tokio::test]
async fn f46_f76_a_client_that_leaves_changes_nothing() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut events = server.open(version, version.stream(), version.script("wait")).await;
        let id = task(&events.next().await.unwrap())["id"].clone();
        drop(events);
        let mut again = server.open(version, version.subscribe(), json!({ "id": id })).await;
        assert_eq!(task(&again.next().await.unwrap())["id"], id);
        server.stage.gate.add_permits(1);
        assert_eq!(state(again.rest().await.last().unwrap()), "completed");
        let envelope = server.call(version, version.get(), json!({ "id": id })).await;
        assert_eq!(
            (state(&envelope), &task(&envelope)["artifacts"][0]["parts"][0]["text"]),
            ("completed".into(), &json!("done"))
        );

        let mut params = version.script("wait");
        params["configuration"] = version.at_once();
        let envelope = server.call(version, version.send(), params).await;
        server.stage.gate.add_permits(1);
        let id = &task(&envelope)["id"];
        until("the work that nobody waits for ends", async || {
            state(&server.call(version, version.get(), json!({ "id": id })).await) == "completed"
        })
        .await;
    }
}

#[tokio::test]
async fn f48_a_second_subscriber_gets_the_same_and_disturbs_nobody() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut first = server.open(version, version.stream(), version.script("wait")).await;
        let id = task(&first.next().await.unwrap())["id"].clone();
        let mut others = Vec::new();
        for _ in 0..3 {
            let mut other = server.open(version, version.subscribe(), json!({ "id": id })).await;
            assert!(task(&other.next().await.unwrap())["id"].is_string(), "the newcomer's snapshot");
            others.push(other);
        }
        server.stage.gate.add_permits(1);
        let all = first.rest().await;
        let tasks = |events: &[Value]| events.iter().filter(|event| task(event)["id"].is_string()).count();
        assert_eq!(tasks(&all), 0, "a newcomer's snapshot is nobody else's");
        for other in others {
            let other = other.rest().await;
            assert_eq!(other[other.len() - 2..], all[all.len() - 2..]);
        }
    }
}

#[tokio::test]
async fn f50_errors_known_before_the_first_event_are_one_plain_answer() {
    let server = Server::start().await;
    let over = server.play(Version::New, "done").await;
    for version in Version::BOTH {
        for (method, params, code) in [
            (version.subscribe(), json!({ "id": "none" }), -32001),
            (version.subscribe(), json!({ "id": task(&over)["id"] }), -32004),
            (version.stream(), version.follow_up("done", "none"), -32001),
            (version.stream(), json!({}), -32602),
            (version.stream(), version.script("refuse"), -32005),
        ] {
            // `call` demands JSON.
            assert_eq!(error_code(&server.call(version, method, params).await), code, "{method}");
        }
    }
}

#[tokio::test]
async fn f51_an_error_keeps_its_code_once_the_stream_has_begun() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let events = server.open(version, version.stream(), version.script("refuse late")).await.rest().await;
        let last = events.last().unwrap();
        assert_eq!(state(last), "failed");
        assert!(last.to_string().contains("-32004"), "{last}");
    }
}

#[tokio::test]
async fn f53_silence_is_filled_with_comments_as_often_as_is_set() {
    let often = Server::with(|mount| mount.heartbeat(Some(Duration::from_millis(5)))).await;
    let never = Server::with(|mount| mount.heartbeat(None)).await;
    for version in Version::BOTH {
        let mut events = often.open(version, version.stream(), version.script("wait silently")).await;
        for expected in ["connected", "ping", "ping", "ping"] {
            assert_eq!(events.comment().await.as_deref(), Some(expected));
        }
        let mut events = never.open(version, version.stream(), version.script("wait silently")).await;
        assert_eq!(events.comment().await.as_deref(), Some("connected"));
        tokio::time::sleep(Duration::from_millis(60)).await;
        never.stage.gate.add_permits(1);
        assert_eq!(events.comment().await, None);
    }
}

#[tokio::test]
async fn f54_nothing_on_the_way_may_keep_events_back() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let events = server.open(version, version.stream(), version.script("done")).await;
        assert_eq!(events.head.header("cache-control"), Some("no-cache"));
        assert_eq!(events.head.header("x-accel-buffering"), Some("no"));
        assert_eq!(events.head.header("content-encoding"), None);
    }
}

#[tokio::test]
async fn f41_f55_a_document_is_one_line_whatever_is_in_it_and_however_long() {
    let server = Server::start().await;
    for version in Version::BOTH {
        // That there is one `data:` line is looked at wherever an event is read.
        let events = server.open(version, version.stream(), version.script("lines")).await.rest().await;
        let text = "one\ntwo\r\nthree\u{2028}four\u{85}<b>&漢字";
        assert!(events.iter().any(|event| event.to_string().contains(&json!(text).to_string())), "{events:?}");
        let events = server.open(version, version.stream(), version.script("large")).await.rest().await;
        assert!(events.iter().any(|event| event.to_string().len() > 100 << 10));
    }
}

#[tokio::test]
async fn f56_two_servers_over_one_store_show_the_same_task() {
    let store = MemoryTaskStore::new();
    let first = Server::with(|mount| mount.task_store(store.clone())).await;
    let second = Server::with(|mount| mount.task_store(store.clone())).await;
    for version in Version::BOTH {
        let mut events = first.open(version, version.stream(), version.script("wait")).await;
        let id = task(&events.next().await.unwrap())["id"].clone();
        let mut elsewhere = second.open(version, version.subscribe(), json!({ "id": id })).await;
        assert_eq!(task(&elsewhere.next().await.unwrap())["id"], id);
        first.stage.gate.add_permits(1);
        let (here, elsewhere) = (events.rest().await, elsewhere.rest().await);
        assert_eq!(here.last(), elsewhere.last());
        assert_eq!(state(here.last().unwrap()), "completed");
    }
    assert_eq!(second.stage.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn f44_a_reader_that_comes_back_gets_what_it_missed_and_nothing_twice() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut events = server.open(version, version.stream(), version.script("wait")).await;
        let id = task(&events.next().await.unwrap())["id"].clone();
        let seen = events.last_id.expect("a number");
        drop(events);
        let headers = format!("{}Last-Event-ID: {seen}\r\n", version.header());
        let mut again = server.open_with(&headers, version.subscribe(), json!({ "id": id })).await;
        server.stage.gate.add_permits(1);
        let mut numbers = Vec::new();
        while again.next().await.is_some() {
            numbers.push(again.last_id.unwrap());
        }
        let numbers: Vec<u64> = numbers.into_iter().filter(|number| *number > seen).collect();
        let expected: Vec<u64> = (seen + 1..=*numbers.last().unwrap()).collect();
        assert_eq!(numbers, expected);
    }
}
