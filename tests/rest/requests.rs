use super::*;

#[tokio::test]
async fn a_path_is_a_call_in_the_names_of_its_version() {
    let none = Value::Null;
    for (verb, uri, method, path) in [
        ("POST", "/message:send", "SendMessage", json!([null, null, null])),
        ("POST", "/acme/message:stream?x=1", "SendStreamingMessage", json!(["acme", null, null])),
        ("GET", "/tasks", "ListTasks", json!([null, null, null])),
        ("GET", "/tasks/a%2Fb", "GetTask", json!([null, "a/b", null])),
        ("POST", "/acme/tasks/t:cancel", "CancelTask", json!(["acme", "t", null])),
        ("GET", "/tasks/t:subscribe", "SubscribeToTask", json!([null, "t", null])),
        ("POST", "/tasks/t/pushNotificationConfigs", "CreateTaskPushNotificationConfig", json!([null, "t", null])),
        ("DELETE", "/tasks/t/pushNotificationConfigs/c", "DeleteTaskPushNotificationConfig", json!([null, "t", "c"])),
        ("GET", "/extendedAgentCard", "GetExtendedAgentCard", json!([null, null, null])),
        ("POST", "/v1/message:send", "message/send", json!([null, null, null])),
        ("GET", "/v1/tasks", "tasks/list", json!([null, null, null])),
        ("POST", "/v1/tasks/t:subscribe", "tasks/resubscribe", json!([null, "t", null])),
        ("GET", "/v1/tasks/t/pushNotificationConfigs/c", "tasks/pushNotificationConfig/get", json!([null, "t", "c"])),
        ("GET", "/v1/card", "agent/getAuthenticatedExtendedCard", json!([null, null, null])),
    ] {
        let expected = json!({ "method": method, "params": none, "old": uri.starts_with("/v1"), "path": path });
        assert_eq!(seen(verb, uri).await, expected, "{uri}");
    }
}

#[tokio::test]
async fn a_base_path_is_taken_off() {
    for base in ["/agents/echo", "/agents/echo/"] {
        for uri in ["/agents/echo/message:send", "/agents/echo/v1/message:send", "/agents/echo/acme/message:send"] {
            let answer = ask(RestLayer::new().base(base), request("POST", uri, &[], "")).await;
            assert_eq!(answer.status(), 200, "{uri}");
        }
        for uri in ["/message:send", "/agents/echomessage:send", "/agents/echo", "/agents/echo/", "/agents"] {
            let answer = ask(RestLayer::new().base(base), request("POST", uri, &[], "")).await;
            assert_eq!(answer.status(), 404, "{uri}");
        }
    }
}

#[tokio::test]
async fn f111_a_post_works_without_a_body_and_without_a_type() {
    for body in ["", " \r\n", "null", " null "] {
        for headers in [&[][..], &[A2A_JSON], &[("content-type", "text/plain"), ("content-length", "0")]] {
            let call = request("POST", "/tasks/t:cancel", headers, body);
            let (status, seen) = document(ask(RestLayer::new(), call).await);
            assert_eq!((status, &seen["params"]), (200, &Value::Null), "{body:?} {headers:?}");
        }
    }
    let call = request("POST", "/tasks/t:cancel", &[], r#"{"metadata":{}}"#);
    assert_eq!(document(ask(RestLayer::new(), call).await).1["params"], r#"{"metadata":{}}"#);
}

#[tokio::test]
async fn f112_both_media_types_are_taken_and_the_versions_is_given() {
    for media_type in
        ["application/json", "application/a2a+json", "Application/JSON; charset=utf-8", "application/a2a+json;x=y"]
    {
        let call = || request("POST", "/message:send", &[("content-type", media_type)], "{}");
        let answer = ask(RestLayer::new(), call()).await;
        assert_eq!((answer.status().as_u16(), &answer.headers()["content-type"]), (200, &A2A_JSON.1.parse().unwrap()));
        let answer = ask(RestLayer::new().plain_json(true), call()).await;
        assert_eq!(answer.headers()["content-type"], "application/json");
    }
    let answer = ask(RestLayer::new(), request("POST", "/v1/message:send", &[A2A_JSON], "{}")).await;
    assert_eq!(answer.headers()["content-type"], "application/json");
}

#[tokio::test]
async fn f115_the_query_is_the_parameters_of_what_has_no_body() {
    for (uri, expected) in [
        ("/tasks?pageSize=2&include_artifacts=true&A2A-Version=1.0", r#"{"pageSize":"2","includeArtifacts":true}"#),
        ("/tasks/t?historyLength=0&after=3", r#"{"historyLength":"0"}"#),
        ("/tasks/t/pushNotificationConfigs?pageToken=a%20b", r#"{"pageToken":"a b"}"#),
        ("/v1/tasks/t?history_length=1", r#"{"historyLength":"1"}"#),
    ] {
        assert_eq!(seen("GET", uri).await["params"], expected, "{uri}");
    }
    // What has a body says everything there.
    let call = request("POST", "/message:send?tenant=a&historyLength=3", &[], r#"{"x":1}"#);
    assert_eq!(document(ask(RestLayer::new(), call).await).1["params"], r#"{"x":1}"#);
    // The one thing that stands beside the body in the proto of 0.3.
    let call = request("POST", "/v1/tasks/t/pushNotificationConfigs?configId=c%201", &[], "{}");
    assert_eq!(document(ask(RestLayer::new(), call).await).1["path"], json!([null, "t", "c 1"]));
    let call = request("POST", "/tasks/t/pushNotificationConfigs?configId=c", &[], "{}");
    assert_eq!(document(ask(RestLayer::new(), call).await).1["path"], json!([null, "t", null]));
}

#[tokio::test]
async fn the_inner_services_head_is_kept_and_so_is_the_callers() {
    let service = service_fn(|request: Request<Call>| async move {
        let mut response = Response::new(Encoded::<Items>::Document("1".into()));
        response.headers_mut().insert("a2a-extensions", request.headers()["a2a-extensions"].clone());
        response.extensions_mut().insert(request.extensions().get::<u8>().copied());
        Ok::<_, BoxError>(response)
    });
    let mut call = request("GET", "/tasks", &[("a2a-extensions", "urn:x")], "");
    call.extensions_mut().insert(7_u8);
    let answer = RestLayer::new().layer(service).oneshot(call).await.unwrap();
    assert_eq!(answer.headers()["a2a-extensions"], "urn:x");
    assert_eq!(answer.extensions().get(), Some(&Some(7_u8)));
}
