//! Valid requests with a few bytes changed, by the thousand and always the same ones.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use a2a_layers::{
    blob::MemoryBlobStore,
    error::BoxError,
    operation::ProtocolVersion,
    part::Input,
    server::{A2aService, Mount, Settings},
};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{json, value::RawValue};
use tower::{ServiceExt, service_fn};

use crate::wire::{Actor, Version};

/// xorshift64*, which is random enough here and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).expect("31 bits") % end.max(1)
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// What is worth putting somewhere.
const TOKENS: [&str; 36] = [
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "0",
    "-1",
    "1e999",
    "123456789012345678901234567890",
    "-0.0",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\u{2028}",
    "\n",
    "\0",
    "\u{fffd}",
    "[[[[[[[[",
    "{\"a\":",
    "\"id\":",
    "\"params\":",
    "\"kind\":\"data\",",
    "\"data\":",
    "\"raw\":\"A\",",
    "\"metadata\":",
    "\"taskId\":\"x\",",
    "\"historyLength\":",
    "2.0",
    "message",
];

fn corpus(version: Version) -> Vec<Vec<u8>> {
    let file = match version {
        Version::Old => json!({ "kind": "file", "file": { "bytes": "AP8Q", "mimeType": "a/b", "name": "n" } }),
        Version::New => json!({ "raw": "AP8Q", "mediaType": "a/b", "filename": "n" }),
    };
    let data = match version {
        Version::Old => json!({ "kind": "data", "data": { "a": [1, { "b": null }] }, "metadata": { "c": "d" } }),
        Version::New => json!({ "data": [1, "a", null], "metadata": { "c": "d" } }),
    };
    let mut full = version.message(vec![version.text("echo"), file, data, version.text("漢字 \u{1F600} \n \"")]);
    full["metadata"] = json!({ "a": { "b": [1.5, true, null] } });
    full["configuration"] = json!({ "historyLength": 3, "acceptedOutputModes": ["text/plain", "*/*"] });
    full["message"]["contextId"] = json!("c-1");
    full["message"]["referenceTaskIds"] = json!(["t-1"]);
    full["message"]["extensions"] = json!(["https://ext.example/a"]);
    let mut calls = vec![
        (version.send(), full.clone()),
        (version.stream(), full),
        (version.send(), version.script("chunks")),
        (version.stream(), version.script("fail late")),
        (version.get(), json!({ "id": "t-1", "historyLength": 2 })),
        (version.cancel(), json!({ "id": "t-1", "metadata": { "a": 1 } })),
        (version.subscribe(), json!({ "id": "t-1" })),
    ];
    match version {
        Version::Old => {
            let push = json!({ "taskId": "t", "pushNotificationConfig": { "url": "https://x.example", "token": "t" } });
            calls.push(("tasks/pushNotificationConfig/set", push));
            calls.push(("tasks/sendSubscribe", json!({ "id": "t", "message": version.script("x")["message"] })));
        }
        Version::New => {
            let filters = json!({
                "contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 10, "pageToken": "1.2",
                "historyLength": 1, "statusTimestampAfter": "2026-01-01T00:00:00Z", "includeArtifacts": true,
            });
            calls.push(("ListTasks", filters));
            calls.push(("GetExtendedAgentCard", json!({ "tenant": "t" })));
        }
    }
    let bodies = calls.into_iter().map(|(method, params)| {
        json!({ "jsonrpc": "2.0", "id": "r-1", "method": method, "params": params }).to_string().into_bytes()
    });
    bodies.collect()
}

/// One to four changes.
pub(crate) fn mutate(body: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(body.len());
        let to = (at + random.below(12)).min(body.len());
        match random.below(8) {
            0 if !body.is_empty() => body[at] ^= 1 << random.below(8),
            1 if !body.is_empty() => body[at] = u8::try_from(random.below(256)).expect("a byte"),
            2 => drop(body.drain(at..to)),
            3 => body.truncate(at),
            4 => drop(body.splice(at..at, other[random.below(other.len())..].iter().take(40).copied())),
            5 => {
                let piece = body[at..to].to_vec();
                drop(body.splice(at..at, piece));
            }
            6 => drop(body.splice(at..to, random.pick(&TOKENS).bytes())),
            _ => drop(body.splice(at..at, random.pick(&TOKENS).bytes())),
        }
    }
}

fn request(version: Version, body: Vec<u8>, random: &mut Random) -> Request<Full<Bytes>> {
    let uri = if random.below(20) == 0 { "/?after=%zz&A2A-Version=%" } else { "/" };
    let mut request = Request::post(uri).body(Full::from(body)).expect("a request");
    let mut set = |name: &'static str, value: &str| {
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("a value");
        request.headers_mut().insert(HeaderName::from_static(name), value);
    };
    set("content-type", "application/json");
    if version == Version::New {
        set("a2a-version", "1.0");
    }
    if random.below(10) == 0 {
        let names =
            ["content-type", "a2a-version", "a2a-extensions", "last-event-id", "content-encoding", "traceparent"];
        let values = ["", "0.3", "1.0", "é", "application/json;", "-1", "99999999999999999999", ",,,", "gzip", "7"];
        let name = names[random.below(names.len())];
        set(name, random.pick(&values));
    }
    request
}

