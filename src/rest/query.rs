//! Fields that stand in the query, as the parameters of a call.

use std::{borrow::Cow, fmt::Write as _};

use bytes::Bytes;

use crate::{binding::Escaped, error::Error, percent};

/// How a field is written in JSON. Numbers need no form of their own: ProtoJSON takes them in strings.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Flag,
    Enum,
    Moment,
}

/// The fields that a query may hold (spec 1.0 §11.5), by both of their names.
const FIELDS: [(&str, &str, Form); 8] = [
    ("tenant", "tenant", Form::Text),
    ("contextId", "context_id", Form::Text),
    ("status", "status", Form::Enum),
    ("pageSize", "page_size", Form::Text),
    ("pageToken", "page_token", Form::Text),
    ("historyLength", "history_length", Form::Text),
    ("statusTimestampAfter", "status_timestamp_after", Form::Moment),
    ("includeArtifacts", "include_artifacts", Form::Flag),
];

/// The parameters that a query holds, as a JSON object; `None` if it holds none. What it holds else, such as the version
/// or the cursor of a stream, is not for here. A field that is there twice is there twice in the object too, where its
/// reader refuses it. An empty value is none.
pub(super) fn params(query: Option<&str>) -> Result<Option<Bytes>, Error> {
    let mut text = String::new();
    for (name, value) in pairs(query) {
        let name = decoded(name)?;
        let known = |(camel, snake, _): &&(&str, &str, Form)| name == *camel || name == *snake;
        let Some((name, _, form)) = FIELDS.iter().find(known) else { continue };
        let value = decoded(value)?;
        if value.is_empty() {
            continue;
        }
        text.push(if text.is_empty() { '{' } else { ',' });
        let value = if matches!(form, Form::Moment) { with_sign(value) } else { value };
        let plain = match form {
            Form::Text | Form::Moment => false,
            Form::Flag => ["true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word)),
            Form::Enum => value.len() < 10 && value.bytes().all(|byte| byte.is_ascii_digit()),
        };
        // Writing into a string cannot fail.
        let _ = if plain {
            // A number of JSON does not begin with zeros.
            let value = value.trim_start_matches('0');
            let value = if value.is_empty() { "0" } else { value };
            write!(text, "\"{name}\":{}", value.to_ascii_lowercase())
        } else {
            text.push('"');
            text.push_str(name);
            text.push_str("\":\"");
            let _ = write!(Escaped(&mut text), "{value}");
            text.write_char('"')
        };
    }
    if text.is_empty() {
        return Ok(None);
    }
    text.push('}');
    Ok(Some(text.into()))
}

/// A moment whose offset has its sign: an unencoded plus is a space here, and behind a time there is no other one.
fn with_sign(moment: Cow<'_, str>) -> Cow<'_, str> {
    match moment.rsplit_once(' ') {
        Some((time, offset)) if time.contains(':') => format!("{time}+{offset}").into(),
        _ => moment,
    }
}

/// The value of a field that only the query can hold.
pub(super) fn value<'a>(query: Option<&'a str>, names: [&str; 2]) -> Result<Option<Cow<'a, str>>, Error> {
    for (name, value) in pairs(query) {
        if names.contains(&&*decoded(name)?) && !value.is_empty() {
            return decoded(value).map(Some);
        }
    }
    Ok(None)
}

fn pairs(query: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    let pairs = query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

fn decoded(text: &str) -> Result<Cow<'_, str>, Error> {
    percent::decode_form(text).ok_or_else(|| Error::invalid_params("query", "must be UTF-8, percent-encoded"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(query: &str) -> Option<String> {
        params(Some(query)).unwrap().map(|params| String::from_utf8(params.to_vec()).unwrap())
    }

    #[test]
    fn f115_names_of_both_forms_become_members() {
        for (query, expected) in [
            ("historyLength=0", r#"{"historyLength":"0"}"#),
            ("history_length=3&x=1", r#"{"historyLength":"3"}"#),
            ("includeArtifacts=true", r#"{"includeArtifacts":true}"#),
            ("include_artifacts=False", r#"{"includeArtifacts":false}"#),
            ("includeArtifacts=1", r#"{"includeArtifacts":"1"}"#),
            ("status=TASK_STATE_WORKING", r#"{"status":"TASK_STATE_WORKING"}"#),
            ("status=02", r#"{"status":2}"#),
            ("status=0", r#"{"status":0}"#),
            ("status=99999999999", r#"{"status":"99999999999"}"#),
            ("contextId=a%22b+c", r#"{"contextId":"a\"b c"}"#),
            ("pageSize=2&page%54oken=p%2B", r#"{"pageSize":"2","pageToken":"p+"}"#),
            ("pageSize=2&page_size=3", r#"{"pageSize":"2","pageSize":"3"}"#),
            ("tenant=acme&&", r#"{"tenant":"acme"}"#),
            (
                "statusTimestampAfter=2026-01-01T02:00:00%2B02:00",
                r#"{"statusTimestampAfter":"2026-01-01T02:00:00+02:00"}"#,
            ),
            (
                "statusTimestampAfter=2026-01-01T02:00:00+02:00",
                r#"{"statusTimestampAfter":"2026-01-01T02:00:00+02:00"}"#,
            ),
            ("statusTimestampAfter=2026-01-01+02:00:00", r#"{"statusTimestampAfter":"2026-01-01 02:00:00"}"#),
            ("statusTimestampAfter=2026-01-01+02:00+02:00", r#"{"statusTimestampAfter":"2026-01-01 02:00+02:00"}"#),
        ] {
            assert_eq!(read(query).as_deref(), Some(expected), "{query}");
        }
        for query in ["", "&", "pageSize=", "pageSize", "after=3", "A2A-Version=1.0", "id=other"] {
            assert_eq!(read(query), None, "{query}");
        }
        assert!(params(None).unwrap().is_none());
    }

    #[test]
    fn what_cannot_be_decoded_is_refused() {
        for query in ["pageToken=%", "%zz=1", "pageToken=%ff"] {
            assert_eq!(params(Some(query)).unwrap_err().violations()[0].field, "query", "{query}");
        }
        assert!(params(Some("x=%")).unwrap().is_none(), "what nobody reads nobody decodes");
    }

    #[test]
    fn one_value_can_be_asked_for() {
        let names = ["configId", "config_id"];
        assert_eq!(value(Some("x&config_id=a%20b"), names).unwrap().as_deref(), Some("a b"));
        assert_eq!(value(Some("configId="), names).unwrap(), None);
        assert_eq!(value(None, names).unwrap(), None);
        assert!(value(Some("configId=%"), names).is_err());
    }

    proptest! {
        #[test]
        fn any_query_becomes_json_or_is_refused(query in "((status|pageSize|contextId|includeArtifacts)=|[ -~é]{0,4}|&){0,8}") {
            if let Ok(Some(params)) = params(Some(&query)) {
                let parsed: Result<&serde_json::value::RawValue, _> = serde_json::from_slice(&params);
                prop_assert!(parsed.is_ok(), "{:?}", params);
            }
        }
    }
}
