//! One event, as it goes over the wire.

use std::fmt::Write as _;

use bytes::{BufMut as _, BytesMut};

use crate::encoded::Frame;

/// Writes one event: its number, and its document on one line.
pub(super) fn write(frame: &Frame, with_id: bool, out: &mut BytesMut) {
    out.reserve(frame.len() + 40);
    if let (true, Some(id)) = (with_id, frame.id()) {
        // Writing into a buffer that grows cannot fail.
        let _ = writeln!(out, "id: {id}");
    }
    out.extend_from_slice(b"data: ");
    for piece in frame.pieces() {
        write_line(piece, out);
    }
    out.extend_from_slice(b"\n\n");
}

/// Writes a piece of JSON without anything that some reader takes for the end of a line.
///
/// A raw CR or LF can only be space between tokens, and is written as such. U+2028, U+2029 and U+0085 can only stand
/// in a string, where an escape says the same.
fn write_line(text: &[u8], out: &mut BytesMut) {
    let mut written = 0;
    for (start, block) in (0..).step_by(BLOCK).zip(text.chunks(BLOCK)) {
        if is_harmless(block) {
            continue;
        }
        for at in start..start + block.len() {
            let rest = &text[at..];
            let (length, instead): (_, &[u8]) = match rest {
                [b'\n' | b'\r', ..] => (1, b" "),
                [0xC2, 0x85, ..] => (2, br"\u0085"),
                [0xE2, 0x80, 0xA8, ..] => (3, br"\u2028"),
                [0xE2, 0x80, 0xA9, ..] => (3, br"\u2029"),
                _ => continue,
            };
            out.put_slice(&text[written..at]);
            out.put_slice(instead);
            written = at + length;
        }
    }
    out.put_slice(&text[written..]);
}

const BLOCK: usize = 64;

/// Looks at a whole block without a branch, so that the compiler can take many bytes at once.
fn is_harmless(block: &[u8]) -> bool {
    let suspects = block
        .iter()
        .fold(false, |found, &byte| found | (byte == b'\n') | (byte == b'\r') | (byte == 0xC2) | (byte == 0xE2));
    !suspects
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> String {
        let mut out = BytesMut::new();
        write_line(text.as_bytes(), &mut out);
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn an_event_is_an_id_and_a_line() {
        let frame = Frame::new("1").with_id(Some(7)).enclosed(Bytes::from("["), Bytes::from("]"));
        let mut out = BytesMut::new();
        write(&frame, true, &mut out);
        write(&frame, false, &mut out);
        write(&Frame::new("2"), true, &mut out);
        assert_eq!(out, "id: 7\ndata: [1]\n\ndata: [1]\n\ndata: 2\n\n");
    }

    #[test]
    fn f55_line_ends_are_made_harmless() {
        assert_eq!(line("[\r\n 1,\n2]"), "[   1, 2]");
        assert_eq!(line("\"\u{2028}é\u{2029}\u{85}\u{2014}\u{a0}\""), "\"\\u2028é\\u2029\\u0085\u{2014}\u{a0}\"");
    }

    #[test]
    fn f55_line_ends_are_found_across_blocks() {
        for before in 0..2 * BLOCK {
            let text = format!("\"{}\u{2028}\"", "x".repeat(before));
            assert_eq!(line(&text), text.replace('\u{2028}', "\\u2028"));
        }
    }

    proptest! {
        #[test]
        fn any_text_stays_the_same_document_on_one_line(text in "(\\PC|[\n\r\u{2028}\u{2029}\u{85}é—]){0,200}") {
            let document = serde_json::to_string(&text).unwrap();
            let line = line(&document);
            let broken = line.contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']);
            prop_assert!(!broken, "{line:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }

        #[test]
        fn any_bytes_stay_on_one_line(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut out = BytesMut::new();
            write(&Frame::new(bytes), true, &mut out);
            prop_assert!(!out[..out.len() - 2].iter().any(|byte| matches!(byte, b'\n' | b'\r')));
        }
    }
}
