//! One port: the card, and every binding that it names, over HTTP/1.1 and HTTP/2.

use std::{net::SocketAddr, sync::atomic::Ordering};

use a2a_layers::operation::OperationKind;
use bytes::Bytes;
use http::{Request, Version as HttpVersion};
use http_body_util::{BodyExt as _, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tonic::{Code, transport::Endpoint};

use crate::{
    client::Talk,
    place::Place,
    scenario::{ask, summary},
    way::Way,
};

async fn http(http2: bool, request: Request<Full<Bytes>>) -> (u16, Value) {
    let client = Client::builder(TokioExecutor::new()).http2_only(http2).build_http();
    let response = client.request(request).await.expect("an answer");
    assert_eq!(response.version(), if http2 { HttpVersion::HTTP_2 } else { HttpVersion::HTTP_11 });
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("the whole answer").to_bytes();
    (status, serde_json::from_slice(&body).expect("a document"))
}

fn post(address: SocketAddr, path: &str, body: &Value) -> Request<Full<Bytes>> {
    let request = Request::post(format!("http://{address}{path}")).header("content-type", "application/json");
    request.header("a2a-version", "1.0").body(Full::from(body.to_string())).expect("a request")
}

async fn card(address: SocketAddr, http2: bool, version: &str) -> Value {
    let request = Request::get(format!("http://{address}/.well-known/agent-card.json")).header("a2a-version", version);
    http(http2, request.body(Full::default()).expect("a request")).await.1
}

#[tokio::test]
async fn every_binding_is_on_one_port() {
    let server = Place::Full.start().await;
    let address = server.address;
    let params = json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "done" }] } });
    for http2 in [false, true] {
        assert_eq!(card(address, http2, "1.0").await["name"], "actor");
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params });
        let (status, answer) = http(http2, post(address, "/", &call)).await;
        assert_eq!((status, &answer["result"]["task"]["status"]["state"]), (200, &json!("TASK_STATE_COMPLETED")));
        let (status, answer) = http(http2, post(address, "/message:send", &params)).await;
        assert_eq!((status, &answer["task"]["status"]["state"]), (200, &json!("TASK_STATE_COMPLETED")));
    }
    for way in Way::ALL {
        let answer = Talk::new(way, address).ask(&ask(OperationKind::SendMessage, params.clone())).await;
        assert!(answer["task"].is_object() && answer.get("error").is_none(), "{way}: {answer}");
    }
}

#[tokio::test]
async fn the_card_names_all_that_is_there_as_clients_dial_it() {
    let server = Place::Full.start().await;
    let address = server.address;
    let (endpoint, base) = (format!("http://{address}/"), format!("http://{address}"));

    let new = card(address, false, "1.0").await;
    let named = |url: &str, binding: &str| json!({ "url": url, "protocolBinding": binding, "protocolVersion": "1.0" });
    let of_new = new["supportedInterfaces"].as_array().expect("interfaces");
    // A host and a port are what a channel of gRPC wants.
    for wanted in [named(&endpoint, "JSONRPC"), named(&base, "HTTP+JSON"), named(&address.to_string(), "GRPC")] {
        assert!(of_new.contains(&wanted), "no {wanted} in {new}");
    }
    let of_old =
        |binding: &str| of_new.iter().any(|one| one["protocolBinding"] == binding && one["protocolVersion"] == "0.3");
    assert!(["JSONRPC", "HTTP+JSON", "GRPC"].into_iter().all(of_old), "{new}");

    let old = card(address, false, "0.3").await;
    assert_eq!((&old["url"], &old["preferredTransport"]), (&json!(endpoint), &json!("JSONRPC")));
    let of_old = old["additionalInterfaces"].as_array().expect("interfaces");
    for (url, transport) in [(&endpoint, "JSONRPC"), (&base, "HTTP+JSON"), (&address.to_string(), "GRPC")] {
        let wanted = json!({ "url": url, "transport": transport });
        assert!(of_old.contains(&wanted), "no {wanted} in {old}");
    }
}

