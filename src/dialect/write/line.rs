use crate::encoded::{is_on_one_line, may_end_line};

/// How much is looked at closely where something may be a line break.
const CHUNK: usize = 64;

/// Makes JSON that was written from `start` on safe for protocols of lines, such as server-sent events: it says the same
/// afterwards, on one line.
///
/// JSON that came from elsewhere may hold raw line breaks between its values: they become spaces. U+0085, U+2028 and
/// U+2029, at which some readers break lines, can only stand in strings: they become escapes.
pub fn escape_line_breaks(out: &mut Vec<u8>, start: usize) {
    let mut at = start;
    while let Some(found) = suspect(out, at) {
        let rest = &out[found..];
        if matches!(rest[0], b'\n' | b'\r') {
            out[found] = b' ';
        } else if separator(rest).is_some() {
            let rest = out.split_off(found);
            return escape_separators(out, &rest);
        }
        at = found + 1;
    }
}

fn escape_separators(out: &mut Vec<u8>, rest: &[u8]) {
    out.reserve(rest.len() + 3);
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = suspect(rest, at) {
        let (replacement, length): (&[u8], _) = match (rest[found], separator(&rest[found..])) {
            (b'\n' | b'\r', _) => (b" ", 1),
            (_, Some(replacement)) => replacement,
            _ => {
                at = found + 1;
                continue;
            }
        };
        out.extend_from_slice(&rest[done..found]);
        out.extend_from_slice(replacement);
        done = found + length;
        at = done;
    }
    out.extend_from_slice(&rest[done..]);
}

/// The place of the next byte that may begin a line break.
fn suspect(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if is_on_one_line(rest) {
        return None;
    }
    let clean = CHUNK * rest.chunks(CHUNK).take_while(|chunk| is_on_one_line(chunk)).count();
    rest.get(clean..)?.iter().position(|byte| may_end_line(*byte)).map(|found| at + clean + found)
}

/// The escape for the separator that the text begins with, and the separator's length.
pub(super) fn separator(text: &[u8]) -> Option<(&'static [u8], usize)> {
    match text {
        [0xC2, 0x85, ..] => Some((b"\\u0085", 2)),
        [0xE2, 0x80, 0xA8, ..] => Some((b"\\u2028", 3)),
        [0xE2, 0x80, 0xA9, ..] => Some((b"\\u2029", 3)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = text.as_bytes().to_vec();
        escape_line_breaks(&mut out, 0);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn f55_every_line_break_goes() {
        assert_eq!(escaped("{\"a\":\r\n1}"), "{\"a\":  1}");
        assert_eq!(
            escaped("\"a\u{2028}b\u{2029}c\u{85}d\u{e9}\u{20ac}\u{a0}\""),
            r#""a\u2028b\u2029c\u0085dé€"#.to_owned() + "\u{a0}\""
        );
        let far = format!("[\"{}\u{2028}\",\n\"{}\"]", "x".repeat(200), "y".repeat(200));
        assert_eq!(escaped(&far), far.replace('\u{2028}', "\\u2028").replace('\n', " "));
    }

    #[test]
    fn what_stands_before_is_left_alone() {
        let mut out = b"a\nb\nc".to_vec();
        escape_line_breaks(&mut out, 3);
        assert_eq!(out, b"a\nb c");
        escape_line_breaks(&mut out, 5);
        escape_line_breaks(&mut out, 6);
        assert_eq!(out, b"a\nb c");
    }

    proptest! {
        #[test]
        fn it_says_the_same_on_one_line(
            texts in proptest::collection::vec("[a\u{85}\u{e9}\u{2028}\u{2029}\u{202a}\u{1f600}\n\r\"]{0,90}", 0..4),
        ) {
            let pretty = serde_json::to_string_pretty(&texts).unwrap();
            let line = escaped(&pretty);
            let broken = line.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
            prop_assert!(!broken);
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&line).unwrap(), texts);
        }
    }
}
