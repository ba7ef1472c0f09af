//! Callers and the agent are held to the media types that each of them takes.

use std::convert::Infallible;

use a2a_layers::{
    agent::{IntoReply, Reply, TaskContext, Update},
    call::Binding,
    error::{BoxError, Error, ErrorKind},
    media_type::{AcceptedOutputLayer, MediaTypeLayer},
    operation::{Answer, GetTask, Operation, OperationRequest, Outcome, ProtocolVersion, SendMessage},
    types::{AgentCard, AgentSkill, Artifact, Message, Part, Role},
};
use futures_util::{StreamExt, stream};
use http::{Request, Response};
use serde_json::json;
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_test::mock;

type Answered = Response<Outcome<()>>;

fn send(parts: Vec<Part>, streaming: bool) -> Request<Operation> {
    let send = SendMessage::new(Message::new(Role::User, parts));
    let operation =
        if streaming { OperationRequest::SendStreamingMessage(send) } else { OperationRequest::SendMessage(send) };
    Request::new(Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, operation))
}

async fn through(layer: MediaTypeLayer, request: Request<Operation>) -> Result<Answered, Error> {
    let inner = service_fn(|_: Request<Operation>| async {
        Ok::<_, Infallible>(Answered::new(Outcome::Answer(Answer::PushConfigDeleted)))
    });
    ServiceBuilder::new().layer(layer).service(inner).oneshot(request).await
}

fn file(media_type: &str) -> Part {
    Part::url("https://example.com/f").with_media_type(media_type)
}

#[tokio::test]
async fn a_stated_type_outside_the_modes_is_32005() {
    for streaming in [false, true] {
        let layer = MediaTypeLayer::new(["text/plain", "image/*"]);
        let parts = vec![Part::text("look"), file("image/png"), file("audio/mpeg; codecs=mp3")];
        let error = through(layer, send(parts, streaming)).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::ContentTypeNotSupported, -32005));
        assert!(error.info().contains(&("mediaType", "audio/mpeg".to_owned())));
        assert!(error.message().contains("message.parts[2] is audio/mpeg, the agent takes text/plain, image/*"));
    }
}

#[tokio::test]
async fn parts_that_state_no_type_pass() {
    let parts = vec![
        Part::text("a"),
        Part::data(json!({})),
        Part::url("https://example.com/f"),
        Part::raw(vec![1]),
        file(" "),
        file("IMAGE/Png"),
    ];
    assert!(through(MediaTypeLayer::new(["image/png"]), send(parts, false)).await.is_ok());
}

#[tokio::test]
async fn the_modes_of_the_skills_count_too() {
    let mut card = AgentCard::new("echo", "Echoes", "1");
    let mut skill = AgentSkill::new("see", "See", "Sees", "eyes");
    skill.input_modes = vec!["image/png".to_owned()];
    card.skills = vec![skill];
    let layer = MediaTypeLayer::from_card(&card);
    assert!(through(layer.clone(), send(vec![file("image/png")], false)).await.is_ok());
    assert!(through(layer.clone(), send(vec![file("text/plain")], false)).await.is_ok());
    assert!(through(layer, send(vec![file("image/gif")], false)).await.is_err());
}

#[tokio::test]
async fn other_operations_pass() {
    let get = OperationRequest::GetTask(GetTask::new("t"));
    let request = Request::new(Operation::new(ProtocolVersion::V1_0, Binding::JsonRpc, get));
    assert!(through(MediaTypeLayer::new(["text/plain"]), request).await.is_ok());
}

#[tokio::test]
async fn a_long_type_is_told_back_in_part() {
    let told = async |length: usize| {
        let request = send(vec![file(&format!("x/{}", "ü".repeat(length - 2)))], false);
        let error = through(MediaTypeLayer::new(["text/plain"]), request).await.unwrap_err();
        error.info()[0].1.chars().count()
    };
    assert_eq!((told(255).await, told(256).await, told(100_000).await), (255, 255, 255));
}

#[tokio::test]
async fn a_refusal_does_not_reach_the_inner_service_and_readiness_does() {
    let layer = MediaTypeLayer::new(["text/plain"]);
    let (mut service, mut handle) = mock::spawn_layer::<Request<Operation>, Answered, _>(layer);
    handle.allow(0);
    assert!(service.poll_ready().is_pending());
    handle.allow(1);
    assert!(service.poll_ready().is_ready());
    let mut refused = tokio_test::task::spawn(service.call(send(vec![file("a/b")], false)));
    assert!(refused.poll().is_ready());
    tokio_test::assert_pending!(tokio_test::task::spawn(handle.next_request()).poll());
}

