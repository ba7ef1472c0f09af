use super::line::separator;
use crate::{encoded::may_end_line, scan};

/// How much is looked at closely where something needs an escape.
const CHUNK: usize = 64;

/// Writes a text as a JSON string, without anything that some reader takes for the end of a line.
///
/// Most of what is written is text, and little of that needs an escape: it is looked through by the block and copied by
/// the run, not byte by byte.
pub(in crate::dialect) fn string(out: &mut Vec<u8>, text: &str) {
    let text = text.as_bytes();
    out.reserve(text.len() + 2);
    out.push(b'"');
    if scan::none(text, is_special) {
        out.extend_from_slice(text);
    } else {
        escaped(out, text);
    }
    out.push(b'"');
}

fn escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = special(rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let escaped = match separator(rest) {
            Some((escape, length)) => {
                out.extend_from_slice(escape);
                length
            }
            None => {
                escape(out, rest[0]);
                1
            }
        };
        rest = &rest[escaped..];
    }
    out.extend_from_slice(rest);
}

/// The place of the first byte that cannot stand in a string as it is, or may be the first one of a separator of lines.
fn special(text: &[u8]) -> Option<usize> {
    let plain = CHUNK * text.chunks(CHUNK).take_while(|chunk| scan::none(chunk, is_special)).count();
    text.get(plain..)?.iter().position(|byte| is_special(*byte)).map(|at| plain + at)
}

fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\') | may_end_line(byte)
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        // It begins something else.
        0x80.. => return out.push(byte),
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        control => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let [high, low] = [control >> 4, control & 0xF].map(|digit| DIGITS[usize::from(digit)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut out = b"[".to_vec();
        string(&mut out, text);
        String::from_utf8(out).unwrap().split_off(1)
    }

    /// What another writer writes, with the separators of lines escaped.
    fn expected(text: &str) -> String {
        let escapes = [("\u{85}", r"\u0085"), ("\u{2028}", r"\u2028"), ("\u{2029}", r"\u2029")];
        let written = serde_json::to_string(text).unwrap();
        escapes.into_iter().fold(written, |written, (separator, escape)| written.replace(separator, escape))
    }

    #[test]
    fn every_character_of_ascii_and_separator_at_every_place_of_a_chunk() {
        let others = ['\u{85}', '\u{a0}', '\u{2014}', '\u{2028}', '\u{2029}', '\u{202a}'];
        for before in 0..2 * CHUNK {
            for character in ('\0'..='\u{7f}').chain(others) {
                for behind in [0, CHUNK] {
                    let text = format!("{}{character}{}", "x".repeat(before), "y".repeat(behind));
                    assert_eq!(written(&text), expected(&text));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_written_as_another_writer_would(text in "([ -~]|\\PC|[\u{0}-\u{1f}\"\\\\\u{85}\u{2028}é—]){0,200}") {
            prop_assert_eq!(written(&text), expected(&text));
        }
    }
}
