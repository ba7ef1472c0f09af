use std::sync::Arc;

use a2a_layers::{
    agent::{ArtifactUpdate, IntoReply, Reply, StatusUpdate, Update},
    blob::{BlobLayer, BlobStore},
    error::{BoxError, Error, ErrorKind},
    types::{Artifact, InlineBytes, Json, Message, Part, PartContent, TaskState},
};
use futures_util::{StreamExt, stream};
use http::Request;
use tokio_test::{assert_pending, assert_ready};
use tower::{Layer, ServiceExt, service_fn};

use super::{Spy, crate_error};

type Items = Vec<Result<Update, BoxError>>;

/// What becomes of a reply.
async fn sent_by<St: BlobStore>(layer: &BlobLayer<St>, reply: impl IntoReply) -> Result<Reply, BoxError> {
    let mut reply = Some(reply.into_reply());
    let agent = service_fn(move |_: Request<Arc<Message>>| {
        let reply = reply.take();
        async move { reply.ok_or_else(|| BoxError::from("called twice")) }
    });
    layer.layer(CloneOnce(Some(agent))).oneshot(Request::new(Message::user("go").into())).await
}

/// The layer wants a service that can be cloned, though without inline input it never clones one.
struct CloneOnce<S>(Option<S>);

impl<S> Clone for CloneOnce<S> {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl<S: tower::Service<R>, R> tower::Service<R> for CloneOnce<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), S::Error>> {
        self.0.as_mut().unwrap().poll_ready(cx)
    }

    fn call(&mut self, req: R) -> S::Future {
        self.0.as_mut().unwrap().call(req)
    }
}

async fn items<St: BlobStore>(layer: &BlobLayer<St>, reply: impl IntoReply) -> Items {
    sent_by(layer, reply).await.unwrap().into_updates().collect().await
}

async fn updates(spy: &Spy, reply: impl IntoReply) -> Vec<Update> {
    items(&BlobLayer::new(spy.clone()), reply).await.into_iter().map(Result::unwrap).collect()
}

fn raw(bytes: &'static [u8]) -> Part {
    Part::raw(bytes).with_filename("f").with_media_type("m/t")
}

fn stored(number: usize) -> Part {
    Part::url(format!("spy:{number}")).with_filename("f").with_media_type("m/t")
}

/// One of everything that can hold a file, and what is to become of it.
fn everything() -> (Vec<Update>, Vec<Update>) {
    let make = |file: &dyn Fn(usize) -> Part| {
        vec![
            Update::text("words"),
            Update::file(file(0)),
            Update::Artifact(
                ArtifactUpdate::new(Artifact::new("a", vec![file(1), Part::text("x"), file(2)])).appended(),
            ),
            Update::Status(StatusUpdate::new(TaskState::Working).with_message(message(file(3)))),
            Update::data(serde_json::json!({"a": 1})),
            Update::Message(message(file(4))),
        ]
    };
    (make(&|number| raw([&b"0"[..], b"1", b"2", b"3", b"4"][number])), make(&stored))
}

fn message(part: Part) -> Message {
    Message::agent(part).with_message_id("m")
}

#[tokio::test]
async fn b054_b058_files_are_stored_wherever_they_stand() {
    let (given, expected) = everything();
    let spy = Spy::default();
    assert_eq!(updates(&spy, given).await, expected);
    let bytes: Vec<_> = spy.files().iter().map(|file| file.bytes[0]).collect();
    assert_eq!(bytes, b"01234");
    assert_eq!(spy.files()[0].filename.as_deref(), Some("f"));
}

#[tokio::test]
async fn b059_b062_a_stream_keeps_its_order_beside_its_files() {
    let (given, expected) = everything();
    let spy = Spy::default();
    assert_eq!(updates(&spy, Reply::stream(stream::iter(given.into_iter().map(Ok::<_, BoxError>)))).await, expected);
    assert_eq!(spy.files().len(), 5);
}

#[tokio::test]
async fn a_message_stays_a_message() {
    let spy = Spy::default();
    let reply = sent_by(&BlobLayer::new(spy.clone()), message(raw(b"x"))).await.unwrap();
    assert_eq!(format!("{reply:?}"), format!("{:?}", Reply::message(message(stored(0)))));
}

#[tokio::test]
async fn replies_without_files_keep_their_form() {
    let layer = BlobLayer::new(Spy::default());
    let message = message(Part::text("hi"));
    assert!(format!("{:?}", sent_by(&layer, message).await).starts_with("Ok(Message"));
    assert!(format!("{:?}", sent_by(&layer, "hi").await).starts_with("Ok(Updates"));
    assert!(format!("{:?}", sent_by(&layer, raw(b"x")).await).starts_with("Ok(Updates"));
}

