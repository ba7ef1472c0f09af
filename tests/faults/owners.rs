use serde_json::{Value, json};

use crate::wire::{Server, Version, error_code, state, task};

const ALICE: &str = "X-Owner: alice\r\n";
const BOB: &str = "X-Owner: bob\r\n";

async fn call(server: &Server, version: Version, who: &str, method: &str, params: Value) -> Value {
    server.call_with(&format!("{}{who}", version.header()), method, params).await
}

#[tokio::test]
async fn f98_the_tasks_of_others_do_not_exist_for_any_operation() {
    let server = Server::start().await;
    for version in Version::BOTH {
        for script in ["ask", "done", "auth"] {
            let hers = call(&server, version, ALICE, version.send(), version.script(script)).await;
            let id = task(&hers)["id"].as_str().unwrap();
            for who in [BOB, ""] {
                for (method, params) in [
                    (version.get(), json!({ "id": id })),
                    (version.cancel(), json!({ "id": id })),
                    (version.subscribe(), json!({ "id": id })),
                    (version.send(), version.follow_up("done", id)),
                    (version.stream(), version.follow_up("done", id)),
                ] {
                    let theirs = call(&server, version, who, method, params).await;
                    assert_eq!(error_code(&theirs), -32001, "{script} {method}");
                    let nobodys = call(&server, version, who, version.get(), json!({ "id": "none" })).await;
                    let text = |envelope: &Value| envelope.to_string().replace(id, "none");
                    assert_eq!(text(&theirs), text(&nobodys), "they cannot be told from those that are not there");
                }
            }
            let context = json!({ "contextId": task(&hers)["contextId"] });
            for params in [json!({}), context] {
                let list = call(&server, Version::New, BOB, "ListTasks", params).await;
                assert_eq!((&list["result"]["tasks"], &list["result"]["totalSize"]), (&json!([]), &json!(0)));
            }
            let still = call(&server, version, ALICE, version.get(), json!({ "id": id })).await;
            assert_eq!(state(&still), state(&hers));
        }
    }
}

#[tokio::test]
async fn f75_a_referenced_task_of_somebody_else_is_absent() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let hers = call(&server, version, ALICE, version.send(), version.script("done")).await;
        let mut params = version.script("who");
        params["message"]["referenceTaskIds"] = json!([task(&hers)["id"], "none"]);
        for (who, expected) in [(ALICE, json!([task(&hers)["id"]])), (BOB, json!([])), ("", json!([]))] {
            let envelope = call(&server, version, who, version.send(), params.clone()).await;
            assert_eq!(task(&envelope)["artifacts"][0]["parts"][0]["data"]["referenced"], expected, "{who}");
        }
    }
}

#[tokio::test]
async fn f100_nothing_of_one_caller_is_left_for_the_next() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let mut connection = server.connect().await;
        let mut owners = Vec::new();
        for who in [ALICE, "", BOB, ""] {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": version.send(), "params": version.script("who") });
            let headers = format!("{}{who}", version.header());
            connection.write(&crate::wire::post(&headers, body.to_string().as_bytes())).await;
            let envelope = connection.answer().await.unwrap().envelope();
            owners.push(task(&envelope)["artifacts"][0]["parts"][0]["data"]["owner"].clone());
        }
        assert_eq!(owners, [json!("alice"), Value::Null, json!("bob"), Value::Null]);
    }
}
