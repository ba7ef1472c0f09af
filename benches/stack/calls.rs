//! Ready-made requests.

use base64::{Engine, engine::general_purpose::STANDARD};

/// What a caller says.
pub(crate) const WORDS: &str = "What is the weather like in Reykjavik tomorrow, and do I need an umbrella?";

/// The two versions of the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V0_3,
    V1_0,
}

/// A whole request to the JSON-RPC endpoint: the head, and this body.
pub(crate) fn post(version: Version, body: &str) -> Vec<u8> {
    post_to("/", version, body)
}

/// A whole request to this path.
pub(crate) fn post_to(path: &str, version: Version, body: &str) -> Vec<u8> {
    let version = if version == Version::V1_0 { "1.0" } else { "0.3" };
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json, \
         text/event-stream\r\na2a-version: {version}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A GET of this path, with this much more in its head.
pub(crate) fn get(path: &str, more: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\na2a-version: 1.0\r\n{more}\r\n").into_bytes()
}

fn call(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

/// A message of this one part.
fn message(version: Version, part: &str) -> String {
    let (role, kind) = match version {
        Version::V0_3 => ("user", r#""kind":"message","#),
        Version::V1_0 => ("ROLE_USER", ""),
    };
    format!(r#"{{"message":{{{kind}"messageId":"m1","role":"{role}","parts":[{part}]}}}}"#)
}

fn text(version: Version) -> String {
    let kind = if version == Version::V0_3 { r#""kind":"text","# } else { "" };
    message(version, &format!(r#"{{{kind}"text":"{WORDS}"}}"#))
}

/// What a 1.0 send over HTTP+JSON says.
pub(crate) fn rest_send() -> String {
    text(Version::V1_0)
}

pub(crate) fn send(version: Version) -> String {
    call(if version == Version::V1_0 { "SendMessage" } else { "message/send" }, &text(version))
}

pub(crate) fn stream(version: Version) -> String {
    call(if version == Version::V1_0 { "SendStreamingMessage" } else { "message/stream" }, &text(version))
}

pub(crate) fn get_task(version: Version, id: &str) -> String {
    call(if version == Version::V1_0 { "GetTask" } else { "tasks/get" }, &format!(r#"{{"id":"{id}"}}"#))
}

/// A 1.0 send of a file of so many bytes, whose answer shows no history.
pub(crate) fn file(bytes: usize) -> String {
    let bytes: Vec<u8> = (0..bytes).map(|index| (index * 31 % 251) as u8).collect();
    let part = format!(r#"{{"raw":"{}","mediaType":"application/octet-stream"}}"#, STANDARD.encode(bytes));
    with_configuration(&message(Version::V1_0, &part), r#""historyLength":0"#)
}

/// A send with these parameters and this configuration.
fn with_configuration(params: &str, configuration: &str) -> String {
    let params = params.strip_suffix('}').unwrap_or(params);
    call("SendMessage", &format!(r#"{params},"configuration":{{{configuration}}}}}"#))
}

/// A 1.0 send that is answered while the agent still works.
pub(crate) fn start() -> String {
    with_configuration(&text(Version::V1_0), r#""returnImmediately":true"#)
}

/// A 1.0 send to a task that is there, whose answer shows none of its history.
pub(crate) fn go_on(task: &str) -> String {
    let message =
        format!(r#"{{"messageId":"m1","taskId":"{task}","role":"ROLE_USER","parts":[{{"text":"{WORDS}"}}]}}"#);
    with_configuration(&format!(r#"{{"message":{message}}}"#), r#""historyLength":0"#)
}

pub(crate) fn subscribe(task: &str) -> String {
    call("SubscribeToTask", &format!(r#"{{"id":"{task}"}}"#))
}

pub(crate) fn list(page_size: usize, token: &str) -> String {
    call("ListTasks", &format!(r#"{{"pageSize":{page_size},"pageToken":"{token}"}}"#))
}

/// What stands behind this key, up to the next quote, in an answer.
pub(crate) fn field<'a>(answer: &'a str, key: &str) -> Option<&'a str> {
    answer.split_once(&format!(r#""{key}":""#))?.1.split('"').next()
}
