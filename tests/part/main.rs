//! The `part` layer alone: what it makes of messages, and how it treats the service inside.

use std::{collections::BTreeMap, sync::Arc};

use a2a_layers::{
    error::{BoxError, Error, ErrorKind},
    part::{Form, Input, PartLayer, Parts},
    types::{Json, Message, Part, PartContent, Role},
};
use http::{Request, Response};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;
use tokio_test::{assert_pending, assert_ready, assert_ready_err, assert_ready_ok};
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_test::mock;

fn message(parts: Vec<Part>) -> Message {
    Message::new(Role::User, parts)
}

fn input(parts: Vec<Part>) -> Input {
    Input::new(message(parts)).unwrap()
}

fn json_of(parts: Vec<Part>) -> String {
    input(parts).to_json().get().to_owned()
}

#[test]
fn b039_text_parts_are_joined_by_newlines() {
    let input = input(vec![Part::text("a"), Part::text("b")]);
    assert_eq!(input.form(), Form::Text("a\nb"));
    assert_eq!(input.text(), "a\nb");
    assert_eq!(input.to_json().get(), r#""a\nb""#);
}

#[test]
fn b039_one_text_is_itself() {
    let input = input(vec![Part::text("a\nb").with_metadata(json!({"k": 1}).as_object().unwrap().clone().into())]);
    assert_eq!(input.form(), Form::Text("a\nb"));
}

#[test]
fn b040_one_data_part_is_its_json_with_every_digit() {
    let text = r#"{"a":1.000000000000000000001,"b":[null]}"#;
    let input = input(vec![Part::data(Json::parse(text).unwrap())]);
    assert!(matches!(input.form(), Form::Data(data) if data.get() == text));
    assert_eq!(input.to_json().get(), text);
    assert_eq!(input.text(), "", "there are no words in it");
}

#[test]
fn b041_b046_one_file_is_uri_mime_type_and_name() {
    let file = Part::url("https://x.example/a.png").with_media_type("image/png").with_filename("a.png");
    assert_eq!(json_of(vec![file]), r#"{"uri":"https://x.example/a.png","mimeType":"image/png","name":"a.png"}"#);
    assert_eq!(json_of(vec![Part::url("u")]), r#"{"uri":"u"}"#);
}

#[test]
fn b042_b047_a_url_passes_as_it_came() {
    for url in ["not a url", "HTTP://EXAMPLE/%7e?q#f", "data:text/plain,hi", "file:///etc/passwd", ""] {
        let input = input(vec![Part::url(url)]);
        assert_eq!(input.file().map(|file| file.uri), Some(url));
    }
}

#[test]
fn b043_a_mix_is_an_ordered_list_of_tagged_parts() {
    let parts = vec![Part::text("hi"), Part::data(json!({"a": 1})), Part::url("https://x.example/f")];
    assert_eq!(json_of(parts), r#"[{"text":"hi"},{"data":{"a":1}},{"file":{"uri":"https://x.example/f"}}]"#);
}

#[test]
fn b043_b064_two_parts_of_one_kind_are_a_list() {
    assert_eq!(json_of(vec![Part::data(json!(1)), Part::data(json!({}))]), r#"[{"data":1},{"data":{}}]"#);
    assert_eq!(json_of(vec![Part::url("a"), Part::url("b")]), r#"[{"file":{"uri":"a"}},{"file":{"uri":"b"}}]"#);
}

#[test]
fn b045_data_is_never_mixed_into_text() {
    let input = input(vec![Part::text("a\n{\"b\":1}"), Part::data(json!({"b": 1}))]);
    assert_eq!(input.to_json().get(), r#"[{"text":"a\n{\"b\":1}"},{"data":{"b":1}}]"#);
    assert_eq!(input.text(), "a\n{\"b\":1}");
}

#[test]
fn texts_of_a_mix_are_joined_for_those_who_read_words_only() {
    let input = input(vec![Part::text("a"), Part::url("u"), Part::text("b")]);
    assert_eq!(input.text(), "a\nb");
    assert_eq!(input.files().map(|file| file.uri).collect::<Vec<_>>(), ["u"]);
    assert_eq!(input.file(), None, "it is not the whole message");
}

#[test]
fn b052_a_prompt_is_the_text_or_compact_json() {
    assert_eq!(input(vec![Part::text("a"), Part::text("b")]).to_prompt(), "a\nb");
    let data = Json::parse("{ \"a b\": [1, 2] }").unwrap();
    assert_eq!(input(vec![Part::data(data.clone())]).to_prompt(), r#"{"a b":[1,2]}"#);
    let mix = input(vec![Part::text("x y"), Part::data(data)]);
    assert_eq!(mix.to_prompt(), r#"[{"text":"x y"},{"data":{"a b":[1,2]}}]"#);
}

#[test]
fn an_input_serialises_as_its_form() {
    let input = input(vec![Part::text("hi"), Part::data(json!([1]))]);
    assert_eq!(serde_json::to_string(&input).unwrap(), r#"[{"text":"hi"},{"data":[1]}]"#);
}

#[test]
fn the_message_stays_at_hand() {
    let message = message(vec![Part::text("a")]).with_context_id("c");
    let input = Input::new(message.clone()).unwrap();
    assert_eq!(*input.message(), message);
    assert_eq!(*input.into_message(), message);
}

#[test]
fn b049_b119_b131_inline_bytes_without_a_blob_store_are_refused_by_name() {
    let error = Input::new(message(vec![Part::text("a"), Part::raw(&b"x"[..])])).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidParams, -32602));
    assert!(error.message().contains("message.parts[1]") && error.message().contains("blob store"), "{error}");
}

#[derive(Debug, Deserialize, PartialEq)]
struct Order {
    dish: String,
    count: u8,
    #[serde(default)]
    wishes: Vec<Wish>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Wish {
    #[serde(rename = "what")]
    _what: Option<String>,
}

fn refusal(data: serde_json::Value) -> (String, String) {
    let error = input(vec![Part::data(data)]).read::<Order>().unwrap_err();
    assert_eq!(error.code(), -32602);
    let violation = error.violations()[0].clone();
    (violation.field, violation.description)
}

#[test]
fn data_is_read_into_a_type_of_ones_own() {
    let order: Order = input(vec![Part::data(json!({"dish": "soup", "count": 2, "x": null}))]).read().unwrap();
    assert_eq!(order, Order { dish: "soup".into(), count: 2, wishes: vec![] });
}

#[test]
fn f06_a_wrong_shape_names_the_field_in_our_own_words() {
    let (field, words) = refusal(json!({"dish": "soup", "count": 256}));
    assert_eq!(field, "message.parts[0].data.count");
    assert!(!words.contains("u8") && !words.contains("line"), "{words}");
    let (field, words) = refusal(json!({"dish": "soup"}));
    assert_eq!((&*field, &*words), ("message.parts[0].data.count", "is missing"));
    let (field, _) = refusal(json!({"dish": "soup", "count": 1, "wishes": [{}, {"wen": 1}]}));
    assert_eq!(field, "message.parts[0].data.wishes[1].wen");
    let (field, _) = refusal(json!([1]));
    assert!(field.starts_with("message.parts[0].data"), "{field}");
}

#[test]
fn a_text_is_read_as_a_string_and_as_nothing_else() {
    let text = input(vec![Part::text("hi")]);
    assert_eq!(text.read::<String>().unwrap(), "hi");
    let error = text.read::<Order>().unwrap_err();
    assert_eq!(error.violations()[0].field, "message.parts");
}

#[test]
fn files_and_lists_are_read_as_their_json() {
    let file: BTreeMap<String, String> = input(vec![Part::url("u").with_filename("n")]).read().unwrap();
    assert_eq!(file, BTreeMap::from([("uri".into(), "u".into()), ("name".into(), "n".into())]));
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Piece {
        Text(String),
        Data(u8),
    }
    let list = input(vec![Part::text("a"), Part::data(json!(1))]);
    assert_eq!(list.read::<Vec<Piece>>().unwrap(), [Piece::Text("a".into()), Piece::Data(1)]);
    let error = input(vec![Part::text("a"), Part::data(json!("x"))]).read::<Vec<Piece>>().unwrap_err();
    assert!(error.violations()[0].field.starts_with("message.parts[1]"), "{error}");
}

#[test]
fn data_among_texts_is_read_as_that_data_and_else_as_the_list() {
    let soup = json!({"dish": "soup", "count": 2});
    let order = || vec![Part::text("please"), Part::data(soup.clone()), Part::text("soon")];
    assert_eq!(input(order()).read::<Order>().unwrap().dish, "soup");
    assert_eq!(input(order()).read::<Vec<BTreeMap<String, serde_json::Value>>>().unwrap()[1]["data"], soup);
    assert_eq!(input(order()).read::<u8>().unwrap_err().violations()[0].field, "message.parts[1].data");

    let mut incomplete = order();
    incomplete[1] = Part::data(json!({"dish": "soup"}));
    let error = input(incomplete).read::<Order>().unwrap_err();
    assert_eq!(error.violations()[0].field, "message.parts[1].data.count");

    for more in [Part::data(soup.clone()), Part::url("u")] {
        let mut parts = order();
        parts.push(more);
        let error = input(parts).read::<Order>().unwrap_err();
        assert!(!error.violations()[0].field.contains(".data"), "there is more than the data: {error}");
    }
}

#[test]
fn a_message_is_read_like_an_input() {
    let order = |count: u8| message(vec![Part::text("please"), Part::data(json!({"dish": "soup", "count": count}))]);
    assert_eq!(order(2).read::<Order>().unwrap().count, 2);
    assert_eq!(Message::user("hi").read::<String>().unwrap(), "hi");
    #[derive(Deserialize)]
    struct File {
        uri: String,
        #[serde(rename = "mimeType")]
        media_type: Option<String>,
        name: Option<String>,
    }
    let file: File = message(vec![Part::url("u").with_media_type("image/png")]).read().unwrap();
    assert_eq!((&*file.uri, file.media_type.as_deref(), file.name), ("u", Some("image/png"), None));
    let inline = message(vec![Part::data(json!(1)), Part::raw(&b"x"[..])]);
    assert_eq!(inline.read::<u8>().unwrap_err().violations()[0].field, "message.parts[1]");
}

#[test]
fn what_serde_says_is_the_source_and_never_shown() {
    let error = input(vec![Part::data(json!({"dish": "soup", "count": "two"}))]).read::<Order>().unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("u8"), "{source}");
    assert!(!error.message().contains("u8"), "{error}");
}

async fn echo(req: Request<Input>) -> Result<String, BoxError> {
    Ok(req.body().to_prompt().into_owned())
}

#[tokio::test]
async fn b117_s07_strict_data_refuses_all_but_objects() {
    for data in [json!([1]), json!("a"), json!(1), json!(null), json!(true)] {
        let request = || Request::new(Arc::new(message(vec![Part::text("a"), Part::data(data.clone())])));
        let strict = PartLayer::new().strict_data(true).layer(service_fn(echo));
        let error = strict.oneshot(request()).await.unwrap_err().downcast::<Error>().unwrap();
        assert_eq!(error.code(), -32602);
        assert_eq!(error.violations()[0].field, "message.parts[1].data");
        assert!(PartLayer::new().layer(service_fn(echo)).oneshot(request()).await.is_ok());
    }
    let strict = PartLayer::new().strict_data(true).layer(service_fn(echo));
    assert!(strict.oneshot(Request::new(message(vec![Part::data(json!({}))]).into())).await.is_ok());
}

#[tokio::test]
async fn head_and_response_pass_untouched() {
    let service = Parts::new(service_fn(|req: Request<Input>| async move {
        let mut response = Response::new(42);
        response.headers_mut().insert("x-seen", req.headers()["x-asked"].clone());
        assert_eq!(req.extensions().get::<u8>(), Some(&7));
        assert_eq!(req.uri(), "/a?b");
        Ok::<_, BoxError>(response)
    }));
    let request =
        Request::post("/a?b").header("x-asked", "1").extension(7_u8).body(Message::user("hi").into()).unwrap();
    let response = service.oneshot(request).await.unwrap();
    assert_eq!((response.headers()["x-seen"].as_bytes(), *response.body()), (&b"1"[..], 42));
}

#[test]
fn readiness_and_errors_are_those_of_the_service_inside() {
    let (mut service, mut handle) = mock::spawn_layer::<Request<Input>, &str, _>(PartLayer::new());
    handle.allow(0);
    assert_pending!(service.poll_ready());
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut answer = tokio_test::task::spawn(service.call(Request::new(Message::user("hi").into())));
    assert_pending!(answer.poll());
    let (req, respond) = assert_ready!(tokio_test::task::spawn(handle.next_request()).poll()).unwrap();
    assert_eq!(req.body().text(), "hi");
    respond.send_response("there");
    assert_eq!(assert_ready_ok!(answer.poll()), "there");
    handle.send_error("broken");
    assert_eq!(assert_ready_err!(service.poll_ready()).to_string(), "broken");
}

#[test]
fn a_refusal_is_there_at_once_and_the_agent_is_not_called() {
    let (mut service, mut handle) = mock::spawn_layer::<Request<Input>, (), _>(PartLayer::new());
    assert_ready_ok!(service.poll_ready());
    let request = Request::new(message(vec![Part::raw(&b"x"[..])]).into());
    let mut answer = tokio_test::task::spawn(service.call(request));
    assert_eq!(assert_ready_err!(answer.poll()).downcast_ref::<Error>().unwrap().code(), -32602);
    assert_pending!(tokio_test::task::spawn(handle.next_request()).poll());
}

#[test]
fn clones_and_futures_can_be_sent() {
    fn check<T: Send + Sync + Clone + std::fmt::Debug>(_: &T) {}
    check(&PartLayer::default());
    check(&Parts::new(()));
    let mut service = Parts::new(service_fn(echo));
    let future = service.call(Request::new(Message::user("hi").into()));
    fn check_future<T: Send + std::fmt::Debug>(_: &T) {}
    check_future(&future);
}

fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        any::<String>().prop_map(Part::text),
        any::<String>().prop_map(Part::url),
        any::<i64>().prop_map(|number| Part::data(json!({"n": number}))),
    ]
}

proptest! {
    #[test]
    fn b038_b044_every_message_becomes_one_input_in_wire_order(parts in proptest::collection::vec(any_part(), 1..6)) {
        let input = input(parts.clone());
        let json: serde_json::Value = input.to_json().read_as().unwrap();
        let texts: Vec<_> = parts.iter().filter_map(Part::as_text).collect();
        prop_assert_eq!(input.text(), texts.join("\n"));
        if texts.len() == parts.len() {
            prop_assert_eq!(json, json!(texts.join("\n")));
        } else if let [part] = &parts[..] {
            let expected = match &part.content {
                PartContent::Url(url) => json!({ "uri": url }),
                _ => part.as_data().unwrap().read_as().unwrap(),
            };
            prop_assert_eq!(json, expected);
        } else {
            let expected: Vec<_> = parts.iter().map(|part| match &part.content {
                PartContent::Text(text) => json!({ "text": text }),
                PartContent::Url(url) => json!({ "file": { "uri": url } }),
                _ => json!({ "data": part.as_data().unwrap().read_as::<serde_json::Value>().unwrap() }),
            }).collect();
            prop_assert_eq!(json, json!(expected));
        }
    }
}
