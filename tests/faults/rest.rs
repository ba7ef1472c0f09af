//! What goes wrong over HTTP+JSON.

use a2a_layers::{body::BodyLayer, server::Settings, task::ReplyMode};
use serde_json::{Value, json};

use crate::wire::{Server, Version, rest};

fn id_of(result: &Value) -> String {
    result["task"]["id"].as_str().expect("a task").to_owned()
}

#[tokio::test]
async fn f18_0_3_has_its_own_paths_and_its_own_words() {
    let server = Server::with(|mount| mount.reply(ReplyMode::Auto)).await;
    let sent = server.rest_play(Version::Old, "done").await;
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    let asked = &sent["task"]["history"][0];
    assert_eq!((&asked["role"], &asked["content"][0]["text"]), (&json!("ROLE_USER"), &json!("done")));
    assert!(asked.get("parts").is_none() && sent["task"].get("kind").is_none(), "{sent}");
    assert!(server.rest_play(Version::Old, "message").await["message"]["content"].is_array());

    let mut body = Version::Old.rest_script("wait");
    body["configuration"] = json!({ "blocking": false });
    let id = id_of(&server.rest(Version::Old, "POST", "/message:send", Some(body)).await.result(Version::Old));
    let canceled = server.rest(Version::Old, "POST", &format!("/tasks/{id}:cancel"), None).await.result(Version::Old);
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELLED");

    // The other grammar of 0.3 is understood as well.
    let body = Version::Old.script("done");
    let sent = server.rest(Version::Old, "POST", "/message:send", Some(body)).await.result(Version::Old);
    assert_eq!(sent["task"]["history"][0]["content"][0]["text"], "done");
    // And 1.0 is not changed by any of it.
    let sent = server.rest_play(Version::New, "done").await;
    assert_eq!(sent["task"]["history"][0]["parts"][0]["text"], "done");
}

