//! Calls of version 1.0, with tonic's client.

use std::time::Duration;

use a2a_layers::{
    grpc::{
        Grpc, GrpcLayer,
        proto::{
            Struct, Value,
            v1_0::{self as wire, TaskState, a2a_service_client::A2aServiceClient as Client, stream_response::Payload},
        },
    },
    types::{Json, JsonObject},
};
use tonic::{Code, Request};

use crate::support::{
    EXTENSION, client, message, operations, part, reason, send, send_at_once, shown, soon, state, task, text,
};

#[tokio::test]
async fn a_message_is_answered_with_a_task() {
    let mut client = client().await;
    let task = task(client.send_message(send("hello")).await.unwrap().into_inner());
    assert_eq!((state(&task), &*shown(&task)), (TaskState::Completed, "heard: hello"));
    assert_eq!(text(&task.history[0].parts), "hello");
    assert!(task.status.unwrap().timestamp.is_some());
}

#[tokio::test]
async fn a_task_is_got_listed_and_canceled() {
    let mut client = client().await;
    let begun = task(client.send_message(send_at_once("hang")).await.unwrap().into_inner());
    assert!(matches!(state(&begun), TaskState::Submitted | TaskState::Working));
    let of = |history_length| wire::GetTaskRequest { id: begun.id.clone(), history_length, ..Default::default() };
    let got = client.get_task(of(None)).await.unwrap().into_inner();
    assert_eq!(got.history.len(), 1);
    let got = client.get_task(of(Some(0))).await.unwrap().into_inner();
    assert!(got.history.is_empty());

    let canceled = wire::CancelTaskRequest { id: begun.id.clone(), ..Default::default() };
    let canceled = client.cancel_task(canceled).await.unwrap().into_inner();
    assert_eq!(state(&canceled), TaskState::Canceled);
    task(client.send_message(send("another")).await.unwrap().into_inner());
    let list = |request: wire::ListTasksRequest| async {
        let page = client.clone().list_tasks(request).await.unwrap().into_inner();
        (page.tasks.len(), page.page_size, page.total_size, page.next_page_token.is_empty())
    };
    assert_eq!(list(wire::ListTasksRequest::default()).await, (2, 50, 2, true));
    assert_eq!(list(wire::ListTasksRequest { page_size: Some(1), ..Default::default() }).await, (1, 1, 2, false));
    let only = wire::ListTasksRequest { status: TaskState::Canceled.into(), ..Default::default() };
    assert_eq!(list(only).await, (1, 50, 1, true));
}

#[tokio::test]
async fn a_stream_tells_what_happens_in_order() {
    let mut client = client().await;
    let mut stream = client.send_streaming_message(send("count")).await.unwrap().into_inner();
    let (mut kinds, mut said) = (String::new(), String::new());
    while let Some(event) = soon(stream.message()).await.unwrap() {
        match event.payload.unwrap() {
            Payload::Task(task) => {
                assert_eq!(state(&task), TaskState::Submitted);
                kinds.push('t');
            }
            Payload::Message(_) => kinds.push('m'),
            Payload::StatusUpdate(update) => {
                kinds.push(if update.status.unwrap().state() == TaskState::Completed { 'c' } else { 's' });
            }
            Payload::ArtifactUpdate(update) => said.push_str(&text(&update.artifact.unwrap().parts)),
        }
    }
    assert!(kinds.starts_with('t') && kinds.ends_with('c'), "{kinds}");
    assert_eq!(said, "1 2 3 ");
}

#[tokio::test]
async fn a_subscription_begins_with_the_task_or_after_an_event() {
    let mut client = client().await;
    let mut stream = client.send_streaming_message(send("hang")).await.unwrap().into_inner();
    let Some(Payload::Task(task)) = stream.message().await.unwrap().unwrap().payload else { panic!("no task") };
    while !matches!(stream.message().await.unwrap().unwrap().payload, Some(Payload::ArtifactUpdate(_))) {}

    let request = || wire::SubscribeToTaskRequest { id: task.id.clone(), ..Default::default() };
    let mut other = client.subscribe_to_task(request()).await.unwrap().into_inner();
    let Some(Payload::Task(now)) = other.message().await.unwrap().unwrap().payload else { panic!("no task") };
    assert_eq!(shown(&now), "begun");

    // After event 0 everything comes again.
    let mut from_start = Request::new(request());
    from_start.metadata_mut().insert("last-event-id", "0".parse().unwrap());
    let mut other = client.subscribe_to_task(from_start).await.unwrap().into_inner();
    let Some(Payload::Task(first)) = other.message().await.unwrap().unwrap().payload else { panic!("no task") };
    assert!(first.artifacts.is_empty());

    let mut beyond = Request::new(request());
    beyond.metadata_mut().insert("last-event-id", "99".parse().unwrap());
    assert_eq!(client.subscribe_to_task(beyond).await.unwrap_err().code(), Code::InvalidArgument);

    // A cancel ends all of them.
    let cancel = wire::CancelTaskRequest { id: task.id.clone(), ..Default::default() };
    client.cancel_task(cancel).await.unwrap();
    let mut last = None;
    while let Some(event) = soon(stream.message()).await.unwrap() {
        last = event.payload;
    }
    let Some(Payload::StatusUpdate(last)) = last else { panic!("{last:?}") };
    assert_eq!(last.status.unwrap().state(), TaskState::Canceled);

    // In 1.0 there is nothing to subscribe to any more.
    let status = client.subscribe_to_task(request()).await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status).0), (Code::FailedPrecondition, "UNSUPPORTED_OPERATION"));
}

