use std::time::Duration;

use a2a_layers::{
    body::{BodyLayer, Gate as _},
    error::ErrorKind,
};
use http_body_util::Full;
use tower::ServiceBuilder;
use tower_test::mock;

use super::*;

async fn failing(uri: &str, error: fn() -> BoxError) -> Answer {
    let service = service_fn(move |_: Request<Call>| async move { Err::<Response<Encoded<Items>>, _>(error()) });
    RestLayer::new().layer(service).oneshot(request("GET", uri, &[], "")).await.unwrap()
}

#[tokio::test]
async fn f113_errors_have_the_status_and_the_form_of_their_version() {
    let error = || Error::task_not_found("t").into();
    let answer = failing("/tasks/t", error).await;
    assert_eq!(answer.extensions().get(), Some(&ErrorKind::TaskNotFound));
    assert_eq!(answer.headers()["content-type"], "application/a2a+json");
    let (status, value) = document(answer);
    assert_eq!((status, &value["error"]["status"], &value["code"]), (404, &json!("NOT_FOUND"), &Value::Null));
    let answer = failing("/v1/tasks/t", error).await;
    assert_eq!(answer.headers()["content-type"], "application/json");
    let (status, value) = document(answer);
    assert_eq!((status, &value["error"]["status"], &value["code"]), (404, &json!("NOT_FOUND"), &json!(-32001)));
    assert_eq!(value["message"], value["error"]["message"]);
}

#[tokio::test]
async fn f06_causes_are_not_sent() {
    for uri in ["/tasks", "/v1/tasks"] {
        let (status, value) = document(failing(uri, || "SELECT password FROM users".into()).await);
        assert_eq!((status, &value["error"]["message"]), (500, &json!("Internal error")));
        assert!(!value.to_string().contains("SELECT"));
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_404_and_other_verbs_are_told_which_there_are() {
    for uri in ["/", "/nothing", "/v1/nothing", "/tasks/t/other", "/v1", "*"] {
        assert_eq!(refused(RestLayer::new(), request("GET", uri, &[], "")).await.0, 404, "{uri}");
    }
    for (verb, uri, allow) in [
        ("GET", "/message:send", "POST, OPTIONS"),
        ("DELETE", "/tasks/t", "GET, HEAD, OPTIONS"),
        ("PUT", "/v1/tasks/t:subscribe", "GET, POST, OPTIONS"),
        ("TRACE", "/tasks/t/pushNotificationConfigs/c", "GET, HEAD, DELETE, OPTIONS"),
    ] {
        let answer = ask(RestLayer::new(), request(verb, uri, &[], "")).await;
        assert_eq!(answer.headers()["allow"], allow);
        let (status, value) = document(answer);
        assert_eq!((status, &value["error"]["code"]), (405, &json!(405)), "{uri}");
        let answer = ask(RestLayer::new(), request("OPTIONS", uri, &[], "")).await;
        assert_eq!((answer.status().as_u16(), &answer.headers()["allow"]), (204, &allow.parse().unwrap()));
    }
    assert_eq!(refused(RestLayer::new(), request("OPTIONS", "/nothing", &[], "")).await.0, 404);
}

#[tokio::test]
async fn a_body_of_another_type_is_refused_and_so_is_an_encoded_one() {
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "application/json5", "", "multipart/mixed"] {
        let call = request("POST", "/message:send", &[("content-type", media_type)], "{}");
        let (status, value) = refused(RestLayer::new(), call).await;
        assert_eq!((status, &value["error"]["details"][0]["reason"]), (400, &json!("CONTENT_TYPE_NOT_SUPPORTED")));
    }
    let call = request("POST", "/message:send", &[A2A_JSON, ("content-encoding", "gzip")], "{}");
    let answer = ask(RestLayer::new(), call).await;
    assert_eq!(answer.headers()["accept-encoding"], "identity");
    assert_eq!(document(answer).0, 415);
    // Where there is nothing to read, it does not matter.
    let call = request("GET", "/tasks", &[("content-type", "text/plain"), ("content-encoding", "gzip")], "");
    assert_eq!(ask(RestLayer::new(), call).await.status(), 200);
}

#[tokio::test]
async fn bad_percent_encoding_names_the_field() {
    for (uri, field) in [
        ("/tasks/%", "id"),
        ("/tasks/%ff:cancel", "id"),
        ("/%zz/tasks", "tenant"),
        ("/v1/tasks/t/pushNotificationConfigs/%c3", "configId"),
        ("/tasks?pageToken=%", "query"),
    ] {
        let verb = if uri.ends_with(":cancel") { "POST" } else { "GET" };
        let (status, value) = refused(RestLayer::new(), request(verb, uri, &[], "")).await;
        assert_eq!(
            (status, &value["error"]["details"][0]["fieldViolations"][0]["field"]),
            (400, &json!(field)),
            "{uri}"
        );
    }
}

#[tokio::test]
async fn overload_comes_with_retry_advice() {
    let error = || Error::new(ErrorKind::Overloaded).with_retry_after(Duration::from_secs(2)).into();
    let answer = failing("/tasks", error).await;
    assert_eq!((answer.status().as_u16(), &answer.headers()["retry-after"]), (503, &"2".parse().unwrap()));
}

#[tokio::test]
async fn readiness_is_the_inner_services_and_its_failure_an_answer() {
    let (mut service, mut handle) = mock::spawn_layer::<Request<Call>, Response<Encoded<Items>>, _>(RestLayer::new());
    handle.allow(0);
    tokio_test::assert_pending!(service.poll_ready());
    handle.send_error(Error::new(ErrorKind::Overloaded));
    tokio_test::assert_ready_ok!(service.poll_ready());
    for _ in 0..2 {
        let answer = service.call(request("GET", "/tasks", &[], "")).await.unwrap();
        assert_eq!(document(answer).0, 503);
    }
    // What is refused anyway is refused for what it is.
    assert_eq!(service.call(request("GET", "/nothing", &[], "")).await.unwrap().status(), 404);
}

#[tokio::test]
async fn as_a_gate_it_refuses_heads_and_words_refused_bodies() {
    let layer = RestLayer::new().base("/a");
    let head = |verb: &str, uri: &str| request(verb, uri, &[], "").into_parts().0;
    assert!(layer.routes().refuse_head(&head("POST", "/a/message:send")).is_none());
    assert_eq!(layer.routes().refuse_head(&head("POST", "/message:send")).unwrap().status(), 404);

    let stack = ServiceBuilder::new()
        .layer(BodyLayer::new().limit(4).gate(layer.routes()))
        .layer(layer)
        .service(service_fn(echo));
    for (uri, media_type, old) in
        [("/a/message:send", "application/a2a+json", false), ("/a/v1/message:send", "application/json", true)]
    {
        let call = Request::post(uri).body(Full::<Bytes>::from("too large")).unwrap();
        let answer = stack.clone().oneshot(call).await.unwrap();
        assert_eq!(answer.headers()["content-type"], media_type);
        let (status, value) = document(answer);
        assert_eq!((status, value["code"].is_number()), (413, old));
    }
}