#[tokio::test]
async fn f14_every_path_looks_at_the_version_first() {
    let server = Server::start().await;
    let paths = [
        ("POST", "/message:send"),
        ("POST", "/message:stream"),
        ("GET", "/tasks"),
        ("GET", "/tasks/t"),
        ("POST", "/tasks/t:cancel"),
        ("GET", "/tasks/t:subscribe"),
        ("POST", "/tasks/t/pushNotificationConfigs"),
        ("GET", "/tasks/t/pushNotificationConfigs"),
        ("GET", "/tasks/t/pushNotificationConfigs/c"),
        ("DELETE", "/tasks/t/pushNotificationConfigs/c"),
        ("GET", "/extendedAgentCard"),
    ];
    let json = "Content-Type: application/json\r\n";
    for (verb, path) in paths {
        let body: Option<&[u8]> = (verb == "POST").then_some(br#"{"message":[],"id":7}"#);
        for version in ["A2A-Version: 9.9\r\n", "A2A-Version: 0.3\r\n", ""] {
            let answer = server.raw(&rest(verb, path, &format!("{version}{json}"), body)).await.unwrap();
            let problem = answer.problem(Version::New);
            assert_eq!((answer.status, &*problem), (400, "VERSION_NOT_SUPPORTED"), "{path} {version}");
        }
        let path = format!("/v1{}", if path == "/extendedAgentCard" { "/card" } else { path });
        for version in ["A2A-Version: 9.9\r\n", "A2A-Version: 1.0\r\n"] {
            let answer = server.raw(&rest(verb, &path, &format!("{version}{json}"), body)).await.unwrap();
            let problem = answer.problem(Version::Old);
            assert_eq!((answer.status, &*problem), (400, "VERSION_NOT_SUPPORTED"), "{path} {version}");
        }
    }
}

#[tokio::test]
async fn f16_the_query_says_the_version_over_rest_too() {
    let server = Server::start().await;
    let answer = server.raw(&rest("GET", "/tasks/t1?A2A-Version=1.0", "", None)).await.unwrap();
    assert_eq!((answer.status, &*answer.problem(Version::New)), (404, "TASK_NOT_FOUND"));
    for settings in [Settings::strict_1_0(), Settings::strict().lenient_version(true)] {
        let server = Server::with(|mount| mount.settings(settings)).await;
        let answer = server.raw(&rest("GET", "/tasks/t1", "", None)).await.unwrap();
        assert_eq!((answer.status, &*answer.problem(Version::New)), (404, "TASK_NOT_FOUND"));
    }
    let server = Server::with(|mount| mount.settings(Settings::strict_0_3())).await;
    let answer = server.raw(&rest("GET", "/v1/tasks/t1", "", None)).await.unwrap();
    assert_eq!((answer.status, &*answer.problem(Version::Old)), (404, "TASK_NOT_FOUND"));
    assert_eq!(server.raw(&rest("GET", "/tasks/t1", "", None)).await.unwrap().status, 404);
}

#[tokio::test]
async fn f17_the_caller_and_the_head_reach_the_agent_over_rest() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let headers =
            format!("{}Content-Type: application/json\r\nX-Owner: alice\r\ntraceparent: 00-7\r\n", version.header());
        let body = version.rest_script("who").to_string();
        let path = format!("{}/message:send", version.prefix());
        let answer = server.raw(&rest("POST", &path, &headers, Some(body.as_bytes()))).await.unwrap();
        let text = answer.result(version).to_string();
        assert!(text.contains(r#""owner":"alice""#) && text.contains(r#""trace":"00-7""#), "{text}");
    }
}

#[tokio::test]
async fn f37_bytes_come_back_over_rest_in_both_versions() {
    let server = Server::start().await;
    let files = [
        (Version::New, json!({ "raw": "AP8QgA==", "mediaType": "a/b", "filename": "n" })),
        (Version::Old, json!({ "file": { "fileWithBytes": "AP8QgA==", "mimeType": "a/b", "name": "n" } })),
        (Version::Old, json!({ "file": { "fileWithBytes": "QVA4UWdBPT0=", "mimeType": "a/b", "name": "n" } })),
    ];
    for (version, file) in files {
        let body = version.rest_message(vec![json!({ "text": "echo" }), file]);
        let sent = server.rest(version, "POST", "/message:send", Some(body)).await.result(version);
        let part = &sent["task"]["artifacts"][0]["parts"][0];
        let expected = match version {
            Version::New => json!({ "raw": "AP8QgA==", "mediaType": "a/b", "filename": "n" }),
            Version::Old => json!({ "file": { "fileWithBytes": "AP8QgA==", "mimeType": "a/b", "name": "n" } }),
        };
        assert_eq!(part, &expected);
    }
}

#[tokio::test]
async fn f38_the_limit_of_a_body_is_the_same_over_rest() {
    let large = "QUJD".repeat(700_000);
    let server = Server::start().await;
    for version in Version::BOTH {
        let file = match version {
            Version::New => json!({ "raw": large }),
            Version::Old => json!({ "file": { "fileWithBytes": large } }),
        };
        let body = version.rest_message(vec![json!({ "text": "done" }), file]);
        assert_eq!(server.rest(version, "POST", "/message:send", Some(body)).await.status, 200);
    }
    let limit = Version::New.rest_script("done").to_string().len() + 3;
    let server = Server::with(|mount| mount.body(BodyLayer::new().limit(limit))).await;
    for version in Version::BOTH {
        let path = format!("{}/message:send", version.prefix());
        for (length, status) in [(limit, 200), (limit + 1, 413)] {
            let mut body = version.rest_script("done").to_string();
            body.extend(std::iter::repeat_n(' ', length - body.len()));
            let headers = format!("{}Content-Type: application/json\r\n", version.header());
            let answer = server.raw(&rest("POST", &path, &headers, Some(body.as_bytes()))).await.unwrap();
            assert_eq!(answer.status, status, "{version:?}");
            if status == 413 {
                answer.problem(version);
            }
        }
    }
}

#[tokio::test]
async fn f45_rest_events_are_bare() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let body = Some(version.rest_script("chunks"));
        let events = server.rest_events(version, "POST", "/message:stream", body).await.bare_rest().await;
        assert!(events[0]["task"]["id"].is_string(), "{}", events[0]);
        let last = &events.last().unwrap()["statusUpdate"];
        assert_eq!(last["status"]["state"], "TASK_STATE_COMPLETED");
        assert_eq!(last.get("final").cloned(), (version == Version::Old).then_some(json!(true)));
        let text: String = events
            .iter()
            .filter_map(|event| event["artifactUpdate"]["artifact"]["parts"][0]["text"].as_str())
            .collect();
        assert_eq!(text, "one two three");
        assert!(events.iter().all(|event| event.as_object().is_some_and(|event| event.len() == 1)), "{events:?}");
    }
}

