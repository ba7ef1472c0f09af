use a2a_layers::{body::BodyLayer, server::Settings};
use serde_json::{Value, json};

use crate::wire::{Server, Version, error_code, error_text, post, state, task};

#[tokio::test]
async fn f01_malformed_json_is_a_parse_error() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for body in [r#"{"jsonrpc":"2.0","method":"Sen"#, "", "{", "nonsense", r#"{"jsonrpc":"2.0",}"#, "\u{feff}{}"] {
            let answer = server.body(version, body).await;
            let envelope = answer.envelope();
            assert_eq!((answer.status, error_code(&envelope), &envelope["id"]), (200, -32700, &Value::Null), "{body}");
        }
    }
}

#[tokio::test]
async fn f02_ids_come_back_as_they_came() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let method = version.get();
        let with = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"id":"none"}}}}"#);
        for id in ["7", "\"7\"", "-1", "0", "\"\"", "123456789012345678901234567890", r#""\u0041""#] {
            let answer = server.body(version, with(id)).await;
            assert_eq!(error_code(&answer.envelope()), -32001);
            let text = String::from_utf8(answer.body).unwrap();
            assert!(text.contains(&format!(r#""id":{id},"#)), "{id}: {text}");
        }
        for id in ["1.5", "{}", "[]", "true", "null", "1e3"] {
            let envelope = server.body(version, with(id)).await.envelope();
            assert_eq!((error_code(&envelope), &envelope["id"]), (-32600, &Value::Null), "{id}");
        }
    }
}

#[tokio::test]
async fn f03_an_empty_method_is_no_request_and_an_unknown_one_is_not_found() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for (method, code) in [
            (r#""method":"","#, -32600),
            ("", -32600),
            (r#""method":null,"#, -32600),
            (r#""method":7,"#, -32600),
            (r#""method":"nonsense","#, -32601),
            (r#""method":"sendmessage","#, -32601),
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,{method}"params":{{}}}}"#);
            let envelope = server.body(version, &body).await.envelope();
            assert_eq!((error_code(&envelope), &envelope["id"]), (code, &json!(1)), "{body}");
        }
    }
}

#[tokio::test]
async fn f04_the_version_of_json_rpc_is_checked() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for member in [r#""jsonrpc":"1.0","#, r#""jsonrpc":"aaa","#, r#""jsonrpc":2.0,"#, r#""jsonrpc":null,"#, ""] {
            let body = format!(r#"{{{member}"id":1,"method":"{}","params":{{"id":"x"}}}}"#, version.get());
            assert_eq!(error_code(&server.body(version, &body).await.envelope()), -32600, "{body}");
        }
    }
}

#[tokio::test]
async fn f05_params_of_another_shape_are_invalid_params() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for method in [version.send(), version.stream(), version.get(), version.cancel(), version.subscribe()] {
            for params in ["[1,2]", "\"text\"", "null", "7", "true"] {
                let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
                assert_eq!(error_code(&server.body(version, &body).await.envelope()), -32602, "{body}");
            }
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
            assert_eq!(error_code(&server.body(version, &body).await.envelope()), -32602, "{body}");
        }
    }
}

#[tokio::test]
async fn f03_f05_what_there_is_not_is_so_whatever_the_shape_of_params() {
    let server = Server::with(|mount| mount.streaming(false)).await;
    for version in Version::BOTH {
        let create = match version {
            Version::Old => "tasks/pushNotificationConfig/set",
            Version::New => "CreateTaskPushNotificationConfig",
        };
        for (method, code) in
            [("nonsense", -32601), (create, -32003), (version.stream(), -32004), (version.subscribe(), -32004)]
        {
            for params in ["[1,2]", "[]", "\"text\"", "null", "7", "true"] {
                let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
                assert_eq!(error_code(&server.body(version, &body).await.envelope()), code, "{body}");
            }
        }
    }
}

#[tokio::test]
async fn f06_callers_are_told_what_is_wrong_in_words_of_our_own() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut params = version.script("done");
        params["message"]["messageId"] = json!(7);
        let envelope = server.call(version, version.send(), params).await;
        assert_eq!(error_code(&envelope), -32602);
        assert_eq!(error_text(&envelope), "Invalid parameters: message.messageId must be a string");
        // That nothing of the agent's own words is in the answer is looked at wherever an answer is read.
        for script in ["fail", "fail late", "panic", "panic late"] {
            let envelope = server.play(version, script).await;
            assert_eq!(state(&envelope), "failed", "{script}");
            let said = &task(&envelope)["status"]["message"]["parts"][0]["text"];
            assert_eq!(said, "Internal error", "{script}");
            assert!(!envelope.to_string().contains(crate::wire::SECRET), "{envelope}");
        }
    }
}

#[tokio::test]
async fn f07_answers_are_application_json() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for method in [version.send(), version.get(), "nonsense"] {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": version.script("done") });
            let answer = server.body(version, body.to_string()).await;
            assert_eq!(answer.header("content-type"), Some("application/json"), "{method}");
        }
    }
}

