//! HTTP+JSON: requests with a few bytes changed, and odd ones by hand.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use a2a_layers::server::{A2aService, Mount, Settings};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::{
    mutations::{Random, mutate},
    wire::{Actor, Server, Version, rest},
};

type Shape = (&'static str, String, Option<Vec<u8>>);

fn corpus(version: Version) -> Vec<Shape> {
    let file = match version {
        Version::Old => json!({ "file": { "fileWithBytes": "QVA4UWdBPT0=", "mimeType": "a/b", "name": "n" } }),
        Version::New => json!({ "raw": "AP8Q", "mediaType": "a/b", "filename": "n" }),
    };
    let data = match version {
        Version::Old => json!({ "data": { "data": { "a": [1, null] } }, "metadata": { "c": "d" } }),
        Version::New => json!({ "data": [1, "a", null], "metadata": { "c": "d" } }),
    };
    let mut full = version.rest_message(vec![json!({ "text": "echo" }), file, data, json!({ "text": "漢字 \n" })]);
    full["metadata"] = json!({ "a": { "b": [1.5, true, null] } });
    full["configuration"] = json!({ "historyLength": 3, "acceptedOutputModes": ["text/plain", "*/*"] });
    let push = json!({ "config": { "pushNotificationConfig": { "url": "https://x.example", "token": "t" } } });
    let query = "contextId=c&status=TASK_STATE_WORKING&pageSize=10&pageToken=1.2&historyLength=1&includeArtifacts=true\
        &statusTimestampAfter=2026-01-01T00%3A00%3A00Z&A2A-Version=1.0";
    let shapes = [
        ("POST", "/message:send".to_owned(), Some(full.clone())),
        ("POST", "/message:stream".to_owned(), Some(full)),
        ("POST", "/message:stream".to_owned(), Some(version.rest_script("fail late"))),
        ("GET", "/tasks/t-1?historyLength=2".to_owned(), None),
        ("GET", if version == Version::New { format!("/tasks?{query}") } else { "/tasks?pageSize=2".to_owned() }, None),
        ("POST", "/tasks/t-1:cancel".to_owned(), Some(json!({ "metadata": { "a": 1 } }))),
        ("GET", "/tasks/t%2D1:subscribe?after=1".to_owned(), None),
        ("POST", "/tasks/t-1/pushNotificationConfigs?configId=c".to_owned(), Some(push)),
        ("DELETE", "/tasks/t-1/pushNotificationConfigs/c".to_owned(), None),
    ];
    let shapes = shapes.into_iter().map(|(verb, path, body)| {
        (verb, format!("{}{path}", version.prefix()), body.map(|body| body.to_string().into_bytes()))
    });
    shapes.collect()
}

fn request(version: Version, verb: &str, uri: Uri, body: Option<Vec<u8>>) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(verb).uri(uri);
    if body.is_some() {
        request = request.header("content-type", version.media_type());
    }
    if version == Version::New {
        request = request.header("a2a-version", "1.0");
    }
    request.body(Full::from(body.unwrap_or_default())).expect("a request")
}

/// An answer is a document, a stream of them, or a problem. Its status.
async fn check(response: Response<a2a_layers::server::ResponseBody>) -> u16 {
    let status = response.status().as_u16();
    assert!(status == 200 || (400..500).contains(&status), "{status}");
    let media_type = response.headers()["content-type"].clone();
    let body = tokio::time::timeout(Duration::from_secs(10), response.into_body().collect()).await.expect("it ends");
    let body = String::from_utf8(body.expect("bodies do not fail").to_bytes().to_vec()).expect("UTF-8");
    if media_type == "text/event-stream" {
        assert_eq!(status, 200);
        let documents: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        assert!(!documents.is_empty(), "{body}");
        for document in documents {
            serde_json::from_str::<Value>(document).unwrap_or_else(|_| panic!("no JSON: {document}"));
        }
        return status;
    }
    assert!(["application/json", "application/a2a+json"].iter().any(|known| media_type == known));
    let document: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("no JSON: {body}"));
    // What changes a path's end from one of REST to that of JSON-RPC is answered by that.
    if status != 200 && document.get("jsonrpc").is_none() {
        assert_eq!(document["error"]["code"], status, "{document}");
        for internal in ["serde", ".rs", "panicked", "line 1", "invalid type", "SECRET"] {
            assert!(!document["error"]["message"].to_string().contains(internal), "{document}");
        }
    }
    status
}