#[tokio::test]
async fn f50_errors_known_before_the_first_event_are_plain_over_rest() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let id = id_of(&server.rest_play(version, "done").await);
        for (verb, path, body, expected) in [
            ("GET", "/tasks/nope:subscribe".to_owned(), None, (404, "TASK_NOT_FOUND")),
            ("POST", "/tasks/nope:subscribe".to_owned(), None, (404, "TASK_NOT_FOUND")),
            ("POST", format!("/tasks/{id}:subscribe?after=x"), None, (400, "after")),
            ("POST", "/message:stream".to_owned(), Some(json!({})), (400, "message")),
            (
                "POST",
                "/message:stream".to_owned(),
                Some(version.rest_script("refuse")),
                (400, "CONTENT_TYPE_NOT_SUPPORTED"),
            ),
        ] {
            let answer = server.rest(version, verb, &path, body).await;
            assert_eq!((answer.status, &*answer.problem(version)), expected, "{path}");
        }
    }
    let server = Server::with(|mount| mount.streaming(false)).await;
    for version in Version::BOTH {
        let answer = server.rest(version, "POST", "/message:stream", Some(version.rest_script("done"))).await;
        assert_eq!((answer.status, &*answer.problem(version)), (400, "UNSUPPORTED_OPERATION"));
    }
}

#[tokio::test]
async fn f109_verbs_behind_ids_are_found_whatever_the_ids_are() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for id in ["t", "urn:uuid:7", "a%2Fb", "..", "%2e%2e", "a:cancel", "%F0%9F%98%80", "x%00y"] {
            for (verb, path) in [
                ("POST", format!("/tasks/{id}:cancel")),
                ("GET", format!("/tasks/{id}:subscribe")),
                ("GET", format!("/tasks/{id}/pushNotificationConfigs/c")),
            ] {
                let answer = server.rest(version, verb, &path, None).await;
                let push = path.ends_with("/c");
                let expected = if push { (400, "PUSH_NOTIFICATION_NOT_SUPPORTED") } else { (404, "TASK_NOT_FOUND") };
                assert_eq!((answer.status, &*answer.problem(version)), expected, "{path}");
            }
        }
        let id = id_of(&server.rest_play(version, "ask").await);
        let canceled = server.rest(version, "POST", &format!("/tasks/{id}:cancel"), None).await.result(version);
        assert_eq!(canceled["id"], id);
    }
}

#[tokio::test]
async fn f110_a_subscription_answers_both_verbs_and_goes_on_from_a_cursor() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut live = server.rest_events(version, "POST", "/message:stream", Some(version.rest_script("wait"))).await;
        let first = live.next_bare().await.unwrap();
        let id = first["task"]["id"].as_str().unwrap().to_owned();
        while server.stage.waiting.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        for verb in ["GET", "POST"] {
            let mut events = server.rest_events(version, verb, &format!("/tasks/{id}:subscribe"), None).await;
            let event = events.next_bare().await.unwrap();
            assert!(event["task"]["id"] == json!(id) || event["statusUpdate"]["taskId"] == json!(id), "{event}");
            // Two ways to say where to go on from, and both say the same.
            let mut by_query = server.rest_events(version, verb, &format!("/tasks/{id}:subscribe?after=1"), None).await;
            let after_query = by_query.next_bare().await.unwrap();
            let headers = format!("{}Last-Event-ID: 1\r\n", version.header());
            let mut connection = server.connect().await;
            let path = format!("{}/tasks/{id}:subscribe", version.prefix());
            connection.write(&rest(verb, &path, &headers, None)).await;
            let mut by_header = crate::wire::Events::begin(connection).await;
            assert_eq!(by_header.next_bare().await.unwrap(), after_query);
            assert_eq!((by_query.last_id, by_header.last_id), (by_header.last_id, by_query.last_id));
        }
        server.stage.gate.add_permits(1);
        let rest = live.bare_rest().await;
        assert_eq!(rest.last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
        while server.stage.waiting.load(std::sync::atomic::Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn f111_a_post_without_a_body_or_its_type_is_taken() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for (headers, body) in [
            ("", None),
            ("", Some(&b""[..])),
            ("", Some(&b"null"[..])),
            ("", Some(&b"{}"[..])),
            ("Content-Type: application/json\r\n", Some(&b"{\"id\":\"other\",\"metadata\":{}}"[..])),
            ("Content-Type: text/plain\r\n", Some(&b""[..])),
        ] {
            let id = id_of(&server.rest_play(version, "ask").await);
            let path = format!("{}/tasks/{id}:cancel", version.prefix());
            let request = rest("POST", &path, &format!("{}{headers}", version.header()), body);
            let canceled = server.raw(&request).await.unwrap().result(version);
            assert_eq!(canceled["id"], id, "the path says which, and nothing else");
        }
    }
}

