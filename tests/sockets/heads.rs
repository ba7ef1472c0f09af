//! Heads of requests, and bodies that come in odd ways.

use std::time::Duration;

use a2a_layers::{body::BodyLayer, server::Serve};
use serde_json::{Value, json};

use crate::wire::{Answer, Server, Version, error_code, post, state};

fn body(version: Version) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": version.script("done") }).to_string()
}

/// A body in chunks of this size, with what chunks may carry besides.
fn chunked(version: Version, size: usize) -> Vec<u8> {
    let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let mut bytes = format!("{head}{}\r\n", version.header()).into_bytes();
    for chunk in body(version).as_bytes().chunks(size) {
        bytes.extend_from_slice(format!("{:X};name=value\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\nX-Trailer: x\r\n\r\n");
    bytes
}

#[tokio::test]
async fn chunked_and_slow_bodies_are_read() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for size in [1, 7, 10_000] {
            let envelope = server.raw(&chunked(version, size)).await.unwrap().envelope();
            assert_eq!(state(&envelope), "completed");
        }
        let mut connection = server.connect().await;
        for byte in post(version.header(), body(version).as_bytes()) {
            connection.write(&[byte]).await;
            tokio::task::yield_now().await;
        }
        assert_eq!(state(&connection.answer().await.unwrap().envelope()), "completed");
    }
}

#[tokio::test]
async fn a_body_that_stalls_is_a_408() {
    let server = Server::with(|mount| mount.body(BodyLayer::new().read_deadline(Duration::from_millis(50)))).await;
    for version in Version::BOTH {
        for request in [post(version.header(), body(version).as_bytes()), chunked(version, 50)] {
            let mut connection = server.connect().await;
            connection.write(&request[..request.len() - 30]).await;
            let answer = connection.answer().await.unwrap();
            assert_eq!((answer.status, error_code(&answer.envelope())), (408, -32600));
            assert!(connection.head().await.is_none(), "and the connection ends");
        }
    }
}

#[tokio::test]
async fn a_head_that_stalls_is_cut_off() {
    let server = Server::served_by(Serve::new().header_read_timeout(Duration::from_millis(50)), |mount| mount).await;
    for head in ["", "P", "POST / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: x\r\nA: "] {
        let mut connection = server.connect().await;
        connection.write(head.as_bytes()).await;
        while let Some(answer) = connection.answer().await {
            assert!(answer.status < 500, "{answer:?}");
        }
    }
    assert_eq!(state(&server.play(Version::New, "done").await), "completed");
}

#[tokio::test]
async fn encodings_that_nobody_understands_are_a_415() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for encoding in ["gzip", "br", "deflate, gzip", "zstd", "x", "", "identity, gzip"] {
            let headers = format!("{}Content-Encoding: {encoding}\r\n", version.header());
            let answer = server.raw(&post(&headers, body(version).as_bytes())).await.unwrap();
            assert_eq!((answer.status, error_code(&answer.envelope())), (415, -32005), "{encoding}");
        }
        let headers = format!("{}Content-Encoding: Identity\r\n", version.header());
        let answer = server.raw(&post(&headers, body(version).as_bytes())).await.unwrap();
        assert_eq!(state(&answer.envelope()), "completed");
    }
}

#[tokio::test]
async fn media_types_that_are_not_json_are_refused_before_the_body_counts() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for kind in ["Content-Type: text/plain\r\n", "Content-Type: \r\n", "Content-Type: \u{e4}\r\n", ""] {
            for body in [&*body(version), "{", ""] {
                let request = format!(
                    "POST / HTTP/1.1\r\nHost: x\r\n{kind}{}Content-Length: {}\r\n\r\n{body}",
                    version.header(),
                    body.len()
                );
                let answer = server.raw(request.as_bytes()).await.unwrap();
                let envelope = answer.envelope();
                assert_eq!((answer.status, error_code(&envelope), &envelope["id"]), (200, -32005, &Value::Null));
            }
        }
    }
}

