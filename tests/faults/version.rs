use a2a_layers::server::Settings;
use serde_json::{Value, json};

use crate::wire::{Server, Version, error_code, post, state, task};

const METHODS: [&str; 11] = [
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
];

#[tokio::test]
async fn f13_no_version_and_an_empty_one_mean_0_3() {
    let server = Server::start().await;
    for headers in ["", "A2A-Version:\r\n", "A2A-Version:  \r\n"] {
        let envelope = server.call_with(headers, "message/send", Version::Old.script("done")).await;
        assert_eq!(
            (&envelope["result"]["kind"], &envelope["result"]["status"]["state"]),
            (&json!("task"), &json!("completed"))
        );
        let envelope = server.call_with(headers, "SendMessage", Version::New.script("done")).await;
        assert_eq!(error_code(&envelope), -32601);
    }
}

#[tokio::test]
async fn f14_an_unknown_version_is_refused_by_every_operation_before_its_params_count() {
    let server = Server::start().await;
    for method in METHODS {
        for params in [json!({}), json!({ "id": 7, "message": [] }), json!([1, 2]), json!("text")] {
            let envelope = server.call_with("A2A-Version: 9.9\r\n", method, params).await;
            assert_eq!(error_code(&envelope), -32009, "{method}");
        }
    }
}

#[tokio::test]
async fn f15_major_and_minor_count_and_nothing_else() {
    let server = Server::start().await;
    for (version, code) in
        [("1.0", 0), ("1.0.1", 0), ("0.35", -32009), ("1.9", -32009), ("1", -32009), ("1.0x", -32009)]
    {
        let headers = format!("A2A-Version: {version}\r\n");
        let envelope = server.call_with(&headers, "SendMessage", Version::New.script("done")).await;
        assert_eq!(error_code(&envelope), code, "{version}");
    }
    let envelope = server.call_with("A2A-Version: 0.3.0\r\n", "message/send", Version::Old.script("done")).await;
    assert_eq!(error_code(&envelope), 0);
}

#[tokio::test]
async fn f15_lines_that_contradict_each_other_are_no_version() {
    let server = Server::start().await;
    for (lines, code) in [
        ("A2A-Version: 1.0\r\nA2A-Version: 1.0\r\n", 0),
        ("A2A-Version:\r\nA2A-Version: 1.0\r\n", 0),
        ("A2A-Version: 1.0\r\nA2A-Version: 0.3\r\n", -32009),
        ("A2A-Version: 0.3\r\nA2A-Version: 1.0\r\n", -32009),
        // What HTTP makes of two lines.
        ("A2A-Version: 1.0, 0.3\r\n", -32009),
    ] {
        let envelope = server.call_with(lines, "SendMessage", Version::New.script("done")).await;
        assert_eq!(error_code(&envelope), code, "{lines}");
    }
}

