use a2a_layers::error::ErrorKind;
use futures_util::{StreamExt as _, stream};
use serde_json::json;

use super::*;

async fn frames(layer: JsonRpcLayer) -> Vec<Frame> {
    let service = service_fn(|_: Request<Call>| async {
        let items = vec![
            Ok(Frame::new(r#"{"a":1}"#).with_id(Some(1))),
            Ok(Frame::new("2")),
            Err(Error::new(ErrorKind::UnsupportedOperation)),
            Ok(Frame::new("3")),
        ];
        Ok::<_, BoxError>(Response::new(Encoded::Stream(stream::iter(items))))
    });
    let answer = layer.layer(service).oneshot(post(r#"{"jsonrpc":"2.0","id":"é","method":"m"}"#)).await.unwrap();
    match answer.into_body() {
        Encoded::Stream(stream) => stream.collect().await,
        _ => panic!("a document"),
    }
}

#[tokio::test]
async fn b067_f45_each_item_is_an_envelope_with_the_requests_id() {
    let frames = frames(JsonRpcLayer::new()).await;
    assert_eq!(frames[0].to_bytes(), r#"{"jsonrpc":"2.0","id":"é","result":{"a":1}}"#);
    assert_eq!(frames[1].to_bytes(), r#"{"jsonrpc":"2.0","id":"é","result":2}"#);
    assert_eq!((frames[0].id(), frames[1].id()), (Some(1), None));
    assert_eq!(frames[0].pieces()[0].as_ptr(), frames[1].pieces()[0].as_ptr(), "the head is shared");
}

#[tokio::test]
async fn f51_an_error_keeps_its_code_and_is_the_last() {
    let frames = frames(JsonRpcLayer::new()).await;
    assert_eq!(frames.len(), 3);
    let value: Value = serde_json::from_slice(&frames[2].to_bytes()).unwrap();
    assert_eq!((&value["id"], &value["error"]["code"]), (&json!("é"), &json!(-32004)));
}

#[tokio::test]
async fn c02_v035_items_can_be_bare() {
    let frames = frames(JsonRpcLayer::new().bare_stream_items(true)).await;
    assert_eq!(frames[0].to_bytes(), r#"{"a":1}"#);
    let value: Value = serde_json::from_slice(&frames[2].to_bytes()).unwrap();
    assert_eq!(value["error"]["code"], -32004);
}
