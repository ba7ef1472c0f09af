use proptest::prelude::*;

use super::*;
use crate::{
    call::PathFields,
    dialect::testing::{
        METHODS, arbitrary_message, arbitrary_params, complaint, decoded, json, message, part, sent, survives, task,
    },
    operation::{ListTasksPage, OperationRequest, SendMessage, TaskView},
    types::{
        Artifact, Part, PartContent, PushAuthentication, PushNotificationConfig, Role, TaskArtifactUpdateEvent,
        TaskState, TaskStatus, TaskStatusUpdateEvent,
    },
};

fn send(params: &str) -> SendMessage {
    sent(decoded(&V0_3Rest::new(), "message/send", params))
}

fn with_part(text: &str) -> Result<Part, String> {
    let params = format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","content":[{text}]}}}}"#);
    part(decoded(&V0_3Rest::new(), "message/send", &params))
}

fn data_of(text: &str) -> String {
    with_part(text).unwrap().as_data().unwrap().get().to_owned()
}

/// What a call by a path reads, for task `t` and webhook `c`.
fn by_path(method: &str, config_id: Option<&str>, params: Option<&str>) -> Result<OperationRequest, Error> {
    let path = PathFields { tenant: None, task_id: Some("t".into()), config_id: config_id.map(Into::into) };
    let mut call = Call::new(Binding::HttpJson, method).with_path(path);
    if let Some(params) = params {
        call = call.with_params(params.to_owned());
    }
    V0_3Rest::new().decode(&call).map(Operation::into_request)
}

