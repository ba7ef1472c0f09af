use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn b111_f01_what_is_no_json_is_a_parse_error() {
    for body in ["{", "", "nonsense", r#"{"jsonrpc":"2.0","method":"Sen"#, "[1,", "{}{}", "\u{feff}{}"] {
        assert_eq!(refusal(body).await, (-32700, Value::Null), "{body}");
    }
    assert_eq!(refusal(&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"[..]).await, (-32700, Value::Null));
}

#[tokio::test]
async fn b112_f04_jsonrpc_must_be_2_0() {
    for member in [r#""jsonrpc":"1.0","#, r#""jsonrpc":"aaa","#, r#""jsonrpc":2.0,"#, r#""jsonrpc":null,"#, ""] {
        let body = format!(r#"{{{member}"id":"x","method":"m"}}"#);
        assert_eq!(refusal(body).await, (-32600, json!("x")), "{member}");
    }
}

#[tokio::test]
async fn b113_f03_method_must_be_a_string_that_is_not_empty() {
    for member in ["", r#","method":"""#, r#","method":7"#, r#","method":null"#, r#","method":{}"#] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":7{member}}}"#);
        assert_eq!(refusal(body).await, (-32600, json!(7)), "{member}");
    }
}

#[tokio::test]
async fn f02_an_id_is_a_string_or_an_integer_and_nothing_runs_without_one() {
    for member in [
        "",
        r#""id":null,"#,
        r#""id":1.5,"#,
        r#""id":1e3,"#,
        r#""id":{},"#,
        r#""id":[1],"#,
        r#""id":true,"#,
        r#""id":"\ud800","#,
        r#""id":1,"id":2,"#,
    ] {
        let body = format!(r#"{{{member}"jsonrpc":"2.0","method":"m"}}"#);
        let service = JsonRpcLayer::new().layer(service_fn(|_: Request<Call>| async {
            panic!("it ran");
            #[expect(unreachable_code, reason = "gives the future its type")]
            Ok::<Response<Encoded<Items>>, BoxError>(Response::new(Encoded::Document(Bytes::new())))
        }));
        let (status, value) = envelope(service.oneshot(post(body)).await.unwrap());
        assert_eq!((status, &value["error"]["code"], &value["id"]), (200, &json!(-32600), &Value::Null), "{member}");
    }
}

#[tokio::test]
async fn f02_an_id_comes_back_as_it_came() {
    for id in ["7", "\"7\"", "-0", "123456789012345678901234567890", "\"\"", r#""\u00e9\n\ud83d\ude00""#] {
        let body = format!(r#"{{"jsonrpc":"2.0","id": {id} ,"method":"m"}}"#);
        let answer = ask(JsonRpcLayer::new(), post(body)).await;
        let Encoded::Document(document) = answer.into_body() else { panic!("a stream") };
        assert_eq!(document, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":["m",null]}}"#));
    }
}

#[tokio::test]
async fn f05_params_arrive_as_they_are() {
    let object = r#"{"a" : 1e999}"#;
    for (params, seen) in [("null", "null"), (object, object), ("[1, 2]", "[1, 2]"), ("\"x\"", "\"x\""), ("7", "7")] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params},"other":[{{}}]}}"#);
        let answer = ask(JsonRpcLayer::new(), post(body)).await;
        let Encoded::Document(document) = answer.into_body() else { panic!("a stream") };
        assert_eq!(document, format!(r#"{{"jsonrpc":"2.0","id":1,"result":["m",{seen}]}}"#));
    }
}

#[tokio::test]
async fn f09_batches_and_other_json_are_no_requests() {
    for body in [r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "[]", "null", "7", "\"x\"", " true "] {
        assert_eq!(refusal(body).await, (-32600, Value::Null), "{body}");
    }
}

#[tokio::test]
async fn deep_nesting_is_no_danger() {
    let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(refusal(deep(100_000)).await, (-32600, Value::Null));
    let body = format!(r#"{{"x":{0},"jsonrpc":"2.0","id":1,"method":"m","params":{{"y":{0}}}}}"#, deep(100_000));
    let answer = ask(JsonRpcLayer::new(), post(body)).await;
    assert!(matches!(answer.into_body(), Encoded::Document(document) if document.len() > 200_000));
}

proptest! {
    #[test]
    fn any_bytes_get_one_envelope(body in prop::collection::vec(any::<u8>(), 0..64)) {
        answered(body);
    }

    #[test]
    fn anything_like_an_envelope_gets_one_envelope(
        body in r#"(\{|\[)?(("jsonrpc"|"id"|"method"|"params"|"x"|"2\.0"|\{|\}|\[|\]|:|,|-?[0-9]{1,30}|\\ud800|null) ?){0,16}\}?"#
    ) {
        answered(body);
    }

    #[test]
    fn any_members_get_one_envelope(
        members in prop::collection::vec((
            prop::sample::select(vec!["jsonrpc", "id", "method", "params", "x"]),
            prop::sample::select(vec!["\"2.0\"", "1", "\"m\"", "{}", "[]", "null", "1.5", "\"\\udc00\"", "\"\\u0041\""]),
        ), 0..6)
    ) {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        answered(format!("{{{}}}", members.join(",")));
    }
}

fn answered(body: impl Into<Bytes>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (status, value) = envelope(runtime.block_on(ask(JsonRpcLayer::new(), post(body))));
    assert_eq!(status, 200);
    let id = &value["id"];
    assert!(id.is_null() || id.is_string() || id.is_number());
}
