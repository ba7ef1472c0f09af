use std::sync::Arc;

use a2a_layers::{
    agent::Reply,
    blob::{BlobLayer, Blobs, MemoryBlobStore},
    error::{BoxError, Error, ErrorKind},
    part::{Input, PartLayer},
    types::{InlineBytes, Message, Part, PartContent, Role},
};
use bytes::Bytes;
use http::Request;
use serde_json::json;
use tokio_test::{assert_pending, assert_ready, assert_ready_err, assert_ready_ok};
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_test::mock;

use super::{Spy, crate_error};

const LIMIT: usize = 10 * 1024 * 1024;

fn request(parts: Vec<Part>) -> Request<Arc<Message>> {
    Request::new(Message::new(Role::User, parts).into())
}

async fn say_ok(_: Request<Arc<Message>>) -> Result<&'static str, BoxError> {
    Ok("ok")
}

async fn refusal(layer: BlobLayer<Spy>, parts: Vec<Part>) -> Error {
    crate_error(layer.layer(service_fn(say_ok)).oneshot(request(parts)).await.unwrap_err())
}

#[test]
fn b037_b042_b048_inline_bytes_are_stored_and_their_url_takes_their_place() {
    let spy = Spy::default();
    let (mut service, mut handle) = mock::spawn_layer::<Request<Arc<Message>>, &str, _>(BlobLayer::new(spy.clone()));
    assert_ready_ok!(service.poll_ready());
    let metadata = json!({"k": 1}).as_object().unwrap().clone();
    let raw = Part::raw(InlineBytes::from_base64("AP8QgA==")).with_filename("f.bin").with_media_type("x/y");
    let mut sent = request(vec![Part::text("see"), raw.with_metadata(metadata.clone().into()), Part::url("u")]);
    sent.headers_mut().insert("x-head", "kept".parse().unwrap());
    let mut answer = tokio_test::task::spawn(service.call(sent));
    assert_pending!(answer.poll());
    let (seen, respond) = assert_ready!(tokio_test::task::spawn(handle.next_request()).poll()).unwrap();
    let file = Part::url("spy:0").with_filename("f.bin").with_media_type("x/y").with_metadata(metadata.into());
    assert_eq!(seen.body().parts, [Part::text("see"), file, Part::url("u")]);
    assert_eq!(seen.headers()["x-head"], "kept");
    respond.send_response("done");
    assert_ready_ok!(answer.poll());
    let stored = spy.files();
    assert_eq!((stored.len(), &stored[0].bytes[..]), (1, &[0x00, 0xff, 0x10, 0x80][..]));
    assert_eq!((stored[0].filename.as_deref(), stored[0].media_type.as_deref()), (Some("f.bin"), Some("x/y")));
}

#[tokio::test]
async fn f37_both_alphabets_store_the_same_bytes() {
    for text in ["+/8AEA==", "+/8AEA", "-_8AEA==", "-_8AEA"] {
        let spy = Spy::default();
        let service = BlobLayer::new(spy.clone()).layer(service_fn(say_ok));
        service.oneshot(request(vec![Part::raw(InlineBytes::from_base64(text))])).await.unwrap();
        assert_eq!(spy.files()[0].bytes[..], [0xfb, 0xff, 0x00, 0x10], "{text}");
    }
}

#[tokio::test]
async fn b046_a_file_reads_the_same_by_url_and_inline() {
    let agent = ServiceBuilder::new()
        .layer(BlobLayer::new(Spy::default()))
        .layer(PartLayer::new())
        .service_fn(|req: Request<Input>| async move { Ok::<_, BoxError>(req.body().to_json()) });
    for content in [Part::raw(&b"x"[..]), Part::url("spy:0")] {
        let reply = agent.clone().oneshot(request(vec![content.with_filename("n").with_media_type("m/t")])).await;
        assert!(format!("{reply:?}").contains(r#"{"uri":"spy:0","mimeType":"m/t","name":"n"}"#), "{reply:?}");
    }
}

#[tokio::test]
async fn b050_b118_the_limit_is_ten_mebibytes_and_one_more_is_refused() {
    let layer = BlobLayer::new(Spy::default());
    let service = layer.clone().layer(service_fn(say_ok));
    service.oneshot(request(vec![Part::raw(vec![0; LIMIT])])).await.unwrap();
    let error = refusal(layer, vec![Part::text("x"), Part::raw(vec![0; LIMIT + 1])]).await;
    assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidParams, -32602));
    assert_eq!(error.violations()[0].field, "message.parts[1]");
    assert!(error.message().contains("10485761") && error.message().contains("10485760"), "{error}");
}

