//! Version 0.3, where it differs.

use a2a_layers::grpc::proto::{
    Struct,
    v0_3::{self as wire, file_part::File, part::Part as Content, stream_response::Payload},
    v1_0::{Role, TaskState},
};
use a2a_layers::types::Json;
use tonic::{Code, Request};

use crate::support::{EXTENSION, field, old_client, reason, soon};

fn text_part(text: &str) -> wire::Part {
    wire::Part { part: Some(Content::Text(text.into())), metadata: None }
}

fn send(text: &str, blocking: bool) -> wire::SendMessageRequest {
    wire::SendMessageRequest {
        request: Some(wire::Message {
            message_id: "m1".into(),
            role: Role::User.into(),
            content: vec![text_part(text)],
            ..Default::default()
        }),
        configuration: Some(wire::SendMessageConfiguration { blocking, ..Default::default() }),
        metadata: None,
    }
}

fn task(response: wire::SendMessageResponse) -> wire::Task {
    match response.payload {
        Some(wire::send_message_response::Payload::Task(task)) => task,
        other => panic!("no task: {other:?}"),
    }
}

fn state(task: &wire::Task) -> TaskState {
    task.status.as_ref().unwrap().state()
}

fn shown(task: &wire::Task) -> String {
    let text = |part: &wire::Part| match &part.part {
        Some(Content::Text(text)) => text.clone(),
        other => format!("{other:?}"),
    };
    task.artifacts.iter().flat_map(|artifact| &artifact.parts).map(text).collect()
}

#[tokio::test]
async fn who_blocks_gets_the_result_and_who_says_nothing_does_not_wait() {
    let mut client = old_client().await;
    let done = task(client.send_message(send("hello", true)).await.unwrap().into_inner());
    assert_eq!((state(&done), &*shown(&done)), (TaskState::Completed, "heard: hello"));
    for request in [send("hang", false), wire::SendMessageRequest { configuration: None, ..send("hang", false) }] {
        let begun = task(soon(client.send_message(request)).await.unwrap().into_inner());
        assert!(matches!(state(&begun), TaskState::Submitted | TaskState::Working));
    }
}

#[tokio::test]
async fn tasks_go_by_names() {
    let mut client = old_client().await;
    let begun = task(client.send_message(send("hang", false)).await.unwrap().into_inner());
    let name = format!("tasks/{}", begun.id);
    // Nothing and 0 are the same here, and mean all of it.
    let got = client.get_task(wire::GetTaskRequest { name: name.clone(), history_length: 0 }).await.unwrap();
    assert_eq!(got.into_inner().history.len(), 1);
    let canceled = client.cancel_task(wire::CancelTaskRequest { name }).await.unwrap().into_inner();
    // Its name has two L in this version, and the same number.
    assert_eq!(canceled.status.unwrap().state, 5);

    let get = |name: &str| wire::GetTaskRequest { name: name.into(), history_length: 0 };
    for bad in ["", "x", "tasks/", &begun.id] {
        let status = client.get_task(get(bad)).await.unwrap_err();
        assert_eq!((status.code(), &*field(&status)), (Code::InvalidArgument, "name"), "{bad}");
    }
    let status = client.get_task(get("tasks/t9")).await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status).0), (Code::NotFound, "TASK_NOT_FOUND"));
    let status = client.get_task(wire::GetTaskRequest { history_length: -1, ..get("tasks/t") }).await.unwrap_err();
    assert_eq!(field(&status), "history_length");
}

