//! Bodies that are no JSON, or JSON that nobody would write.

use a2a_layers::types::Json;
use serde_json::{Value, json};

use crate::wire::{Server, Version, error_code, state, task};

const DEPTHS: [usize; 2] = [200, 100_000];

fn arrays(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

fn objects(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

/// A send in which something may be put into each place.
#[derive(Clone, Default)]
struct Send {
    envelope: String,
    params: String,
    message: String,
    part: String,
    parts: String,
}

impl Send {
    fn body(&self, version: Version) -> String {
        let Self { envelope, params, message, part, parts } = self;
        let (role, kind, method) = match version {
            Version::Old => ("user", r#""kind":"text","#, "message/send"),
            Version::New => ("ROLE_USER", "", "SendMessage"),
        };
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{envelope},"params":{{"message":{{"messageId":"m","role":"{role}","parts":[{{{kind}"text":"done"{part}}}{parts}]{message}}}{params}}}}}"#
        )
    }
}

/// The answer's code, and that its id is the right one.
async fn code(server: &Server, version: Version, body: impl AsRef<[u8]>) -> i64 {
    let answer = server.body(version, body).await;
    let envelope = answer.envelope();
    let code = error_code(&envelope);
    assert_eq!(answer.status, 200);
    if code == 0 {
        assert_eq!(state(&envelope), "completed");
    }
    if matches!(code, 0 | -32602 | -32601) {
        assert_eq!(envelope["id"], 1, "{envelope}");
    }
    code
}

