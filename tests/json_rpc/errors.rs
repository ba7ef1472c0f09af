use std::{
    task::{Context, Poll},
    time::Duration,
};

use a2a_layers::{error::ErrorKind, types::Json};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tower::{Service, ServiceBuilder};
use tower_test::mock;

use super::*;

async fn failing(error: fn() -> BoxError) -> Answer {
    let service = service_fn(move |_: Request<Call>| async move { Err::<Response<Encoded<Items>>, _>(error()) });
    JsonRpcLayer::new().layer(service).oneshot(post(r#"{"jsonrpc":"2.0","id":"x","method":"m"}"#)).await.unwrap()
}

#[tokio::test]
async fn b109_b110_v083_errors_of_the_protocol_are_http_200() {
    let error = || Error::task_not_found("t").with_data(Json::parse(r#"[{"@type":"t"}]"#).unwrap()).into();
    let answer = failing(error).await;
    assert_eq!(answer.extensions().get(), Some(&ErrorKind::TaskNotFound));
    let error = json!({"code": -32001, "message": "Task not found", "data": [{"@type": "t"}]});
    assert_eq!(envelope(answer), (200, json!({"jsonrpc": "2.0", "id": "x", "error": error})));
}

#[tokio::test]
async fn b122_f06_causes_are_not_sent() {
    let (status, value) = envelope(failing(|| "SELECT password FROM users".into()).await);
    assert_eq!((status, &value["error"]), (200, &json!({"code": -32603, "message": "Internal error"})));
}

#[tokio::test]
async fn overload_comes_with_retry_advice() {
    let answer = failing(|| Error::new(ErrorKind::Overloaded).with_retry_after(Duration::from_secs(2)).into()).await;
    assert_eq!(answer.headers()["retry-after"], "2");
    let (status, value) = envelope(answer);
    assert_eq!((status, &value["error"]["code"]), (200, &json!(-32603)));
}

fn request(method: Method, path: &str, headers: &[(&str, &str)]) -> Request<Bytes> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"m"}"#)).unwrap()
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn the_path_is_served_with_and_without_a_slash() {
    let layer = JsonRpcLayer::new().path("/a2a");
    for (path, expected) in [("/a2a", 200), ("/a2a/", 200), ("/a2a?x=1", 200), ("/", 404), ("/a2ab", 404)] {
        let (status, value) = envelope(ask(layer.clone(), request(Method::POST, path, &[JSON])).await);
        assert_eq!((status, value["id"] == json!(1)), (expected, expected == 200), "{path}");
    }
}

#[tokio::test]
async fn other_verbs_are_told_which_one_is_served() {
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let answer = ask(JsonRpcLayer::new(), request(method, "/", &[])).await;
        assert_eq!(answer.headers()["allow"], "POST");
        let (status, value) = envelope(answer);
        assert_eq!((status, &value["id"], &value["error"]["code"]), (405, &Value::Null, &json!(-32600)));
    }
    let answer = ask(JsonRpcLayer::new(), request(Method::HEAD, "/", &[])).await;
    assert_eq!(
        (answer.status(), &answer.headers()["allow"]),
        (StatusCode::METHOD_NOT_ALLOWED, &"POST".parse().unwrap())
    );
    assert!(matches!(answer.into_body(), Encoded::Document(document) if document.is_empty()));
}

#[tokio::test]
async fn f07_a_wrong_media_type_is_an_error_of_the_protocol() {
    for headers in
        [&[][..], &[("content-type", "text/plain")], &[("content-type", "application/x-www-form-urlencoded")]]
    {
        let (status, value) = envelope(ask(JsonRpcLayer::new(), request(Method::POST, "/", headers)).await);
        assert_eq!((status, &value["id"], &value["error"]["code"]), (200, &Value::Null, &json!(-32005)));
    }
}

#[tokio::test]
async fn an_encoding_is_refused() {
    for (encoding, expected) in [("gzip", 415), ("identity, br", 415), ("Identity", 200)] {
        let headers = [JSON, ("content-encoding", encoding)];
        let (status, _) = envelope(ask(JsonRpcLayer::new(), request(Method::POST, "/", &headers)).await);
        assert_eq!(status, expected, "{encoding}");
    }
}

#[tokio::test]
async fn the_inner_services_head_is_kept() {
    let service = service_fn(|request: Request<Call>| async move {
        let mut response = Response::new(Encoded::<Items>::Document("1".into()));
        response.headers_mut().insert("a2a-extensions", request.headers()["a2a-extensions"].clone());
        response.headers_mut().insert("content-length", 1.into());
        response.extensions_mut().insert(7_u8);
        Ok::<_, BoxError>(response)
    });
    let mut request = post(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#);
    request.headers_mut().insert("a2a-extensions", "urn:x".parse().unwrap());
    let answer = JsonRpcLayer::new().layer(service).oneshot(request).await.unwrap();
    assert_eq!(answer.headers()["a2a-extensions"], "urn:x");
    assert!(!answer.headers().contains_key("content-length"));
    assert_eq!(answer.extensions().get(), Some(&7_u8));
}

#[tokio::test]
async fn readiness_is_the_inner_services_and_its_failure_an_answer() {
    let (mut service, mut handle) =
        mock::spawn_layer::<Request<Call>, Response<Encoded<Items>>, _>(JsonRpcLayer::new());
    handle.allow(0);
    tokio_test::assert_pending!(service.poll_ready());
    handle.send_error(Error::new(ErrorKind::Overloaded));
    tokio_test::assert_ready_ok!(service.poll_ready());
    for _ in 0..2 {
        let answer = service.call(post(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#)).await.unwrap();
        let (status, value) = envelope(answer);
        assert_eq!((status, &value["id"], &value["error"]["code"]), (200, &json!(1), &json!(-32603)));
    }
}

#[tokio::test]
async fn shed_load_becomes_an_answer() {
    #[derive(Clone)]
    struct Busy;
    impl Service<Request<Call>> for Busy {
        type Response = Response<Encoded<Items>>;
        type Error = BoxError;
        type Future = std::future::Ready<Result<Self::Response, BoxError>>;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Pending
        }
        fn call(&mut self, _: Request<Call>) -> Self::Future {
            std::future::ready(Err("called unready".into()))
        }
    }
    let service = ServiceBuilder::new().layer(JsonRpcLayer::new()).load_shed().service(Busy);
    let answer = service.oneshot(post(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#)).await.unwrap();
    assert_eq!(answer.headers()["retry-after"], "1");
    assert!(envelope(answer).1["error"]["message"].as_str().unwrap().starts_with("Too much"));
}
