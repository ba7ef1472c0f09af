use bytes::Bytes;
use proptest::prelude::*;

mod writing;

use super::*;
use crate::{
    call::Binding,
    dialect::testing::{self, METHODS, arbitrary_message, json, message, sent, task},
    error::ErrorKind,
    operation::{ListTasksPage, OperationRequest, TaskView},
    task::LogEntry,
    types::{
        Artifact, Event, InlineBytes, Message, Part, PartContent, PushAuthentication, PushNotificationConfig, Role,
        TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
    },
};

fn decoded(method: &str, params: &str) -> Result<OperationRequest, Error> {
    testing::decoded(&V1_0::new(), method, params)
}

/// The complaint about the one part of a message.
fn part(part: &str) -> Result<Part, String> {
    let params = format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{part}]}}}}"#);
    testing::part(decoded("SendMessage", &params))
}

fn complaint(method: &str, params: &str) -> String {
    testing::complaint(decoded(method, params))
}

fn encoded(answer: &Answer) -> String {
    let mut out = b"before".to_vec();
    V1_0::new().encode(answer, &mut out).unwrap();
    String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
}

fn event(event: Event) -> String {
    let mut out = Vec::new();
    V1_0::new().encode_event(&StreamEvent::Logged(LogEntry::new(1, event)), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn b032_the_example_is_understood() {
    let send =
        sent(decoded("SendMessage", r#"{"message":{"role":"ROLE_USER","parts":[{"text":"hi"}],"messageId":"m1"}}"#));
    assert_eq!(*send.message, Message::user("hi").with_message_id("m1"));
    assert!(!send.configuration.return_immediately);
    assert_eq!(send.new_task_id, None);
}

#[test]
fn everything_that_a_send_may_say_is_read() {
    let params = r#"{
        "tenant": "acme", "unknown": [[1]],
        "message": {
            "messageId": "m", "role": 2, "contextId": "c", "taskId": "t", "parts": [{"text": "a"}, {"url": "http://x/y"}],
            "metadata": {"in": "message"}, "extensions": ["urn:e"], "referenceTaskIds": ["r"], "x-new": 1
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"], "historyLength": "3", "returnImmediately": true,
            "taskPushNotificationConfig": {"url": "https://hook", "token": "k", "id": "p",
                "authentication": {"scheme": "Bearer", "credentials": "s"}}
        },
        "metadata": {"in": "request"}
    }"#;
    let call = Call::new(Binding::JsonRpc, "SendStreamingMessage").with_params(params.to_owned());
    let operation = V1_0::new().decode(&call).unwrap();
    assert_eq!(operation.tenant().map(|tenant| &**tenant), Some("acme"));
    assert_eq!(operation.version(), ProtocolVersion::V1_0);
    assert_eq!(operation.kind(), OperationKind::SendStreamingMessage);
    let send = sent(Ok(operation.into_request()));
    assert_eq!(send.message.role, Role::Agent);
    assert_eq!(send.message.context_id.as_deref(), Some("c"));
    assert_eq!(send.message.task_id.as_deref(), Some("t"));
    assert_eq!(send.message.reference_task_ids, ["r"]);
    assert_eq!(send.message.extensions, ["urn:e"]);
    assert_eq!(send.message.metadata.as_ref().unwrap().get(), r#"{"in": "message"}"#);
    assert_eq!(send.metadata.unwrap().get(), r#"{"in": "request"}"#);
    assert_eq!(send.configuration.accepted_output_modes, ["text/plain"]);
    assert_eq!(send.configuration.history_length, Some(3));
    assert!(send.configuration.return_immediately);
    let push = send.configuration.push.unwrap();
    assert_eq!((push.url.as_str(), push.id.as_deref(), push.token.as_deref()), ("https://hook", Some("p"), Some("k")));
    assert_eq!(push.authentication.unwrap().schemes, ["Bearer"]);
}

#[test]
fn proto_names_are_as_good() {
    let params = r#"{"message":{"message_id":"m","role":"ROLE_USER","context_id":"c","task_id":"t",
        "parts":[{"text":"a","media_type":"text/plain"}],"reference_task_ids":["r"]},
        "configuration":{"accepted_output_modes":["x/y"],"history_length":0,"return_immediately":true,
        "task_push_notification_config":{"url":"u"}}}"#;
    let send = sent(decoded("SendMessage", params));
    assert_eq!((send.message.message_id.as_str(), send.message.context_id.as_deref()), ("m", Some("c")));
    assert_eq!(send.message.parts[0].media_type.as_deref(), Some("text/plain"));
    assert_eq!((send.configuration.history_length, send.configuration.return_immediately), (Some(0), true));
    assert!(send.configuration.push.is_some());
}

#[test]
fn b033_a_part_is_what_it_holds() {
    assert_eq!(part(r#"{"text":"a"}"#), Ok(Part::text("a")));
    assert_eq!(part(r#"{"raw":"AP8QgA=="}"#), Ok(Part::raw(&[0, 255, 16, 128][..])));
    let url = Part::url("http://x").with_filename("f").with_media_type("a/b");
    assert_eq!(part(r#"{"url":"http://x","filename":"f","mediaType":"a/b"}"#), Ok(url));
    for data in ["{\"a\":1}", "[1,2]", "\"x\"", "null", "0"] {
        assert_eq!(part(&format!("{{\"data\":{data}}}")), Ok(Part::data(json(data))), "s07: any JSON is data");
    }
}

#[test]
fn b034_a_kind_is_ignored() {
    assert_eq!(part(r#"{"kind":"text","text":"hi"}"#), Ok(Part::text("hi")));
    assert_eq!(part(r#"{"kind":5,"text":"hi"}"#), Ok(Part::text("hi")));
}

#[test]
fn f25_empty_placeholders_do_not_hide_the_payload() {
    assert_eq!(part(r#"{"text":"","url":"","data":{"k":1}}"#), Ok(Part::data(json(r#"{"k":1}"#))));
    assert_eq!(part(r#"{"text":"","raw":"","url":"http://x"}"#), Ok(Part::url("http://x")));
    assert_eq!(part(r#"{"text":"","data":null}"#), Ok(Part::data(json("null"))));
    assert_eq!(part(r#"{"text":null,"url":"http://x"}"#), Ok(Part::url("http://x")));
    assert_eq!(part(r#"{"text":""}"#), Ok(Part::text("")));
    assert_eq!(part(r#"{"raw":""}"#), Ok(Part::raw(Bytes::new())));
}

#[test]
fn f26_two_contents_or_none_are_refused() {
    let expected = Err("message.parts[0] must have exactly one of text, raw, url and data".to_owned());
    for text in [
        r#"{"text":"a","data":{"k":1}}"#,
        r#"{"text":"a","data":null}"#,
        r#"{"text":"a","url":"b"}"#,
        r#"{"text":"","url":""}"#,
        r#"{}"#,
        r#"{"kind":"x"}"#,
        r#"{"text":null}"#,
    ] {
        assert_eq!(part(text), expected, "{text}");
    }
}

#[test]
fn f27_what_is_required_is_required() {
    for (params, expected) in [
        ("{}", "message must be given"),
        (r#"{"message":null}"#, "message must be given"),
        (r#"{"message":{"role":"ROLE_USER","parts":[{"text":"a"}]}}"#, "message.messageId must be given"),
        (r#"{"message":{"messageId":"","role":1,"parts":[{"text":"a"}]}}"#, "message.messageId must not be empty"),
        (r#"{"message":{"messageId":"m","parts":[{"text":"a"}]}}"#, "message.role must be given"),
        (r#"{"message":{"messageId":"m","role":"user","parts":[{}]}}"#, "message.role must be ROLE_USER or ROLE_AGENT"),
        (r#"{"message":{"messageId":"m","role":0,"parts":[{}]}}"#, "message.role must be ROLE_USER or ROLE_AGENT"),
        (r#"{"message":{"messageId":"m","role":1}}"#, "message.parts must be given"),
        (r#"{"message":{"messageId":"m","role":1,"parts":[]}}"#, "message.parts must not be empty"),
        (r#"{"message":{"messageId":"m","role":1,"parts":[5]}}"#, "message.parts[0] must be an object"),
        (r#"{"message":{"messageId":"m","role":1,"parts":[null]}}"#, "message.parts[0] must be an object"),
        (r#"{"message":{"messageId":"m","role":1,"parts":{}}}"#, "message.parts must be an array"),
        (r#"{"message":{"messageId":"m","role":1,"parts":[{"text":1}]}}"#, "message.parts[0].text must be a string"),
        (r#"{"message":{"messageId":5}}"#, "message.messageId must be a string"),
        (
            r#"{"message":{"messageId":"m","role":1,"parts":[{"text":"a"},{"raw":"a b"}]}}"#,
            "message.parts[1].raw must be base64",
        ),
        (
            r#"{"message":{"messageId":"m","role":1,"parts":[{"text":"a"}]},"configuration":{"historyLength":-1}}"#,
            "configuration.historyLength must not be negative",
        ),
        (
            r#"{"message":{"messageId":"m","role":1,"parts":[{"text":"a"}],"metadata":[]}}"#,
            "message.metadata must be an object",
        ),
    ] {
        assert_eq!(complaint("SendMessage", params), expected, "{params}");
    }
}

#[test]
fn f58_an_empty_task_id_is_none() {
    let params = r#"{"message":{"messageId":"m","role":1,"taskId":"","contextId":"","parts":[{"text":"a"}]}}"#;
    let send = sent(decoded("SendMessage", params));
    assert_eq!((&send.message.task_id, &send.message.context_id), (&None, &None));
}

#[test]
fn base64_is_a_slice_of_the_body() {
    for (text, shares) in [("-_8AEA", true), (r"\u002b/8AEA==", false)] {
        let params = format!(r#"{{"message":{{"messageId":"m","role":1,"parts":[{{"raw":"{text}"}}]}}}}"#);
        let body = Bytes::from(params);
        let call = Call::new(Binding::JsonRpc, "SendMessage").with_params(body.clone());
        let send = sent(V1_0::new().decode(&call).map(Operation::into_request));
        drop(call);
        assert_eq!(!body.is_unique(), shares, "{text}");
        let expected = PartContent::Raw(InlineBytes::new(&[0xfb, 0xff, 0, 0x10][..]));
        assert_eq!(send.message.parts[0].content, expected);
    }
}

#[test]
fn b082_b083_b098_tasks_are_named_by_id() {
    let OperationRequest::GetTask(get) = decoded("GetTask", r#"{"id":"t","historyLength":2.0}"#).unwrap() else {
        panic!("not a get")
    };
    assert_eq!((&*get.id, get.history_length), ("t", Some(2)));
    let OperationRequest::CancelTask(cancel) = decoded("CancelTask", r#"{"id":"t","metadata":{"a":1}}"#).unwrap()
    else {
        panic!("not a cancel")
    };
    assert_eq!((&*cancel.id, cancel.metadata.unwrap().get()), ("t", r#"{"a":1}"#));
    let OperationRequest::SubscribeToTask(subscribe) = decoded("SubscribeToTask", r#"{"id":"t"}"#).unwrap() else {
        panic!("not a subscription")
    };
    assert_eq!(&*subscribe.id, "t");
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        assert_eq!(complaint(method, "{}"), "id must be given");
        assert_eq!(complaint(method, r#"{"id":""}"#), "id must not be empty");
        assert_eq!(complaint(method, r#"{"id":7}"#), "id must be a string");
    }
    assert_eq!(complaint("GetTask", r#"{"id":"t","historyLength":-1}"#), "historyLength must not be negative");
}

#[test]
fn f33_f34_lists_filter_by_state_and_time() {
    let params = r#"{"contextId":"c","status":"TASK_STATE_INPUT_REQUIRED","pageSize":100,"pageToken":"p",
        "historyLength":1,"statusTimestampAfter":"2026-01-01T02:00:00+02:00","includeArtifacts":true}"#;
    let OperationRequest::ListTasks(list) = decoded("ListTasks", params).unwrap() else { panic!("not a list") };
    assert_eq!((list.context_id.as_deref(), list.status), (Some("c"), Some(TaskState::InputRequired)));
    assert_eq!((list.page_size, list.page_token.as_deref(), list.history_length), (Some(100), Some("p"), Some(1)));
    assert_eq!(list.status_timestamp_after, Timestamp::parse("2026-01-01T00:00:00Z"));
    assert!(list.include_artifacts);
    for (status, expected) in [("\"TASK_STATE_UNSPECIFIED\"", None), ("0", None), ("3", Some(TaskState::Completed))] {
        let params = format!("{{\"status\":{status}}}");
        let OperationRequest::ListTasks(list) = decoded("ListTasks", &params).unwrap() else { panic!("not a list") };
        assert_eq!(list.status, expected);
    }
    for (params, expected) in [
        (r#"{"pageSize":0}"#, "pageSize must be from 1 to 100"),
        (r#"{"pageSize":101}"#, "pageSize must be from 1 to 100"),
        (r#"{"pageSize":-1}"#, "pageSize must be from 1 to 100"),
        (r#"{"status":"bogus"}"#, "status must be a task state, such as TASK_STATE_WORKING"),
        (r#"{"status":9}"#, "status must be a task state, such as TASK_STATE_WORKING"),
        (r#"{"historyLength":-5}"#, "historyLength must not be negative"),
        (
            r#"{"statusTimestampAfter":"yesterday"}"#,
            "statusTimestampAfter must be a timestamp, such as 2026-01-01T00:00:00Z",
        ),
        (r#"{"statusTimestampAfter":1767225600000}"#, "statusTimestampAfter must be a string"),
    ] {
        assert_eq!(complaint("ListTasks", params), expected, "{params}");
    }
}

#[test]
fn webhooks_are_flat_or_nested_as_in_0_3() {
    for params in [
        r#"{"taskId":"t","id":"p","url":"u","token":"k","authentication":{"scheme":"Bearer","credentials":"s"}}"#,
        r#"{"taskId":"t","pushNotificationConfig":{"id":"p","url":"u","token":"k",
            "authentication":{"schemes":["Bearer"],"credentials":"s"}}}"#,
    ] {
        let request = decoded("CreateTaskPushNotificationConfig", params).unwrap();
        let OperationRequest::CreatePushConfig(config) = request else { panic!("not a webhook") };
        assert_eq!(
            encoded(&Answer::PushConfig(config)),
            concat!(
                r#"{"id":"p","taskId":"t","url":"u","token":"k","authentication":"#,
                r#"{"scheme":"Bearer","credentials":"s"}}"#
            )
        );
    }
    for (method, params, expected) in [
        ("CreateTaskPushNotificationConfig", r#"{"url":"u"}"#, "taskId must be given"),
        ("CreateTaskPushNotificationConfig", r#"{"taskId":"t"}"#, "url must be given"),
        (
            "CreateTaskPushNotificationConfig",
            r#"{"taskId":"t","pushNotificationConfig":{}}"#,
            "pushNotificationConfig.url must be given",
        ),
        ("GetTaskPushNotificationConfig", r#"{"taskId":"t"}"#, "id must be given"),
        ("DeleteTaskPushNotificationConfig", r#"{"id":"p"}"#, "taskId must be given"),
        ("ListTaskPushNotificationConfigs", r#"{"taskId":"t","pageSize":-1}"#, "pageSize must not be negative"),
    ] {
        assert_eq!(complaint(method, params), expected);
    }
    let request = decoded("ListTaskPushNotificationConfigs", r#"{"taskId":"t","pageSize":0}"#).unwrap();
    let OperationRequest::ListPushConfigs(of) = request else { panic!("not a list") };
    assert_eq!((&*of.task_id, of.page_size), ("t", None));
}

#[test]
fn the_extended_card_needs_no_params() {
    let call = Call::new(Binding::JsonRpc, "GetExtendedAgentCard");
    assert_eq!(V1_0::new().decode(&call).unwrap().kind(), OperationKind::GetExtendedAgentCard);
    let operation = V1_0::new().decode(&call.with_params(r#"{"tenant":"a"}"#)).unwrap();
    assert_eq!(operation.tenant().map(|tenant| &**tenant), Some("a"));
    assert_eq!(complaint("GetExtendedAgentCard", "[]"), "params must be an object");
}

#[test]
fn b114_names_of_other_versions_are_unknown() {
    for method in ["message/send", "tasks/get", "tasks/send", "", "foo", "sendMessage"] {
        let error = decoded(method, "[]").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MethodNotFound, "{method}");
        assert_eq!(V1_0::new().operation(method), None);
    }
}

proptest! {
    #[test]
    fn messages_come_back_as_they_went(message in arbitrary_message()) {
        let text = encoded(&Answer::SentMessage(message.clone().into()));
        let read = sent(decoded("SendMessage", &text)).message;
        prop_assert_eq!(&*read, &message);
    }

    #[test]
    fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        testing::survives(&V1_0::new(), &METHODS, &bytes);
    }

    #[test]
    fn any_json_gets_an_answer(text in testing::arbitrary_params()) {
        testing::survives(&V1_0::new(), &METHODS, text.as_bytes());
    }
}
