use a2a_layers::error::ErrorKind;
use futures_util::{StreamExt, stream};

use super::*;

async fn frames(uri: &str, items: Vec<Result<Frame, Error>>) -> Vec<Frame> {
    let cell = std::sync::Mutex::new(Some(items));
    let service = service_fn(move |_: Request<Call>| {
        let items = cell.lock().unwrap().take().unwrap();
        async move { Ok::<_, BoxError>(Response::new(Encoded::Stream(stream::iter(items)))) }
    });
    let answer = RestLayer::new().layer(service).oneshot(request("POST", uri, &[], "{}")).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers().get("content-type")), (200, None), "it is for `sse` to say");
    let Encoded::Stream(stream) = answer.into_body() else { panic!("a document") };
    stream.collect().await
}

#[tokio::test]
async fn f45_events_are_bare_and_keep_their_numbers() {
    let items = vec![Ok(Frame::new(r#"{"task":{}}"#).with_id(Some(1))), Ok(Frame::new("2").with_id(Some(2)))];
    let frames = frames("/message:stream", items).await;
    let seen: Vec<_> = frames.iter().map(|frame| (frame.id(), frame.event(), frame.to_bytes())).collect();
    assert_eq!(seen, [(Some(1), None, r#"{"task":{}}"#.into()), (Some(2), None, "2".into())]);
}

#[tokio::test]
async fn f51_an_error_is_an_event_of_that_name_and_the_last() {
    for (uri, old) in [("/message:stream", false), ("/v1/message:stream", true)] {
        let items = vec![Ok(Frame::new("1")), Err(ErrorKind::UnsupportedOperation.into()), Ok(Frame::new("never"))];
        let frames = frames(uri, items).await;
        assert_eq!(frames.len(), 2);
        assert_eq!((frames[1].event(), frames[1].id()), (Some("error"), None));
        let value: Value = serde_json::from_slice(&frames[1].to_bytes()).unwrap();
        assert_eq!(value["error"]["details"][0]["reason"], "UNSUPPORTED_OPERATION");
        assert_eq!(value["code"].as_i64(), old.then_some(-32004));
    }
}