#[tokio::test]
async fn b050_the_limit_counts_decoded_bytes_and_can_be_set() {
    let base64 = |length: usize| Part::raw(InlineBytes::from_base64(InlineBytes::new(vec![7; length]).to_base64()));
    for limit in [0, 1, 2, 3, 100] {
        let layer = BlobLayer::new(Spy::default()).max_bytes(limit);
        assert!(layer.layer(service_fn(say_ok)).oneshot(request(vec![base64(limit)])).await.is_ok());
        refusal(layer, vec![base64(limit + 1)]).await;
    }
}

#[tokio::test]
async fn b051_what_is_too_large_is_not_decoded() {
    // It could not be decoded, so an answer about its size shows that nobody tried.
    let text = Bytes::from(vec![b'!'; 40]);
    let error = refusal(BlobLayer::new(Spy::default()).max_bytes(29), vec![Part::raw(InlineBytes::from_base64(text))]);
    assert!(error.await.message().contains("30 bytes"));
}

#[tokio::test]
async fn nothing_is_stored_if_any_part_is_refused() {
    let spy = Spy::default();
    let bad = Part::raw(InlineBytes::from_base64("A"));
    let error = refusal(BlobLayer::new(spy.clone()), vec![Part::raw(&b"good"[..]), bad]).await;
    assert_eq!(error.code(), -32602);
    assert_eq!(error.violations()[0].field, "message.parts[1]");
    assert!(error.message().contains("base64"), "{error}");
    let large = vec![Part::raw(&b"good"[..]), Part::raw(&b"too large"[..])];
    refusal(BlobLayer::new(spy.clone()).max_bytes(4), large).await;
    assert!(spy.files().is_empty());
}

#[test]
fn a_refusal_is_there_at_once_and_the_agent_is_not_called() {
    let layer = BlobLayer::new(Spy::behind_a_gate().0).max_bytes(1);
    let (mut service, mut handle) = mock::spawn_layer::<Request<Arc<Message>>, &str, _>(layer);
    for part in [Part::raw(&b"ab"[..]), Part::raw(InlineBytes::from_base64("?"))] {
        assert_ready_ok!(service.poll_ready());
        let mut answer = tokio_test::task::spawn(service.call(request(vec![part])));
        assert_eq!(assert_ready_err!(answer.poll()).downcast_ref::<Error>().unwrap().code(), -32602);
        assert_pending!(answer.poll());
        assert_pending!(tokio_test::task::spawn(handle.next_request()).poll());
    }
}

#[test]
fn without_files_the_agent_is_called_at_once_and_the_store_is_not_touched() {
    let (spy, _gate) = Spy::behind_a_gate();
    let (mut service, mut handle) = mock::spawn_layer::<Request<Arc<Message>>, &str, _>(BlobLayer::new(spy));
    assert_ready_ok!(service.poll_ready());
    let _answer = service.call(request(vec![Part::text("hi"), Part::url("u")]));
    assert_ready!(tokio_test::task::spawn(handle.next_request()).poll()).unwrap();
}