#[tokio::test]
async fn f16_the_version_may_stand_in_the_query() {
    let server = Server::start().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": Version::New.script("done") });
    let request = String::from_utf8(post("", body.to_string().as_bytes())).unwrap();
    let request = request.replacen("POST / ", "POST /?A2A-Version=1.0 ", 1);
    let envelope = server.raw(request.as_bytes()).await.unwrap().envelope();
    assert_eq!(envelope["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn f17_f99_the_caller_and_the_head_reach_the_agent_in_both_versions() {
    const URI: &str = "https://ext.example/a";
    let server = Server::with(|mount| mount.extension(a2a_layers::types::AgentExtension::new(URI))).await;
    let mut seen = Vec::new();
    for (version, name) in [(Version::Old, "X-A2A-Extensions"), (Version::New, "A2A-Extensions")] {
        let headers =
            format!("{}X-Owner: alice\r\ntraceparent: 00-1-2-01\r\n{name}: {URI}, other\r\n", version.header());
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": version.script("who") });
        let answer = server.raw(&post(&headers, body.to_string().as_bytes())).await.unwrap();
        assert_eq!(answer.header(&name.to_ascii_lowercase()), Some(URI), "what is activated is echoed");
        let envelope = answer.envelope();
        seen.push(task(&envelope)["artifacts"][0]["parts"][0]["data"].clone());
    }
    assert_eq!((&seen[0]["owner"], &seen[0]["trace"]), (&json!("alice"), &json!("00-1-2-01")));
    assert_eq!(seen[0]["extensions"], json!([URI]));
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn f19_there_is_no_list_of_tasks_in_0_3() {
    let server = Server::start().await;
    for method in ["tasks/list", "ListTasks"] {
        assert_eq!(error_code(&server.call(Version::Old, method, json!({})).await), -32601);
    }
}

#[tokio::test]
async fn f20_data_that_0_3_cannot_carry_is_wrapped_and_comes_back() {
    let server = Server::start().await;
    for (script, value) in [("list data", json!([1, "two", null])), ("null data", Value::Null)] {
        let envelope = server.play(Version::Old, script).await;
        let part = &task(&envelope)["artifacts"][0]["parts"][0];
        assert_eq!(part["data"], json!({ "value": value }));
        assert_eq!(part["metadata"], json!({ "data_part_compat": true }));
        let params = Version::Old.message(vec![Version::Old.text("echo"), part.clone()]);
        let envelope = server.call(Version::Old, "message/send", params).await;
        let id = &task(&envelope)["id"];
        let envelope = server.call(Version::New, "GetTask", json!({ "id": id })).await;
        assert_eq!(task(&envelope)["artifacts"][0]["parts"][0], json!({ "data": value }));
    }
}

#[tokio::test]
async fn f21_half_filled_objects_of_0_3_are_invalid_params_that_name_the_field() {
    let server = Server::start().await;
    for (message, field) in [
        (json!({ "messageId": "m", "role": "user" }), "message.parts"),
        (json!({ "messageId": "m", "parts": [{ "kind": "text", "text": "x" }] }), "message.role"),
        (json!({ "messageId": "m", "role": "user", "parts": [{ "kind": "file" }] }), "message.parts[0].file"),
        (json!({ "messageId": "m", "role": "user", "parts": [{ "kind": "data" }] }), "message.parts[0].data"),
        (json!({ "messageId": "m", "role": "user", "parts": [{}] }), "message.parts[0].kind"),
    ] {
        let envelope = server.call(Version::Old, "message/send", json!({ "message": message })).await;
        assert_eq!(error_code(&envelope), -32602);
        assert!(crate::wire::error_text(&envelope).contains(field), "{envelope}");
    }
    let mut params = Version::Old.script("done");
    for member in ["extensions", "referenceTaskIds"] {
        params["message"][member] = Value::Null;
    }
    assert_eq!(state(&server.call(Version::Old, "message/send", params).await), "completed");
}

#[tokio::test]
async fn f22_a_server_of_1_0_alone_serves_its_card() {
    let server = Server::with(|mount| mount.settings(Settings::strict_1_0())).await;
    let answer = server.raw(b"GET /.well-known/agent-card.json HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let card: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((answer.status, &card["supportedInterfaces"][0]["protocolVersion"]), (200, &json!("1.0")));
    assert_eq!(card.get("preferredTransport"), None, "{card}");
}

#[tokio::test]
async fn f24_0_3_says_which_event_is_final_and_1_0_does_not() {
    let server = Server::start().await;
    for script in ["done", "ask", "fail late", "reject"] {
        let events = server.open(Version::Old, "message/stream", Version::Old.script(script)).await.rest().await;
        let finals: Vec<_> = events.iter().map(|event| event["result"]["final"] == json!(true)).collect();
        assert!(*finals.last().unwrap(), "{script}: the stream ends with it");
        assert_eq!(finals.iter().filter(|is_final| **is_final).count(), 1, "{script}");
        let events = server.open(Version::New, "SendStreamingMessage", Version::New.script(script)).await.rest().await;
        assert!(events.iter().all(|event| !event.to_string().contains("\"final\"")), "{events:?}");
    }
}

#[tokio::test]
async fn f24_a_question_that_ends_no_stream_is_not_final() {
    let server = Server::start().await;
    let old = Version::Old;
    let mut streams = Vec::new();
    for over_rest in [false, true] {
        let id = task(&server.play(old, "ask").await)["id"].as_str().expect("an id").to_owned();
        let subscription = if over_rest {
            server.rest_events(old, "GET", &format!("/tasks/{id}:subscribe"), None).await
        } else {
            server.open(old, old.subscribe(), json!({ "id": id })).await
        };
        assert_eq!(state(&server.call(old, old.send(), old.follow_up("done", &id)).await), "completed");
        streams.push(if over_rest { subscription.bare_rest().await } else { subscription.rest().await });
    }
    for events in streams {
        let finals: Vec<_> = events
            .iter()
            .filter_map(|event| {
                [&event["result"], &event["statusUpdate"]].into_iter().find_map(|of| of["final"].as_bool())
            })
            .collect();
        // At work, the question, at work again, completed.
        assert_eq!(finals, [false, false, false, true], "{events:?}");
    }
}
