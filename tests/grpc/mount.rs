//! A mount that serves gRPC beside the rest, on one port.

use std::{convert::Infallible, net::SocketAddr};

use a2a_layers::{
    agent_card::PublicUrl,
    grpc::proto::{
        v0_3::a2a_service_client::A2aServiceClient as OldClient,
        v1_0::{self as wire, a2a_service_client::A2aServiceClient as Client},
    },
    owner::Owner,
    part::Input,
    server::{A2aService, ConfigError, Mount, Mounts, Settings, serve},
};
use bytes::Bytes;
use http::{Request, header::AUTHORIZATION};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tonic::Code;
use tower::{ServiceBuilder, ServiceExt as _, service_fn};

use crate::support::{channel, send, shown, state, task};

async fn echo(request: Request<Input>) -> Result<String, Infallible> {
    Ok(format!("heard: {}", request.body().text()))
}

fn mount(
    id: &str,
) -> Mount<
    a2a_layers::part::Parts<
        impl Clone
        + tower::Service<Request<Input>, Response = String, Error = Infallible, Future: Send>
        + Send
        + Sync
        + 'static,
    >,
> {
    Mount::new(id, service_fn(echo)).url("http://agents.example:8080/a2a")
}

/// A layer outside knows callers by a header, whatever the binding.
fn know_owner<B>(mut request: Request<B>) -> Request<B> {
    if let Some(name) = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()) {
        let owner = Owner::new(name);
        request.extensions_mut().insert(owner);
    }
    request
}

async fn start(service: A2aService<hyper::body::Incoming>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, ServiceBuilder::new().map_request(know_owner).service(service)));
    address
}

async fn json_rpc(address: SocketAddr, method: &str, params: Value) -> Value {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    serde_json::from_slice(&json_rpc_bytes(address, call.to_string()).await).unwrap()
}

async fn json_rpc_bytes(address: SocketAddr, call: String) -> Bytes {
    use hyper_util::{client::legacy::Client, rt::TokioExecutor};
    let request = Request::post(format!("http://{address}/a2a"))
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(Full::<Bytes>::from(call))
        .unwrap();
    let client = Client::builder(TokioExecutor::new()).build_http();
    client.request(request).await.unwrap().into_body().collect().await.unwrap().to_bytes()
}

#[tokio::test]
async fn a_task_is_the_same_over_every_binding() {
    let address = start(mount("echo").grpc().build().unwrap()).await;
    let channel = channel(address).await;
    let mut client = Client::new(channel.clone());
    let sent = task(client.send_message(send("hi")).await.unwrap().into_inner());
    assert_eq!((state(&sent), &*shown(&sent)), (wire::TaskState::Completed, "heard: hi"));

    let got = json_rpc(address, "GetTask", json!({ "id": sent.id })).await;
    assert_eq!(got["result"]["artifacts"][0]["parts"][0]["text"], "heard: hi");
    let old = a2a_layers::grpc::proto::v0_3::GetTaskRequest { name: format!("tasks/{}", sent.id), history_length: 0 };
    assert_eq!(OldClient::new(channel).get_task(old).await.unwrap().into_inner().id, sent.id);
}

#[tokio::test]
async fn a_number_beyond_floats_spoils_neither_its_task_nor_a_list() {
    let address = start(mount("echo").grpc().build().unwrap()).await;
    let message = r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}],"metadata":{"n":1e999}}"#;
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{message}}}}}"#);
    // This binding gives it back as it came, which no float of a test could hold.
    let sent = String::from_utf8(json_rpc_bytes(address, call).await.to_vec()).unwrap();
    assert!(sent.contains("TASK_STATE_COMPLETED") && sent.contains("1e999"), "{sent}");

    let mut client = Client::new(channel(address).await);
    let list = client.list_tasks(wire::ListTasksRequest::default()).await.unwrap().into_inner();
    assert_eq!(list.tasks.len(), 1);
    let metadata = list.tasks[0].history[0].metadata.clone().unwrap();
    assert_eq!(metadata.to_json().unwrap().get(), r#"{"n":1.7976931348623157e+308}"#);
}

#[tokio::test]
async fn a_long_name_does_not_hide_the_code() {
    let address = start(mount("echo").grpc().build().unwrap()).await;
    let mut client = Client::new(channel(address).await);
    for length in [10_000, 1_000_000] {
        let request = wire::GetTaskRequest { id: "x".repeat(length), ..Default::default() };
        assert_eq!(client.get_task(request).await.unwrap_err().code(), Code::NotFound, "{length}");
    }
}

