//! What nobody should send, sent to every dialect.

use super::{Dialect, V0_3, V0_3Rest, V1_0, testing};
use crate::{
    call::{Binding, Call},
    error::ErrorKind,
    types::Json,
};

fn dialects() -> [(Box<dyn Dialect>, &'static str, &'static str); 3] {
    [
        (
            Box::new(V1_0::new()),
            "SendMessage",
            r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":@}]},"metadata":{},"x":#}"#,
        ),
        (
            Box::new(V0_3::new()),
            "message/send",
            r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"data","data":@}]},"metadata":{},"x":#}"#,
        ),
        (
            Box::new(V0_3Rest::new()),
            "message/send",
            r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"data","data":@}]},"metadata":{},"x":#}"#,
        ),
    ]
}

fn filled(template: &str, data: &str, unknown: &str) -> String {
    template.replace('@', data).replace('#', unknown)
}

#[test]
fn a_text_that_ends_at_any_byte_is_refused() {
    for (dialect, method, template) in dialects() {
        let whole = filled(template, r#"{"a":"é\n"}"#, "1e5");
        assert!(testing::decoded(&*dialect, method, &whole).is_ok());
        for end in 0..whole.len() {
            let call = Call::new(Binding::JsonRpc, method).with_params(whole.as_bytes()[..end].to_vec());
            assert_eq!(dialect.decode(&call).unwrap_err().kind(), ErrorKind::InvalidParams, "{end}");
        }
    }
}

#[test]
fn depth_is_refused_where_it_is_kept_and_skipped_where_it_is_not() {
    let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    for (dialect, method, template) in dialects() {
        for depth in [200, 100_000] {
            let text = filled(template, "{}", &nested(depth));
            assert!(testing::decoded(&*dialect, method, &text).is_ok(), "unknown members are skipped");
            let text = filled(template, &nested(depth), "1");
            let complaint = testing::complaint(testing::decoded(&*dialect, method, &text));
            assert!(complaint.ends_with("[0].data is nested deeper than 100 levels"), "{complaint}");
            let opened = filled(template, &"[".repeat(depth), "1");
            assert_eq!(testing::decoded(&*dialect, method, &opened).unwrap_err().kind(), ErrorKind::InvalidParams);
        }
        assert!(testing::decoded(&*dialect, method, &filled(template, &nested(Json::MAX_DEPTH - 1), "1")).is_ok());
        assert!(testing::decoded(&*dialect, method, &filled(template, &nested(Json::MAX_DEPTH), "1")).is_err());
    }
}

#[test]
fn odd_values_are_refused_where_they_count() {
    for (dialect, method, template) in dialects() {
        for data in [r#"{"a":"\ud800"}"#, r#"{"\udfff":1}"#, "{\"a\":\"\u{1}\"}", "{\"a\":01}", "{'a':1}", "NaN", ""] {
            let error = testing::decoded(&*dialect, method, &filled(template, data, "1")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParams, "{data}");
        }
        let numbers = format!("{{\"a\":{},\"b\":1e999,\"c\":-0}}", "9".repeat(10_000));
        let send = testing::sent(testing::decoded(&*dialect, method, &filled(template, &numbers, &numbers)));
        let data = send.message.parts[0].as_data().map(|data| data.get().to_owned());
        assert_eq!(data, Some(numbers), "digits are kept");
        let twice = filled(template, "{}", "1").replace("\"metadata\":{}", "\"metadata\":{},\"metadata\":{}");
        let complaint = testing::complaint(testing::decoded(&*dialect, method, &twice));
        assert_eq!(complaint, "metadata must be given only once");
        let null = filled(template, "{}", "null").replace("\"metadata\":{}", "\"metadata\":null");
        assert!(testing::decoded(&*dialect, method, &null).is_ok());
    }
}

#[test]
fn f05_params_that_are_no_object_are_refused_by_every_method() {
    for (dialect, ..) in dialects() {
        for method in testing::METHODS.into_iter().filter(|method| dialect.operation(method).is_some()) {
            for params in ["[1,2]", "\"x\"", "null", "5", "[", "", " "] {
                let complaint = testing::complaint(testing::decoded(&*dialect, method, params));
                assert_eq!(complaint, "params must be an object", "{method} {params}");
            }
            let call = Call::new(Binding::JsonRpc, method).with_params(&b"{\"id\":\"\xff\"}"[..]);
            assert_eq!(dialect.decode(&call).unwrap_err().message(), "Invalid parameters: params must be UTF-8");
        }
    }
}
