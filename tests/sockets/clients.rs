//! Clients that leave.

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::wire::{Connection, Server, Version, post, state, task};

/// Says that nothing more will be written.
pub(crate) async fn finish(connection: &mut Connection) {
    let _ = connection.socket.shutdown().await;
}

fn request(version: Version, method: &str, script: &str) -> Vec<u8> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": version.script(script) });
    post(version.header(), body.to_string().as_bytes())
}

#[tokio::test]
async fn a_client_may_leave_at_any_byte_of_its_request() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for method in [version.send(), version.stream()] {
            let request = request(version, method, "done");
            for end in 0..=request.len() {
                let mut connection = server.connect().await;
                connection.write(&request[..end]).await;
                drop(connection);
            }
            assert_eq!(state(&server.play(version, "done").await), "completed");
        }
    }
}

#[tokio::test]
async fn a_client_that_has_written_half_gets_a_refusal_or_nothing() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let request = request(version, version.send(), "done");
        for end in 0..request.len() {
            let mut connection = server.connect().await;
            connection.write(&request[..end]).await;
            finish(&mut connection).await;
            while let Some(answer) = connection.answer().await {
                assert!((400..500).contains(&answer.status), "{answer:?}");
            }
        }
        assert_eq!(state(&server.play(version, "done").await), "completed");
    }
}

#[tokio::test]
async fn f46_a_client_may_leave_at_any_event_of_its_answer() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for seen in 0..20 {
            let mut events = server.open(version, version.stream(), version.script("burst 20")).await;
            let id = task(&events.next().await.unwrap())["id"].clone();
            for _ in 0..seen {
                events.next().await.unwrap();
            }
            drop(events);
            let mut ends = String::new();
            while ends != "completed" {
                ends = state(&server.call(version, version.get(), json!({ "id": id })).await);
                assert!(matches!(&*ends, "submitted" | "working" | "completed"), "{ends}");
            }
        }
    }
}
