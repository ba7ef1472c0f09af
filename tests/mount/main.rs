//! What a ready-made server does with what its `Mount` is told.

#[cfg(feature = "rest")]
mod rest;

use std::{convert::Infallible, sync::Arc, time::Duration};

use a2a_layers::{
    blob::{BlobLayer, MemoryBlobStore},
    error::BoxError,
    operation::ProtocolVersion,
    owner::Owner,
    part::Input,
    server::{A2aService, ConfigError, Mount, Mounts, Settings},
    task::{ListQuery, LogEntry, MemoryTaskStore, Snapshot, StoreError, StoredPage, TaskStore},
    types::{Event, Task},
};
use axum::Router;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::{Service, ServiceExt, service_fn};

type Body = Full<Bytes>;

async fn echo(request: Request<Input>) -> Result<String, Infallible> {
    Ok(request.body().text().to_owned())
}

async fn get(service: &A2aService<Body>, path: &str) -> (StatusCode, Bytes) {
    let request = Request::get(path).body(Body::default()).unwrap();
    let (head, body) = service.clone().oneshot(request).await.unwrap().into_parts();
    (head.status, body.collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn nested_in_axum_it_is_told_of_the_path_that_is_taken_off() {
    let agent = service_fn(|request: Request<Input>| async move {
        Ok::<_, BoxError>(request.body().file().map(|file| file.uri.to_owned()).unwrap_or_default())
    });
    let store = MemoryBlobStore::new("http://localhost:8000/x/files");
    let service = Mount::new("nested", agent)
        .url("http://localhost:8000/x")
        .rpc_path("/")
        .blob_store(store, Some("/files"))
        .build()
        .unwrap();
    let app = Router::new().nest_service("/x", service);
    let sent = send_to(app.clone(), "/x", json!([{ "raw": "YWJj" }]), json!({})).await;
    let url = sent["result"]["task"]["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    let path = url.strip_prefix("http://localhost:8000").unwrap();
    let response = app.clone().oneshot(Request::get(path).body(Body::default()).unwrap()).await.unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "abc");
    let card = Request::get("/x/.well-known/agent-card.json").body(Body::default()).unwrap();
    assert_eq!(app.oneshot(card).await.unwrap().status(), StatusCode::OK);
}

async fn send(service: &A2aService<Body>, parts: Value, configuration: Value) -> Value {
    send_to(service.clone(), "/", parts, configuration).await
}

async fn send_to<S, R>(service: S, path: &str, parts: Value, configuration: Value) -> Value
where
    S: Service<Request<Body>, Response = Response<R>, Error = Infallible>,
    R: http_body::Body<Error: std::fmt::Debug>,
{
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
        "message": { "messageId": "m", "role": "ROLE_USER", "parts": parts },
        "configuration": configuration,
    }});
    let request = Request::post(path)
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(Body::from(call.to_string()))
        .unwrap();
    let body = service.oneshot(request).await.unwrap().into_body().collect().await.unwrap();
    serde_json::from_slice(&body.to_bytes()).unwrap()
}