/// What comes of an agent's answer where the caller takes these modes.
async fn answered<R>(modes: &[&str], reply: R) -> Result<Reply, Error>
where
    R: IntoReply,
{
    let reply = std::sync::Mutex::new(Some(reply));
    let agent = service_fn(|_: Request<()>| {
        let reply = reply.lock().unwrap().take();
        async { reply.map(Response::new).ok_or(BoxError::from("asked twice")) }
    });
    let modes = modes.iter().map(ToString::to_string).collect();
    let mut request = Request::new(());
    request.extensions_mut().insert(TaskContext::builder("t", "c").accepted_output_modes(modes).build());
    let response = ServiceBuilder::new().layer(AcceptedOutputLayer::new()).service(agent).oneshot(request).await?;
    Ok(response)
}

#[tokio::test]
async fn an_answer_in_none_of_the_accepted_modes_is_reported() {
    let error = answered(&["image/*", "audio/mpeg"], "words").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::ContentTypeNotSupported, -32005));
    let told = "Incompatible content types: the agent answered in text/plain, the caller takes image/*, audio/mpeg";
    assert_eq!(error.message(), told);
    assert!(answered(&["text/plain"], json!({"a": 1})).await.is_err());
    assert!(answered(&["text/plain"], Message::agent(json!({"a": 1}))).await.is_err());
    assert!(answered(&["text/plain"], Artifact::new("a", vec![file("image/png")])).await.is_err());
}

#[tokio::test]
async fn one_part_that_can_be_taken_is_enough() {
    assert!(answered(&["image/*"], vec![Part::text("see"), file("image/png")]).await.is_ok());
    assert!(answered(&["text/markdown"], "words").await.is_ok());
    assert!(answered(&["image/png"], Part::url("https://example.com/f")).await.is_ok());
    assert!(answered(&["image/png"], Update::input_required("which one?")).await.is_ok());
    assert!(answered(&["image/png"], ()).await.is_ok());
}

#[tokio::test]
async fn without_modes_everything_is_taken() {
    for modes in [&[][..], &[""], &[" "]] {
        assert!(answered(modes, file("x/y")).await.is_ok());
    }
    let agent = service_fn(|_: Request<()>| async { Ok::<_, Infallible>(Response::new("words")) });
    assert!(AcceptedOutputLayer::new().layer(agent).oneshot(Request::new(())).await.is_ok());
}

#[tokio::test]
async fn a_stream_of_nothing_that_can_be_taken_ends_in_an_error() {
    let pictures = || vec![Update::working(), Update::file(file("image/png")), Update::progress("half")];
    let with_an_end = || pictures().into_iter().chain([Update::completed(), Update::text("never seen")]).collect();
    for (updates, passed) in [(pictures(), 3), (with_an_end(), 3), (vec![Message::agent(file("image/png")).into()], 0)]
    {
        let reply = Reply::stream(stream::iter(updates.into_iter().map(Ok::<_, Infallible>)));
        let seen: Vec<_> = answered(&["text/plain"], reply).await.unwrap().into_updates().collect().await;
        assert_eq!(seen.len(), passed + 1);
        assert!(seen[..passed].iter().all(Result::is_ok));
        let error = a2a_layers::error::find_error(seen.into_iter().next_back().unwrap().unwrap_err());
        assert_eq!(error.code(), -32005);
        assert!(error.message().contains("answered in image/png"));
    }
}

#[tokio::test]
async fn a_stream_with_something_that_can_be_taken_passes_whole() {
    let updates = vec![Update::file(file("image/png")), Update::text("a cat"), Update::completed(), Update::working()];
    let reply = Reply::stream(stream::iter(updates.into_iter().map(Ok::<_, Infallible>)));
    let seen: Vec<_> = answered(&["text/plain"], reply).await.unwrap().into_updates().collect().await;
    assert_eq!(seen.iter().filter(|update| update.is_ok()).count(), 4);
}

#[tokio::test]
async fn a_stream_that_says_nothing_is_nothing_to_refuse() {
    let reply = Reply::stream(stream::iter([Update::input_required("which?")].map(Ok::<_, Infallible>)));
    let seen: Vec<_> = answered(&["image/*"], reply).await.unwrap().into_updates().collect().await;
    assert!(matches!(&seen[..], [Ok(Update::Status(_))]));
}

#[tokio::test]
async fn errors_of_the_agent_pass_through_whole_and_in_streams() {
    let agent = service_fn(|_: Request<()>| async { Err::<Response<String>, _>(Error::task_not_found("t")) });
    let error = AcceptedOutputLayer::new().layer(agent).oneshot(Request::new(())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TaskNotFound);

    let items = [Ok("a"), Err(Error::task_not_found("t")), Ok("b")];
    let seen: Vec<_> =
        answered(&["text/plain"], Reply::stream(stream::iter(items))).await.unwrap().into_updates().collect().await;
    assert_eq!(seen.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false]);
}
