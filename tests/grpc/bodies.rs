//! Bytes that are no call, and bytes that are too many.

use std::time::Duration;

use a2a_layers::{
    dialect::MAX_ELEMENTS,
    grpc::{Grpc, GrpcLayer, proto::v1_0 as wire},
};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody};
use proptest::prelude::*;
use prost::Message as _;
use tonic::Code;
use tower::ServiceExt as _;

use crate::support::{message, operations, part, send};

const SEND: &str = "/lf.a2a.v1.A2AService/SendMessage";

fn framed(message: &[u8]) -> Vec<u8> {
    let mut body = vec![0];
    body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend(message);
    body
}

fn request(path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let request = Request::post(path).header("content-type", "application/grpc").header("te", "trailers");
    request.body(Full::from(body.into())).unwrap()
}

async fn call<B>(layer: GrpcLayer, request: Request<B>) -> (Response<()>, HeaderMap)
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<a2a_layers::error::BoxError>,
{
    let (head, body) = Grpc::new(operations(), layer).oneshot(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned().unwrap_or_default();
    (Response::from_parts(head, ()), trailers)
}

/// The status, wherever it stands.
async fn status(layer: GrpcLayer, request: Request<Full<Bytes>>) -> (Code, String) {
    let (response, trailers) = call(layer, request).await;
    assert_eq!(response.status(), StatusCode::OK);
    let headers = if trailers.contains_key("grpc-status") { &trailers } else { response.headers() };
    let status = tonic::Status::from_header_map(headers).expect("there is no status");
    (status.code(), status.message().to_owned())
}

#[tokio::test]
async fn what_is_no_message_is_an_invalid_argument() {
    let whole = framed(&send("hi").encode_to_vec());
    assert_eq!(status(GrpcLayer::new(), request(SEND, whole.clone())).await.0, Code::Ok);
    let twice = [whole.clone(), whole.clone()].concat();
    let mut wrong_flag = whole.clone();
    wrong_flag[0] = 7;
    for (body, words) in [
        (vec![], "there must be a message"),
        (vec![0, 0, 0], "there must be a message"),
        (whole[..whole.len() - 1].to_vec(), "one whole message"),
        (twice, "one whole message"),
        (wrong_flag, "flag"),
        (framed(&[0xff; 20]), "Protobuf"),
        (framed(&[0x12, 0x7f, 0x00]), "Protobuf"),
        // A text that is no UTF-8.
        (framed(&[0x0a, 0x01, 0xff]), "Protobuf"),
        // Groups, without end.
        (framed(&[0x0b; 1000]), "Protobuf"),
        // JSON, as of one who took the wrong door.
        (framed(br#"{"jsonrpc":"2.0"}"#), "Protobuf"),
    ] {
        let (code, message) = status(GrpcLayer::new(), request(SEND, body.clone())).await;
        assert_eq!(code, Code::InvalidArgument, "{body:?}: {message}");
        assert!(message.contains(words), "{body:?}: {message}");
    }
}

#[tokio::test]
async fn compressed_messages_are_not_implemented() {
    let mut body = framed(&send("hi").encode_to_vec());
    body[0] = 1;
    assert_eq!(status(GrpcLayer::new(), request(SEND, body)).await.0, Code::Unimplemented);
}

#[tokio::test]
async fn unknown_methods_are_not_implemented() {
    for path in ["/lf.a2a.v1.A2AService/Nothing", "/a2a.v1.A2AService/ListTasks", "/other.Service/SendMessage", "/"] {
        let (code, message) = status(GrpcLayer::new(), request(path, framed(&[]))).await;
        assert_eq!(code, Code::Unimplemented, "{path}");
        assert!(message.contains(path), "{message}");
    }
}

#[tokio::test]
async fn a_version_that_is_not_served_is_not_implemented() {
    use a2a_layers::operation::ProtocolVersion;
    let layer = GrpcLayer::new().only(ProtocolVersion::V0_3);
    let body = framed(&send("hi").encode_to_vec());
    assert_eq!(status(layer, request(SEND, body)).await.0, Code::Unimplemented);
}

#[tokio::test]
async fn what_is_not_grpc_is_told_in_http() {
    let body = || Full::<Bytes>::from(framed(&[]));
    let json = Request::post(SEND).header("content-type", "application/json").body(body()).unwrap();
    assert_eq!(call(GrpcLayer::new(), json).await.0.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let get = Request::get(SEND).header("content-type", "application/grpc").body(body()).unwrap();
    let (response, _) = call(GrpcLayer::new(), get).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()["allow"], "POST");
}

#[tokio::test]
async fn messages_have_a_limit() {
    let message = send(&"x".repeat(1000)).encode_to_vec();
    let size = message.len();
    for (limit, expected) in [(size, Code::Ok), (size - 1, Code::ResourceExhausted)] {
        let layer = GrpcLayer::new().limit(limit);
        let (code, words) = status(layer, request(SEND, framed(&message))).await;
        assert_eq!(code, expected, "{limit}");
        assert!(code == Code::Ok || words.ends_with(&format!("at most {limit} bytes are read")), "{words}");
        // It is the same for one that does not say how large it is.
        let pieces = framed(&message).chunks(100).map(Bytes::copy_from_slice).collect::<Vec<_>>();
        let frames = pieces.into_iter().map(|piece| Ok::<_, std::convert::Infallible>(http_body::Frame::data(piece)));
        let unsized_body = request(SEND, vec![]).map(|_| StreamBody::new(futures_util::stream::iter(frames)));
        let (response, trailers) = call(layer, unsized_body).await;
        let headers = if trailers.is_empty() { response.headers() } else { &trailers };
        assert_eq!(tonic::Status::from_header_map(headers).unwrap().code(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_never_comes_has_a_deadline() {
    let body = StreamBody::new(futures_util::stream::pending::<Result<http_body::Frame<Bytes>, std::io::Error>>());
    let silent = request(SEND, vec![]).map(|_| body);
    let begun = tokio::time::Instant::now();
    let (response, _) = call(GrpcLayer::new().read_deadline(Duration::from_secs(3)), silent).await;
    let status = tonic::Status::from_header_map(response.headers()).unwrap();
    assert_eq!((status.code(), begun.elapsed().as_secs()), (Code::DeadlineExceeded, 3));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_invalid_argument() {
    let frames = [Ok(http_body::Frame::data(Bytes::from_static(&[0, 0, 0]))), Err(std::io::Error::other("reset"))];
    let body = request(SEND, vec![]).map(|_| StreamBody::new(futures_util::stream::iter(frames)));
    let (response, _) = call(GrpcLayer::new(), body).await;
    let status = tonic::Status::from_header_map(response.headers()).unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(!status.message().contains("reset"));
}

#[tokio::test]
async fn elements_have_a_limit() {
    // The message has two more fields, and the request that one.
    for (count, expected) in [(MAX_ELEMENTS - 3, Code::Ok), (MAX_ELEMENTS - 2, Code::InvalidArgument)] {
        let parts = (0..count).map(|_| part("")).collect();
        let request_message =
            wire::SendMessageRequest { message: Some(wire::Message { parts, ..message("") }), ..Default::default() };
        let (code, words) = status(GrpcLayer::new(), request(SEND, framed(&request_message.encode_to_vec()))).await;
        assert_eq!(code, expected, "{count}: {words}");
        // A group, which readers skip, is one more field and hides nothing.
        let grouped = [vec![0x7b, 0x7c], request_message.encode_to_vec()].concat();
        let (code, words) = status(GrpcLayer::new(), request(SEND, framed(&grouped))).await;
        let refused = code == Code::InvalidArgument && words.contains("10000 elements");
        assert!(refused, "{count}: {words}");
    }
}

#[tokio::test]
async fn schemes_of_a_webhook_are_elements_too() {
    use a2a_layers::grpc::proto::v0_3 as old;

    let webhook = |count| old::PushNotificationConfig {
        url: "https://x.example".into(),
        authentication: Some(old::AuthenticationInfo { schemes: vec![String::new(); count], ..Default::default() }),
        ..Default::default()
    };
    for (count, is_refused) in [(1000, false), (MAX_ELEMENTS, true)] {
        let configuration =
            old::SendMessageConfiguration { push_notification: Some(webhook(count)), ..Default::default() };
        let send = old::SendMessageRequest { configuration: Some(configuration), ..Default::default() };
        let config =
            old::TaskPushNotificationConfig { push_notification_config: Some(webhook(count)), ..Default::default() };
        let create = old::CreateTaskPushNotificationConfigRequest {
            parent: "tasks/t".into(),
            config: Some(config),
            ..Default::default()
        };
        for (method, body) in
            [("SendMessage", send.encode_to_vec()), ("CreateTaskPushNotificationConfig", create.encode_to_vec())]
        {
            let request = request(&format!("/a2a.v1.A2AService/{method}"), framed(&body));
            let (_, words) = status(GrpcLayer::new(), request).await;
            assert_eq!(words.contains("10000 elements"), is_refused, "{method}: {words}");
        }
    }
}

#[tokio::test]
async fn deep_data_is_refused_and_not_followed() {
    let mut value = vec![0x08, 0];
    for _ in 0..2000 {
        let mut list = vec![0x0a];
        prost::encoding::encode_varint(value.len() as u64, &mut list);
        list.extend(&value);
        value = vec![0x32];
        prost::encoding::encode_varint(list.len() as u64, &mut value);
        value.extend(&list);
    }
    let data = a2a_layers::grpc::proto::Value::decode(&*value).unwrap();
    let deep = wire::Part { content: Some(wire::part::Content::Data(data)), ..Default::default() };
    let request_message = wire::SendMessageRequest {
        message: Some(wire::Message { parts: vec![deep], ..message("") }),
        ..Default::default()
    };
    let (code, words) = status(GrpcLayer::new(), request(SEND, framed(&request_message.encode_to_vec()))).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(words.contains("message.parts[0].data is nested deeper than 100 levels"), "{words}");
}

#[tokio::test]
async fn a_malformed_timeout_is_an_invalid_argument() {
    let mut bad = request(SEND, framed(&send("hi").encode_to_vec()));
    bad.headers_mut().insert("grpc-timeout", "soon".parse().unwrap());
    assert_eq!(status(GrpcLayer::new(), bad).await.0, Code::InvalidArgument);
}

const METHODS: [&str; 5] = [
    SEND,
    "/a2a.v1.A2AService/SendMessage",
    "/lf.a2a.v1.A2AService/ListTasks",
    "/lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig",
    "/a2a.v1.A2AService/CreateTaskPushNotificationConfig",
];

fn hostile_code(path: &str, body: Vec<u8>) -> Code {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(status(GrpcLayer::new(), request(path, body))).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever comes, it is the caller's fault.
    #[test]
    fn any_bytes_are_answered(bytes: Vec<u8>, is_framed: bool) {
        for path in METHODS {
            let code = hostile_code(path, if is_framed { framed(&bytes) } else { bytes.clone() });
            prop_assert!(!matches!(code, Code::Internal | Code::Unknown), "{path}: {code:?}");
        }
    }

    /// A call with some of its bytes changed.
    #[test]
    fn damaged_calls_are_answered(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let metadata = a2a_layers::types::Json::parse(r#"{"a":[1,{"b":null}]}"#).unwrap().into_object().unwrap();
        let metadata = Some(a2a_layers::grpc::proto::Struct::from_json(&metadata).unwrap());
        let mut bytes = wire::SendMessageRequest { metadata, ..send("hi") }.encode_to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let code = hostile_code(SEND, framed(&bytes));
        prop_assert!(!matches!(code, Code::Internal | Code::Unknown), "{code:?}");
    }
}
