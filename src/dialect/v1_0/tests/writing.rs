use super::*;

#[test]
fn f29_tasks_in_a_list_are_bare_and_its_required_members_are_always_there() {
    let page = ListTasksPage::new(vec![TaskView::new(task()).without_artifacts().with_history_length(Some(0))], 50, 1);
    assert_eq!(
        encoded(&Answer::Tasks(page)),
        concat!(
            r#"{"tasks":[{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED","#,
            r#""timestamp":"1970-01-01T00:00:00.000Z"}}],"nextPageToken":"","pageSize":50,"totalSize":1}"#
        )
    );
    let empty = encoded(&Answer::Tasks(ListTasksPage::new(Vec::new(), 50, 0)));
    assert_eq!(empty, r#"{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}"#);
}

#[test]
fn b008_results_are_written_as_protojson() {
    let expected = concat!(
        r#"{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"1970-01-01T00:00:00.000Z"},"#,
        r#""artifacts":[{"artifactId":"a1","name":"n","parts":[{"text":"hello"}]}],"#,
        r#""history":[{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","#,
        r#""parts":[{"raw":"AP8QgA==","filename":"f.bin","mediaType":"a/b"},{"url":"http://x"},{"data":[1, 2]}]}]}"#
    );
    assert_eq!(encoded(&Answer::Task(TaskView::new(task()))), expected);
    assert_eq!(encoded(&Answer::SentTask(TaskView::new(task()))), format!("{{\"task\":{expected}}}"));
    let message = Message::agent("hi").with_message_id("m");
    let expected = r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}"#;
    assert_eq!(encoded(&Answer::SentMessage(message.into())), expected);
    assert_eq!(encoded(&Answer::PushConfigDeleted), "{}");
    let mut config = PushNotificationConfig::new("u");
    config.authentication = Some(PushAuthentication::new(Vec::new()));
    let expected = r#"{"configs":[{"url":"u","authentication":{"scheme":""}}],"nextPageToken":""}"#;
    assert_eq!(encoded(&Answer::PushConfigs(vec![config])), expected);
}

#[test]
fn f24_s01_events_have_no_final_and_no_kind() {
    let mut status = TaskStatus::new(TaskState::Completed);
    status.timestamp = None;
    let update = TaskStatusUpdateEvent::new("t".into(), "c".into(), status);
    assert_eq!(
        event(Event::StatusUpdate(update)),
        r#"{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}"#
    );
    let artifact = Artifact::new("a", vec![Part::text("x")]);
    let mut update = TaskArtifactUpdateEvent::new("t".into(), "c".into(), artifact);
    let text =
        r#"{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]}"#;
    assert_eq!(event(Event::ArtifactUpdate(update.clone())), format!("{text}}}}}"));
    (update.append, update.last_chunk) = (true, true);
    assert_eq!(event(Event::ArtifactUpdate(update)), format!("{text},\"append\":true,\"lastChunk\":true}}}}"));
    assert!(event(Event::Task(task().into())).starts_with(r#"{"task":{"id":"t1""#));
    assert!(event(Event::Message(message().into())).starts_with(r#"{"message":{"messageId":"#));
}

#[test]
fn s16_a_status_message_without_parts_is_left_out() {
    let mut status = TaskStatus::new(TaskState::Working).with_message(Message::new(Role::Agent, Vec::new()));
    status.timestamp = None;
    let update = TaskStatusUpdateEvent::new("t".into(), "c".into(), status);
    assert!(!event(Event::StatusUpdate(update)).contains("message"));
}

#[test]
fn f10_error_details_are_an_array_of_typed_objects() {
    let data = |error: Error| V1_0::new().error_data(&error).map(|data| data.get().to_owned());
    assert_eq!(
        data(Error::task_not_found("t9")).as_deref(),
        Some(concat!(
            r#"[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","#,
            r#""domain":"a2a-protocol.org","metadata":{"taskId":"t9"}}]"#
        ))
    );
    assert_eq!(
        data(Error::invalid_params("message.parts", "must not be empty")).as_deref(),
        Some(concat!(
            r#"[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":"#,
            r#"[{"field":"message.parts","description":"must not be empty"}]}]"#
        ))
    );
    let busy = Error::new(ErrorKind::Overloaded).with_retry_after(std::time::Duration::from_secs(1));
    let expected = r#"[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]"#;
    assert_eq!(data(busy).as_deref(), Some(expected));
    assert_eq!(data(Error::new(ErrorKind::Internal)), None);
}

#[test]
fn f55_events_and_answers_are_one_line() {
    let odd = Part::data(Json::parse("{\"a\":\r\n\"\u{2028}\"}").unwrap());
    let message = std::sync::Arc::new(Message::agent(odd).with_message_id("a\nb"));
    let mut text = Vec::new();
    V1_0::new().encode_event(&StreamEvent::Message(message.clone()), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let answer = encoded(&Answer::SentMessage(message));
    assert_eq!(answer, text);
    assert!(text.ends_with(r#""parts":[{"data":{"a":  "\u2028"}}]}}"#), "{text}");
    assert!(text.contains(r"a\nb"));
}
