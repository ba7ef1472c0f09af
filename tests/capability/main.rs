//! What the card does not promise is refused, before anything is looked up.

use std::sync::Arc;

use a2a_layers::{
    call::Binding,
    capability::{Capability, CapabilityLayer},
    error::{BoxError, ErrorKind},
    operation::{
        Answer, CancelTask, GetTask, ListTasks, Operation, OperationKind, OperationRequest, Outcome, ProtocolVersion,
        PushConfigOf, SendMessage, SubscribeToTask,
    },
    types::{AgentCard, Message, PushNotificationConfig},
};
use http::{Request, Response};
use tower_test::mock;

type Reply = Response<Outcome<()>>;
type Gate = mock::Spawn<Capability<mock::Mock<Request<Operation>, Reply>>>;

fn spawn(layer: CapabilityLayer) -> (Gate, mock::Handle<Request<Operation>, Reply>) {
    mock::spawn_layer(layer)
}

fn push() -> PushNotificationConfig {
    PushNotificationConfig::new("https://hooks.example")
}

fn message() -> SendMessage {
    SendMessage::new(Message::user("hi"))
}

fn with_webhook() -> SendMessage {
    let mut send = message();
    send.configuration.push = Some(push().into());
    send
}

fn every_operation() -> Vec<OperationRequest> {
    let all = vec![
        OperationRequest::SendMessage(message()),
        OperationRequest::SendStreamingMessage(message()),
        OperationRequest::GetTask(GetTask::new("t")),
        OperationRequest::ListTasks(ListTasks::default()),
        OperationRequest::CancelTask(CancelTask::new("t")),
        OperationRequest::SubscribeToTask(SubscribeToTask::new("t")),
        OperationRequest::CreatePushConfig(push().into()),
        OperationRequest::GetPushConfig(PushConfigOf::new("t")),
        OperationRequest::ListPushConfigs(PushConfigOf::new("t")),
        OperationRequest::DeletePushConfig(PushConfigOf::new("t")),
        OperationRequest::GetExtendedAgentCard,
    ];
    assert_eq!(all.len(), OperationKind::ALL.len());
    all
}

fn request(version: ProtocolVersion, operation: OperationRequest) -> Request<Operation> {
    Request::new(Operation::new(version, Binding::JsonRpc, operation))
}

/// The code that the layer refuses an operation with; `None` if it reaches the inner service.
async fn refusal(layer: CapabilityLayer, version: ProtocolVersion, operation: OperationRequest) -> Option<i32> {
    let (mut service, mut handle) = spawn(layer);
    handle.allow(1);
    assert!(service.poll_ready().is_ready());
    let mut answer = tokio_test::task::spawn(service.call(request(version, operation)));
    match answer.poll() {
        std::task::Poll::Ready(answer) => Some(answer.unwrap_err().code()),
        std::task::Poll::Pending => {
            assert!(handle.next_request().await.is_some());
            None
        }
    }
}

fn all_on() -> CapabilityLayer {
    CapabilityLayer::new().streaming(true).push_notifications(true).extended_agent_card_from_inner()
}

#[tokio::test]
async fn f107_each_capability_gates_its_operations_and_no_others() {
    for version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
        for operation in every_operation() {
            let kind = operation.kind();
            assert_eq!(refusal(all_on(), version, operation.clone()).await, None, "{kind:?}");
            let streaming = refusal(all_on().streaming(false), version, operation.clone()).await;
            assert_eq!(streaming, kind.is_streaming().then_some(-32004), "{kind:?}");
            let push = refusal(all_on().push_notifications(false), version, operation).await;
            assert_eq!(push, kind.is_push().then_some(-32003), "{kind:?}");
        }
    }
}

#[tokio::test]
async fn f107_c18_a_message_may_bring_a_webhook_only_where_push_is_offered() {
    for send in [OperationRequest::SendMessage, OperationRequest::SendStreamingMessage] {
        let operation = send(with_webhook());
        assert_eq!(refusal(all_on(), ProtocolVersion::V1_0, operation.clone()).await, None);
        let off = all_on().push_notifications(false);
        assert_eq!(refusal(off, ProtocolVersion::V1_0, operation).await, Some(-32003));
    }
}

#[tokio::test]
async fn f107_the_extended_card_is_not_offered_or_not_set() {
    let ask = |layer, version| refusal(layer, version, OperationRequest::GetExtendedAgentCard);
    assert_eq!(ask(CapabilityLayer::new(), ProtocolVersion::V1_0).await, Some(-32004));
    assert_eq!(ask(CapabilityLayer::new(), ProtocolVersion::V0_3).await, Some(-32007), "0.3 has one error for both");
    let mut card = AgentCard::new("echo", "Echoes", "1");
    card.capabilities.extended_agent_card = true;
    for version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
        assert_eq!(ask(CapabilityLayer::from_card(&card), version).await, Some(-32007));
    }
}

#[tokio::test]
async fn a_fixed_extended_card_is_answered_here() {
    let card = Arc::new(AgentCard::new("echo", "Echoes for friends", "1"));
    let (mut service, mut handle) = spawn(CapabilityLayer::new().extended_agent_card(Arc::clone(&card)));
    handle.allow(1);
    assert!(service.poll_ready().is_ready());
    let answer = service.call(request(ProtocolVersion::V1_0, OperationRequest::GetExtendedAgentCard)).await;
    match answer.unwrap().into_body() {
        Outcome::Answer(Answer::ExtendedAgentCard(answered)) => assert!(Arc::ptr_eq(&answered, &card)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_card_decides() {
    let mut card = AgentCard::new("echo", "Echoes", "1");
    let subscribe = || OperationRequest::SubscribeToTask(SubscribeToTask::new("t"));
    let list = || OperationRequest::ListPushConfigs(PushConfigOf::new("t"));
    let layer = CapabilityLayer::from_card(&card);
    assert_eq!(refusal(layer.clone(), ProtocolVersion::V1_0, subscribe()).await, Some(-32004));
    assert_eq!(refusal(layer, ProtocolVersion::V1_0, list()).await, Some(-32003));
    card.capabilities.streaming = true;
    card.capabilities.push_notifications = true;
    let layer = CapabilityLayer::from_card(&card);
    assert_eq!(refusal(layer.clone(), ProtocolVersion::V1_0, subscribe()).await, None);
    assert_eq!(refusal(layer, ProtocolVersion::V1_0, list()).await, None);
}

#[tokio::test]
async fn readiness_head_and_errors_pass_through() {
    let (mut service, mut handle) = spawn(all_on());
    handle.allow(0);
    assert!(service.poll_ready().is_pending());
    handle.allow(1);
    assert!(service.poll_ready().is_ready());
    let mut asked = request(ProtocolVersion::V1_0, OperationRequest::GetTask(GetTask::new("t")));
    asked.headers_mut().insert("traceparent", "00-1-2-3".parse().unwrap());
    asked.extensions_mut().insert(7_u8);
    let mut answer = tokio_test::task::spawn(service.call(asked));
    assert!(answer.poll().is_pending());
    let (asked, reply) = handle.next_request().await.unwrap();
    assert_eq!(
        (&asked.headers()["traceparent"], asked.extensions().get()),
        (&"00-1-2-3".parse().unwrap(), Some(&7_u8))
    );
    reply.send_error(a2a_layers::error::Error::task_not_found("t"));
    assert_eq!(answer.await.unwrap_err().kind(), ErrorKind::TaskNotFound);

    handle.send_error(BoxError::from("gone"));
    let std::task::Poll::Ready(Err(error)) = service.poll_ready() else { panic!("ready") };
    assert_eq!(error.message(), "Internal error");
}
