//! HTTP+JSON beside JSON-RPC.

use a2a_layers::operation::{Answer, Operation, OperationKind, StreamEvent};
use a2a_layers::{
    call::{Binding, Call},
    dialect::{Dialect, V1_0},
    error::Error,
    types::{AgentCard, Json},
};

use super::*;

async fn rest(service: &A2aService<Body>, verb: &str, path: &str, body: &Value) -> (u16, Value) {
    let request = Request::builder().method(verb).uri(path).header("a2a-version", "1.0");
    let request = request.body(Body::from(if body.is_null() { String::new() } else { body.to_string() })).unwrap();
    let (head, body) = service.clone().oneshot(request).await.unwrap().into_parts();
    let text = body.collect().await.unwrap().to_bytes();
    (head.status.as_u16(), serde_json::from_slice(&text).unwrap_or_default())
}

fn hello() -> Value {
    json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "hello" }] } })
}

/// What the card offers: binding, version and URL of each interface.
async fn offered(service: &A2aService<Body>, path: &str) -> Vec<String> {
    let card: Value = serde_json::from_slice(&get(service, path).await.1).unwrap();
    let interfaces = card["supportedInterfaces"].as_array().unwrap().iter();
    let words = |each: &Value, name: &str| each[name].as_str().unwrap().to_owned();
    interfaces
        .map(|each| {
            format!("{} {} {}", words(each, "protocolBinding"), words(each, "protocolVersion"), words(each, "url"))
        })
        .collect()
}

const CARD: &str = "/.well-known/agent-card.json";

#[tokio::test]
async fn both_bindings_have_one_agent_and_one_store_and_the_card_names_them() {
    let service = Mount::new("echo", service_fn(echo)).url("http://localhost:8000/a2a/").build().unwrap();
    let (status, sent) = rest(&service, "POST", "/a2a/message:send", &hello()).await;
    assert_eq!((status, &sent["task"]["status"]["state"]), (200, &json!("TASK_STATE_COMPLETED")));
    let id = sent["task"]["id"].as_str().unwrap();
    let sent = send_to(service.clone(), "/a2a", json!([{ "text": "hi" }]), json!({})).await;
    assert!(sent["result"]["task"]["id"].is_string());
    assert_eq!(rest(&service, "GET", &format!("/a2a/tasks/{id}"), &Value::Null).await.0, 200);
    assert_eq!(rest(&service, "GET", "/a2a/tasks", &Value::Null).await.1["totalSize"], 2);
    assert_eq!(service.paths(), ["/a2a/", CARD, "/.well-known/agent.json"]);
    assert_eq!(
        offered(&service, CARD).await,
        [
            "JSONRPC 1.0 http://localhost:8000/a2a/",
            "JSONRPC 0.3 http://localhost:8000/a2a/",
            "HTTP+JSON 1.0 http://localhost:8000/a2a",
            "HTTP+JSON 0.3 http://localhost:8000/a2a",
        ]
    );
    let card: Value = serde_json::from_slice(&get(&service, CARD).await.1).unwrap();
    assert_eq!(card["preferredTransport"], "JSONRPC");
    let rest = json!({ "url": "http://localhost:8000/a2a", "transport": "HTTP+JSON" });
    assert!(card["additionalInterfaces"].as_array().unwrap().contains(&rest), "{card}");
}

#[tokio::test]
async fn what_is_at_other_paths_is_what_it_was() {
    let store = MemoryBlobStore::new("http://localhost:8000/files");
    let service = Mount::new("echo", service_fn(echo)).blob_store(store, Some("/files")).build().unwrap();
    assert_eq!(get(&service, CARD).await.0, StatusCode::OK);
    assert_eq!(get(&service, "/files/none").await.0, StatusCode::NOT_FOUND);
    // JSON-RPC at its own path alone, in its own form.
    let refused = get(&service, "/").await;
    assert_eq!(refused.0, StatusCode::METHOD_NOT_ALLOWED);
    assert!(String::from_utf8_lossy(&refused.1).contains("jsonrpc"));
}

#[tokio::test]
async fn it_can_have_a_place_of_its_own() {
    let mount = || Mount::new("echo", service_fn(echo)).url("http://localhost:8000/rpc");
    let service = mount().rest_url("https://public.example/api/rest").build().unwrap();
    assert_eq!(rest(&service, "POST", "/api/rest/message:send", &hello()).await.0, 200);
    assert!(service.paths().contains(&"/api/rest".to_owned()));
    assert_eq!(offered(&service, CARD).await[2], "HTTP+JSON 1.0 https://public.example/api/rest");
    let service = mount().rest_url("https://public.example/api").rest_path("/").build().unwrap();
    assert_eq!(rest(&service, "GET", "/tasks", &Value::Null).await.0, 200);
    assert_eq!(offered(&service, CARD).await[3], "HTTP+JSON 0.3 https://public.example/api");
    for (bad, what) in
        [(mount().rest_path("rest"), "\"rest\" is no path"), (mount().rest_url("/rest"), "\"/rest\" is no")]
    {
        let error = bad.build::<Body>().unwrap_err().to_string();
        assert!(error.starts_with(what), "{error}");
    }
}

