//! The task layer alone, over agents made of plain functions.

use std::convert::Infallible;

use a2a_layers::{
    agent::Reply,
    call::Binding,
    operation::{Answer, GetTask, Operation, OperationRequest, Outcome, ProtocolVersion, SendMessage, StreamEvent},
    task::{EventStream, TaskLayer},
    types::{Event, Message, TaskState},
};
use futures_util::{StreamExt, stream};
use http::Request;
use tower::{Layer, Service, ServiceExt, service_fn};

fn operation(request: OperationRequest) -> Request<Operation> {
    Request::new(Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, request))
}

fn send(text: &str) -> OperationRequest {
    OperationRequest::SendMessage(SendMessage::new(Message::user(text)))
}

async fn answer<S>(service: &mut S, request: OperationRequest) -> Outcome<EventStream>
where
    S: Service<Request<Operation>, Response = http::Response<Outcome<EventStream>>>,
    S::Error: std::fmt::Debug,
{
    service.ready().await.unwrap().call(operation(request)).await.unwrap().into_body()
}

#[tokio::test]
async fn a_ready_answer_completes_the_task_at_once() {
    let mut tasks = TaskLayer::new().layer(service_fn(|request: Request<Message>| async move {
        Ok::<_, Infallible>(format!("you said: {}", request.body().text()))
    }));
    let Outcome::Answer(Answer::SentTask(view)) = answer(&mut tasks, send("hi")).await else { panic!() };
    assert_eq!(view.task().status.state, TaskState::Completed);
    assert_eq!(view.task().artifacts[0].parts[0].as_text(), Some("you said: hi"));
    let get = OperationRequest::GetTask(GetTask::new(view.task().id.clone()));
    let Outcome::Answer(Answer::Task(again)) = answer(&mut tasks, get).await else { panic!() };
    assert_eq!(again.task(), view.task());
}

#[tokio::test]
async fn a_stream_shows_the_whole_log() {
    let mut tasks = TaskLayer::new().layer(service_fn(|_: Request<Message>| async move {
        Ok::<_, Infallible>(Reply::stream(stream::iter(["a", "b"].map(Ok::<_, Infallible>))))
    }));
    let request = OperationRequest::SendStreamingMessage(SendMessage::new(Message::user("hi")));
    let Outcome::Stream(events) = answer(&mut tasks, request).await else { panic!() };
    let events: Vec<StreamEvent> = events.map(Result::unwrap).collect().await;
    let numbers: Vec<_> = events.iter().map(|event| event.number().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert!(matches!(events[0].to_event(), Event::Task(_)));
    assert_eq!(events[4].to_event().state(), Some(TaskState::Completed));
}