fn written(answer: &Answer) -> String {
    let mut out = Vec::new();
    V0_3Rest::new().encode(answer, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn f18_both_grammars_are_read() {
    for params in [
        r#"{"message":{"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_USER","content":[{"text":"hi"}],
            "metadata":{"a":1},"extensions":["urn:e"]},"metadata":{"b":2}}"#,
        r#"{"request":{"message_id":"m","context_id":"c","task_id":"t","role":1,"content":[{"text":"hi"}],
            "metadata":{"a":1},"extensions":["urn:e"]},"metadata":{"b":2}}"#,
        r#"{"message":{"kind":"message","messageId":"m","contextId":"c","taskId":"t","role":"user",
            "parts":[{"kind":"text","text":"hi"}],"metadata":{"a":1},"extensions":["urn:e"]},"metadata":{"b":2}}"#,
    ] {
        let send = send(params);
        let message = &send.message;
        assert_eq!((&*message.message_id, message.role, message.text()), ("m", Role::User, "hi".into()));
        assert_eq!((message.context_id.as_deref(), message.task_id.as_deref()), (Some("c"), Some("t")));
        assert_eq!(message.extensions, ["urn:e"]);
        assert_eq!(message.metadata.as_ref().unwrap().get(), r#"{"a":1}"#);
        assert_eq!(send.metadata.unwrap().get(), r#"{"b":2}"#);
    }
    for (role, expected) in [("\"agent\"", Role::Agent), ("\"ROLE_AGENT\"", Role::Agent), ("2", Role::Agent)] {
        let params = format!(r#"{{"message":{{"messageId":"m","role":{role},"content":[{{"text":""}}]}}}}"#);
        assert_eq!(send(&params).message.role, expected);
    }
}

#[test]
fn parts_of_both_grammars_are_read() {
    for (text, expected) in [
        (r#"{"data":{"data":{"a":1}}}"#, r#"{"a":1}"#),
        (r#"{"kind":"data","data":{"a":1}}"#, r#"{"a":1}"#),
        (r#"{"data":{"a":1}}"#, r#"{"a":1}"#),
        (r#"{"data":{"data":1}}"#, r#"{"data":1}"#),
        (r#"{"data":{"data":{},"b":2}}"#, r#"{"data":{},"b":2}"#),
        (r#"{"kind":"data","data":{"data":{"a":1}}}"#, r#"{"data":{"a":1}}"#),
        (r#"{"data":{"data":{"value":[1]}},"metadata":{"data_part_compat":true}}"#, "[1]"),
        (r#"{"text":"","data":{"data":{"a":1}}}"#, r#"{"a":1}"#),
    ] {
        assert_eq!(data_of(text), expected, "{text}");
    }
    for file in [
        r#"{"file":{"fileWithUri":"http://x","mimeType":"a/b","name":"n"}}"#,
        r#"{"file":{"file_with_uri":"http://x","mime_type":"a/b","name":"n"}}"#,
        r#"{"kind":"file","file":{"uri":"http://x","bytes":"","mimeType":"a/b","name":"n"}}"#,
    ] {
        let expected = Part::url("http://x").with_media_type("a/b").with_filename("n");
        assert_eq!(with_part(file).unwrap(), expected, "{file}");
    }
    for (text, expected) in [
        ("{}", "message.content[0] must have exactly one of text, file and data"),
        (r#"{"text":"a","data":{}}"#, "message.content[0] must have exactly one of text, file and data"),
        (r#"{"file":{"name":"n"}}"#, "message.content[0].file must have either bytes or uri"),
        (r#"{"file":{"fileWithBytes":"?"}}"#, "message.content[0].file.bytes must be base64"),
        (r#"{"data":[1]}"#, "message.content[0].data must be an object"),
        (r#"{"text":1}"#, "message.content[0].text must be a string"),
    ] {
        assert_eq!(with_part(text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn f37_bytes_are_the_same_however_often_they_were_encoded() {
    for (text, expected) in [
        ("AP8QgA==", &[0, 255, 16, 128][..]),
        ("QVA4UWdBPT0=", &[0, 255, 16, 128]),
        ("AP8QgA", &[0, 255, 16, 128]),
        // None of these is canonical base64 inside.
        ("aGkh", b"hi!"),
        ("aGk=", b"hi"),
        ("aGk-LQ==", b"hi>-"),
        ("Z2g9PQ==", b"gh=="),
        ("", b""),
    ] {
        for key in ["fileWithBytes", "file_with_bytes", "bytes"] {
            let part = with_part(&format!(r#"{{"file":{{"{key}":"{text}"}}}}"#)).unwrap();
            let PartContent::Raw(bytes) = part.content else { panic!("{text}") };
            assert_eq!(bytes.decode().unwrap(), expected, "{text}");
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    let dialect = V0_3Rest::new();
    for (params, expected) in [
        ("{}", "message must be given"),
        (r#"{"message":{}}"#, "message.messageId must be given"),
        (r#"{"message":{"messageId":""}}"#, "message.messageId must not be empty"),
        (r#"{"message":{"messageId":"m"}}"#, "message.role must be given"),
        (r#"{"message":{"messageId":"m","role":"robot"}}"#, "message.role must be ROLE_USER or ROLE_AGENT"),
        (r#"{"message":{"messageId":"m","role":"user"}}"#, "message.content must be given"),
        (r#"{"message":{"messageId":"m","role":"user","parts":[]}}"#, "message.content must not be empty"),
        (r#"{"message":{"content":[],"parts":[]}}"#, "message.parts must be given only once"),
    ] {
        assert_eq!(complaint(decoded(&dialect, "message/send", params)), expected, "{params}");
    }
    let call = Call::new(Binding::HttpJson, "message/send");
    assert_eq!(dialect.decode(&call).unwrap_err().violations()[0].field, "message");
    let broken = dialect.decode(&call.with_params("{")).unwrap_err();
    assert_eq!(broken.message(), "Invalid parameters: body is not well-formed JSON");

    let lenient = V0_3Rest::new().generated_message_ids(true);
    let send = sent(decoded(&lenient, "message/send", r#"{"message":{"content":[{"text":"hi"}]}}"#));
    assert!(!send.message.message_id.is_empty());
    assert_eq!(send.message.role, Role::User);
}

#[test]
fn a_configuration_says_whether_to_wait_and_without_one_the_caller_waits() {
    let configured = |text: &str| {
        let message = r#""message":{"messageId":"m","role":"user","parts":[{"text":"hi"}]}"#;
        send(&format!("{{{message}{text}}}")).configuration
    };
    for (text, returns) in [
        ("", false),
        (r#","configuration":null"#, false),
        (r#","configuration":{"blocking":true}"#, false),
        (r#","configuration":{"blocking":false}"#, true),
        (r#","configuration":{"historyLength":3}"#, true),
    ] {
        assert_eq!(configured(text).return_immediately, returns, "{text}");
    }
    let configuration = configured(
        r#","configuration":{"accepted_output_modes":["a/b"],"historyLength":"3","blocking":true,
        "pushNotification":{"url":"https://hook","token":"k","id":"p","authentication":{"schemes":["Bearer"]}}}"#,
    );
    assert_eq!((configuration.accepted_output_modes, configuration.history_length), (vec!["a/b".to_owned()], Some(3)));
    let push = configuration.push.unwrap();
    assert_eq!((&*push.url, push.token.as_deref(), push.id.as_deref()), ("https://hook", Some("k"), Some("p")));
}

#[test]
fn a_webhook_is_read_in_all_four_forms() {
    let webhook = r#"{"id":"p","url":"https://hook","authentication":{"schemes":["Bearer"]}}"#;
    let method = "tasks/pushNotificationConfig/set";
    for body in [
        format!(r#"{{"parent":"tasks/t","configId":"p","config":{{"name":"","pushNotificationConfig":{webhook}}}}}"#),
        format!(r#"{{"name":"tasks/t/pushNotificationConfigs/p","pushNotificationConfig":{webhook}}}"#),
        format!(r#"{{"config":{webhook}}}"#),
        format!(r#"{{"config":{{"pushNotificationConfig":{webhook}}}}}"#),
        format!(r#"{{"taskId":"other","push_notification_config":{webhook}}}"#),
        webhook.to_owned(),
    ] {
        let OperationRequest::CreatePushConfig(config) = by_path(method, None, Some(&body)).unwrap() else { panic!() };
        assert_eq!((config.task_id.as_deref(), &*config.url), (Some("t"), "https://hook"), "{body}");
        assert_eq!((config.id.as_deref(), config.authentication.unwrap().schemes), (Some("p"), vec!["Bearer".into()]));
    }
    let id = |config_id, body| match by_path(method, config_id, Some(body)).unwrap() {
        OperationRequest::CreatePushConfig(config) => config.id,
        other => panic!("{other:?}"),
    };
    let named = r#"{"name":"tasks/t/pushNotificationConfigs/n","pushNotificationConfig":{"url":"http://x"}}"#;
    assert_eq!(id(None, named).as_deref(), Some("n"));
    assert_eq!(id(Some("q"), r#"{"configId":"b","url":"http://x"}"#).as_deref(), Some("q"));
    assert_eq!(id(None, r#"{"url":"http://x"}"#), None);
    for (body, expected) in [
        (None, "pushNotificationConfig.url must be given"),
        (Some(r#"{"config":{}}"#), "config.url must be given"),
        (Some(r#"{"config":{"pushNotificationConfig":{}}}"#), "config.pushNotificationConfig.url must be given"),
        (Some(r#"{"config":{"url":1}}"#), "config.url must be a string"),
    ] {
        assert_eq!(complaint(by_path(method, None, body)), expected);
    }
}

#[test]
fn the_path_says_which_task_and_which_webhook() {
    let get = |params| match by_path("tasks/get", None, params).unwrap() {
        OperationRequest::GetTask(get) => (get.id.to_string(), get.history_length),
        other => panic!("{other:?}"),
    };
    assert_eq!(get(None), ("t".into(), None));
    assert_eq!(get(Some(r#"{"historyLength":"2","id":"other"}"#)), ("t".into(), Some(2)));
    let OperationRequest::CancelTask(cancel) =
        by_path("tasks/cancel", None, Some(r#"{"id":"other","metadata":{"a":1}}"#)).unwrap()
    else {
        panic!()
    };
    assert_eq!((&*cancel.id, cancel.metadata.unwrap().get()), ("t", r#"{"a":1}"#));
    let OperationRequest::SubscribeToTask(subscribe) = by_path("tasks/resubscribe", None, None).unwrap() else {
        panic!()
    };
    assert_eq!(&*subscribe.id, "t");
    for method in ["tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/delete"] {
        let (OperationRequest::GetPushConfig(of) | OperationRequest::DeletePushConfig(of)) =
            by_path(method, Some("c"), None).unwrap()
        else {
            panic!()
        };
        assert_eq!((&*of.task_id, of.config_id.as_deref()), ("t", Some("c")));
        assert_eq!(complaint(by_path(method, None, None)), "configId must be given");
    }
    let page = Some(r#"{"pageSize":"2","pageToken":"p"}"#);
    let OperationRequest::ListPushConfigs(of) = by_path("tasks/pushNotificationConfig/list", None, page).unwrap()
    else {
        panic!()
    };
    assert_eq!((of.page_size, of.page_token.as_deref()), (Some(2), Some("p")));
    assert!(by_path("agent/getAuthenticatedExtendedCard", None, None).is_ok());
}

#[test]
fn a_list_is_filtered_in_the_words_of_either_grammar() {
    let status = |text: &str| match by_path("tasks/list", None, Some(&format!(r#"{{"status":{text}}}"#))) {
        Ok(OperationRequest::ListTasks(list)) => Ok(list.status),
        Err(error) => Err(error.code()),
        Ok(other) => panic!("{other:?}"),
    };
    for text in ["\"TASK_STATE_CANCELLED\"", "\"TASK_STATE_CANCELED\"", "\"canceled\"", "5"] {
        assert_eq!(status(text), Ok(Some(TaskState::Canceled)), "{text}");
    }
    assert_eq!(status("\"input-required\""), Ok(Some(TaskState::InputRequired)));
    assert_eq!((status("\"unknown\""), status("\"TASK_STATE_UNSPECIFIED\"")), (Ok(None), Ok(None)));
    assert_eq!(status("\"bogus\""), Err(-32602));
}

#[test]
fn f18_what_goes_out_is_the_proto() {
    let text = written(&Answer::SentTask(TaskView::new(task())));
    assert_eq!(
        text,
        concat!(
            r#"{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"#,
            r#""1970-01-01T00:00:00.000Z"},"artifacts":[{"artifactId":"a1","name":"n","parts":[{"text":"hello"}]}],"#,
            r#""history":[{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","content":[{"file":{"#,
            r#""fileWithBytes":"AP8QgA==","mimeType":"a/b","name":"f.bin"}},{"file":{"fileWithUri":"http://x"}},"#,
            r#"{"data":{"data":{"value":[1, 2]}},"metadata":{"data_part_compat":true}}]}]}}"#
        )
    );
    let mut refers = message();
    refers.reference_task_ids = vec!["r".into()];
    let sent = written(&Answer::SentMessage(refers.into()));
    assert!(sent.starts_with(r#"{"message":{"messageId":"m1","#) && !sent.contains("referenceTaskIds"), "{sent}");
    let page = ListTasksPage::new(vec![TaskView::new(task())], 50, 1);
    assert!(written(&Answer::Tasks(page)).starts_with(r#"[{"id":"t1","#), "a bare array of bare tasks");
    assert_eq!(written(&Answer::PushConfigDeleted), "{}");
}

#[test]
fn events_say_whether_they_are_the_last_in_the_spelling_of_0_3() {
    let event = |event: StreamEvent| {
        let mut out = Vec::new();
        V0_3Rest::new().encode_event(&event, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let logged = |event| StreamEvent::Logged(crate::task::LogEntry::new(1, event));
    for (state, name, last) in [
        (TaskState::Working, "TASK_STATE_WORKING", false),
        (TaskState::InputRequired, "TASK_STATE_INPUT_REQUIRED", true),
        (TaskState::AuthRequired, "TASK_STATE_AUTH_REQUIRED", false),
        (TaskState::Canceled, "TASK_STATE_CANCELLED", true),
    ] {
        let update = TaskStatusUpdateEvent {
            task_id: "t".into(),
            context_id: "c".into(),
            status: TaskStatus { state, message: None, timestamp: None },
            metadata: None,
        };
        let expected = format!(
            r#"{{"statusUpdate":{{"taskId":"t","contextId":"c","status":{{"state":"{name}"}},"final":{last}}}}}"#
        );
        let update = crate::types::Event::StatusUpdate(update);
        assert_eq!(event(logged(update.clone())), expected);
        let passed = StreamEvent::Passed(crate::task::LogEntry::new(1, update));
        let is_over = state == TaskState::Canceled;
        assert_eq!(event(passed), expected.replace(&last.to_string(), &is_over.to_string()));
    }
    let update = TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: "c".into(),
        artifact: std::sync::Arc::new(Artifact::new("a", vec![Part::text("x")])),
        append: true,
        last_chunk: true,
        metadata: None,
    };
    assert_eq!(
        event(logged(crate::types::Event::ArtifactUpdate(update))),
        concat!(
            r#"{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"#,
            r#""append":true,"lastChunk":true}}"#
        )
    );
}

#[test]
fn webhooks_go_out_under_their_full_names() {
    let mut config = PushNotificationConfig::new("https://hook");
    config.task_id = Some("t".into());
    config.id = Some("p".into());
    config.authentication = Some(PushAuthentication::new(vec!["Bearer".into()]));
    let one = concat!(
        r#"{"name":"tasks/t/pushNotificationConfigs/p","pushNotificationConfig":{"id":"p","url":"https://hook","#,
        r#""authentication":{"schemes":["Bearer"]}}}"#
    );
    assert_eq!(written(&Answer::PushConfig(Box::new(config.clone()))), one);
    assert_eq!(written(&Answer::PushConfigs(vec![config])), format!(r#"{{"configs":[{one}],"nextPageToken":""}}"#));
}

#[test]
fn files_can_go_out_encoded_twice() {
    let double = V0_3Rest::new().double_base64(true);
    let mut out = Vec::new();
    double.encode(&Answer::SentMessage(message().into()), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains(r#""fileWithBytes":"QVA4UWdBPT0=""#), "{text}");
}

#[test]
fn it_is_for_http_json_alone_and_knows_every_operation() {
    let dialect = V0_3Rest::new();
    assert_eq!(Binding::ALL.map(|binding| dialect.speaks(binding)), [false, true, false]);
    for kind in OperationKind::ALL {
        assert_eq!(dialect.operation(v0_3::names::method(kind)), Some(kind));
    }
    assert_eq!(dialect.operation("SendMessage"), None);
    let details = dialect.error_data(&Error::task_not_found("t")).unwrap();
    assert_eq!(details.get().find("TASK_NOT_FOUND").is_some(), details != json("[]"));
}

proptest! {
    #[test]
    fn whatever_is_said_comes_back(message in arbitrary_message()) {
        let text = written(&Answer::SentMessage(message.clone().into()));
        let mut event = Vec::new();
        V0_3Rest::new().encode_event(&StreamEvent::Message(message.clone().into()), &mut event).unwrap();
        let event = String::from_utf8(event).unwrap();
        let broken = event.contains(['\n', '\u{2028}']);
        prop_assert!(!broken);
        prop_assert_eq!(&event, &text);
        let params = send(&text);
        let mut expected = message;
        // The proto of 0.3 has no place for these.
        expected.reference_task_ids.clear();
        for part in &mut expected.parts {
            if !matches!(part.content, PartContent::Raw(_) | PartContent::Url(_)) {
                part.filename = None;
                part.media_type = None;
            }
        }
        let got = params.message;
        for (got, expected) in got.parts.iter().zip(&expected.parts) {
            // Bytes that look encoded are taken for encoded.
            match (&got.content, &expected.content) {
                (PartContent::Raw(_), PartContent::Raw(_)) => {}
                (got, expected) => prop_assert_eq!(got, expected),
            }
            prop_assert_eq!(&got.filename, &expected.filename);
        }
        prop_assert_eq!(got.parts.len(), expected.parts.len());
        prop_assert_eq!((&got.message_id, got.role, &got.extensions), (&expected.message_id, expected.role, &expected.extensions));
        prop_assert_eq!((&got.context_id, &got.task_id), (&expected.context_id, &expected.task_id));
    }

    #[test]
    fn bytes_come_back_whether_they_go_out_once_or_twice(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let message = crate::types::Message::new(Role::User, vec![Part::raw(bytes.clone())]).with_message_id("m");
        let mut out = Vec::new();
        V0_3Rest::new().double_base64(true).encode(&Answer::SentMessage(message.into()), &mut out).unwrap();
        let back = send(std::str::from_utf8(&out).unwrap());
        let PartContent::Raw(back) = &back.message.parts[0].content else { panic!() };
        prop_assert_eq!(back.decode().unwrap(), bytes);
    }

    #[test]
    fn any_parameters_get_an_answer(params in arbitrary_params()) {
        survives(&V0_3Rest::new(), &METHODS, params.as_bytes());
    }

    #[test]
    fn any_bytes_get_an_answer(params in proptest::collection::vec(any::<u8>(), 0..60)) {
        survives(&V0_3Rest::new(), &METHODS, &params);
    }
}
