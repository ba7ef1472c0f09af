//! One function for every decoder that reads bytes of strangers, and what must hold of whatever it is given.
//! The fuzz targets of `tests/fuzz` call the same functions.

use std::str;

use a2a_layers::{
    call::{Binding, Call},
    dialect::{Dialect, V0_3, V0_3Rest, V1_0},
    encoded::{Encoded, Frame},
    error::Error,
    json_rpc::JsonRpcLayer,
    operation::ProtocolVersion,
    owner::Owner,
    rest::RestLayer,
    task::{ListQuery, MemoryTaskStore, StoreError, TaskStore},
    types::{InlineBytes, Json},
};
use bytes::Bytes;
use futures_util::{FutureExt, stream};
use http::{Request, Response};
use serde::{Deserialize, de::IgnoredAny};
use tower::{Layer, ServiceExt, service_fn};

const V0_3_METHODS: [&str; 13] = [
    "message/send",
    "message/stream",
    "tasks/get",
    "tasks/cancel",
    "tasks/resubscribe",
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
    "agent/getAuthenticatedExtendedCard",
    "tasks/send",
    "tasks/sendSubscribe",
    "no/such/method",
];

const V1_0_METHODS: [&str; 12] = [
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
    "NoSuchMethod",
];

/// A JSON text is kept as it came, or refused.
pub fn json(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(json) = Json::parse(text) {
        assert_eq!(json.get(), text.trim_matches([' ', '\t', '\r', '\n']));
        assert!(serde_json::from_str::<IgnoredAny>(json.get()).is_ok());
        assert!(Json::parse(json.get()).is_ok());
    }
}

/// What is said of base64 without decoding it is true.
pub fn base64(data: &[u8]) {
    let inline = InlineBytes::from_base64(data.to_vec());
    let decoded = inline.decode();
    assert_eq!(inline.is_valid(), decoded.is_some());
    if let Some(decoded) = decoded {
        assert_eq!(inline.len(), decoded.len());
        assert_eq!(InlineBytes::from_base64(inline.to_base64()).decode(), Some(decoded));
    }
}

/// The first byte chooses the method, the rest are the parameters.
pub fn v0_3(data: &[u8]) {
    dialect(&V0_3::default(), &V0_3_METHODS, data);
}

/// The first byte chooses the method, the rest are the parameters.
pub fn v1_0(data: &[u8]) {
    dialect(&V1_0::default(), &V1_0_METHODS, data);
}

/// The first byte chooses the method, the rest are the parameters.
pub fn v0_3_rest(data: &[u8]) {
    dialect(&V0_3Rest::default(), &V0_3_METHODS[..10], data);
}

fn dialect(dialect: &impl Dialect, methods: &[&str], data: &[u8]) {
    let Some((choice, params)) = data.split_first() else { return };
    let method = methods[usize::from(*choice) % methods.len()];
    let call = Call::new(Binding::JsonRpc, method).with_params(Bytes::copy_from_slice(params));
    match dialect.decode(&call) {
        Ok(_) => assert!(dialect.operation(method).is_some(), "{method} is unknown, yet it was read"),
        Err(error) => {
            assert!(
                error.code() < -32000 && error.code() != -32603,
                "{method}: the caller is at fault, not the server: {error:?}"
            );
            if let Some(details) = dialect.error_data(&error) {
                assert!(Json::parse(details.get()).is_ok());
            }
            // A message may repeat a name that the caller gave, whatever it is.
            for leak in ["at line", "::", "serde", "expected"] {
                let message = error.message();
                assert!(
                    !message.contains(leak) || contains(params, leak),
                    "{method}: {message:?} tells how it is made"
                );
            }
        }
    }
}

fn contains(data: &[u8], text: &str) -> bool {
    data.windows(text.len()).any(|window| window == text.as_bytes())
}

#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    result: Option<IgnoredAny>,
    error: Option<ErrorObject>,
}

#[derive(Deserialize)]
struct ErrorObject {
    code: i64,
}

/// Any body gets one envelope, with a result or with an error that says who was at fault.
pub fn json_rpc(data: &[u8]) {
    type NoStream = stream::Empty<Result<Frame, Error>>;
    let inner = service_fn(|_: Request<Call>| async {
        Ok::<_, Error>(Response::new(Encoded::<NoStream>::Document(Bytes::from_static(b"true"))))
    });
    let request = Request::post("/").header("content-type", "application/json").body(Bytes::copy_from_slice(data));
    let answer = JsonRpcLayer::new().layer(inner).oneshot(request.unwrap()).now_or_never();
    let response = answer.expect("nothing to wait for").unwrap();
    assert_eq!(response.status(), 200);
    let Encoded::Document(document) = response.into_body() else { panic!("nothing streams") };
    let envelope: Envelope = serde_json::from_slice(&document).expect("an envelope");
    assert_eq!(envelope.jsonrpc, "2.0");
    assert_ne!(envelope.result.is_some(), envelope.error.is_some());
    if let Some(error) = envelope.error {
        assert!([-32700, -32600, -32602].contains(&error.code), "code {}", error.code);
    }
}

/// The first byte chooses the verb, the rest is what follows the host in a URI: it gets a call or a refusal of the right
/// form.
pub fn rest(data: &[u8]) {
    type NoStream = stream::Empty<Result<Frame, Error>>;
    let Some((choice, target)) = data.split_first() else { return };
    let verb = ["GET", "POST", "DELETE", "HEAD", "PUT"][usize::from(*choice) % 5];
    let Ok(request) = Request::builder().method(verb).uri(target).body(Bytes::new()) else { return };
    let inner = service_fn(|request: Request<Call>| async move {
        let call = request.into_body();
        if let Some(params) = call.params() {
            assert!(serde_json::from_slice::<IgnoredAny>(params).is_ok(), "{params:?}");
        }
        let known = if call.version().is_some() {
            V0_3Rest::default().operation(call.method())
        } else {
            V1_0::default().operation(call.method())
        };
        assert!(known.is_some(), "{}", call.method());
        Ok::<_, Error>(Response::new(Encoded::<NoStream>::Document(Bytes::from_static(b"true"))))
    });
    let answer = RestLayer::new().layer(inner).oneshot(request).now_or_never();
    let response = answer.expect("nothing to wait for").unwrap();
    let status = response.status().as_u16();
    assert!([200, 400, 404, 405].contains(&status), "{status}");
    let Encoded::Document(document) = response.into_body() else { panic!("nothing streams") };
    let document: serde_json::Value = serde_json::from_slice(&document).expect("a document");
    assert!(status == 200 || document["error"]["code"] == status, "{document}");
}

/// A version is two numbers, whatever else is said; what was read reads the same when it is written.
pub fn version(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Some(version) = ProtocolVersion::parse(text) {
        let written = format!("{}.{}", version.major(), version.minor());
        assert_eq!(ProtocolVersion::parse(&written), Some(version));
    }
}

/// A page token is one that the store has written, or it is refused.
pub fn cursor(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let mut query = ListQuery::new(10);
    query.page_token = Some(text.to_owned());
    let store = MemoryTaskStore::new();
    match store.list(&Owner::anonymous(), &query).now_or_never().expect("nothing to wait for") {
        Ok(page) => assert!(page.tasks.is_empty()),
        Err(error) => assert!(matches!(error, StoreError::BadToken), "{error:?}"),
    }
}