#[tokio::test]
async fn other_verbs_are_a_405_that_says_what_is_served() {
    let server = Server::start().await;
    for verb in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "post"] {
        let request = format!("{verb} / HTTP/1.1\r\nHost: x\r\n\r\n");
        let answer = server.raw(request.as_bytes()).await.unwrap();
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{verb}");
        assert_eq!(error_code(&answer.envelope()), -32600, "{verb}");
    }
    let mut connection = server.connect().await;
    connection.write(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let head = connection.head().await.unwrap();
    assert_eq!((head.status, head.header("allow")), (405, Some("POST")));
    // Nothing follows the head, so the next answer on the connection is the next request's.
    connection.write(b"HEAD /.well-known/agent-card.json HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let head = connection.head().await.unwrap();
    assert_eq!(head.status, 200);
    assert!(head.header("content-length").is_some_and(|length| length != "0"), "{head:?}");
    for version in Version::BOTH {
        connection.write(&post(version.header(), body(version).as_bytes())).await;
        assert_eq!(state(&connection.answer().await.unwrap().envelope()), "completed");
    }
    for verb in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let request = format!("{verb} /.well-known/agent-card.json HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        let answer = server.raw(request.as_bytes()).await.unwrap();
        assert!((200..500).contains(&answer.status), "{verb}: {answer:?}");
    }
}

#[tokio::test]
async fn paths_that_nobody_serves_are_a_404() {
    let server = Server::start().await;
    for path in ["/x", "//", "/..", "/%00", "/%", "/.well-known/", "/.well-known/agent-card.json/x", "*"] {
        for verb in ["POST", "GET", "HEAD"] {
            let request = format!(
                "{verb} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n"
            );
            let mut connection = server.connect().await;
            connection.write(request.as_bytes()).await;
            let answer = connection.head().await.unwrap();
            assert!(matches!(answer.status, 400 | 404 | 405), "{verb} {path}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut bytes = Vec::new();
        for number in 0..50 {
            let (method, params) = match number % 5 {
                0 => (version.get(), json!({ "id": "none" })),
                1 => ("nonsense", json!({})),
                2 => (version.send(), version.script("fail late")),
                3 => (version.stream(), version.script("chunks")),
                _ => (version.send(), version.script("done")),
            };
            let body = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }).to_string();
            bytes.extend(post(version.header(), body.as_bytes()));
        }
        let mut connection = server.connect().await;
        connection.write(&bytes).await;
        for number in 0..50 {
            let answer = connection.answer().await.unwrap();
            if number % 5 == 3 {
                let text = String::from_utf8(answer.body).unwrap();
                assert!(text.contains(&format!(r#""id":{number},"#)), "{text}");
            } else {
                assert_eq!(answer.envelope()["id"], number);
            }
        }
    }
}

#[tokio::test]
async fn what_is_no_http_gets_a_400_or_nothing() {
    let server = Server::start().await;
    let large = format!("POST / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("POST / HTTP/1.1\r\nHost: x\r\n{}\r\n", "X: y\r\n".repeat(1000));
    for bytes in [
        &b"nonsense\r\n\r\n"[..],
        b"\r\n\r\n\r\n\r\n{}",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST / HTTP/9.9\r\n\r\n",
        b"POST  / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: \x00\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        large.as_bytes(),
        many.as_bytes(),
        &[0; 10_000],
        &[b'A'; 200_000],
    ] {
        let mut connection = server.connect().await;
        connection.write(bytes).await;
        crate::clients::finish(&mut connection).await;
        while let Some(answer) = connection.answer().await {
            assert!((400..500).contains(&answer.status) || answer.header("content-type").is_some(), "{answer:?}");
            assert!(answer.status < 500, "{answer:?}");
        }
    }
    assert_eq!(state(&server.play(Version::New, "done").await), "completed");
}

#[tokio::test]
async fn a_client_that_asks_first_whether_to_go_on_is_told() {
    let server = Server::with(|mount| mount.body(BodyLayer::new().limit(1000))).await;
    for version in Version::BOTH {
        let body = body(version);
        let ask = |length: usize| {
            format!(
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{}Content-Length: {length}\r\nExpect: 100-continue\r\n\r\n",
                version.header()
            )
        };
        let mut connection = server.connect().await;
        connection.write(ask(body.len()).as_bytes()).await;
        assert_eq!(connection.head().await.unwrap().status, 100);
        connection.write(body.as_bytes()).await;
        assert_eq!(state(&connection.answer().await.unwrap().envelope()), "completed");
        let mut connection = server.connect().await;
        connection.write(ask(1001).as_bytes()).await;
        let answer: Answer = connection.answer().await.unwrap();
        assert_eq!((answer.status, error_code(&answer.envelope())), (413, -32600), "without a byte of the body");
    }
}

#[tokio::test]
async fn http_1_0_is_served_too() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let request = String::from_utf8(post(version.header(), body(version).as_bytes())).unwrap();
        let request = request.replacen("HTTP/1.1", "HTTP/1.0", 1);
        assert_eq!(state(&server.raw(request.as_bytes()).await.unwrap().envelope()), "completed");
    }
}