#[tokio::test]
async fn f112_both_media_types_are_taken() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for media_type in ["application/json", "application/a2a+json", "application/a2a+json; charset=utf-8"] {
            let headers = format!("{}Content-Type: {media_type}\r\n", version.header());
            let body = version.rest_script("done").to_string();
            let path = format!("{}/message:send", version.prefix());
            let answer = server.raw(&rest("POST", &path, &headers, Some(body.as_bytes()))).await.unwrap();
            assert_eq!(answer.result(version)["task"]["status"]["state"], "TASK_STATE_COMPLETED");
        }
        let headers = format!("{}Content-Type: text/plain\r\n", version.header());
        let path = format!("{}/message:send", version.prefix());
        let answer = server.raw(&rest("POST", &path, &headers, Some(b"{}"))).await.unwrap();
        assert_eq!((answer.status, &*answer.problem(version)), (400, "CONTENT_TYPE_NOT_SUPPORTED"));
    }
    let server = Server::with(|mount| mount.settings(Settings::strict().plain_json(true))).await;
    let answer = server.rest(Version::New, "GET", "/tasks", None).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
}

#[tokio::test]
async fn f113_errors_are_a_status_with_a_reason() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let done = id_of(&server.rest_play(version, "done").await);
        let mut again = version.rest_script("again");
        again["message"]["taskId"] = json!(done);
        for (verb, path, body, expected) in [
            ("GET", "/tasks/nope".to_owned(), None, (404, "TASK_NOT_FOUND")),
            ("POST", format!("/tasks/{done}:cancel"), None, (400, "TASK_NOT_CANCELABLE")),
            ("POST", "/message:send".to_owned(), Some(again), (400, "UNSUPPORTED_OPERATION")),
            ("GET", "/tasks/t/pushNotificationConfigs".to_owned(), None, (400, "PUSH_NOTIFICATION_NOT_SUPPORTED")),
            (
                "POST",
                "/message:send".to_owned(),
                Some(version.rest_script("refuse")),
                (400, "CONTENT_TYPE_NOT_SUPPORTED"),
            ),
        ] {
            let answer = server.rest(version, verb, &path, body).await;
            assert_eq!((answer.status, &*answer.problem(version)), expected, "{version:?} {path}");
        }
    }
    for (version, path, reason) in [
        (Version::New, "/extendedAgentCard", "UNSUPPORTED_OPERATION"),
        (Version::Old, "/card", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    ] {
        let answer = server.rest(version, "GET", path, None).await;
        assert_eq!((answer.status, &*answer.problem(version)), (400, reason));
    }
}

#[tokio::test]
async fn f114_bad_input_is_the_callers_fault() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let path = format!("{}/message:send", version.prefix());
        let headers = format!("{}Content-Type: application/json\r\n", version.header());
        let message = |text: &str| format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER",{text}}}}}"#);
        let parts = if version == Version::Old { "content" } else { "parts" };
        for (body, field) in [
            ("{".to_owned(), "body".to_owned()),
            ("[]".to_owned(), "body".to_owned()),
            ("\"x\"".to_owned(), "body".to_owned()),
            ("{} {}".to_owned(), "body".to_owned()),
            ("\u{feff}{}".to_owned(), "body".to_owned()),
            ("{}".to_owned(), "message".to_owned()),
            (r#"{"message":7}"#.to_owned(), "message".to_owned()),
            (r#"{"message":{"messageId":"m","role":"ROLE_ROBOT"}}"#.to_owned(), "message.role".to_owned()),
            (message(&format!("\"{parts}\":[]")), format!("message.{parts}")),
            (message(&format!("\"{parts}\":[{{}}]")), format!("message.{parts}[0]")),
            (message(&format!("\"{parts}\":[{{\"text\":1}}]")), format!("message.{parts}[0].text")),
        ] {
            let answer = server.raw(&rest("POST", &path, &headers, Some(body.as_bytes()))).await.unwrap();
            assert_eq!((answer.status, &*answer.problem(version)), (400, &*field), "{body}");
        }
        let answer = server.raw(&rest("POST", &path, &headers, Some(b"{\"a\":\"\xff\"}"))).await.unwrap();
        assert_eq!((answer.status, &*answer.problem(version)), (400, "body"));
    }
}