/// An answer is one envelope, or a stream of them; a mount may leave the envelope off what streams.
async fn check(response: Response<a2a_layers::server::ResponseBody>, bare: bool) -> i64 {
    let status = response.status();
    assert!(status == 200 || status.is_client_error(), "{status}");
    let is_stream = response.headers()["content-type"] == "text/event-stream";
    let body = tokio::time::timeout(Duration::from_secs(10), response.into_body().collect()).await.expect("it ends");
    let body = String::from_utf8(body.expect("bodies do not fail").to_bytes().to_vec()).expect("UTF-8");
    if !is_stream {
        return envelope(&body);
    }
    assert_eq!(status, 200);
    let documents: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert!(!documents.is_empty(), "{body}");
    let codes = documents.into_iter().map(|document| {
        if bare && document.starts_with(r#"{"kind":"#) {
            serde_json::from_str::<&RawValue>(document).unwrap_or_else(|_| panic!("no JSON: {document}"));
            return 0;
        }
        envelope(document)
    });
    codes.fold(0, |_, code| code)
}

/// The code of an envelope; 0 if it is no error.
fn envelope(text: &str) -> i64 {
    let members: BTreeMap<&str, &RawValue> = serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"));
    assert_eq!(members["jsonrpc"].get(), "\"2.0\"", "{text}");
    assert!(members.contains_key("id") && members.len() == 3, "{text}");
    if let Some(error) = members.get("error") {
        for internal in ["serde", ".rs", "panicked", "line 1", "invalid type", "SECRET"] {
            assert!(!error.get().contains(internal), "{text}");
        }
        let error: BTreeMap<&str, &RawValue> = serde_json::from_str(error.get()).expect("an object");
        return error["code"].get().parse().expect("a code");
    }
    assert!(members.contains_key("result"), "{text}");
    0
}

async fn attack(service: A2aService<Full<Bytes>>, versions: &[Version], bare: bool) {
    const ROUNDS: usize = 3000;
    let mut random = Random::new(0x5eed_1e55);
    let mut codes = BTreeMap::new();
    for &version in versions {
        let corpus = corpus(version);
        for body in &corpus {
            check(service.clone().oneshot(request(version, body.clone(), &mut Random::new(1))).await.unwrap(), bare)
                .await;
        }
        for _ in 0..ROUNDS {
            let mut body = corpus[random.below(corpus.len())].clone();
            mutate(&mut body, &corpus[random.below(corpus.len())], &mut random);
            let shown = String::from_utf8_lossy(&body).into_owned();
            let request = request(version, body, &mut random);
            let service = service.clone();
            let answered = tokio::spawn(async move { check(service.oneshot(request).await.unwrap(), bare).await });
            let code = answered.await.unwrap_or_else(|_| panic!("by {shown}"));
            *codes.entry(code).or_insert(0) += 1;
        }
    }
    // Some mutants must come through to each place that can refuse them, or little is tried.
    for code in [0, -32700, -32600, -32601, -32602, -32001] {
        assert!(codes.get(&code).is_some_and(|count| *count >= 10), "{code} in {codes:?}");
    }
}

fn mount() -> Mount<Actor> {
    Mount::messages("actor", Actor::new(Arc::default()))
}

#[tokio::test]
async fn mutated_requests_are_always_answered_with_envelopes() {
    attack(mount().build().unwrap(), &Version::BOTH, false).await;
}

#[tokio::test]
async fn mutated_requests_harm_no_mount_of_other_settings() {
    let store = MemoryBlobStore::new("http://localhost:8000/files");
    attack(mount().blob_store(store, Some("/files")).build().unwrap(), &Version::BOTH, false).await;
    attack(mount().settings(Settings::vibes()).build().unwrap(), &[Version::Old], true).await;
    for (version, of) in [(Version::Old, ProtocolVersion::V0_3), (Version::New, ProtocolVersion::V1_0)] {
        let settings = Settings::bread(of).card_path("/card");
        attack(mount().settings(settings).build().unwrap(), &[version], false).await;
    }
}

#[tokio::test]
async fn mutated_requests_harm_no_agent_that_reads_inputs() {
    let agent = service_fn(|request: Request<Input>| async move {
        let input = request.into_body();
        let _ = input.read::<BTreeMap<String, Vec<u8>>>();
        Ok::<_, BoxError>(input.to_prompt().into_owned())
    });
    attack(Mount::new("reader", agent).build().unwrap(), &Version::BOTH, false).await;
}