#[test]
fn the_service_that_was_ready_is_the_one_that_is_called() {
    let (spy, gate) = Spy::behind_a_gate();
    let (mut service, mut handle) = mock::spawn_layer::<Request<Arc<Message>>, &str, _>(BlobLayer::new(spy));
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut answer = tokio_test::task::spawn(service.call(request(vec![Part::raw(&b"x"[..])])));
    assert_pending!(answer.poll());
    assert_pending!(tokio_test::task::spawn(handle.next_request()).poll());
    gate.add_permits(1);
    assert!(answer.is_woken());
    // The mock panics if what is called is not the one that was ready.
    assert_pending!(answer.poll());
    let (seen, respond) = assert_ready!(tokio_test::task::spawn(handle.next_request()).poll()).unwrap();
    assert!(matches!(&seen.body().parts[0].content, PartContent::Url(url) if url == "spy:0"));
    respond.send_response("done");
    assert_ready_ok!(answer.poll());
    assert_pending!(service.poll_ready());
}

#[test]
fn a_request_that_is_given_up_while_it_is_stored_never_reaches_the_agent() {
    let (spy, gate) = Spy::behind_a_gate();
    let (mut service, mut handle) = mock::spawn_layer::<Request<Arc<Message>>, &str, _>(BlobLayer::new(spy.clone()));
    assert_ready_ok!(service.poll_ready());
    let mut answer = tokio_test::task::spawn(service.call(request(vec![Part::raw(&b"x"[..])])));
    assert_pending!(answer.poll());
    drop(answer);
    gate.add_permits(1);
    assert!(spy.files().is_empty());
    assert_pending!(tokio_test::task::spawn(handle.next_request()).poll());
}

#[tokio::test]
async fn a_store_that_fails_is_an_internal_error_that_says_nothing() {
    let error = refusal(BlobLayer::new(Spy::failing_at(0)), vec![Part::raw(&b"x"[..])]).await;
    assert_eq!((error.kind(), &*error.message()), (ErrorKind::Internal, "Internal error"));
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("hunter2"));
}

#[tokio::test]
async fn an_error_of_the_crate_from_a_store_goes_out_as_it_is() {
    let mut spy = Spy::failing_at(0);
    spy.fails_with = Some(|| Error::new(ErrorKind::Overloaded).into());
    let error = refusal(BlobLayer::new(spy), vec![Part::raw(&b"x"[..])]).await;
    assert_eq!(error.kind(), ErrorKind::Overloaded);
}

#[tokio::test]
async fn b036_a_mount_without_a_store_leaves_what_comes_in_alone() {
    let service = BlobLayer::required().layer(service_fn(|req: Request<Arc<Message>>| async move {
        assert!(matches!(req.body().parts[0].content, PartContent::Raw(_)));
        assert!(matches!(req.body().parts[1].content, PartContent::Url(_)));
        Ok::<_, BoxError>("ok")
    }));
    service.oneshot(request(vec![Part::raw(&b"x"[..]), Part::url("u")])).await.unwrap();
}

#[tokio::test]
async fn errors_of_the_agent_pass() {
    let agent = service_fn(|_: Request<Arc<Message>>| async { Err::<Reply, BoxError>("broken".into()) });
    for parts in [vec![Part::text("hi")], vec![Part::raw(&b"x"[..])]] {
        let error = Blobs::new(agent, Spy::default()).oneshot(request(parts)).await.unwrap_err();
        assert_eq!(error.to_string(), "broken");
    }
}

#[tokio::test]
async fn a_stack_with_layers_of_tower_in_between_can_be_spawned() {
    let stack = ServiceBuilder::new()
        .timeout(std::time::Duration::from_secs(1))
        .layer(BlobLayer::new(MemoryBlobStore::new("/blobs")))
        .load_shed()
        .concurrency_limit(1)
        .timeout(std::time::Duration::from_secs(1))
        .layer(PartLayer::new())
        .timeout(std::time::Duration::from_secs(1))
        .service_fn(|req: Request<Input>| async move { Ok::<_, std::io::Error>(req.body().text().to_owned()) });
    let run = tokio::spawn(stack.oneshot(request(vec![Part::raw(&b"x"[..]), Part::text("hi")])));
    assert!(format!("{:?}", run.await.unwrap().unwrap()).contains("hi"));
}