#[tokio::test]
async fn settings_can_do_without_it_and_say_which_versions_it_is_in() {
    let mount = |settings| Mount::new("echo", service_fn(echo)).settings(settings).build().unwrap();
    for settings in
        [Settings::strict().rest(false), Settings::vibes(), Settings::bread(ProtocolVersion::V1_0).card_path(CARD)]
    {
        let service = mount(settings);
        assert_eq!(rest(&service, "POST", "/message:send", &hello()).await.1["jsonrpc"], "2.0", "it is not there");
    }
    assert!(offered(&mount(Settings::strict().rest(false)), CARD).await.iter().all(|each| each.starts_with("JSONRPC")));
    let new = ["JSONRPC 1.0 http://localhost:8000", "HTTP+JSON 1.0 http://localhost:8000"];
    assert_eq!(offered(&mount(Settings::strict_1_0()), CARD).await, new);
    let card: Value = serde_json::from_slice(&get(&mount(Settings::strict_0_3()), CARD).await.1).unwrap();
    let old = ["JSONRPC", "HTTP+JSON"].map(|name| json!({ "url": "http://localhost:8000", "transport": name }));
    assert_eq!(card["additionalInterfaces"], json!(old));
}

#[tokio::test]
async fn mounts_tell_paths_of_it_apart() {
    let mount = |id: &str| {
        let mount = Mount::new(id, service_fn(echo)).url(format!("http://localhost/{id}"));
        mount.card_path(format!("/{id}/card")).build().unwrap()
    };
    let mounts = Mounts::<Body>::new().mount(mount("a")).unwrap().mount(mount("b")).unwrap();
    for (path, total) in [("/a/tasks", 1), ("/b/tasks", 0)] {
        if total == 1 {
            let request = Request::post("/a/message:send").header("a2a-version", "1.0");
            let request = request.body(Body::from(hello().to_string())).unwrap();
            assert_eq!(mounts.clone().oneshot(request).await.unwrap().status(), 200);
        }
        let request = Request::get(path).header("a2a-version", "1.0").body(Body::default()).unwrap();
        let body = mounts.clone().oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
        let list: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(list["totalSize"], total, "{path}");
    }
    let taken = Mount::new("c", service_fn(echo)).card_path("/c/card").url("http://localhost/c").rest_path("/a");
    let error = mounts.mount(taken.build().unwrap()).unwrap_err().to_string();
    assert!(error.contains("the path /a is claimed"), "{error}");
}

#[tokio::test]
async fn nested_in_axum_it_is_where_json_rpc_is() {
    let service = Mount::new("nested", service_fn(echo)).url("http://localhost:8000/x").rpc_path("/").build().unwrap();
    let app = Router::new().nest_service("/x", service);
    let request = Request::post("/x/message:send").header("a2a-version", "1.0");
    let response = app.oneshot(request.body(Body::from(hello().to_string())).unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

/// Version 7.0, which is 1.0 by another name, over these bindings.
struct Seven(&'static [Binding]);

impl Dialect for Seven {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::new(7, 0)
    }

    fn speaks(&self, binding: Binding) -> bool {
        self.0.contains(&binding)
    }

    fn operation(&self, method: &str) -> Option<OperationKind> {
        V1_0::new().operation(method)
    }

    fn decode(&self, call: &Call) -> Result<Operation, Error> {
        V1_0::new().decode(call)
    }

    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        V1_0::new().encode(answer, out)
    }

    fn encode_event(&self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), Error> {
        V1_0::new().encode_event(event, out)
    }

    fn error_data(&self, error: &Error) -> Option<Json> {
        V1_0::new().error_data(error)
    }

    fn encode_card(&self, card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
        V1_0::new().encode_card(card, out)
    }
}

#[tokio::test]
async fn a_dialect_of_ones_own_is_spoken_over_the_bindings_that_it_says() {
    for (bindings, status) in [(&[Binding::JsonRpc][..], 400), (&[Binding::JsonRpc, Binding::HttpJson][..], 200)] {
        let service = Mount::new("echo", service_fn(echo)).dialect(Seven(bindings)).build().unwrap();
        let request = Request::post("/message:send").header("a2a-version", "7.0");
        let request = request.body(Body::from(hello().to_string())).unwrap();
        assert_eq!(service.clone().oneshot(request).await.unwrap().status(), status);
        let names = offered(&service, CARD).await;
        let seven = names.iter().any(|each| each.starts_with("HTTP+JSON 7.0"));
        assert_eq!(seven, status == 200, "{names:?}");
    }
}

#[tokio::test]
async fn the_card_names_a_dialect_of_ones_own_over_its_bindings_and_once() {
    let service = Mount::new("echo", service_fn(echo)).dialect(Seven(&[Binding::HttpJson])).build().unwrap();
    let names = offered(&service, CARD).await;
    let sevens: Vec<_> = names.iter().filter(|name| name.contains(" 7.0 ")).collect();
    assert_eq!(sevens, ["HTTP+JSON 7.0 http://localhost:8000"], "{names:?}");
    // In the place of the one that is there.
    let service = Mount::new("echo", service_fn(echo)).dialect(V1_0::new().strict_data(true)).build().unwrap();
    let names = offered(&service, CARD).await;
    assert_eq!(names.iter().filter(|name| name.starts_with("JSONRPC 1.0")).count(), 1, "{names:?}");
}

#[tokio::test]
async fn what_is_not_offered_is_refused_for_that_over_paths_too() {
    let service = Mount::new("echo", service_fn(echo)).streaming(false).build().unwrap();
    let (_, push) = rest(&service, "POST", "/tasks/t/pushNotificationConfigs", &json!({})).await;
    let (_, stream) = rest(&service, "POST", "/message:stream", &json!({})).await;
    for (answer, reason) in [(push, "PUSH_NOTIFICATION_NOT_SUPPORTED"), (stream, "UNSUPPORTED_OPERATION")] {
        assert_eq!(answer["error"]["details"][0]["reason"], reason, "{answer}");
    }
    let offers = Mount::new("echo", service_fn(echo)).build().unwrap();
    assert_eq!(rest(&offers, "POST", "/message:stream", &json!({})).await.0, 400);
}