#[tokio::test]
async fn what_there_is_not_is_not_found_over_any_binding() {
    let server = Place::Full.start().await;
    let address = server.address;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "NoSuchMethod", "params": {} });
    let (_, answer) = http(false, post(address, "/", &call)).await;
    assert_eq!(answer["error"]["code"], -32601);
    let (status, answer) = http(true, post(address, "/no/such/path", &json!({}))).await;
    assert_eq!((status, &answer["error"]["status"]), (404, &json!("NOT_FOUND")));

    let channel = Endpoint::from_shared(format!("http://{address}")).expect("an address").connect_lazy();
    for path in ["/lf.a2a.v1.A2AService/NoSuchMethod", "/a2a.v1.A2AService/ListTasks", "/no.such.Service/Method"] {
        let mut client = tonic::client::Grpc::new(channel.clone());
        client.ready().await.expect("a connection");
        let codec = tonic_prost::ProstCodec::<(), ()>::default();
        let status = client.unary(tonic::Request::new(()), path.parse().expect("a path"), codec).await;
        assert_eq!(status.expect_err(path).code(), Code::Unimplemented);
    }
}

#[tokio::test]
async fn a_task_of_one_binding_is_there_over_all() {
    let server = Place::Full.start().await;
    let params = json!({
        "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "ask" }] },
        "configuration": { "returnImmediately": false },
    });
    let talks = Way::ALL.map(|way| Talk::new(way, server.address).of_one_owner());
    let sent = talks[0].ask(&ask(OperationKind::SendMessage, params)).await;
    assert_eq!(summary(&sent), "task INPUT_REQUIRED");
    for talk in &talks {
        let got = talk.ask(&ask(OperationKind::GetTask, json!({ "id": sent["task"]["id"] }))).await;
        assert_eq!(got, sent, "{}", talk.way);
    }
    // Each binding takes a turn on it, and the last one sees them all.
    for talk in &talks {
        let message = json!({ "messageId": "m", "taskId": sent["task"]["id"], "role": "ROLE_USER", "parts": [{ "text": "ask" }] });
        let params = json!({ "message": message, "configuration": { "returnImmediately": false } });
        let turn = talk.ask(&ask(OperationKind::SendMessage, params)).await;
        assert_eq!(summary(&turn), "task INPUT_REQUIRED", "{}", talk.way);
    }
    for talk in &talks {
        let got = talk.ask(&ask(OperationKind::GetTask, json!({ "id": sent["task"]["id"] }))).await;
        let said = got["task"]["history"].as_array().expect("a history").iter();
        assert_eq!(said.filter(|message| message["role"] == "ROLE_USER").count(), 7, "{}", talk.way);
    }
}

#[tokio::test]
async fn a_message_that_comes_again_over_another_binding_is_the_same() {
    let server = Place::Retries.start().await;
    let params = json!({
        "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "done" }, { "raw": "AP8Q/w==" }] },
        "configuration": { "returnImmediately": false },
    });
    let talks = Way::ALL.map(|way| Talk::new(way, server.address).of_one_owner());
    let sends = talks.iter().map(|talk| async { talk.ask(&ask(OperationKind::SendMessage, params.clone())).await });
    let answers = futures_util::future::join_all(sends).await;
    for answer in &answers {
        assert_eq!((summary(answer).as_str(), &answer["task"]["id"]), ("task COMPLETED", &answers[0]["task"]["id"]));
    }
    assert_eq!(server.stage.calls.load(Ordering::SeqCst), 1, "one of the six has run");
}

#[tokio::test]
async fn a_message_of_version_0_1_is_recognised_by_its_id() {
    let server = Place::Retries.start().await;
    let send = async |method: &str, text: &str, id: Value| {
        let message = json!({ "role": "user", "parts": [{ "type": "text", "text": text }], "messageId": id });
        let call =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "id": "t-1", "message": message } });
        let request = Request::post(format!("http://{}/", server.address)).header("content-type", "application/json");
        http(false, request.body(Full::from(call.to_string())).expect("a request")).await.1
    };
    let first = send("tasks/send", "done", json!("m")).await;
    assert_eq!((&first["result"]["id"], &first["result"]["status"]["state"]), (&json!("t-1"), &json!("completed")));
    assert_eq!(send("tasks/send", "done", json!("m")).await, first);
    assert_eq!(send("tasks/send", "ask", json!("m")).await["error"]["code"], -32602);
    // Without an id it is a further turn, which the task does not take.
    assert_eq!(send("tasks/send", "done", Value::Null).await["error"]["code"], -32004);
    assert_eq!(server.stage.calls.load(Ordering::SeqCst), 1);
}
