use http::{HeaderMap, HeaderValue, header};
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};

use crate::types::Timestamp;

/// True if the caller holds the current text already (RFC 9110 §13.1): by its tag or, if it names none, by its date.
pub(super) fn is_current(headers: &HeaderMap, etag: &HeaderValue, last_modified: Timestamp) -> bool {
    let mut tags = headers.get_all(header::IF_NONE_MATCH).iter().peekable();
    if tags.peek().is_some() {
        return tags.any(|tags| lists(tags.as_bytes(), etag.as_bytes()));
    }
    let since = headers.get(header::IF_MODIFIED_SINCE).and_then(|since| parse_date(since.to_str().ok()?));
    since.is_some_and(|since| last_modified.as_millis().div_euclid(1000) <= since)
}

/// True if the list of tags is `*` or holds this one, weakly compared.
fn lists(mut rest: &[u8], etag: &[u8]) -> bool {
    if rest.trim_ascii() == b"*" {
        return true;
    }
    while !rest.is_empty() {
        rest = rest.trim_ascii_start();
        let tag = rest.strip_prefix(b"W/").unwrap_or(rest);
        let end = match tag.strip_prefix(b"\"") {
            // A comma may stand inside a tag, so the quote that closes it ends it.
            Some(opened) => opened.iter().position(|byte| *byte == b'"').map(|at| at + 2),
            None => tag.iter().position(|byte| *byte == b','),
        };
        let (tag, behind) = tag.split_at(end.unwrap_or(tag.len()));
        if tag == etag {
            return true;
        }
        rest = behind.iter().position(|byte| *byte == b',').map_or(&[], |comma| &behind[comma + 1..]);
    }
    false
}

/// The moment as HTTP writes it, such as `Thu, 01 Jan 2026 00:00:00 GMT`; `None` for years that HTTP cannot write.
pub(super) fn http_date(moment: Timestamp) -> Option<HeaderValue> {
    let moment = jiff::Timestamp::from_millisecond(moment.as_millis()).ok()?;
    HeaderValue::try_from(DateTimePrinter::new().timestamp_to_rfc9110_string(&moment).ok()?).ok()
}

/// Seconds since 1970.
fn parse_date(text: &str) -> Option<i64> {
    Some(DateTimeParser::new().parse_timestamp(text).ok()?.as_second())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TAG: &[u8] = b"\"abc\"";

    #[test]
    fn f104_a_tag_is_found_strong_weak_or_by_star() {
        for list in ["\"abc\"", "W/\"abc\"", "\"x\", \"abc\"", "\"x\",W/\"abc\",\"y\"", "*", " * ", "\"a,b\" , \"abc\""]
        {
            assert!(lists(list.as_bytes(), TAG), "{list}");
        }
        for list in ["", "\"ab\"", "abc", "\"abc", "w/\"abc\"", "\"x,\"abc", "\"x\"\"abc\"", ",,,", "W/", "\"", "**"] {
            assert!(!lists(list.as_bytes(), TAG), "{list}");
        }
    }

    #[test]
    fn dates_go_out_as_they_come_in() {
        let moment = Timestamp::parse("2026-01-01T12:30:00.900Z").unwrap();
        let date = http_date(moment).unwrap();
        assert_eq!(date, "Thu, 01 Jan 2026 12:30:00 GMT");
        assert_eq!(parse_date(date.to_str().unwrap()), Some(moment.as_millis() / 1000));
        assert_eq!(parse_date("yesterday"), None);
    }

    #[test]
    fn a_date_counts_only_without_tags() {
        let moment = Timestamp::parse("2026-01-01T12:30:00.900Z").unwrap();
        let tag = HeaderValue::from_static("\"abc\"");
        let with = |pairs: &[(header::HeaderName, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
            is_current(&pairs.collect(), &tag, moment)
        };
        let same = (header::IF_MODIFIED_SINCE, "Thu, 01 Jan 2026 12:30:00 GMT");
        assert!(with(std::slice::from_ref(&same)));
        assert!(!with(&[(header::IF_MODIFIED_SINCE, "Thu, 01 Jan 2026 12:29:59 GMT")]));
        assert!(!with(&[(header::IF_MODIFIED_SINCE, "soon")]));
        assert!(!with(&[(header::IF_NONE_MATCH, "\"other\""), same]));
        assert!(!with(&[]));
    }

    proptest! {
        #[test]
        fn any_list_has_an_answer(list: Vec<u8>) {
            lists(&list, TAG);
        }

        #[test]
        fn a_tag_is_found_at_any_place(
            mut tags in prop::collection::vec("(W/)?\"[a-z,]{0,6}\"", 0..5), at: prop::sample::Index, weak: bool,
        ) {
            tags.insert(at.index(tags.len() + 1), if weak { "W/\"#\"".to_owned() } else { "\"#\"".to_owned() });
            prop_assert!(lists(tags.join(", ").as_bytes(), b"\"#\""));
            prop_assert!(!lists(tags.join(", ").as_bytes(), b"\"?\""));
        }
    }
}