#[tokio::test]
async fn media_types_of_grpc_are_its_own_in_any_case() {
    for (kind, status) in [("application/grpc", 200), ("Application/gRPC+Proto", 200), ("APPLICATION/GRPC-WEB", 415)] {
        let service: A2aService<Full<Bytes>> = mount("echo").grpc().build().unwrap();
        let request = Request::post("/lf.a2a.v1.A2AService/GetTask").header("content-type", kind);
        let response = service.oneshot(request.body(Full::default()).unwrap()).await.unwrap();
        assert_eq!(response.status(), status, "{kind}");
        assert_eq!(response.headers().contains_key("grpc-status"), status == 200, "{kind}");
    }
}

#[tokio::test]
async fn owners_are_kept_apart() {
    let address = start(mount("echo").grpc().build().unwrap()).await;
    let mut client = Client::new(channel(address).await);
    let as_owner = |owner: &str, id: &str| {
        let mut request = tonic::Request::new(wire::GetTaskRequest { id: id.into(), ..Default::default() });
        request.metadata_mut().insert("authorization", owner.parse().unwrap());
        request
    };
    let mut request = tonic::Request::new(send("hi"));
    request.metadata_mut().insert("authorization", "alice".parse().unwrap());
    let sent = task(client.send_message(request).await.unwrap().into_inner());
    assert!(client.get_task(as_owner("alice", &sent.id)).await.is_ok());
    assert_eq!(client.get_task(as_owner("bob", &sent.id)).await.unwrap_err().code(), Code::NotFound);
}

async fn card(service: A2aService<Full<Bytes>>) -> Value {
    let request = Request::get("/.well-known/agent-card.json").body(Full::default()).unwrap();
    let body = service.oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

#[tokio::test]
async fn the_card_names_the_address_as_clients_dial_it() {
    let both = card(mount("echo").grpc().build().unwrap()).await;
    let new: Vec<_> =
        both["supportedInterfaces"].as_array().unwrap().iter().filter(|one| one["protocolBinding"] == "GRPC").collect();
    assert_eq!((&new[0]["url"], &new[0]["protocolVersion"]), (&json!("agents.example:8080"), &json!("1.0")));
    let old = both["additionalInterfaces"].as_array().unwrap();
    assert!(old.contains(&json!({ "url": "agents.example:8080", "transport": "GRPC" })), "{old:?}");
    assert_eq!(both["preferredTransport"], "JSONRPC");

    let elsewhere = card(mount("echo").grpc().grpc_url("https://grpc.example").build().unwrap()).await;
    let text = elsewhere.to_string();
    assert!(text.contains("\"grpc.example:443\"") && !text.contains("\"https://grpc.example\""), "{text}");

    let without = card(mount("echo").build().unwrap()).await.to_string();
    assert!(!without.contains("GRPC"), "{without}");
    assert!(mount("echo").grpc().grpc_url("nowhere").build::<Full<Bytes>>().is_err());
}

#[tokio::test]
async fn behind_a_proxy_the_address_is_the_proxys_in_both_versions() {
    let public = PublicUrl::from_x_forwarded("http://agents.example:8080");
    let service = mount("echo").grpc().public_url(public).build().unwrap();
    let request = Request::get("/.well-known/agent-card.json")
        .header("x-forwarded-proto", "https")
        .header("x-forwarded-host", "public.example")
        .body(Full::<Bytes>::default())
        .unwrap();
    let body = service.oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&body);
    assert!(!text.contains("agents.example"), "{text}");
    let card: Value = serde_json::from_slice(&body).unwrap();
    for (interfaces, binding, count) in
        [("supportedInterfaces", "protocolBinding", 2), ("additionalInterfaces", "transport", 1)]
    {
        let named = card[interfaces].as_array().unwrap().iter().filter(|one| one[binding] == "GRPC");
        let addresses: Vec<_> = named.map(|one| one["url"].as_str().unwrap()).collect();
        assert_eq!(addresses, vec!["public.example:443"; count], "{text}");
    }
}

#[tokio::test]
async fn a_pinned_mount_speaks_its_version_alone() {
    let address = start(mount("echo").settings(Settings::strict_0_3().grpc(true)).build().unwrap()).await;
    let mut client = Client::new(channel(address).await);
    assert_eq!(client.send_message(send("hi")).await.unwrap_err().code(), Code::Unimplemented);
}