#[test]
fn a_stream_waits_for_the_store_and_for_nothing_else() {
    let (spy, gate) = Spy::behind_a_gate();
    let layer = BlobLayer::new(spy);
    let given = vec![Update::text("a"), Update::file(raw(b"x")), Update::text("b")];
    let reply = Reply::stream(stream::iter(given.into_iter().map(Ok::<_, BoxError>)));
    let reply = assert_ready!(tokio_test::task::spawn(sent_by(&layer, reply)).poll()).unwrap();
    let mut updates = tokio_test::task::spawn(reply.into_updates());
    assert_eq!(assert_ready!(updates.poll_next()).unwrap().unwrap(), Update::text("a"));
    assert_pending!(updates.poll_next());
    gate.add_permits(1);
    assert!(updates.is_woken());
    assert_eq!(assert_ready!(updates.poll_next()).unwrap().unwrap(), Update::file(stored(0)));
    assert_eq!(assert_ready!(updates.poll_next()).unwrap().unwrap(), Update::text("b"));
    assert!(assert_ready!(updates.poll_next()).is_none());
}

fn three_files() -> Vec<Update> {
    vec![Update::file(raw(b"a")), Update::text("t"), Update::file(raw(b"b")), Update::text("u")]
}

#[tokio::test]
async fn a_store_that_fails_ends_in_an_error_at_that_place() {
    for reply in
        [three_files().into_reply(), Reply::stream(stream::iter(three_files().into_iter().map(Ok::<_, BoxError>)))]
    {
        // Each reply gets a fresh store.
        let layer = BlobLayer::new(Spy::failing_at(1));
        let mut items = items(&layer, reply).await.into_iter();
        assert_eq!(items.next().unwrap().unwrap(), Update::file(stored(0)));
        assert_eq!(items.next().unwrap().unwrap(), Update::text("t"));
        let error = crate_error(items.next().unwrap().unwrap_err());
        assert_eq!((error.kind(), &*error.message()), (ErrorKind::Internal, "Internal error"));
        assert!(items.next().is_none_or(|item| item.unwrap() == Update::text("u")));
    }
    let failed = sent_by(&BlobLayer::new(Spy::failing_at(0)), message(raw(b"x"))).await;
    assert_eq!(crate_error(failed.unwrap_err()).kind(), ErrorKind::Internal);
}

#[tokio::test]
async fn b055_without_a_store_that_is_demanded_a_file_fails_the_reply() {
    let layer = BlobLayer::required();
    for reply in
        [three_files().into_reply(), Reply::stream(stream::iter(three_files().into_iter().map(Ok::<_, BoxError>)))]
    {
        let error = crate_error(items(&layer, reply).await.remove(0).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.message().contains("BLOB_STORE_NOT_CONFIGURED"), "{error}");
    }
    let error = crate_error(sent_by(&layer, message(raw(b"x"))).await.unwrap_err());
    assert!(error.message().contains("BLOB_STORE_NOT_CONFIGURED"), "{error}");
    assert_eq!(items(&layer, "no file").await.len(), 1);
    assert_eq!(items(&layer, Part::url("u")).await.remove(0).unwrap(), Update::file(Part::url("u")));
}

#[tokio::test]
async fn bad_base64_of_the_agent_is_the_agents_fault() {
    let bad = Part::raw(InlineBytes::from_base64("?"));
    let error: Error = crate_error(items(&BlobLayer::new(Spy::default()), bad).await.remove(0).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::InvalidAgentResponse);
}

#[tokio::test]
async fn errors_in_a_stream_pass() {
    let reply = Reply::stream(stream::iter([Ok(Update::text("a")), Err(BoxError::from("broken"))]));
    let items = items(&BlobLayer::new(Spy::default()), reply).await;
    assert_eq!(items[1].as_ref().unwrap_err().to_string(), "broken");
}

#[tokio::test]
async fn b056_data_that_says_it_is_a_file_is_sent_as_one() {
    let output = Json::parse(r#"{"kind":"file","uri":"s3://b/k","mimeType":"image/png","name":"a.png"}"#).unwrap();
    let file = Part::url("s3://b/k").with_media_type("image/png").with_filename("a.png");
    let spy = Spy::default();
    assert_eq!(updates(&spy, output.clone()).await, [Update::file(file.clone())]);
    let streamed = Reply::stream(stream::iter([Ok::<_, BoxError>(output.clone())]));
    assert_eq!(updates(&spy, streamed).await, [Update::file(file)]);
    let off = items(&BlobLayer::new(spy.clone()).file_outputs(false), output.clone()).await.remove(0).unwrap();
    assert_eq!(off, Update::data(output));
    assert!(spy.files().is_empty());
}

#[tokio::test]
async fn b060_b061_texts_and_data_pass_as_they_are() {
    let spy = Spy::default();
    assert_eq!(updates(&spy, "words").await, [Update::text("words")]);
    let data = Json::parse(r#"{"a": {"kind":"file","uri":"u"}}"#).unwrap();
    let sent = updates(&spy, data.clone()).await;
    assert!(
        matches!(&sent[0], Update::Part(Part { content: PartContent::Data(same), .. }) if same.get() == data.get())
    );
}
