//! Extensions are activated, demanded and echoed.

use a2a_layers::{
    call::Binding,
    error::{BoxError, Error, ErrorKind},
    extension::{ActivatedExtensions, ExtensionLayer},
    operation::{
        Answer, CancelTask, GetTask, ListTasks, Operation, OperationRequest, Outcome, ProtocolVersion, PushConfigOf,
        SendMessage, SubscribeToTask,
    },
    types::{AgentCard, AgentExtension, Message},
};
use http::{Request, Response};
use proptest::prelude::*;
use tower::{ServiceBuilder, ServiceExt, service_fn};
use tower_test::mock;

const CITE: &str = "https://example.com/ext/cite";
const TIME: &str = "https://example.com/ext/time";

type Reply = Response<Outcome<()>>;

fn layer() -> ExtensionLayer {
    ExtensionLayer::new([AgentExtension::new(CITE), AgentExtension::new(TIME)])
}

fn demanding() -> ExtensionLayer {
    ExtensionLayer::new([AgentExtension::new(CITE), AgentExtension::required(TIME)])
}

fn request(version: ProtocolVersion, headers: &[(&str, &str)]) -> Request<Operation> {
    let get = OperationRequest::GetTask(GetTask::new("t"));
    let mut request = Request::get("/");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Operation::new(version, Binding::JsonRpc, get)).unwrap()
}

/// Answers with a stream, and with what reached it in a header of its own.
async fn agent(request: Request<Operation>) -> Result<Reply, BoxError> {
    let activated = request.extensions().get::<ActivatedExtensions>().ok_or("nothing was put there")?;
    let seen = activated.iter().collect::<Vec<_>>().join(" ");
    Ok(Response::builder().header("seen", seen).body(Outcome::Stream(()))?)
}

async fn through(layer: ExtensionLayer, request: Request<Operation>) -> Result<Reply, Error> {
    ServiceBuilder::new().layer(layer).service(service_fn(agent)).oneshot(request).await
}

#[tokio::test]
async fn what_is_asked_for_and_supported_is_activated_and_echoed_in_the_header_of_the_version() {
    for (version, echo, other) in [
        (ProtocolVersion::V1_0, "a2a-extensions", "x-a2a-extensions"),
        (ProtocolVersion::V0_3, "x-a2a-extensions", "a2a-extensions"),
    ] {
        for asked in ["A2A-Extensions", "X-A2A-Extensions"] {
            let value = format!("{TIME} , https://example.com/unknown,,{CITE},{CITE}");
            let response = through(layer(), request(version, &[(asked, &value)])).await.unwrap();
            assert_eq!(response.headers()["seen"], format!("{CITE} {TIME}"));
            assert_eq!(response.headers()[echo], format!("{CITE}, {TIME}"));
            assert!(!response.headers().contains_key(other));
        }
    }
}

#[tokio::test]
async fn several_lines_of_both_headers_are_one_list() {
    let lines = [("A2A-Extensions", "x"), ("A2A-Extensions", CITE), ("X-A2A-Extensions", TIME)];
    let response = through(layer(), request(ProtocolVersion::V1_0, &lines)).await.unwrap();
    assert_eq!(response.headers()["seen"], format!("{CITE} {TIME}"));
}

#[tokio::test]
async fn nothing_is_echoed_where_nothing_is_activated() {
    for headers in [&[][..], &[("A2A-Extensions", "")], &[("A2A-Extensions", "https://example.com/ext/cit")]] {
        let response = through(layer(), request(ProtocolVersion::V1_0, headers)).await.unwrap();
        assert_eq!(response.headers()["seen"], "");
        assert!(!response.headers().contains_key("a2a-extensions"));
    }
}

