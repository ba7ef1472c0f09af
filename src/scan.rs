//! Looking through text for bytes that are seldom there.

/// True if no byte is as asked.
///
/// Blocks of a fixed size are looked at without a branch, so that the compiler makes vector instructions of them. Most
/// names and ids are shorter than a large block, so a small one follows, and the last of these overlaps what was seen: only
/// a text that is shorter than a small block goes byte by byte.
#[inline]
pub(crate) fn none(text: &[u8], is: impl Fn(u8) -> bool) -> bool {
    let (large, rest) = text.as_chunks::<64>();
    let (small, rest) = rest.as_chunks::<16>();
    large.iter().all(|block| none_of(block, &is))
        && small.iter().all(|block| none_of(block, &is))
        && match text.last_chunk::<16>() {
            Some(last) => rest.is_empty() || none_of(last, &is),
            None => rest.iter().all(|byte| !is(*byte)),
        }
}

#[inline]
fn none_of<const N: usize>(block: &[u8; N], is: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(0, |found, byte| found | u8::from(is(*byte))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_at_every_place_of_a_text_of_any_length() {
        for length in 0..200 {
            let mut text = vec![b'x'; length];
            assert!(none(&text, |byte| byte == b'\n'));
            for place in 0..length {
                text[place] = b'\n';
                assert!(!none(&text, |byte| byte == b'\n'), "{place} of {length}");
                text[place] = b'x';
            }
        }
    }
}
