use proptest::prelude::*;

use super::*;
use crate::{
    call::Binding,
    dialect::testing::{self, METHODS, arbitrary_message, json, sent, task},
    error::ErrorKind,
    operation::{ListTasksPage, OperationRequest, SendMessage, TaskView},
    task::LogEntry,
    types::{
        Artifact, Event, Message, Part, PartContent, Role, TaskArtifactUpdateEvent, TaskState, TaskStatus,
        TaskStatusUpdateEvent,
    },
};

fn decoded(method: &str, params: &str) -> Result<OperationRequest, Error> {
    testing::decoded(&V0_3::new(), method, params)
}

fn part(part: &str) -> Result<Part, String> {
    let params = format!(r#"{{"message":{{"messageId":"m","role":"user","parts":[{part}]}}}}"#);
    testing::part(decoded("message/send", &params))
}

fn complaint(method: &str, params: &str) -> String {
    testing::complaint(decoded(method, params))
}

fn encoded(dialect: &V0_3, answer: &Answer) -> String {
    let mut out = Vec::new();
    dialect.encode(answer, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn event(dialect: &V0_3, event: Event) -> String {
    let mut out = Vec::new();
    dialect.encode_event(&StreamEvent::Logged(LogEntry::new(1, event)), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn legacy(dialect: &V0_3, method: &str, params: &str) -> SendMessage {
    sent(testing::decoded(dialect, method, params))
}

#[test]
fn b031_the_example_is_understood() {
    for method in ["message/send", "message/stream"] {
        let params =
            r#"{"message":{"role":"user","parts":[{"kind":"text","text":"hi"}],"messageId":"m1","kind":"message"}}"#;
        let send = sent(decoded(method, params));
        assert_eq!(*send.message, Message::user("hi").with_message_id("m1"));
        assert!(!send.configuration.return_immediately, "who says nothing waits");
    }
}

#[test]
fn everything_that_a_send_may_say_is_read() {
    let params = r#"{
        "message": {
            "kind": "message", "messageId": "m", "role": "agent", "contextId": "c", "taskId": "t",
            "parts": [{"kind": "text", "text": "a", "metadata": {"p": 1}, "type": 5}],
            "metadata": {"in": "message"}, "extensions": ["urn:e"], "referenceTaskIds": ["r"], "x-new": 1
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"], "historyLength": 3, "blocking": false,
            "pushNotificationConfig": {"url": "https://hook", "token": "k", "id": "p",
                "authentication": {"schemes": ["Bearer", "Basic"], "credentials": "s"}}
        },
        "metadata": {"in": "request"}
    }"#;
    let send = sent(decoded("message/send", params));
    assert_eq!(send.message.role, Role::Agent);
    assert_eq!((send.message.context_id.as_deref(), send.message.task_id.as_deref()), (Some("c"), Some("t")));
    assert_eq!(
        (&send.message.reference_task_ids, &send.message.extensions),
        (&vec!["r".into()], &vec!["urn:e".into()])
    );
    assert_eq!(send.message.parts[0].metadata.as_ref().unwrap().get(), r#"{"p": 1}"#);
    assert_eq!(send.message.metadata.as_ref().unwrap().get(), r#"{"in": "message"}"#);
    assert_eq!(send.metadata.unwrap().get(), r#"{"in": "request"}"#);
    assert_eq!(send.configuration.accepted_output_modes, ["text/plain"]);
    assert_eq!((send.configuration.history_length, send.configuration.return_immediately), (Some(3), true));
    let push = send.configuration.push.unwrap();
    assert_eq!((push.url.as_str(), push.id.as_deref(), push.token.as_deref()), ("https://hook", Some("p"), Some("k")));
    assert_eq!(push.authentication.unwrap().schemes, ["Bearer", "Basic"]);
}

#[test]
fn v069_v070_v071_parts_are_told_apart_by_kind() {
    assert_eq!(part(r#"{"text":"x","kind":"text"}"#), Ok(Part::text("x")), "f28: kind may come last");
    let inline = Part::raw(&b"Hello"[..]).with_filename("a.txt").with_media_type("text/plain");
    for key in ["bytes", "fileWithBytes"] {
        let text = format!(r#"{{"kind":"file","file":{{"mimeType":"text/plain","name":"a.txt","{key}":"SGVsbG8="}}}}"#);
        assert_eq!(part(&text), Ok(inline.clone()));
    }
    let by_url = Part::url("https://example.com/a.pdf").with_filename("a.pdf").with_media_type("application/pdf");
    for key in ["uri", "fileWithUri"] {
        let file = format!(r#"{{"mimeType":"application/pdf","name":"a.pdf","{key}":"https://example.com/a.pdf"}}"#);
        assert_eq!(part(&format!(r#"{{"kind":"file","file":{file}}}"#)), Ok(by_url.clone()));
    }
    let data = Part::data(json(r#"{"key":"value","count":42}"#));
    assert_eq!(part(r#"{"kind":"data","data":{"key":"value","count":42}}"#), Ok(data));
}

#[test]
fn b116_b117_f28_f40_odd_parts_are_refused() {
    for (text, expected) in [
        ("{}", ".kind must be given"),
        (r#"{"text":"x"}"#, ".kind must be given"),
        (r#"{"type":"text","text":"x"}"#, ".kind must be given"),
        (r#"{"kind":"x"}"#, ".kind must be text, file or data"),
        (r#"{"kind":null,"text":"x"}"#, ".kind must be given"),
        (r#"{"kind":5}"#, ".kind must be a string"),
        (r#"{"kind":"text"}"#, ".text must be given"),
        (r#"{"kind":"data"}"#, ".data must be given"),
        (r#"{"kind":"data","data":[1]}"#, ".data must be an object"),
        (r#"{"kind":"data","data":"x"}"#, ".data must be an object"),
        (r#"{"kind":"data","data":1}"#, ".data must be an object"),
        (r#"{"kind":"data","data":null}"#, ".data must be given"),
        (r#"{"kind":"file"}"#, ".file must be given"),
        (r#"{"kind":"file","file":"x"}"#, ".file must be an object"),
        (r#"{"kind":"file","file":{"name":"x"}}"#, ".file must have either bytes or uri"),
        (r#"{"kind":"file","file":{"bytes":"AA==","uri":"http://x"}}"#, ".file must have either bytes or uri"),
        (r#"{"kind":"file","file":{"bytes":"","uri":""}}"#, ".file must have either bytes or uri"),
        (r#"{"kind":"file","file":{"uri":""}}"#, ".file.uri must not be empty"),
        (r#"{"kind":"file","file":{"bytes":"A"}}"#, ".file.bytes must be base64"),
    ] {
        assert_eq!(part(text), Err(format!("message.parts[0]{expected}")), "{text}");
    }
    assert_eq!(part(r#"{"kind":"file","file":{"bytes":"","uri":"http://x"}}"#), Ok(Part::url("http://x")));
}

#[test]
fn f21_f27_what_is_required_is_required() {
    for (params, expected) in [
        ("{}", "message must be given"),
        (r#"{"message":{"role":"user","parts":[{"kind":"text","text":"a"}]}}"#, "message.messageId must be given"),
        (r#"{"message":{"messageId":"","role":"user","parts":[{}]}}"#, "message.messageId must not be empty"),
        (r#"{"message":{"messageId":"m","parts":[]}}"#, "message.role must be given"),
        (r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}"#, "message.role must be user or agent"),
        (r#"{"message":{"messageId":"m","role":"user"}}"#, "message.parts must be given"),
        (r#"{"message":{"messageId":"m","role":"user","parts":[]}}"#, "message.parts must not be empty"),
        (r#"{"message":{"kind":"task","messageId":"m","role":"user","parts":[]}}"#, "message.kind must be message"),
        (r#"{"message":{"messageId":"m","role":"user","taskId":5,"parts":[]}}"#, "message.taskId must be a string"),
        (
            r#"{"message":{"message_id":"m","role":"user","parts":[{"kind":"text","text":"a"}]}}"#,
            "message.messageId must be given",
        ),
        (r#"{"configuration":{"historyLength":"3"}}"#, "configuration.historyLength must be a 32-bit integer"),
        (r#"{"configuration":{"blocking":"no"}}"#, "configuration.blocking must be a boolean"),
    ] {
        assert_eq!(complaint("message/send", params), expected, "{params}");
    }
}

#[test]
fn c15_v025_ids_are_made_up_only_where_that_is_set() {
    let params = r#"{"message":{"role":"user","parts":[{"kind":"text","text":"hi"}]}}"#;
    assert_eq!(complaint("message/send", params), "message.messageId must be given");
    let lenient = V0_3::new().generated_message_ids(true);
    let one = legacy(&lenient, "message/send", params).message;
    let other = legacy(&lenient, "message/send", &params.replace(r#""role":"user""#, r#""messageId":"""#)).message;
    assert_eq!((one.role, other.role), (Role::User, Role::User));
    assert!(!one.message_id.is_empty() && !other.message_id.is_empty() && one.message_id != other.message_id);
    let without_parts = testing::decoded(&lenient, "message/send", r#"{"message":{"role":"user"}}"#);
    assert_eq!(testing::complaint(without_parts), "message.parts must be given");
}

#[test]
fn b082_b090_b098_b120_tasks_are_named_by_id() {
    let OperationRequest::GetTask(get) = decoded("tasks/get", r#"{"id":"t","historyLength":0}"#).unwrap() else {
        panic!("not a get")
    };
    assert_eq!((&*get.id, get.history_length), ("t", Some(0)));
    for (method, kind) in [
        ("tasks/get", OperationKind::GetTask),
        ("tasks/cancel", OperationKind::CancelTask),
        ("tasks/resubscribe", OperationKind::SubscribeToTask),
    ] {
        assert_eq!(decoded(method, r#"{"id":"<taskId>"}"#).unwrap().kind(), kind);
        assert_eq!(complaint(method, "{}"), "id must be given");
        assert_eq!(complaint(method, r#"{"id":5}"#), "id must be a string");
        assert_eq!(complaint(method, r#"{"id":""}"#), "id must not be empty");
        assert_eq!(complaint(method, "[1,2]"), "params must be an object");
        let bare = V0_3::new().decode(&Call::new(Binding::JsonRpc, method));
        assert_eq!(testing::complaint(bare.map(Operation::into_request)), "params must be given");
    }
}

#[test]
fn webhooks_are_nested() {
    let text = concat!(
        r#"{"taskId":"t","pushNotificationConfig":{"id":"p","url":"u","token":"k","#,
        r#""authentication":{"schemes":["Bearer"],"credentials":"s"}}}"#
    );
    let request = decoded("tasks/pushNotificationConfig/set", text).unwrap();
    let OperationRequest::CreatePushConfig(config) = request else { panic!("not a webhook") };
    let v0_3 = V0_3::new();
    assert_eq!(encoded(&v0_3, &Answer::PushConfig(config.clone())), text);
    assert_eq!(encoded(&v0_3, &Answer::PushConfigs(vec![*config])), format!("[{text}]"));
    assert_eq!(encoded(&v0_3, &Answer::PushConfigDeleted), "null");
    let OperationRequest::GetPushConfig(of) = decoded("tasks/pushNotificationConfig/get", r#"{"id":"t"}"#).unwrap()
    else {
        panic!("not a get")
    };
    assert_eq!((&*of.task_id, of.config_id), ("t", None));
    for (method, params, expected) in [
        ("set", r#"{"pushNotificationConfig":{"url":"u"}}"#, "taskId must be given"),
        ("set", r#"{"taskId":"t"}"#, "pushNotificationConfig must be given"),
        ("set", r#"{"taskId":"t","pushNotificationConfig":{}}"#, "pushNotificationConfig.url must be given"),
        ("list", "{}", "id must be given"),
        ("delete", r#"{"id":"t"}"#, "pushNotificationConfigId must be given"),
    ] {
        assert_eq!(complaint(&format!("tasks/pushNotificationConfig/{method}"), params), expected);
    }
}

#[test]
fn b114_f19_other_methods_are_unknown() {
    let names = ["SendMessage", "ListTasks", "tasks/list", "tasks/pushNotification/set", "foo", ""];
    for method in names {
        assert_eq!(decoded(method, "[]").unwrap_err().kind(), ErrorKind::MethodNotFound, "{method}");
    }
    let strict = V0_3::new().legacy_methods(false);
    for method in ["tasks/send", "tasks/sendSubscribe"] {
        assert!(V0_3::new().operation(method).is_some());
        assert_eq!(strict.operation(method), None);
        let error = testing::decoded(&strict, method, "{}").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MethodNotFound);
    }
}

#[test]
fn v026_v033_s13_the_aliases_take_the_params_of_message_send() {
    let params = r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"a"}]},
        "configuration":{"blocking":false}}"#;
    for (method, kind) in
        [("tasks/send", OperationKind::SendMessage), ("tasks/sendSubscribe", OperationKind::SendStreamingMessage)]
    {
        assert_eq!(decoded(method, params).unwrap().kind(), kind);
        let send = legacy(&V0_3::new(), method, params);
        assert_eq!((send.new_task_id, send.configuration.return_immediately), (None, true));
        let without_id = params.replace(r#""messageId":"m","#, "");
        assert_eq!(complaint(method, &without_id), "message.messageId must be given");
        let lenient = V0_3::new().generated_message_ids(true);
        assert_eq!(legacy(&lenient, method, &without_id).message.text(), "a");
    }
}

#[test]
fn s13_the_aliases_take_the_params_of_0_1() {
    let params = r#"{"id":"mine","sessionId":"s","historyLength":2,"metadata":{"a":1},
        "pushNotification":{"url":"https://hook","authentication":{"schemes":["Bearer"]}},
        "message":{"role":"user","parts":[{"type":"text","text":"a"},{"kind":"text","text":"b"},
        {"type":"file","file":{"uri":"http://x"}},{"type":"data","data":{"k":1}}]}}"#;
    let send = legacy(&V0_3::new(), "tasks/send", params);
    assert_eq!((send.new_task_id.as_deref(), send.message.context_id.as_deref()), (Some("mine"), Some("s")));
    assert_eq!((send.message.text().as_str(), send.message.parts.len()), ("a\nb", 4));
    assert!(!send.message.message_id.is_empty() && send.message.task_id.is_none());
    assert_eq!(send.configuration.history_length, Some(2));
    assert_eq!(send.configuration.push.unwrap().url, "https://hook");
    assert_eq!(send.metadata.unwrap().get(), r#"{"a":1}"#);
    assert_eq!(complaint("tasks/send", r#"{"id":""}"#), "id must not be empty");
    assert_eq!(complaint("tasks/send", r#"{"id":"a"}"#), "message must be given");
    let without_role = r#"{"id":"a","message":{"parts":[{"type":"text","text":"a"}]}}"#;
    assert_eq!(complaint("tasks/send", without_role), "message.role must be given");
    let odd = r#"{"id":"a","message":{"role":"user","parts":[{"type":5}]}}"#;
    assert_eq!(complaint("tasks/send", odd), "message.parts[0].kind must be given");
}

#[test]
fn b007_results_are_bare_and_told_apart_by_kind() {
    let expected = concat!(
        r#"{"kind":"task","id":"t1","contextId":"c1","status":{"state":"completed","#,
        r#""timestamp":"1970-01-01T00:00:00.000Z"},"#,
        r#""artifacts":[{"artifactId":"a1","name":"n","parts":[{"kind":"text","text":"hello"}]}],"#,
        r#""history":[{"kind":"message","messageId":"m1","role":"user","parts":["#,
        r#"{"kind":"file","file":{"bytes":"AP8QgA==","mimeType":"a/b","name":"f.bin"}},"#,
        r#"{"kind":"file","file":{"uri":"http://x"}},"#,
        r#"{"kind":"data","data":{"value":[1, 2]},"metadata":{"data_part_compat":true}}],"#,
        r#""contextId":"c1","taskId":"t1"}]}"#
    );
    let v0_3 = V0_3::new();
    assert_eq!(encoded(&v0_3, &Answer::Task(TaskView::new(task()))), expected);
    assert_eq!(encoded(&v0_3, &Answer::SentTask(TaskView::new(task()))), expected);
    let message = Message::agent("hi").with_message_id("m");
    let expected = r#"{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hi"}]}"#;
    assert_eq!(encoded(&v0_3, &Answer::SentMessage(message.into())), expected);
    let cut = TaskView::new(task()).without_artifacts().with_history_length(Some(0));
    let expected = concat!(
        r#"{"kind":"task","id":"t1","contextId":"c1","status":"#,
        r#"{"state":"completed","timestamp":"1970-01-01T00:00:00.000Z"}}"#
    );
    assert_eq!(encoded(&v0_3, &Answer::Task(cut)), expected);
    assert!(v0_3.encode(&Answer::Tasks(ListTasksPage::new(Vec::new(), 1, 0)), &mut Vec::new()).is_err());
    assert_eq!(v0_3.error_data(&Error::task_not_found("t")), None, "b109: a code and a message");
}

#[test]
fn f24_final_is_said_where_the_caller_has_to_act_or_all_is_over() {
    for state in TaskState::ALL {
        let mut status = TaskStatus::new(state);
        status.timestamp = None;
        let update = TaskStatusUpdateEvent::new("t".into(), "c".into(), status);
        let last = state.is_terminal() || state == TaskState::InputRequired;
        assert_eq!(
            event(&V0_3::new(), Event::StatusUpdate(update)),
            format!(
                r#"{{"kind":"status-update","taskId":"t","contextId":"c","status":{{"state":"{state}"}},"final":{last}}}"#
            )
        );
    }
}

#[test]
fn c07_c13_v042_artifacts_in_the_ways_of_old_clients() {
    let artifact = Artifact::new("artifact-1", vec![Part::text("x"), Part::url("http://x"), Part::raw(&b"a"[..])]);
    let update = Event::ArtifactUpdate(TaskArtifactUpdateEvent::new("t".into(), "c".into(), artifact));
    let text = |uri: &str, bytes: &str, index: &str| {
        format!(
            concat!(
                r#"{{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{{"artifactId":"artifact-1","#,
                r#""parts":[{{"kind":"text","text":"x"}},{{"kind":"file","file":{{"{}":"http://x"}}}},"#,
                r#"{{"kind":"file","file":{{"{}":"YQ=="}}}}]{}}},"append":false,"lastChunk":false}}"#
            ),
            uri, bytes, index
        )
    };
    assert_eq!(event(&V0_3::new(), update.clone()), text("uri", "bytes", ""));
    let old = V0_3::new().file_with_keys(true).artifact_index(true);
    assert_eq!(event(&old, update), text("fileWithUri", "fileWithBytes", ",\"index\":0"));
}

#[test]
fn f20_data_that_is_no_object_is_wrapped_and_unwrapped() {
    for data in ["[1,2]", "\"x\"", "null", "7"] {
        let mut given = Part::data(json(data));
        given.metadata = Some(json(r#"{"a":1,"data_part_compat":false}"#).into_object().unwrap());
        let text = encoded(&V0_3::new(), &Answer::SentMessage(Message::agent(given).into()));
        let (_, text) = text.split_once("\"parts\":[").unwrap();
        let expected = format!(r#""data":{{"value":{data}}},"metadata":{{"a":1,"data_part_compat":true}}"#);
        assert!(text.contains(&expected), "{text}");
        let read = part(text.split_once("]}").map_or(text, |_| text.strip_suffix("]}").unwrap())).unwrap();
        assert_eq!(read, Part::data(json(data)).with_metadata(json(r#"{"a":1}"#).into_object().unwrap()));
    }
    let plain = r#"{"kind":"data","data":{"value":1},"metadata":{"x":"data_part_compat"}}"#;
    assert_eq!(part(plain).unwrap().content, PartContent::Data(json(r#"{"value":1}"#)));
}

proptest! {
    #[test]
    fn messages_come_back_as_they_went(mut message in arbitrary_message()) {
        for part in &mut message.parts {
            // What this version cannot say is lost.
            if !part.is_file() {
                (part.filename, part.media_type) = (None, None);
            }
        }
        let text = encoded(&V0_3::new(), &Answer::SentMessage(message.clone().into()));
        prop_assert_eq!(text.lines().count(), 1);
        let read = sent(decoded("message/send", &format!("{{\"message\":{text}}}"))).message;
        prop_assert_eq!(&*read, &message);
    }

    #[test]
    fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        testing::survives(&V0_3::new(), &METHODS, &bytes);
    }

    #[test]
    fn any_json_gets_an_answer(text in testing::arbitrary_params()) {
        testing::survives(&V0_3::new().generated_message_ids(true), &METHODS, text.as_bytes());
    }
}
