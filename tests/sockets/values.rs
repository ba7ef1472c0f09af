//! Numbers, ids, base64 and texts at and beyond their edges.

use a2a_layers::dialect::MAX_ELEMENTS;
use serde_json::{Value, json};

use crate::wire::{Server, Version, error_code, post, state, task};

#[tokio::test]
async fn f02_ids_are_echoed_digit_for_digit_and_others_are_refused() {
    let server = Server::start().await;
    let long = format!("\"{}\"", "i".repeat(100_000));
    let digits = "9".repeat(10_000);
    for version in Version::BOTH {
        for id in [
            "123456789012345678901234567890",
            "-123456789012345678901234567890",
            "9007199254740993",
            "18446744073709551616",
            "-0",
            &digits,
            &long,
            r#""\u0000\ud83d\ude00\/\"""#,
            r#""<b>&漢字😀""#,
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{}","params":{{"id":"x"}}}}"#, version.get());
            let answer = server.body(version, body).await;
            let text = String::from_utf8(answer.body).unwrap();
            assert!(
                text.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32001,"#)),
                "{text:.300}"
            );
        }
        for id in ["1.0", "1e2", "1e999", "-1.5", "{}", "[1]", "true", "false", "null"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{}","params":{{"id":"x"}}}}"#, version.get());
            let envelope = server.body(version, body).await.envelope();
            assert_eq!((error_code(&envelope), &envelope["id"]), (-32600, &Value::Null), "{id}");
        }
    }
}

#[tokio::test]
async fn f73_integers_beyond_their_type_are_invalid_params() {
    let server = Server::start().await;
    let digits = "9".repeat(10_000);
    for version in Version::BOTH {
        for number in [
            "-1",
            "-2147483649",
            "2147483648",
            "4294967296",
            "9223372036854775808",
            "18446744073709551616",
            "1.5",
            "1e10",
            "1e400",
            "-1e400",
            "\"\"",
            "\"x\"",
            "\" 1\"",
            "\"1.5\"",
            "\"-1\"",
            "true",
            "[]",
            "[1]",
            "{}",
            &digits,
        ] {
            let (get, send) = (version.get(), version.send());
            let message = version.script("done")["message"].to_string();
            for (method, params) in [
                (get, format!(r#"{{"id":"x","historyLength":{number}}}"#)),
                (send, format!(r#"{{"message":{message},"configuration":{{"historyLength":{number}}}}}"#)),
            ] {
                let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
                assert_eq!(error_code(&server.body(version, &body).await.envelope()), -32602, "{method} {number:.40}");
            }
        }
        for number in ["0", "2147483647", "1.0", "1e2"] {
            let params = format!(r#"{{"id":"x","historyLength":{number}}}"#);
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{params}}}"#, version.get());
            assert_eq!(error_code(&server.body(version, &body).await.envelope()), -32001, "{number}");
        }
    }
}

#[tokio::test]
async fn huge_numbers_that_nobody_reads_go_through_digit_for_digit() {
    let server = Server::start().await;
    let number = format!("{}.{}e-7", "1234567890".repeat(100), "5".repeat(100));
    for version in Version::BOTH {
        let echo = version.text("echo");
        let part = match version {
            Version::Old => format!(r#"{{"kind":"data","data":{{"n":{number}}},"metadata":{{"m":{number}}}}}"#),
            Version::New => format!(r#"{{"data":{{"n":{number}}},"metadata":{{"m":{number}}}}}"#),
        };
        let role = if version == Version::Old { "user" } else { "ROLE_USER" };
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{{"message":{{"messageId":"m","role":"{role}","parts":[{echo},{part}]}}}}}}"#,
            version.send()
        );
        let answer = server.body(version, body).await;
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains(&format!(r#""n":{number}"#)) && text.contains(&format!(r#""m":{number}"#)), "{text}");
    }
}

#[tokio::test]
async fn bad_base64_is_invalid_params_in_either_alphabet() {
    let server = Server::start().await;
    let part = |version: Version, text: &str| match version {
        Version::Old => json!({ "kind": "file", "file": { "bytes": text } }),
        Version::New => json!({ "raw": text }),
    };
    for version in Version::BOTH {
        let keys = if version == Version::Old { vec!["bytes", "fileWithBytes"] } else { vec!["raw"] };
        for text in
            ["A", "AAAAA", "AA=A", "A===", "=", "====", "AAA*", "+_AA", "AA A", "AAAA\n", "ÄÄÄÄ", "AAAA=", "\u{0}AAA"]
        {
            for key in &keys {
                let mut part = part(version, text);
                if *key == "fileWithBytes" {
                    part = json!({ "kind": "file", "file": { "fileWithBytes": text } });
                }
                let params = version.message(vec![version.text("done"), part]);
                let envelope = server.call(version, version.send(), params).await;
                assert_eq!(error_code(&envelope), -32602, "{text}");
            }
        }
        for (text, back) in
            [("", ""), ("AA==", "AA=="), ("AA", "AA=="), ("-_-_", "+/+/"), ("+/+/", "+/+/"), ("-_8=", "+/8=")]
        {
            let params = version.message(vec![version.text("echo"), part(version, text)]);
            let envelope = server.call(version, version.send(), params).await;
            let part = &task(&envelope)["artifacts"][0]["parts"][0];
            let bytes = if version == Version::Old { &part["file"]["bytes"] } else { &part["raw"] };
            assert_eq!(bytes, back, "{text}: {envelope}");
        }
    }
}

#[tokio::test]
async fn odd_texts_and_ids_go_in_and_come_out() {
    let server = Server::start().await;
    let odd =
        "\u{0}\u{1}\u{7f}\u{85}\u{200b}\u{202e}\u{2028}\u{feff}\u{fffe}\u{10ffff}\r\n\t\"\\/<script>😀".to_owned();
    for version in Version::BOTH {
        for text in [odd.clone(), String::new(), " ".into(), "x".repeat(1 << 20)] {
            let mut params = version.message(vec![version.text("echo"), version.text(&text)]);
            params["message"]["contextId"] = json!(format!("c{odd}"));
            params["message"]["messageId"] = json!(format!("m{text}"));
            let envelope = server.call(version, version.send(), params.clone()).await;
            assert!(task(&envelope)["artifacts"][0]["parts"][0]["text"] == text, "{text:.100}");
            assert_eq!(task(&envelope)["contextId"], json!(format!("c{odd}")));
            let events = server.open(version, version.stream(), params).await.rest().await;
            assert_eq!(state(events.last().unwrap()), "completed");
        }
        for id in [odd.as_str(), "../../etc/passwd", "%2e%2e", " ", &"i".repeat(100_000)] {
            for method in [version.get(), version.cancel(), version.subscribe()] {
                assert_eq!(error_code(&server.call(version, method, json!({ "id": id })).await), -32001);
            }
        }
    }
}

#[tokio::test]
async fn cursors_that_are_none_are_invalid_params() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let asked = server.play(version, "ask").await;
        let params = json!({ "id": task(&asked)["id"] });
        for cursor in ["x", "-1", "1.5", "18446744073709551616", "999999", "", "\u{e4}", "1,2", "0x1"] {
            let headers = format!("{}Last-Event-ID: {cursor}\r\n", version.header());
            let envelope = server.call_with(&headers, version.subscribe(), params.clone()).await;
            assert_eq!(error_code(&envelope), -32602, "{cursor}");
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.subscribe(), "params": params });
            let request = String::from_utf8(post(version.header(), body.to_string().as_bytes())).unwrap();
            let cursor = cursor.replace('\u{e4}', "%e4");
            let request = request.replacen("POST / ", &format!("POST /?after={cursor} "), 1);
            let envelope = server.raw(request.as_bytes()).await.unwrap().envelope();
            assert_eq!(error_code(&envelope), -32602, "{cursor}");
        }
    }
}