#[tokio::test]
async fn a_card_path_is_the_only_one() {
    let service = Mount::new("echo", service_fn(echo)).card_path("/card").build().unwrap();
    assert_eq!(get(&service, "/card").await.0, StatusCode::OK);
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json"] {
        assert_eq!(get(&service, path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn output_modes_are_in_the_card() {
    let service = Mount::new("echo", service_fn(echo)).output_modes(["text/markdown"]).build().unwrap();
    let (_, card) = get(&service, "/.well-known/agent-card.json").await;
    let card: Value = serde_json::from_slice(&card).unwrap();
    assert_eq!(card["defaultOutputModes"], json!(["text/markdown"]));
}

#[test]
fn b014_a_taken_path_is_refused_with_the_cure() {
    let mount = |id| Mount::new(id, service_fn(echo)).url(format!("http://localhost/{id}"));
    let mounts = Mounts::<Body>::new().mount(mount("a").build().unwrap()).unwrap();
    let error = mounts.clone().mount(mount("b").build().unwrap()).unwrap_err();
    for words in [error.to_string(), format!("{error:?}")] {
        assert!(words.contains("/.well-known/agent-card.json") && words.contains("Mount::card_path"), "{words}");
    }
    assert!(mounts.mount(mount("b").card_path("/b/card").build().unwrap()).is_ok());
}

#[tokio::test]
async fn a_store_keeps_the_limits_that_were_set_before_it() {
    let service = Mount::new("echo", service_fn(echo))
        .tasks(|tasks| tasks.max_runs(0))
        .task_store(MemoryTaskStore::new())
        .build()
        .unwrap();
    let refused = send(&service, json!([{ "text": "hi" }]), json!({})).await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
}

#[tokio::test]
async fn a_blob_layer_has_its_own_limit_and_its_store_is_served() {
    let store = MemoryBlobStore::new("http://localhost:8000/files");
    let agent = service_fn(|request: Request<Input>| async move {
        Ok::<_, BoxError>(request.body().file().map(|file| file.uri.to_owned()).unwrap_or_default())
    });
    let layer = BlobLayer::new(store).max_bytes(3);
    let service = Mount::new("files", agent).blob_layer(layer, Some("/files")).build().unwrap();
    let file = |base64: &str| json!([{ "raw": base64, "mediaType": "text/plain" }]);
    let sent = send(&service, file("YWJj"), json!({})).await;
    let url = sent["result"]["task"]["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    let (status, bytes) = get(&service, url.strip_prefix("http://localhost:8000").unwrap()).await;
    assert_eq!((status, &bytes[..]), (StatusCode::OK, &b"abc"[..]));
    assert_eq!(send(&service, file("YWJjZA=="), json!({})).await["error"]["code"], -32602);
}

#[tokio::test]
async fn holding_answers_to_what_callers_take_can_be_switched_off() {
    for (held, state) in [(true, "TASK_STATE_FAILED"), (false, "TASK_STATE_COMPLETED")] {
        let agent = service_fn(|request: Request<Input>| async move {
            tokio::task::yield_now().await;
            Ok::<_, Infallible>(request.body().text().to_owned())
        });
        let service = Mount::new("echo", agent).accepted_output(held).build().unwrap();
        let images = json!({ "acceptedOutputModes": ["image/png"] });
        let sent = send(&service, json!([{ "text": "hi" }]), images).await;
        assert_eq!(sent["result"]["task"]["status"]["state"], state, "{sent}");
    }
}

#[tokio::test]
async fn s07_strict_data_is_held_to_in_1_0() {
    let lax = Settings::strict_1_0().strict_data(false);
    for (settings, refused) in [
        (lax, false),
        (Settings::strict_1_0().strict_data(true), true),
        (Settings::bread(ProtocolVersion::V1_0).card_path("/card"), true),
    ] {
        let service = Mount::new("echo", service_fn(echo)).settings(settings).build().unwrap();
        let sent = send(&service, json!([{ "data": [1] }]), json!({})).await;
        assert_eq!(sent.get("error").is_some_and(|error| error["code"] == -32602), refused, "{sent}");
        let sent = send(&service, json!([{ "data": {} }]), json!({})).await;
        assert!(sent.get("result").is_some(), "{sent}");
    }
}

#[tokio::test]
async fn a_call_of_grpc_to_a_mount_without_it_is_refused_in_grpcs_own_words() {
    let service: A2aService<Body> = Mount::new("echo", service_fn(echo)).build().unwrap();
    let request = |version| {
        Request::post("/lf.a2a.v1.A2AService/ListTasks")
            .version(version)
            .header("content-type", "application/grpc+proto")
            .body(Body::default())
            .unwrap()
    };
    let response = service.clone().oneshot(request(http::Version::HTTP_2)).await.unwrap();
    assert_eq!((response.status(), &response.headers()["grpc-status"]), (StatusCode::OK, &"12".parse().unwrap()));
    assert_eq!(response.headers()["content-type"], "application/grpc");
    assert!(response.into_body().collect().await.unwrap().to_bytes().is_empty());
    // gRPC has no other form over HTTP/1.1, so there it is a request like any other.
    let response = service.oneshot(request(http::Version::HTTP_11)).await.unwrap();
    assert!(response.status().is_client_error(), "{}", response.status());
}

async fn call(service: &A2aService<Body>, version: &str, method: &str, params: Option<Value>) -> Value {
    let mut call = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
    if let Some(params) = params {
        call["params"] = params;
    }
    let request = Request::post("/").header("content-type", "application/json").header("a2a-version", version);
    let request = request.body(Body::from(call.to_string())).unwrap();
    let body = service.clone().oneshot(request).await.unwrap().into_body().collect().await.unwrap();
    serde_json::from_slice(&body.to_bytes()).unwrap()
}

#[tokio::test]
async fn what_is_not_offered_is_refused_for_that_however_its_parameters_are() {
    let plain = Mount::new("echo", service_fn(echo)).streaming(false).build().unwrap();
    let streams = Mount::new("echo", service_fn(echo)).build().unwrap();
    for (version, method, code) in [
        ("1.0", "CreateTaskPushNotificationConfig", -32003),
        ("1.0", "GetTaskPushNotificationConfig", -32003),
        ("1.0", "ListTaskPushNotificationConfigs", -32003),
        ("1.0", "DeleteTaskPushNotificationConfig", -32003),
        ("1.0", "SendStreamingMessage", -32004),
        ("1.0", "SubscribeToTask", -32004),
        ("0.3", "tasks/pushNotificationConfig/set", -32003),
        ("0.3", "message/stream", -32004),
        ("0.3", "tasks/resubscribe", -32004),
        // What there is is told about its parameters.
        ("1.0", "SendMessage", -32602),
        ("1.0", "GetTask", -32602),
        ("0.3", "message/send", -32602),
    ] {
        for params in [None, Some(json!({})), Some(json!({ "id": 1, "taskId": 1, "message": 1 }))] {
            let answer = call(&plain, version, method, params.clone()).await;
            assert_eq!(answer["error"]["code"], code, "{version} {method} {params:?}: {answer}");
            if code == -32004 {
                let answer = call(&streams, version, method, params).await;
                assert_eq!(answer["error"]["code"], -32602, "{version} {method}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn a_list_needs_no_parameters() {
    let service = Mount::new("echo", service_fn(echo)).build().unwrap();
    send(&service, json!([{ "text": "hi" }]), json!({})).await;
    for params in [None, Some(Value::Null), Some(json!({}))] {
        let answer = call(&service, "1.0", "ListTasks", params.clone()).await;
        assert_eq!(answer["result"]["totalSize"], 1, "{params:?}: {answer}");
    }
    assert_eq!(call(&service, "1.0", "ListTasks", Some(json!({ "pageSize": 0 }))).await["error"]["code"], -32602);
}

#[test]
fn a_url_has_neither_query_nor_fragment() {
    for url in ["http://a.example/x?y=1", "http://a.example/?", "http://a.example/x#y", "http://a.example#"] {
        let error = Mount::new("echo", service_fn(echo)).url(url).build::<Body>().unwrap_err();
        let words = format!("{url:?} has a query or a fragment: leave it out");
        assert!(error.to_string().starts_with(&words), "{error}");
        assert!(matches!(error, ConfigError::UrlWithQuery(_)));
    }
    let error = Mount::new("echo", service_fn(echo)).url("/x").build::<Body>().unwrap_err();
    assert!(matches!(error, ConfigError::BadUrl(_)), "{error}");
    assert!(Mount::new("echo", service_fn(echo)).url("https://a.example/x%3Fy").build::<Body>().is_ok());
}

#[tokio::test]
async fn each_of_two_agents_on_one_store_recognises_its_own_messages() {
    let (store, window) = (MemoryTaskStore::new(), Some(Duration::from_secs(60)));
    let mount = |id: &str| {
        let mount = Mount::new(id, service_fn(echo)).task_store(store.clone());
        mount.tasks(|tasks| tasks.retry_window(window)).build().unwrap()
    };
    let (one, two, replica) = (mount("one"), mount("two"), mount("one"));
    let id = async |service: &A2aService<Body>| {
        let sent = send(service, json!([{ "text": "hi" }]), json!({})).await;
        sent["result"]["task"]["id"].as_str().unwrap().to_owned()
    };
    let first = id(&one).await;
    assert_eq!(id(&replica).await, first);
    assert_ne!(id(&two).await, first);
    assert_eq!(id(&one).await, first);
    assert_eq!(store.len(), 2);
}

/// A store of one's own, as small as it may be.
#[derive(Clone)]
struct Own(MemoryTaskStore);

impl TaskStore for Own {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.0.create(owner, task).await
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        self.0.append(owner, id, expected, events).await
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        self.0.get(owner, id).await
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.0.read(owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        self.0.grown(owner, id, after).await
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        self.0.list(owner, query).await
    }
}

#[test]
fn a_retry_window_needs_a_store_for_it() {
    let mount = || Mount::new("echo", service_fn(echo)).task_store(Own(MemoryTaskStore::new()));
    let error = mount().tasks(|tasks| tasks.retry_window(Some(Duration::from_secs(60)))).build::<Body>().unwrap_err();
    assert!(matches!(error, ConfigError::NoClaims) && error.to_string().contains("TaskLayer::retry_window"), "{error}");
    assert!(mount().build::<Body>().is_ok());
}