#[tokio::test]
async fn a_stream_ends_with_the_final_event() {
    let mut client = old_client().await;
    for (text, last) in
        [("count", TaskState::Completed), ("ask", TaskState::InputRequired), ("reject", TaskState::Rejected)]
    {
        let mut stream = client.send_streaming_message(send(text, false)).await.unwrap().into_inner();
        let mut finals = Vec::new();
        while let Some(event) = soon(stream.message()).await.unwrap() {
            if let Some(Payload::StatusUpdate(update)) = event.payload {
                finals.push((update.r#final, update.status.unwrap().state()));
            }
        }
        let (end, before) = finals.split_last().unwrap();
        assert_eq!(*end, (true, last), "{text}");
        assert!(before.iter().all(|(is_final, _)| !is_final), "{finals:?}");
    }
}

#[tokio::test]
async fn a_subscription_to_a_task_that_is_over_is_the_task() {
    let mut client = old_client().await;
    let done = task(client.send_message(send("hello", true)).await.unwrap().into_inner());
    let request = wire::TaskSubscriptionRequest { name: format!("tasks/{}", done.id) };
    let mut stream = client.task_subscription(request).await.unwrap().into_inner();
    let Some(Payload::Task(task)) = stream.message().await.unwrap().unwrap().payload else { panic!("no task") };
    assert_eq!((&task.id, state(&task)), (&done.id, TaskState::Completed));
    assert!(stream.message().await.unwrap().is_none());

    let unknown = wire::TaskSubscriptionRequest { name: "tasks/t9".into() };
    assert_eq!(client.task_subscription(unknown).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn files_and_data_have_parts_of_their_own() {
    let mut client = old_client().await;
    let metadata = Json::parse(r#"{"data_part_compat":true}"#).unwrap().into_object().unwrap();
    let parts = vec![
        text_part("look"),
        wire::Part {
            part: Some(Content::File(wire::FilePart {
                file: Some(File::FileWithUri("https://files.example/a.bin".into())),
                mime_type: "application/x-thing".into(),
                name: "a.bin".into(),
            })),
            metadata: None,
        },
        // Data that is no object goes in an object that says so, both ways.
        wire::Part {
            part: Some(Content::Data(wire::DataPart {
                data: Some(
                    Struct::from_json(&Json::parse(r#"{"value":[1]}"#).unwrap().into_object().unwrap()).unwrap(),
                ),
            })),
            metadata: Some(Struct::from_json(&metadata).unwrap()),
        },
    ];
    let mut request = send("", true);
    request.request.as_mut().unwrap().content = parts.clone();
    let done = task(client.send_message(request).await.unwrap().into_inner());
    assert_eq!(done.history[0].content, parts);
}

#[tokio::test]
async fn what_must_be_given_is_named() {
    let mut client = old_client().await;
    let status = client.send_message(wire::SendMessageRequest::default()).await.unwrap_err();
    assert_eq!((status.code(), &*field(&status)), (Code::InvalidArgument, "request"));
    for (part, expected) in [
        (wire::Part::default(), "request.content[0]"),
        (
            wire::Part { part: Some(Content::File(wire::FilePart::default())), metadata: None },
            "request.content[0].file",
        ),
        (
            wire::Part { part: Some(Content::Data(wire::DataPart::default())), metadata: None },
            "request.content[0].data.data",
        ),
    ] {
        let mut request = send("", true);
        request.request.as_mut().unwrap().content = vec![part];
        assert_eq!(field(&client.send_message(request).await.unwrap_err()), expected);
    }
}

#[tokio::test]
async fn extensions_come_back_under_the_old_name() {
    let mut client = old_client().await;
    let mut request = Request::new(send("headers", true));
    request.metadata_mut().insert("x-a2a-extensions", EXTENSION.parse().unwrap());
    request.metadata_mut().insert("a2a-version", "0.3.0".parse().unwrap());
    let response = client.send_message(request).await.unwrap();
    assert_eq!(response.metadata().get("x-a2a-extensions").unwrap(), EXTENSION);
}

#[tokio::test]
async fn the_card_and_webhooks_are_of_the_old_form() {
    let mut client = old_client().await;
    let card = client.get_agent_card(wire::GetAgentCardRequest {}).await.unwrap().into_inner();
    assert_eq!((&*card.name, &*card.protocol_version), ("test", "0.3.0"));
    assert!(card.supports_authenticated_extended_card);

    let create = wire::CreateTaskPushNotificationConfigRequest {
        parent: "tasks/t".into(),
        config_id: "c".into(),
        config: Some(wire::TaskPushNotificationConfig {
            name: String::new(),
            push_notification_config: Some(wire::PushNotificationConfig {
                url: "https://x/".into(),
                ..Default::default()
            }),
        }),
    };
    let status = client.create_task_push_notification_config(create.clone()).await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status).0), (Code::FailedPrecondition, "PUSH_NOTIFICATION_NOT_SUPPORTED"));
    let bad = wire::CreateTaskPushNotificationConfigRequest { parent: "t".into(), ..create };
    assert_eq!(field(&client.create_task_push_notification_config(bad).await.unwrap_err()), "parent");
}
