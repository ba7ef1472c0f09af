//! What the tests of the dialects share.

use proptest::prelude::*;

use super::Dialect;
use crate::{
    call::{Binding, Call},
    error::{Error, ErrorKind},
    operation::{Operation, OperationRequest, SendMessage},
    types::{Artifact, Json, Message, Part, Role, Task, TaskState, Timestamp},
};

/// Every method of every version.
pub(super) const METHODS: [&str; 24] = [
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
    "message/send",
    "message/stream",
    "tasks/get",
    "tasks/list",
    "tasks/cancel",
    "tasks/resubscribe",
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
    "agent/getAuthenticatedExtendedCard",
    "tasks/send",
    "tasks/sendSubscribe",
];

pub(super) fn decoded(dialect: &dyn Dialect, method: &str, params: &str) -> Result<OperationRequest, Error> {
    let call = Call::new(Binding::JsonRpc, method).with_params(params.to_owned());
    dialect.decode(&call).map(Operation::into_request)
}

pub(super) fn sent(request: Result<OperationRequest, Error>) -> SendMessage {
    match request.unwrap() {
        OperationRequest::SendMessage(send) | OperationRequest::SendStreamingMessage(send) => send,
        other => panic!("{other:?}"),
    }
}

/// The words of a refusal, behind those of its kind.
pub(super) fn complaint(request: Result<OperationRequest, Error>) -> String {
    let error = request.unwrap_err();
    assert_eq!((error.code(), error.violations().len()), (-32602, 1));
    error.message().strip_prefix("Invalid parameters: ").unwrap().to_owned()
}

/// The first part of what was sent.
pub(super) fn part(request: Result<OperationRequest, Error>) -> Result<Part, String> {
    if request.is_err() { Err(complaint(request)) } else { Ok(sent(request).message.parts[0].clone()) }
}

/// Whatever comes gets an operation, or an error of the right code that tells nothing of the inside.
pub(super) fn survives(dialect: &dyn Dialect, methods: &[&str], params: &[u8]) {
    for method in methods {
        let call = Call::new(Binding::JsonRpc, *method).with_params(params.to_vec());
        if let Err(error) = dialect.decode(&call) {
            assert!(matches!(error.kind(), ErrorKind::InvalidParams | ErrorKind::MethodNotFound));
            let message = error.message();
            assert!(!message.contains(" at line ") && !message.contains("::"), "{message}");
            let _ = dialect.error_data(&error);
        }
    }
}

pub(super) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

pub(super) fn message() -> Message {
    let file = Part::raw(&[0, 255, 16, 128][..]).with_filename("f.bin").with_media_type("a/b");
    let parts = vec![file, Part::url("http://x"), Part::data(json("[1, 2]"))];
    Message::new(Role::User, parts).with_message_id("m1").with_context_id("c1").with_task_id("t1")
}

pub(crate) fn task() -> Task {
    let mut task = Task::new("t1", "c1", TaskState::Completed);
    task.status.timestamp = Some(Timestamp::from_millis(0));
    task.artifacts.push(Artifact::new("a1", vec![Part::text("hello")]).with_name("n").into());
    task.history.push(message().into());
    task
}

fn arbitrary_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[a-z\\\\\"\n\u{2028}é]{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map("[a-z]{0,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

pub(super) fn arbitrary_part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        "\\PC{0,20}".prop_map(Part::text),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Part::raw),
        "https://[a-z/\u{2028}]{1,10}".prop_map(Part::url),
        arbitrary_json().prop_map(Part::data),
    ];
    let metadata = proptest::option::of(proptest::collection::btree_map("[a-z]{1,4}", arbitrary_json(), 1..3));
    (content, metadata, proptest::option::of("[a-z.]{1,8}"), proptest::option::of("[a-z]{1,4}/[a-z]{1,4}")).prop_map(
        |(mut part, metadata, filename, media_type)| {
            part.metadata = metadata.map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into());
            part.filename = filename;
            part.media_type = media_type;
            part
        },
    )
}

pub(crate) fn arbitrary_message() -> impl Strategy<Value = Message> {
    let ids = ("\\PC{1,12}", proptest::option::of("[a-z]{1,8}"), proptest::option::of("[a-z]{1,8}"));
    let parts = proptest::collection::vec(arbitrary_part(), 1..5);
    let lists = (proptest::collection::vec("[a-z:]{0,8}", 0..3), proptest::collection::vec("[a-z:]{0,8}", 0..3));
    (ids, any::<bool>(), parts, lists).prop_map(|((id, context, task), user, parts, (extensions, references))| {
        let mut message = Message::new(if user { Role::User } else { Role::Agent }, parts).with_message_id(id);
        message.context_id = context.map(Into::into);
        message.task_id = task.map(Into::into);
        message.extensions = extensions;
        message.reference_task_ids = references;
        message
    })
}

/// Objects whose members have the names that matter and any values.
pub(super) fn arbitrary_params() -> impl Strategy<Value = String> {
    let names = "message|messageId|message_id|role|parts|kind|type|text|raw|url|data|file|bytes|uri|id|taskId|metadata\
        |configuration|historyLength|blocking|pageSize|status|pushNotificationConfig|authentication|schemes";
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1e999".to_owned()),
        Just("\"\\ud800\"".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        Just("\"user\"".to_owned()),
        Just("1".to_owned()),
        Just("\"text\"".to_owned()),
        Just("\"file\"".to_owned()),
        "\"[a-z=+/ ]{0,4}\"",
    ];
    let value = leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            4 => proptest::collection::vec((names, inner), 0..5).prop_map(|members| {
                let members: Vec<_> = members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    value.prop_map(|value| format!(r#"{{"id":"t","message":{value}}}"#))
}