async fn attack(service: A2aService<Full<Bytes>>) {
    const ROUNDS: usize = 3000;
    let mut random = Random::new(0x5eed_4e57);
    let mut statuses = BTreeMap::new();
    for version in Version::BOTH {
        let corpus = corpus(version);
        for _ in 0..ROUNDS {
            let (verb, path, body) = corpus[random.below(corpus.len())].clone();
            let (_, other_path, other_body) = corpus[random.below(corpus.len())].clone();
            let mut path = path.into_bytes();
            let mut body = body;
            match (&mut body, random.below(3)) {
                (Some(body), 1..) => mutate(body, &other_body.unwrap_or_default(), &mut random),
                _ => mutate(&mut path, other_path.as_bytes(), &mut random),
            }
            // What is no URI never comes this far.
            let Ok(uri) = Uri::try_from(&path[..]) else { continue };
            if !uri.path().starts_with('/') {
                continue;
            }
            let shown = format!("{uri} {}", String::from_utf8_lossy(body.as_deref().unwrap_or_default()));
            let request = request(version, verb, uri, body);
            let service = service.clone();
            let answered = tokio::spawn(async move { check(service.oneshot(request).await.unwrap()).await });
            *statuses.entry(answered.await.unwrap_or_else(|_| panic!("by {shown}"))).or_insert(0) += 1;
        }
    }
    // Some mutants must come through to each place that can refuse them, or little is tried.
    for status in [200, 400, 404, 405] {
        assert!(statuses.get(&status).is_some_and(|count| *count >= 10), "{status} in {statuses:?}");
    }
}

fn mount() -> Mount<Actor> {
    Mount::messages("actor", Actor::new(Arc::default()))
}

#[tokio::test]
async fn mutated_rest_requests_are_always_answered() {
    attack(mount().build().unwrap()).await;
}

#[tokio::test]
async fn mutated_rest_requests_harm_no_mount_of_other_settings() {
    attack(mount().settings(Settings::strict().lenient_version(true).lenient_messages(true)).build().unwrap()).await;
    attack(mount().streaming(false).settings(Settings::strict().plain_json(true)).build().unwrap()).await;
}

#[tokio::test]
async fn paths_by_hand_are_answered_in_the_form_of_rest() {
    let server = Server::start().await;
    for (target, status) in [
        ("/tasks/../tasks", 404),
        ("/tasks/..", 404),
        ("/../../etc/passwd", 404),
        ("//tasks", 404),
        ("/tasks//", 404),
        ("/tasks/", 404),
        ("/./tasks", 404),
        ("/tasks;x=1", 404),
        ("/TASKS", 404),
        ("/tasks/%2e%2e%2f%2e%2e", 404),
        ("/tasks/%00", 404),
        ("/tasks/%", 400),
        ("/%c0%ae/tasks", 400),
        ("/v1", 404),
        ("/v2/tasks", 200),
        ("/nothing:at-all", 404),
    ] {
        let answer = server.raw(&rest("GET", target, "A2A-Version: 1.0\r\n", None)).await.unwrap();
        assert_eq!(answer.status, status, "{target}");
        if status != 200 {
            let version = if target.starts_with("/v1") { Version::Old } else { Version::New };
            answer.problem(version);
        }
    }
    let long = format!("/tasks/{}", "x".repeat(30_000));
    let answer = server.raw(&rest("GET", &long, "A2A-Version: 1.0\r\n", None)).await.unwrap();
    assert_eq!((answer.status, &*answer.problem(Version::New)), (404, "TASK_NOT_FOUND"));
    let many = format!("/tasks?{}", "pageSize=1&".repeat(2_000));
    let answer = server.raw(&rest("GET", &many, "A2A-Version: 1.0\r\n", None)).await.unwrap();
    assert_eq!((answer.status, &*answer.problem(Version::New)), (400, "pageSize"));
}

