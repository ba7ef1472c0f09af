//! What callers are told when something is wrong.

use a2a_layers::{
    error::{Error, ErrorKind},
    grpc::{
        Grpc, GrpcLayer,
        proto::v1_0::{self as wire, a2a_service_client::A2aServiceClient as Client},
    },
    operation::{Answer, Operation, Outcome},
    task::EventStream,
};
use http::Response;
use tonic::{Code, Request};

use crate::support::{card, client, field, message, part, reason, send, soon, state, task};

#[tokio::test]
async fn f27_what_must_be_given_is_named() {
    let mut client = client().await;
    let whole = message("hi");
    for (message, expected) in [
        (None, "message"),
        (Some(wire::Message { message_id: String::new(), ..whole.clone() }), "message.message_id"),
        (Some(wire::Message { role: 0, ..whole.clone() }), "message.role"),
        (Some(wire::Message { role: 99, ..whole.clone() }), "message.role"),
        (Some(wire::Message { parts: vec![], ..whole.clone() }), "message.parts"),
        (Some(wire::Message { parts: vec![part("x"), wire::Part::default()], ..whole.clone() }), "message.parts[1]"),
        (
            Some(wire::Message {
                parts: vec![wire::Part {
                    content: Some(wire::part::Content::Url(String::new())),
                    ..Default::default()
                }],
                ..whole.clone()
            }),
            "message.parts[0].url",
        ),
    ] {
        let request = wire::SendMessageRequest { message, ..Default::default() };
        let status = client.send_message(request).await.unwrap_err();
        assert_eq!((status.code(), &*field(&status)), (Code::InvalidArgument, expected), "{status:?}");
    }
}

#[tokio::test]
async fn numbers_out_of_range_are_named() {
    let mut client = client().await;
    let get = wire::GetTaskRequest { id: "t".into(), history_length: Some(-1), ..Default::default() };
    assert_eq!(field(&client.get_task(get).await.unwrap_err()), "history_length");
    for size in [-1, 0, 101] {
        let list = wire::ListTasksRequest { page_size: Some(size), ..Default::default() };
        assert_eq!(field(&client.list_tasks(list).await.unwrap_err()), "page_size");
    }
    for status in [9, -1] {
        let list = wire::ListTasksRequest { status, ..Default::default() };
        assert_eq!(field(&client.list_tasks(list).await.unwrap_err()), "status");
    }
    let moment = prost_types::Timestamp { seconds: i64::MAX, nanos: -1 };
    let list = wire::ListTasksRequest { status_timestamp_after: Some(moment), ..Default::default() };
    assert_eq!(field(&client.list_tasks(list).await.unwrap_err()), "status_timestamp_after");
    let empty = client.get_task(wire::GetTaskRequest::default()).await.unwrap_err();
    assert_eq!(field(&empty), "id");
}

#[tokio::test]
async fn f118_the_protocols_errors_have_their_codes_and_reasons() {
    let mut client = client().await;
    let done = task(client.send_message(send("hi")).await.unwrap().into_inner());
    let unknown = client.get_task(wire::GetTaskRequest { id: "t9".into(), ..Default::default() }).await.unwrap_err();
    assert_eq!((unknown.code(), &*reason(&unknown).0), (Code::NotFound, "TASK_NOT_FOUND"));
    assert_eq!(reason(&unknown).1["taskId"], "t9");

    let cancel = wire::CancelTaskRequest { id: done.id.clone(), ..Default::default() };
    let status = client.cancel_task(cancel).await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status).0), (Code::FailedPrecondition, "TASK_NOT_CANCELABLE"));

    let config = wire::TaskPushNotificationConfig { task_id: done.id, url: "https://x/".into(), ..Default::default() };
    let status = client.create_task_push_notification_config(config).await.unwrap_err();
    assert_eq!((status.code(), &*reason(&status).0), (Code::FailedPrecondition, "PUSH_NOTIFICATION_NOT_SUPPORTED"));
}

#[tokio::test]
async fn f14_a_version_that_is_not_the_packages_is_refused_first() {
    let mut client = client().await;
    for version in ["0.3", "9.9", "x"] {
        let mut request = Request::new(wire::SendMessageRequest::default());
        request.metadata_mut().insert("a2a-version", version.parse().unwrap());
        let status = client.send_message(request).await.unwrap_err();
        assert_eq!((status.code(), &*reason(&status).0), (Code::FailedPrecondition, "VERSION_NOT_SUPPORTED"));
        assert_eq!(reason(&status).1["supportedVersions"], "1.0");
    }
}

#[tokio::test]
async fn f06_an_agent_that_fails_says_nothing_of_why() {
    let mut client = client().await;
    let task = task(client.send_message(send("fail")).await.unwrap().into_inner());
    assert_eq!(state(&task), wire::TaskState::Failed);
    assert!(!format!("{task:?}").contains("hunter2"));
}

/// A mock below the layer: what it answers with is what the caller gets.
async fn answered(with: Result<Outcome<EventStream>, Error>) -> Result<wire::AgentCard, tonic::Status> {
    let (mock, mut handle) = tower_test::mock::pair::<http::Request<Operation>, Response<Outcome<EventStream>>>();
    let mut client = Client::new(Grpc::new(mock, GrpcLayer::new()));
    let call =
        tokio::spawn(async move { client.get_extended_agent_card(wire::GetExtendedAgentCardRequest::default()).await });
    let (request, respond) = soon(handle.next_request()).await.unwrap();
    assert_eq!(request.uri().path(), "/lf.a2a.v1.A2AService/GetExtendedAgentCard");
    match with {
        Ok(outcome) => respond.send_response(Response::new(outcome)),
        Err(error) => respond.send_error(error),
    }
    soon(call).await.unwrap().map(tonic::Response::into_inner)
}

#[tokio::test]
async fn what_the_service_below_answers_is_what_the_caller_gets() {
    let found = answered(Ok(Answer::ExtendedAgentCard(card().into()).into())).await.unwrap();
    assert_eq!(found.name, "test");
    let status = answered(Err(Error::internal("hunter2"))).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Internal, "Internal error"));
    let busy = Error::new(ErrorKind::Overloaded).with_retry_after(std::time::Duration::from_secs(2));
    let status = answered(Err(busy)).await.unwrap_err();
    let details = tonic_types::StatusExt::get_error_details(&status);
    assert_eq!(status.code(), Code::Unavailable);
    assert_eq!(details.retry_info().unwrap().retry_delay.unwrap().as_secs(), 2);
}

#[tokio::test]
async fn a_service_that_never_becomes_ready_again_says_so() {
    let (mock, handle) = tower_test::mock::pair::<http::Request<Operation>, Response<Outcome<EventStream>>>();
    let mut client = Client::new(Grpc::new(mock, GrpcLayer::new()));
    drop(handle);
    let status = client.get_task(wire::GetTaskRequest { id: "t".into(), ..Default::default() }).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Internal, "Internal error"));
}