#[tokio::test]
async fn f122_a_required_extension_that_is_not_named_is_32008_on_every_operation() {
    let send = || SendMessage::new(Message::user("hi"));
    let operations = [
        OperationRequest::SendMessage(send()),
        OperationRequest::SendStreamingMessage(send()),
        OperationRequest::GetTask(GetTask::new("t")),
        OperationRequest::ListTasks(ListTasks::default()),
        OperationRequest::CancelTask(CancelTask::new("t")),
        OperationRequest::SubscribeToTask(SubscribeToTask::new("t")),
        OperationRequest::ListPushConfigs(PushConfigOf::new("t")),
        OperationRequest::GetExtendedAgentCard,
    ];
    for operation in operations {
        for version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
            let (mut service, mut handle) = mock::spawn_layer::<Request<Operation>, Reply, _>(demanding());
            handle.allow(1);
            assert!(service.poll_ready().is_ready());
            let mut asked = Request::new(Operation::new(version, Binding::JsonRpc, operation.clone()));
            asked.headers_mut().insert("a2a-extensions", CITE.parse().unwrap());
            let error = service.call(asked).await.unwrap_err();
            assert_eq!((error.kind(), error.code()), (ErrorKind::ExtensionSupportRequired, -32008));
            assert!(error.info().contains(&("uri", TIME.to_owned())));
            assert!(error.message().contains(TIME));
        }
    }
}

#[tokio::test]
async fn f122_a_required_extension_that_is_named_lets_the_request_through() {
    let asked = request(ProtocolVersion::V1_0, &[("A2A-Extensions", TIME)]);
    let response = through(demanding(), asked).await.unwrap();
    assert_eq!(response.headers()["a2a-extensions"], TIME);
}

#[tokio::test]
async fn the_card_decides() {
    let mut card = AgentCard::new("echo", "Echoes", "1");
    card.capabilities.extensions = vec![AgentExtension::required(CITE)];
    let refused = through(ExtensionLayer::from_card(&card), request(ProtocolVersion::V1_0, &[])).await;
    assert_eq!(refused.unwrap_err().code(), -32008);
}

#[tokio::test]
async fn an_answer_that_names_its_extensions_itself_is_left_alone() {
    let agent = service_fn(|_: Request<Operation>| async {
        let reply = Outcome::<()>::Answer(Answer::PushConfigDeleted);
        Response::builder().header("A2A-Extensions", CITE).body(reply)
    });
    let asked = request(ProtocolVersion::V1_0, &[("A2A-Extensions", &format!("{CITE},{TIME}"))]);
    let response = ServiceBuilder::new().layer(layer()).service(agent).oneshot(asked).await.unwrap();
    assert_eq!(response.headers().get_all("a2a-extensions").iter().collect::<Vec<_>>(), [CITE]);
}

#[tokio::test]
async fn readiness_and_errors_pass_through() {
    let (mut service, mut handle) = mock::spawn_layer::<Request<Operation>, Reply, _>(layer());
    handle.allow(0);
    assert!(service.poll_ready().is_pending());
    handle.allow(1);
    assert!(service.poll_ready().is_ready());
    let answer = service.call(request(ProtocolVersion::V1_0, &[]));
    handle.next_request().await.unwrap().1.send_error(Error::task_not_found("t"));
    assert_eq!(answer.await.unwrap_err().kind(), ErrorKind::TaskNotFound);
}

proptest! {
    #[test]
    fn whatever_the_header_says_only_the_supported_ones_are_activated(
        uris in prop::collection::vec(prop_oneof![Just(CITE.to_owned()), Just(TIME.to_owned()), "[ -~]{0,12}"], 0..6),
    ) {
        let value = uris.join(",");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let asked = request(ProtocolVersion::V1_0, &[("A2A-Extensions", &value)]);
        let response = runtime.block_on(through(layer(), asked)).unwrap();
        let expected: Vec<_> = [CITE, TIME].into_iter().filter(|uri| uris.iter().any(|asked| asked == uri)).collect();
        prop_assert_eq!(response.headers()["seen"].to_str().unwrap(), expected.join(" "));
    }
}
