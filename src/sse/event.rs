//! One event, as it goes over the wire.

use bytes::{BufMut as _, BytesMut};

use crate::encoded::{Frame, is_on_one_line};

/// Writes one event: its number, its name, and its document on one line.
pub(super) fn write(frame: &Frame, with_id: bool, out: &mut BytesMut) {
    out.reserve(frame.len() + 40 + frame.event().map_or(0, str::len));
    if let Some(name) = frame.event() {
        out.put_slice(b"event: ");
        out.put_slice(name.as_bytes());
        out.put_slice(b"\n");
    }
    write_head(frame.id().filter(|_| with_id), out);
    let [head, document, tail] = frame.pieces();
    write_line(head, out);
    if frame.is_on_one_line() {
        out.put_slice(document);
    } else {
        write_line(document, out);
    }
    write_line(tail, out);
    out.extend_from_slice(b"\n\n");
}

/// Writes a piece of JSON without anything that some reader takes for the end of a line.
///
/// A raw CR or LF can only be space between tokens, and is written as such. U+2028, U+2029 and U+0085 can only stand
/// in a string, where an escape says the same.
fn write_line(text: &[u8], out: &mut BytesMut) {
    let mut written = 0;
    // Text that looks harmless is looked at a long piece at a time.
    for (index, block) in text.chunks(BLOCK).enumerate().filter(|(_, block)| !is_on_one_line(block)) {
        for at in index * BLOCK..index * BLOCK + block.len() {
            let (length, instead): (_, &[u8]) = match &text[at..] {
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

/// How much is looked at closely where something may be a line end.
const BLOCK: usize = 64;

/// What stands before the document, put together from its end: so the number, in decimal, needs none of the machinery that
/// formats anything, and all of it is a single copy.
fn write_head(id: Option<u64>, out: &mut BytesMut) {
    const DATA: &[u8] = b"data: ";
    let Some(mut rest) = id else { return out.put_slice(DATA) };
    let mut head = *b"id: 18446744073709551615\ndata: ";
    let mut first = head.len() - DATA.len() - 1;
    loop {
        first -= 1;
        head[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    first -= 4;
    head[first..first + 4].copy_from_slice(b"id: ");
    out.put_slice(&head[first..]);
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
        write(&Frame::new("3").with_event("error"), true, &mut out);
        assert_eq!(out, "id: 7\ndata: [1]\n\ndata: [1]\n\ndata: 2\n\nevent: error\ndata: 3\n\n");
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

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 1, 9, 10, 1_234_567_890, u64::MAX] {
            let mut out = BytesMut::new();
            write_head(Some(number), &mut out);
            assert_eq!(out, format!("id: {number}\ndata: "));
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
