use serde_json::{Value, json};

use crate::wire::{Server, Version, error_code, error_text, state, task};

/// What comes back of one part.
async fn echo(server: &Server, version: Version, part: Value) -> Value {
    let params = version.message(vec![version.text("echo"), part]);
    let envelope = server.call(version, version.send(), params).await;
    if error_code(&envelope) == 0 {
        task(&envelope)["artifacts"][0]["parts"][0].clone()
    } else {
        envelope["error"].clone()
    }
}

#[tokio::test]
async fn f25_f26_one_content_counts_and_two_are_refused() {
    let server = Server::start().await;
    let data = json!({ "data": { "k": 1 } });
    for part in [json!({ "text": "", "url": "", "data": { "k": 1 } }), json!({ "data": { "k": 1 }, "raw": "" })] {
        assert_eq!(echo(&server, Version::New, part).await, data);
    }
    for part in [
        json!({ "text": "a", "data": { "k": 1 } }),
        json!({ "text": "a", "url": "https://x.example" }),
        json!({ "raw": "AAAA", "url": "https://x.example" }),
        json!({}),
        json!({ "filename": "x" }),
        json!({ "text": null }),
    ] {
        assert_eq!(echo(&server, Version::New, part.clone()).await["code"], -32602, "{part}");
    }
    let both = json!({ "kind": "file", "file": { "bytes": "AAAA", "uri": "https://x.example" } });
    assert_eq!(echo(&server, Version::Old, both).await["code"], -32602);
}

#[tokio::test]
async fn f27_what_is_required_is_required() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for (member, value) in [
            ("messageId", Value::Null),
            ("messageId", json!("")),
            ("role", Value::Null),
            ("role", json!("system")),
            ("parts", Value::Null),
            ("parts", json!([])),
        ] {
            let mut params = version.script("done");
            params["message"][member] = value.clone();
            let envelope = server.call(version, version.send(), params).await;
            assert_eq!(error_code(&envelope), -32602, "{member} {value}");
            assert!(error_text(&envelope).contains(&format!("message.{member}")), "{envelope}");
        }
        assert_eq!(error_code(&server.call(version, version.send(), json!({})).await), -32602);
        for method in [version.get(), version.cancel(), version.subscribe()] {
            assert_eq!(error_code(&server.call(version, method, json!({})).await), -32602);
        }
    }
}

#[tokio::test]
async fn f28_the_kind_of_a_part_may_stand_anywhere_but_must_be_there() {
    let server = Server::start().await;
    let send = async |part: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{{"message":{{"parts":[{part}],"role":"user","messageId":"m"}}}}}}"#
        );
        server.body(Version::Old, body).await.envelope()
    };
    assert_eq!(state(&send(r#"{"text":"x","kind":"text"}"#).await), "completed");
    assert_eq!(state(&send(r#"{"file":{"uri":"https://x.example"},"metadata":{},"kind":"file"}"#).await), "completed");
    for part in [r#"{"text":"x"}"#, r#"{"kind":"other"}"#, r#"{"kind":7,"text":"x"}"#, r#"{"kind":"","text":"x"}"#] {
        assert_eq!(error_code(&send(part).await), -32602, "{part}");
    }
}

#[tokio::test]
async fn f30_required_arrays_are_there_even_if_empty() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let envelope = server.play(version, "no parts").await;
        assert_eq!(task(&envelope)["artifacts"][0]["parts"], json!([]), "{envelope}");
    }
}

#[tokio::test]
async fn f31_nulls_and_empty_objects_in_metadata_come_back() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let metadata = json!({ "a": {}, "b": null, "c": [], "d": 0.1, "e": [null, {}] });
        let mut part = version.text("x");
        part["metadata"] = metadata.clone();
        assert_eq!(echo(&server, version, part).await["metadata"], metadata);
    }
}

#[tokio::test]
async fn f32_both_kinds_of_metadata_reach_the_agent_apart() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut params = version.script("who");
        params["metadata"] = json!({ "of": "request" });
        params["message"]["metadata"] = json!({ "of": "message" });
        let envelope = server.call(version, version.send(), params).await;
        let facts = &task(&envelope)["artifacts"][0]["parts"][0]["data"];
        assert_eq!(facts["metadata"], json!({ "of": "request" }));
        assert_eq!(facts["messageMetadata"], json!({ "of": "message" }));
    }
}