#[tokio::test]
async fn one_mount_of_several_has_grpc() {
    let first = || mount("first").grpc().build::<Full<Bytes>>().unwrap();
    let second = Mount::new("second", service_fn(echo)).url("http://agents.example/second").card_path("/second/card");
    let error = Mounts::new().mount(first()).unwrap().mount(second.grpc().build().unwrap()).unwrap_err();
    assert!(matches!(error, ConfigError::PathTaken { .. }), "{error}");
    assert!(first().paths().contains(&"/lf.a2a.v1.A2AService".to_owned()));
}

#[tokio::test]
async fn limits_are_those_of_the_mount() {
    let body = a2a_layers::body::BodyLayer::new().limit(100);
    let address = start(mount("echo").body(body).grpc().build().unwrap()).await;
    let mut client = Client::new(channel(address).await);
    assert!(client.send_message(send("hi")).await.is_ok());
    let status = client.send_message(send(&"x".repeat(200))).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
}

#[tokio::test]
async fn media_types_are_those_of_grpc_in_any_case() {
    let service = mount("echo").grpc().build::<Full<Bytes>>().unwrap();
    for (kind, status, answered) in [
        ("application/grpc", 200, Some("application/grpc")),
        ("Application/GRPC+proto", 200, Some("application/grpc")),
        // In the words of gRPC, and not of JSON-RPC.
        ("application/grpc-web", 415, None),
        ("application/grpc+json", 415, None),
    ] {
        let request = Request::post("/lf.a2a.v1.A2AService/GetTask").header("content-type", kind);
        let response = service.clone().oneshot(request.body(Full::default()).unwrap()).await.unwrap();
        let media_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        assert_eq!((response.status().as_u16(), media_type), (status, answered), "{kind}");
    }
}

#[tokio::test]
async fn files_are_base64_in_0_3_if_the_mount_says_so() {
    use a2a_layers::grpc::proto::v0_3::{self as old, file_part::File, part::Part, send_message_response::Payload};
    let answer = async |settings: Settings, sent: &'static str| {
        let mirror = service_fn(|request: Request<std::sync::Arc<a2a_layers::types::Message>>| async move {
            let file = request.body().parts[0].clone();
            Ok::<_, Infallible>(a2a_layers::types::Message::agent(file))
        });
        let mount = Mount::messages("mirror", mirror).url("http://agents.example/").settings(settings.grpc(true));
        let mut client =
            OldClient::new(channel(start(mount.reply(a2a_layers::task::ReplyMode::Auto).build().unwrap()).await).await);
        let file = old::FilePart { file: Some(File::FileWithBytes(sent.into())), ..Default::default() };
        let message = old::Message {
            message_id: "m".into(),
            role: wire::Role::User.into(),
            content: vec![old::Part { part: Some(Part::File(file)), metadata: None }],
            ..Default::default()
        };
        let configuration = old::SendMessageConfiguration { blocking: true, ..Default::default() };
        let request =
            old::SendMessageRequest { request: Some(message), configuration: Some(configuration), metadata: None };
        match client.send_message(request).await.map(|answer| answer.into_inner().payload) {
            Ok(Some(Payload::Msg(message))) => match message.content[0].part.clone() {
                Some(Part::File(old::FilePart { file: Some(File::FileWithBytes(bytes)), .. })) => Ok(bytes),
                other => panic!("no file: {other:?}"),
            },
            Ok(other) => panic!("no message: {other:?}"),
            Err(status) => Err(status.code()),
        }
    };
    assert_eq!(answer(Settings::strict(), "no base64!").await, Ok(Bytes::from("no base64!")));
    assert_eq!(answer(Settings::strict().base64_files(true), "AP8Q").await, Ok(Bytes::from("AP8Q")));
    assert_eq!(answer(Settings::strict().base64_files(true), "no base64!").await, Err(Code::InvalidArgument));
}

#[cfg(feature = "grpc-health")]
#[tokio::test]
async fn health_says_what_serves() {
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    let address = start(mount("echo").grpc().grpc_health(true).build().unwrap()).await;
    let mut client = HealthClient::new(channel(address).await);
    for service in ["", "lf.a2a.v1.A2AService", "a2a.v1.A2AService"] {
        let request = HealthCheckRequest { service: service.into() };
        assert_eq!(client.check(request).await.unwrap().into_inner().status, 1, "{service}");
    }
    let unknown = HealthCheckRequest { service: "other".into() };
    assert_eq!(client.check(unknown).await.unwrap_err().code(), Code::NotFound);
}

