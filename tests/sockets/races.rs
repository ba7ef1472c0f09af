//! Cancel against completion.

use std::time::Duration;

use serde_json::json;

use crate::wire::{Server, Version, error_code, post, state, task};

#[tokio::test]
async fn f67_of_cancel_and_completion_exactly_one_wins_and_all_agree() {
    let server = Server::start().await;
    let (mut canceled, mut completed) = (0, 0);
    for version in Version::BOTH {
        let mut connection = server.connect().await;
        for round in 0..500 {
            let mut events = server.open(version, version.stream(), version.script("wait")).await;
            let id = task(&events.next().await.unwrap())["id"].clone();
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.cancel(), "params": { "id": id } });
            let cancel = post(version.header(), body.to_string().as_bytes());
            match round % 4 {
                // One of them is clearly first in a quarter of the rounds each.
                0 => {
                    connection.write(&cancel).await;
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    server.stage.gate.add_permits(1);
                }
                1 => {
                    server.stage.gate.add_permits(1);
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    connection.write(&cancel).await;
                }
                2 => {
                    connection.write(&cancel).await;
                    server.stage.gate.add_permits(1);
                }
                _ => {
                    server.stage.gate.add_permits(1);
                    connection.write(&cancel).await;
                }
            }
            let reply = connection.answer().await.unwrap().envelope();
            let events = events.rest().await;
            let ends: Vec<String> =
                events.iter().map(state).filter(|state| ["canceled", "completed"].contains(&&**state)).collect();
            assert_eq!(ends.len(), 1, "{events:?}");
            let kept = server.call(version, version.get(), json!({ "id": id })).await;
            assert_eq!(state(&kept), ends[0], "the store and the stream agree");
            if ends[0] == "canceled" {
                canceled += 1;
                assert_eq!(state(&reply), "canceled", "{reply}");
                assert_eq!(task(&kept).get("artifacts"), None, "{kept}");
            } else {
                completed += 1;
                assert_eq!(error_code(&reply), -32002, "{reply}");
                assert_eq!(task(&kept)["artifacts"][0]["parts"][0]["text"], "done");
            }
            server.stage.gate.forget_permits(usize::MAX);
        }
    }
    assert_eq!(canceled + completed, 1000);
    assert!(canceled >= 100 && completed >= 100, "{canceled} canceled, {completed} completed");
}