#[tokio::test]
async fn f33_states_have_their_protojson_names_and_unknown_ones_are_refused() {
    let server = Server::start().await;
    server.play(Version::New, "ask").await;
    server.play(Version::New, "done").await;
    let list = async |status: Value| server.call(Version::New, "ListTasks", json!({ "status": status })).await;
    for status in [json!("TASK_STATE_INPUT_REQUIRED"), json!(6)] {
        let envelope = list(status).await;
        assert_eq!(envelope["result"]["totalSize"], 1);
        assert_eq!(envelope["result"]["tasks"][0]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    }
    for status in [json!("bogus"), json!("input-required"), json!("task_state_completed"), json!(99), json!(-1)] {
        assert_eq!(error_code(&list(status.clone()).await), -32602, "{status}");
    }
}

#[tokio::test]
async fn f34_times_are_in_utc_with_milliseconds() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let envelope = server.play(version, "done").await;
        let time = task(&envelope)["status"]["timestamp"].as_str().expect("a time").to_owned();
        assert!(time.len() == "2026-01-01T00:00:00.000Z".len() && time.ends_with('Z'), "{time}");
    }
    for (after, found) in [("2020-01-01T00:00:00Z", 2), ("2020-01-01T01:00:00+01:00", 2), ("2999-01-01T00:00:00.5Z", 0)]
    {
        let envelope = server.call(Version::New, "ListTasks", json!({ "statusTimestampAfter": after })).await;
        assert_eq!(envelope["result"]["totalSize"], found, "{after}");
    }
    for after in [json!("yesterday"), json!(1_767_225_600_123_i64), json!("")] {
        let envelope = server.call(Version::New, "ListTasks", json!({ "statusTimestampAfter": after })).await;
        assert_eq!(error_code(&envelope), -32602, "{after}");
    }
}

#[tokio::test]
async fn f35_no_configuration_is_no_restriction() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut params = version.script("who");
        for configuration in [Value::Null, json!({}), json!({ "acceptedOutputModes": null })] {
            params["configuration"] = configuration;
            let envelope = server.call(version, version.send(), params.clone()).await;
            assert_eq!(task(&envelope)["artifacts"][0]["parts"][0]["data"]["modes"], json!([]));
        }
    }
}

#[tokio::test]
async fn f36_unknown_members_are_ignored_anywhere() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut params = version.script("done");
        params["x-new"] = json!(1);
        params["message"]["x-new"] = json!({ "deep": [1, { "er": null }] });
        params["message"]["parts"][0]["x-new"] = json!(["a"]);
        params["configuration"] = json!({ "x-new": true });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": params, "x-new": {} });
        assert_eq!(state(&server.body(version, body.to_string()).await.envelope()), "completed");
    }
}

#[tokio::test]
async fn f37_f39_bytes_names_and_media_types_come_back_in_both_versions() {
    let server = Server::start().await;
    let old = json!({
        "kind": "file", "file": { "bytes": "AP8QgA==", "mimeType": "application/x-test", "name": "a b.bin" },
    });
    let new = json!({ "raw": "AP8QgA==", "mediaType": "application/x-test", "filename": "a b.bin" });
    assert_eq!(echo(&server, Version::Old, old.clone()).await, old);
    assert_eq!(echo(&server, Version::New, new.clone()).await, new);
    // The other alphabet, without padding, is the same file; and what one version sent the other reads.
    let params = Version::New.message(vec![Version::New.text("echo"), json!({ "raw": "AP8QgA" })]);
    let envelope = server.call(Version::New, "SendMessage", params).await;
    let envelope = server.call(Version::Old, "tasks/get", json!({ "id": task(&envelope)["id"] })).await;
    assert_eq!(task(&envelope)["artifacts"][0]["parts"][0], json!({ "kind": "file", "file": { "bytes": "AP8QgA==" } }));
    let uri = json!({ "kind": "file", "file": { "uri": "https://x.example/a?b=c#d", "name": "n" } });
    assert_eq!(echo(&server, Version::Old, uri.clone()).await, uri);
}

#[tokio::test]
async fn f40_a_file_without_bytes_and_uri_is_refused() {
    let server = Server::start().await;
    for file in [json!({ "name": "x" }), json!({}), json!({ "uri": "" }), json!({ "bytes": null }), json!([])] {
        let part = json!({ "kind": "file", "file": file });
        assert_eq!(echo(&server, Version::Old, part).await["code"], -32602, "{file}");
    }
    for part in [json!({ "url": "" }), json!({ "filename": "x" }), json!({ "raw": null })] {
        assert_eq!(echo(&server, Version::New, part.clone()).await["code"], -32602, "{part}");
    }
}