#[cfg(feature = "grpc-health")]
#[tokio::test(start_paused = true)]
async fn health_waits_for_a_message_as_long_as_the_agent_does() {
    let body = a2a_layers::body::BodyLayer::new().read_deadline(std::time::Duration::from_secs(3));
    let service = mount("echo").body(body).grpc().grpc_health(true).build().unwrap();
    let silent = futures_util::stream::pending::<Result<http_body::Frame<Bytes>, Infallible>>();
    for path in ["/grpc.health.v1.Health/Check", "/lf.a2a.v1.A2AService/GetTask"] {
        let request = Request::post(path).header("content-type", "application/grpc");
        let request = request.body(http_body_util::StreamBody::new(silent.clone())).unwrap();
        let begun = tokio::time::Instant::now();
        let response = service.clone().oneshot(request).await.unwrap();
        let status = tonic::Status::from_header_map(response.headers()).unwrap();
        assert_eq!((status.code(), begun.elapsed().as_secs()), (Code::DeadlineExceeded, 3), "{path}");
    }
}

#[cfg(feature = "grpc-reflection")]
#[tokio::test]
async fn reflection_shows_the_packages() {
    use prost_reflect::prost::Message as _;
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let address = start(mount("echo").grpc().grpc_reflection(true).build().unwrap()).await;
    let mut client = ServerReflectionClient::new(channel(address).await);
    let mut ask = async |request| {
        let request = ServerReflectionRequest { host: String::new(), message_request: Some(request) };
        let mut stream =
            client.server_reflection_info(futures_util::stream::iter([request])).await.unwrap().into_inner();
        stream.message().await.unwrap().unwrap().message_response.unwrap()
    };
    let MessageResponse::ListServicesResponse(list) = ask(MessageRequest::ListServices(String::new())).await else {
        panic!("no list")
    };
    let names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    for name in ["lf.a2a.v1.A2AService", "a2a.v1.A2AService"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    for (symbol, package) in [
        ("lf.a2a.v1.A2AService", "lf.a2a.v1"),
        ("lf.a2a.v1.A2AService.SendMessage", "lf.a2a.v1"),
        ("a2a.v1.Task", "a2a.v1"),
    ] {
        let MessageResponse::FileDescriptorResponse(files) =
            ask(MessageRequest::FileContainingSymbol(symbol.into())).await
        else {
            panic!("no file for {symbol}")
        };
        let file = prost_reflect::prost_types::FileDescriptorProto::decode(&*files.file_descriptor_proto[0]).unwrap();
        assert_eq!(file.package(), package);
        assert_eq!(file.service[0].name(), "A2AService");
        let methods = file.service[0].method.iter().map(|method| method.name());
        assert!(methods.into_iter().any(|name| name == "SendStreamingMessage"), "{symbol}");
    }
}

#[tokio::test]
async fn it_is_served_whether_it_is_asked_for_before_the_settings_or_after() {
    for mount in [
        mount("echo").grpc().settings(Settings::strict()),
        mount("echo").settings(Settings::strict()).grpc(),
        mount("echo").grpc().settings(Settings::strict().grpc(false)),
        mount("echo").settings(Settings::strict().grpc(true)),
    ] {
        let address = start(mount.build().unwrap()).await;
        let sent = Client::new(channel(address).await).send_message(send("hi")).await;
        assert_eq!(state(&task(sent.unwrap().into_inner())), wire::TaskState::Completed);
    }
}

#[tokio::test]
async fn what_is_not_offered_is_refused_for_that_whatever_the_message_lacks() {
    let address = start(mount("echo").streaming(false).grpc().build().unwrap()).await;
    let mut client = Client::new(channel(address).await);
    let push = client.create_task_push_notification_config(wire::TaskPushNotificationConfig::default()).await;
    let stream = client.send_streaming_message(wire::SendMessageRequest::default()).await;
    for status in [push.map(drop).unwrap_err(), stream.map(drop).unwrap_err()] {
        assert_eq!(status.code(), Code::FailedPrecondition, "{status:?}");
    }
    let send = client.send_message(wire::SendMessageRequest::default()).await;
    assert_eq!(send.unwrap_err().code(), Code::InvalidArgument);
}
