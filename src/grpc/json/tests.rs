use proptest::prelude::*;
use prost_types::value::Kind;
use serde_json::json;

use super::*;

/// Any JSON value whose numbers are floats.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        (-9_007_199_254_740_992_i64..=9_007_199_254_740_992).prop_map(Into::into),
        (-1e300..1e300_f64).prop_map(Into::into),
        ".*".prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
            prop::collection::btree_map(".*", inner, 0..8)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The same, through the tree that prost makes of it.
fn of_tree(value: &prost_types::Value) -> serde_json::Value {
    match value.kind.as_ref().unwrap() {
        Kind::NullValue(_) => serde_json::Value::Null,
        Kind::NumberValue(number) => json!(number),
        Kind::StringValue(text) => json!(text),
        Kind::BoolValue(flag) => json!(flag),
        Kind::StructValue(object) => object
            .fields
            .iter()
            .map(|(key, value)| (key.clone(), of_tree(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Kind::ListValue(list) => list.values.iter().map(of_tree).collect(),
    }
}

fn as_floats(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => json!(number.as_f64()),
        serde_json::Value::Array(list) => list.iter().map(as_floats).collect(),
        serde_json::Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), as_floats(value))).collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn json_comes_back_and_is_what_others_read(json in any_json()) {
        let wire = Value::from_json(&Json::from(json.clone())).unwrap();
        let tree = prost_types::Value::decode(&*wire.encode_to_vec()).unwrap();
        prop_assert_eq!(of_tree(&tree), as_floats(&json));
        let read = Value::decode(&*tree.encode_to_vec()).unwrap().to_json().unwrap();
        prop_assert_eq!(as_floats(&read.read_as().unwrap()), as_floats(&json));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        if let Ok(value) = Value::decode(&*bytes) {
            let _ = value.to_json();
        }
        if let Ok(object) = Struct::decode(&*bytes) {
            let _ = object.to_json();
        }
    }
}

#[test]
fn f31_empty_objects_and_nulls_survive() {
    for text in ["{}", r#"{"a":{},"b":null}"#, r#"{"l":[],"n":0,"t":"","f":false}"#] {
        let object = Json::parse(text).unwrap().into_object().unwrap();
        let wire = Struct::from_json(&object).unwrap().encode_to_vec();
        assert_eq!(Struct::decode(&*wire).unwrap().to_json().unwrap().get(), text);
    }
}

#[test]
fn whole_numbers_stay_whole() {
    for text in ["1", "0", "-7", "9007199254740992", "1.5", "1e+300"] {
        let wire = Value::from_json(&Json::parse(text).unwrap()).unwrap();
        assert_eq!(wire.to_json().unwrap(), Json::parse(text).unwrap(), "{text}");
    }
    assert_eq!(Value::from_json(&Json::parse("3.0").unwrap()).unwrap().to_json().unwrap().get(), "3");
}

#[test]
fn numbers_beyond_floats_become_the_outermost_ones() {
    let text = format!(r#"{{"1e999":[1e999,-1e999,{}],"t":"\"1e999\\","é":2.5}}"#, "9".repeat(400));
    let object = Json::parse(&text).unwrap().into_object().unwrap();
    let max = "1.7976931348623157e+308";
    let expected = format!(r#"{{"1e999":[{max},-{max},{max}],"t":"\"1e999\\","é":2.5}}"#);
    assert_eq!(Struct::from_json(&object).unwrap().to_json().unwrap().get(), expected);
    let number = Value::from_json(&Json::parse("1e999").unwrap()).unwrap();
    assert_eq!(number.to_json().unwrap().get(), max);
}

#[test]
fn what_is_too_deep_for_readers_becomes_its_text() {
    // Around it are four messages at most: a task, a message of its history, a part, and in 0.3 its data.
    let around =
        |value| prost_types::Value { kind: Some(Kind::ListValue(prost_types::ListValue { values: vec![value] })) };
    for (open, close, whole) in [("[", "]", 44), (r#"{"a":"#, "}", 30)] {
        for depth in [whole, whole + 1, Json::MAX_DEPTH] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let value = Value::from_json(&Json::parse(&text).unwrap()).unwrap();
            let tree = prost_types::Value::decode(&*value.encode_to_vec()).expect("it is too deep");
            assert!(prost_types::Value::decode(&*around(around(tree)).encode_to_vec()).is_ok());
            let read = value.to_json().unwrap();
            let outside = open.repeat(whole);
            let rest = read.get().strip_prefix(&*outside).unwrap().strip_suffix(&*close.repeat(whole)).unwrap();
            let inner = format!("{}1{}", open.repeat(depth - whole), close.repeat(depth - whole));
            let expected = if depth == whole { inner } else { json!(inner).to_string() };
            assert_eq!(rest, expected, "{depth}");
        }
    }
}

#[test]
fn what_json_cannot_say_is_refused() {
    let number = |number: f64| prost_types::Value { kind: Some(Kind::NumberValue(number)) };
    for (value, words) in [
        (number(f64::NAN), "number"),
        (number(f64::INFINITY), "number"),
        (prost_types::Value { kind: None }, "no kind"),
    ] {
        let list = prost_types::Value { kind: Some(Kind::ListValue(prost_types::ListValue { values: vec![value] })) };
        let error = Value::decode(&*list.encode_to_vec()).unwrap().to_json().unwrap_err();
        assert!(error.message().contains(words), "{error}");
    }
    for bytes in [&[0x1a, 1, 0xff][..], &[0x10, 1], &[0x32, 1, 0x0b]] {
        assert!(Value::decode(bytes).unwrap().to_json().is_err(), "{bytes:?}");
    }
}

#[test]
fn depth_has_an_end() {
    let nested = |levels: usize| {
        let mut bytes = vec![0x08, 0];
        for _ in 0..levels {
            let (mut list, mut value) = (Vec::new(), Vec::new());
            put_bytes(&mut list, 1, &bytes);
            put_bytes(&mut value, 6, &list);
            bytes = value;
        }
        Value::decode(&*bytes).unwrap().to_json()
    };
    assert!(nested(Json::MAX_DEPTH).is_ok());
    assert!(nested(Json::MAX_DEPTH + 1).unwrap_err().message().contains("deeper than 100"));
    assert!(nested(5_000).is_err());
}