#[tokio::test]
async fn f08_a_body_over_the_limit_is_the_callers_fault_at_the_very_byte() {
    let server = Server::with(|mount| mount.body(BodyLayer::new().limit(1000))).await;
    for version in Version::BOTH {
        let of = |length: usize| {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": version.script("") });
            let pad = length - body.to_string().len();
            let params = version.script(&"x".repeat(pad));
            json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": params }).to_string()
        };
        assert_eq!(state(&server.body(version, of(1000)).await.envelope()), "completed");
        let answer = server.body(version, of(1001)).await;
        assert_eq!((answer.status, error_code(&answer.envelope())), (413, -32600));
    }
}

#[tokio::test]
async fn f38_a_file_of_megabytes_fits_and_the_limit_can_be_set() {
    use base64_of::base64;
    let bytes = vec![0xa5; 2 << 20];
    let small = Server::with(|mount| mount.body(BodyLayer::new().limit(1 << 20))).await;
    let server = Server::start().await;
    for version in Version::BOTH {
        let text = base64(&bytes);
        let part = match version {
            Version::Old => json!({ "kind": "file", "file": { "bytes": text } }),
            Version::New => json!({ "raw": text }),
        };
        let params = version.message(vec![version.text("echo"), part]);
        let envelope = server.call(version, version.send(), params.clone()).await;
        let part = &task(&envelope)["artifacts"][0]["parts"][0];
        let back = if version == Version::New { &part["raw"] } else { &part["file"]["bytes"] };
        assert!(*back == text, "the file came back another");
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": params }).to_string();
        let answer = small.body(version, body).await;
        assert_eq!((answer.status, error_code(&answer.envelope())), (413, -32600));
    }
}

mod base64_of {
    /// Base64 as the standard has it; written down anew, so that it is not the server's own that is trusted.
    pub(crate) fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for group in bytes.chunks(3) {
            let mut bits = [0; 3];
            bits[..group.len()].copy_from_slice(group);
            let number = u32::from_be_bytes([0, bits[0], bits[1], bits[2]]);
            for place in 0..4 {
                let digit = DIGITS[(number >> (18 - 6 * place)) as usize & 63];
                text.push(if place > group.len() { '=' } else { char::from(digit) });
            }
        }
        text
    }
}

#[tokio::test]
async fn f09_batches_are_refused() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": version.script("done") });
        for body in [json!([call]), json!([]), json!([call, call])] {
            let envelope = server.body(version, body.to_string()).await.envelope();
            assert_eq!((error_code(&envelope), &envelope["id"]), (-32600, &Value::Null), "{body}");
        }
    }
    assert_eq!(server.stage.calls.load(std::sync::atomic::Ordering::SeqCst), 0, "and nothing has run");
}

#[tokio::test]
async fn f10_details_of_1_0_are_an_array_of_typed_objects() {
    let server = Server::start().await;
    let envelope = server.call(Version::New, "GetTask", json!({ "id": "nope" })).await;
    assert_eq!(error_code(&envelope), -32001);
    let details = envelope["error"]["data"].as_array().expect("an array");
    assert!(details.iter().all(|detail| detail["@type"].is_string()), "{details:?}");
    assert_eq!(details[0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
    assert_eq!((&details[0]["reason"], &details[0]["domain"]), (&json!("TASK_NOT_FOUND"), &json!("a2a-protocol.org")));
}

#[tokio::test]
async fn f11_text_is_utf_8_and_says_the_same_on_streams() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let text = "a<b & 漢字 😀";
        let params = version.message(vec![version.text("echo"), version.text(text)]);
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": params });
        let answer = server.body(version, body.to_string()).await;
        assert!(String::from_utf8(answer.body).unwrap().contains(text), "written as it is");
        let events = server.open(version, version.stream(), params).await.rest().await;
        assert!(events.iter().any(|event| event.to_string().contains(text)), "{events:?}");
    }
}

#[tokio::test]
async fn f12_a_body_in_two_segments_is_read_before_the_stream_begins() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let body = json!({
            "jsonrpc": "2.0", "id": "s-1", "method": version.stream(), "params": version.script("done"),
        });
        let bytes = post(version.header(), body.to_string().as_bytes());
        let mut connection = server.connect().await;
        let (first, second) = bytes.split_at(bytes.len() - 20);
        connection.write(first).await;
        tokio::task::yield_now().await;
        connection.write(second).await;
        let events = crate::wire::Events::begin(connection).await.rest().await;
        assert_eq!(state(events.last().unwrap()), "completed");
    }
}

#[tokio::test]
async fn f123_names_of_the_other_version_mean_nothing_and_those_of_the_own_do() {
    let server = Server::start().await;
    let mut params = Version::New.script("done");
    params["configuration"] = json!({ "blocking": false, "pushNotificationConfig": { "url": "https://x.example" } });
    assert_eq!(state(&server.call(Version::New, "SendMessage", params).await), "completed");
    let mut params = Version::Old.script("wait");
    params["configuration"] = json!({ "blocking": false });
    assert_eq!(state(&server.call(Version::Old, "message/send", params).await), "working");
}

#[tokio::test]
async fn f02_a_call_without_an_id_runs_nothing() {
    let server = Server::with(|mount| mount.settings(Settings::strict_1_0())).await;
    let body = json!({ "jsonrpc": "2.0", "method": "SendMessage", "params": Version::New.script("done") });
    let envelope = server.body(Version::New, body.to_string()).await.envelope();
    assert_eq!((error_code(&envelope), &envelope["id"]), (-32600, &Value::Null));
    assert_eq!(server.stage.calls.load(std::sync::atomic::Ordering::SeqCst), 0);
}