#[tokio::test]
async fn verbs_that_nothing_is_there_for_are_a_405() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for (path, allow) in [
            ("/message:send", "POST, OPTIONS"),
            ("/tasks", "GET, HEAD, OPTIONS"),
            ("/tasks/t:subscribe", "GET, POST, OPTIONS"),
            ("/tasks/t/pushNotificationConfigs/c", "GET, HEAD, DELETE, OPTIONS"),
        ] {
            let path = format!("{}{path}", version.prefix());
            for verb in ["PUT", "PATCH", "TRACE", "BREW", "get"] {
                let answer = server.raw(&rest(verb, &path, version.header(), None)).await.unwrap();
                assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{verb} {path}");
                answer.problem(version);
            }
            let answer = server.raw(&rest("OPTIONS", &path, version.header(), None)).await.unwrap();
            assert_eq!((answer.status, answer.header("allow")), (204, Some(allow)));
        }
        // A HEAD is a GET without what it says.
        let path = format!("{}/tasks", version.prefix());
        let mut connection = server.connect().await;
        connection.write(&rest("HEAD", &path, version.header(), None)).await;
        let head = connection.head().await.unwrap();
        assert_eq!((head.status, head.header("content-type")), (200, Some(version.media_type())));
        connection.write(&rest("GET", &path, version.header(), None)).await;
        let answer = connection.answer().await.unwrap();
        assert_eq!(answer.header("content-length"), head.header("content-length"));
    }
}

#[tokio::test]
async fn readers_that_leave_a_rest_stream_harm_nobody() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let body = || Some(version.rest_script("wait"));
        let mut leaving = server.rest_events(version, "POST", "/message:stream", body()).await;
        let id = leaving.next_bare().await.unwrap()["task"]["id"].as_str().unwrap().to_owned();
        drop(leaving);
        let task = server.rest(version, "GET", &format!("/tasks/{id}"), None).await.result(version);
        assert_ne!(task["status"]["state"], "TASK_STATE_CANCELED");
        let staying = server.rest_events(version, "GET", &format!("/tasks/{id}:subscribe"), None).await;
        server.stage.gate.add_permits(1);
        let last = staying.bare_rest().await.pop().unwrap();
        assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
        assert_eq!(server.rest_play(version, "done").await["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    }
}

#[tokio::test]
async fn a_rest_body_that_stalls_or_is_encoded_is_refused_in_its_form() {
    let body = a2a_layers::body::BodyLayer::new().read_deadline(Duration::from_millis(50));
    let server = Server::with(|mount| mount.body(body)).await;
    for version in Version::BOTH {
        let path = format!("{}/message:send", version.prefix());
        let headers = format!("{}Content-Type: application/json\r\n", version.header());
        let whole = rest("POST", &path, &headers, Some(version.rest_script("done").to_string().as_bytes()));
        let mut connection = server.connect().await;
        connection.write(&whole[..whole.len() - 20]).await;
        let answer = connection.answer().await.unwrap();
        assert_eq!(answer.status, 408);
        answer.problem(version);
        let headers = format!("{headers}Content-Encoding: gzip\r\n");
        let answer = server.raw(&rest("POST", &path, &headers, Some(b"{}"))).await.unwrap();
        assert_eq!((answer.status, &*answer.problem(version)), (415, "CONTENT_TYPE_NOT_SUPPORTED"));
    }
}