#[tokio::test]
async fn f36_deep_values_of_unknown_members_are_passed_over() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for deep in DEPTHS.into_iter().flat_map(|depth| [arrays(depth), objects(depth)]) {
            let member = format!(r#","x":{deep}"#);
            for send in [
                Send { envelope: member.clone(), ..Send::default() },
                Send { params: member.clone(), ..Send::default() },
                Send { message: member.clone(), ..Send::default() },
                Send { part: member.clone(), ..Send::default() },
                Send { params: format!(r#","configuration":{{"x":{deep}}}"#), ..Send::default() },
            ] {
                assert_eq!(code(&server, version, send.body(version)).await, 0);
            }
        }
    }
}

#[tokio::test]
async fn deep_metadata_and_data_are_invalid_params() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for deep in DEPTHS.into_iter().flat_map(|depth| [arrays(depth), objects(depth)]) {
            let metadata = format!(r#","metadata":{{"x":{deep}}}"#);
            let data = match version {
                Version::Old => format!(r#",{{"kind":"data","data":{{"x":{deep}}}}}"#),
                Version::New => format!(r#",{{"data":{deep}}}"#),
            };
            for send in [
                Send { params: metadata.clone(), ..Send::default() },
                Send { message: metadata.clone(), ..Send::default() },
                Send { part: metadata.clone(), ..Send::default() },
                Send { parts: data, ..Send::default() },
            ] {
                assert_eq!(code(&server, version, send.body(version)).await, -32602);
            }
        }
    }
}

#[tokio::test]
async fn what_is_as_deep_as_it_may_be_comes_back_in_answers_that_common_readers_can_read() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let deep = |depth: usize| {
            let value = format!("{{\"a\":{}}}", arrays(depth - 1));
            let data = match version {
                Version::Old => format!(r#",{{"kind":"data","data":{value}}}"#),
                Version::New => format!(r#",{{"data":{value}}}"#),
            };
            Send { message: format!(r#","metadata":{value}"#), parts: data, ..Send::default() }
        };
        assert_eq!(code(&server, version, deep(Json::MAX_DEPTH + 1).body(version)).await, -32602);
        // Whatever reads an answer here follows no further than most readers do.
        let body = deep(Json::MAX_DEPTH).body(version).replace("\"done\"", "\"echo\"");
        let sent = server.body(version, &body).await.envelope();
        assert_eq!(state(&sent), "completed");
        server.call(version, version.get(), json!({ "id": task(&sent)["id"] })).await;
        server.call(Version::New, "ListTasks", json!({ "includeArtifacts": true })).await;
        let params = serde_json::from_str::<Value>(&body).unwrap()["params"].take();
        let events = server.open(version, version.stream(), params).await.rest().await;
        assert_eq!(state(events.last().unwrap()), "completed");
    }
}

#[tokio::test]
async fn deep_values_where_none_belong_have_the_code_of_their_place() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for deep in DEPTHS.into_iter().flat_map(|depth| [arrays(depth), objects(depth)]) {
            let (get, id) = (version.get(), r#"{"id":"x"}"#);
            for (body, expected) in [
                (format!(r#"{{"jsonrpc":"2.0","id":{deep},"method":"{get}","params":{id}}}"#), -32600),
                (format!(r#"{{"jsonrpc":{deep},"id":1,"method":"{get}","params":{id}}}"#), -32600),
                (format!(r#"{{"jsonrpc":"2.0","id":1,"method":{deep},"params":{id}}}"#), -32600),
                (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{get}","params":{{"id":{deep}}}}}"#), -32602),
                (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{get}","params":[{deep}]}}"#), -32602),
                (deep.clone(), -32600),
                (deep[..deep.len() - 1].to_owned(), -32700),
                (deep[..deep.len() / 2].to_owned(), -32700),
            ] {
                assert_eq!(code(&server, version, &body).await, expected, "{}", &body[..body.len().min(200)]);
            }
        }
    }
}

#[tokio::test]
async fn what_is_no_json_is_a_parse_error() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let valid = Send::default().body(version);
        let mut bodies: Vec<Vec<u8>> = (0..valid.len()).map(|end| valid.as_bytes()[..end].to_vec()).collect();
        for junk in ["x", "}", ",", "{}", "\0", "//", "/**/"] {
            bodies.push(format!("{valid}{junk}").into_bytes());
            bodies.push(format!("{junk}{valid}").into_bytes());
        }
        for value in
            ["NaN", "Infinity", "-", "01", "+1", ".5", "1.", "1e", "'x'", "undefined", "\"\n\"", "\"\\x\"", "tru"]
        {
            bodies.push(Send { envelope: format!(r#","x":{value}"#), ..Send::default() }.body(version).into_bytes());
            bodies.push(Send { part: format!(r#","x":{value}"#), ..Send::default() }.body(version).into_bytes());
        }
        bodies.push([&b"\xef\xbb\xbf"[..], valid.as_bytes()].concat());
        bodies.push(valid.encode_utf16().flat_map(u16::to_le_bytes).collect());
        bodies.push(vec![0; 1000]);
        bodies.push(vec![b' '; 1000]);
        bodies.push(vec![0xff; 1000]);
        for body in bodies {
            let shown = String::from_utf8_lossy(&body).into_owned();
            assert_eq!(code(&server, version, body).await, -32700, "{shown}");
        }
    }
}

#[tokio::test]
async fn invalid_utf_8_is_a_parse_error_wherever_it_is() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let sends = [
            Send { envelope: r#","x":"@""#.into(), ..Send::default() },
            Send { envelope: r#","@":1"#.into(), ..Send::default() },
            Send { params: r#","metadata":{"x":"@"}"#.into(), ..Send::default() },
            Send { message: r#","contextId":"@""#.into(), ..Send::default() },
            Send { parts: format!(",{}", version.text("@")), ..Send::default() },
        ];
        for bad in [&b"\xff"[..], b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"] {
            for send in &sends {
                let body = send.body(version);
                let at = body.find('@').unwrap();
                let body = [&body.as_bytes()[..at], bad, &body.as_bytes()[at + 1..]].concat();
                assert_eq!(code(&server, version, body).await, -32700, "{bad:x?}");
            }
        }
    }
}

#[tokio::test]
async fn half_a_surrogate_pair_is_refused_where_it_is_read() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for half in [r"\ud800", r"\udc00", r"\ud83dx", r"\ud83d\u0041", r"\udfff\ud800"] {
            let text = match version {
                Version::Old => format!(r#",{{"kind":"text","text":"{half}"}}"#),
                Version::New => format!(r#",{{"text":"{half}"}}"#),
            };
            for send in [
                Send { parts: text, ..Send::default() },
                Send { params: format!(r#","metadata":{{"x":"{half}"}}"#), ..Send::default() },
                Send { message: format!(r#","metadata":{{"{half}":1}}"#), ..Send::default() },
                Send { message: format!(r#","contextId":"{half}""#), ..Send::default() },
                Send { message: format!(r#","referenceTaskIds":["{half}"]"#), ..Send::default() },
                Send { message: format!(r#","{half}":1"#), ..Send::default() },
            ] {
                assert_eq!(code(&server, version, send.body(version)).await, -32602, "{half}");
            }
            let get = version.get();
            for (body, expected) in [
                (format!(r#"{{"jsonrpc":"2.0","id":"{half}","method":"{get}","params":{{"id":"x"}}}}"#), -32600),
                (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{half}","params":{{"id":"x"}}}}"#), -32600),
                (format!(r#"{{"jsonrpc":"{half}","id":1,"method":"{get}","params":{{"id":"x"}}}}"#), -32600),
                (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{get}","params":{{"id":"{half}"}}}}"#), -32602),
            ] {
                assert_eq!(code(&server, version, &body).await, expected, "{body}");
            }
        }
    }
}

#[tokio::test]
async fn members_that_are_there_twice_are_refused_where_they_mean_something() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for (send, expected) in [
            (Send { envelope: r#","id":2"#.into(), ..Send::default() }, -32600),
            (Send { envelope: r#","method":"x""#.into(), ..Send::default() }, -32600),
            (Send { envelope: r#","jsonrpc":"2.0""#.into(), ..Send::default() }, -32600),
            (Send { envelope: r#","params":{}"#.into(), ..Send::default() }, -32600),
            (Send { params: r#","message":{}"#.into(), ..Send::default() }, -32602),
            (Send { message: r#","messageId":"n""#.into(), ..Send::default() }, -32602),
            (Send { message: r#","parts":[]"#.into(), ..Send::default() }, -32602),
            (Send { part: r#","text":"again""#.into(), ..Send::default() }, -32602),
            (Send { envelope: r#","x":1,"x":2"#.into(), ..Send::default() }, 0),
            (Send { message: r#","x":1,"x":2"#.into(), ..Send::default() }, 0),
            (Send { message: r#","metadata":{"x":1,"x":2}"#.into(), ..Send::default() }, 0),
        ] {
            let body = send.body(version);
            assert_eq!(code(&server, version, &body).await, expected, "{body}");
        }
    }
}

#[tokio::test]
async fn nulls_are_as_good_as_nothing() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut params = version.script("done");
        for member in ["configuration", "metadata", "tenant"] {
            params[member] = Value::Null;
        }
        for member in ["contextId", "taskId", "metadata", "extensions", "referenceTaskIds"] {
            params["message"][member] = Value::Null;
        }
        params["message"]["parts"][0]["metadata"] = Value::Null;
        for member in ["filename", "mediaType", "raw", "url", "file"] {
            params["message"]["parts"][0][member] = Value::Null;
        }
        assert_eq!(state(&server.call(version, version.send(), params.clone()).await), "completed");
        params["configuration"] = json!({
            "acceptedOutputModes": null, "historyLength": null, "blocking": null, "returnImmediately": null,
            "pushNotificationConfig": null, "taskPushNotificationConfig": null,
        });
        assert_eq!(state(&server.call(version, version.send(), params).await), "completed");
    }
}

#[tokio::test]
async fn members_of_1_0_may_have_the_names_of_the_proto() {
    let server = Server::start().await;
    let params = json!({
        "message": {
            "message_id": "m", "context_id": "c", "role": 1, "reference_task_ids": [],
            "parts": [{ "text": "echo" }, { "raw": "AAAA", "media_type": "a/b" }],
        },
        "configuration": { "accepted_output_modes": [], "history_length": "0", "return_immediately": false },
    });
    let envelope = server.call(Version::New, "SendMessage", params).await;
    assert_eq!((state(&envelope), &task(&envelope)["contextId"]), ("completed".into(), &json!("c")));
    assert_eq!(task(&envelope).get("history"), None);
    assert_eq!(task(&envelope)["artifacts"][0]["parts"][0]["mediaType"], "a/b");
}