#[tokio::test]
async fn f33_f115_parameters_of_the_query_are_read_and_refused_by_name() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let sent = server.rest_play(version, "done").await;
        let (id, context) = (id_of(&sent), sent["task"]["contextId"].as_str().unwrap().to_owned());
        for name in ["historyLength", "history_length"] {
            let path = |length: &str| format!("/tasks/{id}?{name}={length}");
            let whole = server.rest(version, "GET", &path("5"), None).await.result(version);
            assert_eq!(whole["history"].as_array().map(Vec::len), Some(1));
            let none = server.rest(version, "GET", &path("0"), None).await.result(version);
            assert!(none.get("history").is_none(), "{none}");
        }
        let list = |query: String| {
            let server = &server;
            async move { server.rest(version, "GET", &format!("/tasks?{query}"), None).await }
        };
        let tasks = |list: Value| if version == Version::Old { list } else { list["tasks"].clone() };
        for query in ["contextId", "context_id"] {
            let found = tasks(list(format!("{query}={context}&includeArtifacts=true")).await.result(version));
            assert_eq!((found.as_array().map(Vec::len), &found[0]["id"]), (Some(1), &json!(id)));
            assert!(found[0]["artifacts"].is_array());
        }
        let found = tasks(list("status=TASK_STATE_COMPLETED&pageSize=1".to_owned()).await.result(version));
        assert_eq!(found.as_array().map(Vec::len), Some(1));
        assert_eq!(tasks(list("contextId=none".to_owned()).await.result(version)), json!([]));
        for (query, field) in [
            ("pageSize=many", "pageSize"),
            ("pageSize=0", "pageSize"),
            ("page_size=101", "pageSize"),
            ("pageSize=1&pageSize=2", "pageSize"),
            ("status=bogus", "status"),
            ("status=99", "status"),
            ("historyLength=-1", "historyLength"),
            ("includeArtifacts=maybe", "includeArtifacts"),
            ("statusTimestampAfter=yesterday", "statusTimestampAfter"),
            ("pageToken=bogus", "pageToken"),
            ("pageToken=%zz", "query"),
        ] {
            let answer = list(query.to_owned()).await;
            assert_eq!((answer.status, &*answer.problem(version)), (400, field), "{query}");
        }
    }
}

#[tokio::test]
async fn f29_a_list_over_rest_holds_bare_tasks() {
    let server = Server::start().await;
    server.rest_play(Version::New, "done").await;
    let list = server.rest(Version::New, "GET", "/tasks", None).await.result(Version::New);
    assert!(list["tasks"][0]["id"].is_string(), "{list}");
    assert_eq!((&list["nextPageToken"], &list["pageSize"], &list["totalSize"]), (&json!(""), &json!(50), &json!(1)));
}

#[tokio::test]
async fn f116_a_tenant_in_the_path_is_no_task() {
    let server = Server::start().await;
    let sent = server.rest(Version::New, "POST", "/acme/message:send", Some(Version::New.rest_script("done"))).await;
    let id = id_of(&sent.result(Version::New));
    let got = server.rest(Version::New, "GET", &format!("/acme/tasks/{id}"), None).await.result(Version::New);
    assert_eq!(got["id"], id);
    let list = server.rest(Version::New, "GET", "/acme/tasks", None).await.result(Version::New);
    assert_eq!(list["totalSize"], 1);
    for path in ["/acme", "/acme/tasks/", "/a/b/tasks", "/v1/acme/tasks", "/acme/v1/tasks"] {
        assert_eq!(server.raw(&rest("GET", path, "A2A-Version: 1.0\r\n", None)).await.unwrap().status, 404, "{path}");
    }
}

#[tokio::test]
async fn f117_an_id_of_the_path_is_decoded_once() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for (id, seen) in [("%252e%252e", "%2e%2e"), ("a%2Fb", "a/b"), ("%2e%2e", ".."), ("%22%3C", "\"<")] {
            let answer = server.rest(version, "GET", &format!("/tasks/{id}"), None).await;
            assert_eq!((answer.status, &*answer.problem(version)), (404, "TASK_NOT_FOUND"));
            let document: Value = serde_json::from_slice(&answer.body).unwrap();
            assert_eq!(document["error"]["details"][0]["metadata"]["taskId"], seen);
        }
        for id in ["%", "%2", "%zz", "%ff", "a%c3"] {
            let answer = server.rest(version, "GET", &format!("/tasks/{id}"), None).await;
            assert_eq!((answer.status, &*answer.problem(version)), (400, "id"), "{id}");
        }
        // A real id, however it is written.
        let id = id_of(&server.rest_play(version, "done").await);
        let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let got = server.rest(version, "GET", &format!("/tasks/{encoded}"), None).await.result(version);
        assert_eq!(got["id"], id);
    }
}