/// The service without a socket: the client's own channel looks at deadlines too. Time is paused.
#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_wait_and_not_the_task() {
    let mut client = Client::new(Grpc::new(operations(), GrpcLayer::new()).v1_0());
    let mut request = Request::new(wire::SendMessageRequest {
        message: Some(wire::Message { context_id: "c1".into(), ..message("minute") }),
        ..Default::default()
    });
    request.metadata_mut().insert("grpc-timeout", "59S".parse().unwrap());
    let status = client.send_message(request).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let of = wire::ListTasksRequest { context_id: "c1".into(), include_artifacts: Some(true), ..Default::default() };
    let ended = client.list_tasks(of).await.unwrap().into_inner().tasks.pop().unwrap();
    assert_eq!((state(&ended), &*shown(&ended)), (TaskState::Completed, "a minute later"));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_a_stream() {
    let mut client = Client::new(Grpc::new(operations(), GrpcLayer::new()).v1_0());
    let mut request = Request::new(send("hang"));
    request.metadata_mut().insert("grpc-timeout", "10S".parse().unwrap());
    let begun = tokio::time::Instant::now();
    let mut stream = client.send_streaming_message(request).await.unwrap().into_inner();
    let status = loop {
        if let Err(status) = stream.message().await {
            break status;
        }
    };
    assert_eq!((status.code(), begun.elapsed().as_secs()), (Code::DeadlineExceeded, 10));
}

#[tokio::test]
async fn the_head_reaches_the_agent_and_extensions_come_back() {
    let mut client = client().await;
    let mut request = Request::new(send("headers"));
    let metadata = request.metadata_mut();
    metadata.insert("x-said", "hello".parse().unwrap());
    metadata.insert("a2a-version", "1.0".parse().unwrap());
    metadata.insert("a2a-extensions", EXTENSION.parse().unwrap());
    let response = client.send_message(request).await.unwrap();
    assert_eq!(response.metadata().get("a2a-extensions").unwrap(), EXTENSION);
    let shown = shown(&task(response.into_inner()));
    assert_eq!(shown, format!("hello; /lf.a2a.v1.A2AService/SendMessage; [{EXTENSION:?}]"));
}

#[tokio::test]
async fn a_slow_reader_is_not_read_ahead_for() {
    let mut client = client().await;
    let mut stream = client.send_streaming_message(send("endless")).await.unwrap().into_inner();
    // However fast the agent, the messages come one after the other when they are asked for.
    let (mut number, mut pieces) = (0, 0);
    while pieces < 50 {
        if let Some(Payload::ArtifactUpdate(update)) = soon(stream.message()).await.unwrap().unwrap().payload {
            let text = text(&update.artifact.unwrap().parts);
            let next: u64 = text.split(' ').next().unwrap().parse().unwrap();
            assert!(next > number, "{next} after {number}");
            (number, pieces) = (next, pieces + 1);
        }
    }
}

#[tokio::test]
async fn f39_files_and_data_keep_all_that_is_said_of_them() {
    let mut client = client().await;
    let file = wire::Part {
        content: Some(wire::part::Content::Url("https://files.example/a.bin".into())),
        filename: "a.bin".into(),
        media_type: "application/x-thing".into(),
        metadata: Some(Struct::from_json(&object(r#"{"a":{},"b":null}"#)).unwrap()),
    };
    let data = wire::Part {
        content: Some(wire::part::Content::Data(Value::from_json(&Json::parse("[1,null,{}]").unwrap()).unwrap())),
        ..Default::default()
    };
    let request = wire::SendMessageRequest {
        message: Some(wire::Message { parts: vec![part("look"), file.clone(), data.clone()], ..message("") }),
        ..Default::default()
    };
    let sent = task(client.send_message(request).await.unwrap().into_inner());
    assert_eq!(sent.history[0].parts[1..], [file, data]);
}

fn object(text: &str) -> JsonObject {
    Json::parse(text).unwrap().into_object().unwrap()
}

#[tokio::test]
async fn the_extended_card_comes_as_a_message() {
    let mut client = client().await;
    let card = client.get_extended_agent_card(wire::GetExtendedAgentCardRequest::default()).await.unwrap().into_inner();
    assert_eq!((&*card.name, card.capabilities.unwrap().extended_agent_card), ("test", Some(true)));
}