#[tokio::test]
async fn arrays_of_a_great_many_elements_are_refused_before_they_fill_the_memory() {
    let server = Server::start().await;
    let huge = |element: &str| vec![element; (1 << 20) / element.len()].join(",");
    for version in Version::BOTH {
        let params = version.message((0..MAX_ELEMENTS).map(|_| version.text("x")).collect());
        assert_eq!(state(&server.call(version, version.send(), params).await), "completed");
        let text = version.text("x").to_string();
        for (member, elements) in [
            ("parts", huge("{}")),
            ("parts", huge(&text)),
            ("parts", huge("[]")),
            ("parts", huge("null")),
            ("extensions", huge("\"\"")),
            ("referenceTaskIds", huge("\"\"")),
        ] {
            let mut params = version.script("done");
            params["message"][member] = json!("@");
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": params });
            let body = body.to_string().replace("\"@\"", &format!("[{elements}]"));
            assert_eq!(error_code(&server.body(version, body).await.envelope()), -32602, "{member}");
        }
        let data = match version {
            Version::Old => format!(r#"{{"kind":"data","data":{{"x":[{}]}}}}"#, huge("0")),
            Version::New => format!(r#"{{"data":[{}]}}"#, huge("0")),
        };
        let params = version.message(vec![json!("@")]).to_string().replace("\"@\"", &data);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{params}}}"#, version.send());
        let answer = server.body(version, body).await;
        assert_eq!(state(&answer.envelope()), "completed", "data is not read, so it may be long");
    }
}

#[tokio::test]
async fn f55_white_space_and_odd_ids_of_the_caller_break_no_stream() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut params = version.message(vec![version.text("echo")]);
        let mut part = version.text("x");
        part["metadata"] = json!({ "a": { "b": [1, "\u{2028}\u{85}"] } });
        params["message"]["parts"].as_array_mut().unwrap().push(part.clone());
        for id in ["\u{2028}", "\u{2029}\u{85}\u{c}\u{b}", "a\rb\nc"] {
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": version.stream(), "params": params });
            let body = serde_json::to_string_pretty(&call).unwrap();
            for end in ["\n", "\r\n", "\r"] {
                let mut connection = server.connect().await;
                connection.write(&post(version.header(), body.replace('\n', end).as_bytes())).await;
                let answer = connection.answer().await.unwrap();
                let text = String::from_utf8(answer.body).unwrap();
                assert!(!text.contains(['\r', '\u{2028}', '\u{2029}', '\u{85}']), "{text:?}");
                for line in text.lines() {
                    assert!(line.is_empty() || [":", "id: ", "data: "].iter().any(|start| line.starts_with(start)));
                    if let Some(data) = line.strip_prefix("data: ") {
                        let event: Value = serde_json::from_str(data).expect(data);
                        assert_eq!(event["id"], id);
                    }
                }
                assert!(text.contains(r#""metadata":"#), "{text}");
            }
        }
    }
}
