use std::{fmt, sync::LazyLock};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use base64::engine::GeneralPurpose;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use base64::engine::Simd;
use base64::{
    Engine,
    engine::{DecodePaddingMode, GeneralPurposeConfig},
};
use bytes::Bytes;

/// The bytes of an inline file: as they are, or still in the base64 that they came in.
///
/// Base64 from the wire is kept as a slice of the request's body until somebody needs the bytes, so that a size can be
/// refused before anything is decoded.
#[derive(Clone)]
pub struct InlineBytes(Form);

#[derive(Clone)]
enum Form {
    Decoded(Bytes),
    Base64(Bytes),
    /// What has been looked at once need not be looked at again: files are large.
    Checked(Bytes, Alphabet),
}

#[derive(Clone, Copy)]
enum Alphabet {
    Standard,
    UrlSafe,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static ENGINES: LazyLock<[Simd; 2]> = LazyLock::new(|| [Simd::standard(LENIENT), Simd::url_safe(LENIENT)]);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
static ENGINES: LazyLock<[GeneralPurpose; 2]> = LazyLock::new(|| {
    use base64::alphabet::{STANDARD, URL_SAFE};
    [GeneralPurpose::new(&STANDARD, LENIENT), GeneralPurpose::new(&URL_SAFE, LENIENT)]
});

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

impl InlineBytes {
    /// Bytes as they are.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(Form::Decoded(bytes.into()))
    }

    /// Base64 text, in the standard or the URL-safe alphabet, padded or not; it is looked at when decoded.
    pub fn from_base64(text: impl Into<Bytes>) -> Self {
        Self(Form::Base64(text.into()))
    }

    /// Base64 text that is looked at now; `None` if it is not valid.
    pub(crate) fn checked_base64(text: Bytes) -> Option<Self> {
        let alphabet = alphabet(digits(&text)?)?;
        Some(Self(Form::Checked(text, alphabet)))
    }

    /// How many bytes there are, reckoned from the length of the text without decoding it.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Decoded(bytes) => bytes.len(),
            Form::Base64(text) | Form::Checked(text, _) => {
                let padding = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
                let digits = text.len() - padding;
                digits / 4 * 3 + (digits % 4).saturating_sub(1)
            }
        }
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes. `None` if the base64 is not valid in either alphabet.
    #[must_use]
    pub fn decode(&self) -> Option<Bytes> {
        let (text, alphabet) = match &self.0 {
            Form::Decoded(bytes) => return Some(bytes.clone()),
            Form::Base64(text) => (text, None),
            Form::Checked(text, alphabet) => (text, Some(*alphabet)),
        };
        let digits = digits(text)?;
        // Most text is of the standard alphabet, and a text of the other one fails at its first foreign digit.
        let decode = |alphabet| ENGINES[alphabet as usize].decode(digits).ok();
        let bytes = match alphabet {
            Some(alphabet) => decode(alphabet),
            None => decode(Alphabet::Standard).or_else(|| decode(Alphabet::UrlSafe)),
        };
        bytes.map(Bytes::from)
    }

    /// True if [`decode`](Self::decode) will succeed; cheaper than decoding.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        match &self.0 {
            Form::Decoded(_) | Form::Checked(..) => true,
            Form::Base64(text) => digits(text).and_then(alphabet).is_some(),
        }
    }

    /// The bytes in standard base64 with padding. Text that came in is decoded and written anew, so that whatever
    /// alphabet it used, the standard one goes out; text that cannot be decoded gives an empty string.
    #[must_use]
    pub fn to_base64(&self) -> String {
        ENGINES[0].encode(self.decode().unwrap_or_default())
    }

    /// Writes what [`to_base64`](Self::to_base64) gives behind what is in the buffer, in place: it may be much.
    pub(crate) fn write_base64(&self, out: &mut Vec<u8>) {
        match &self.0 {
            // The form in which it came is the one in which it goes.
            Form::Checked(text, Alphabet::Standard) if is_canonical(text) => out.extend_from_slice(text),
            _ => {
                let bytes = self.decode().unwrap_or_default();
                let start = out.len();
                out.resize(start + bytes.len().div_ceil(3) * 4, b'=');
                // There is room for all of it.
                let _ = ENGINES[0].encode_slice(&bytes, &mut out[start..]);
            }
        }
    }
}

/// True if text that is valid is also what encoding its bytes would give: padded, and without bits that mean nothing.
fn is_canonical(text: &[u8]) -> bool {
    let Some(last) = text.len().checked_sub(4).map(|start| &text[start..]) else { return text.is_empty() };
    text.len().is_multiple_of(4)
        && ENGINES[0].decode(last).is_ok_and(|bytes| ENGINES[0].encode(bytes).as_bytes() == last)
}

/// The text without its padding; `None` if its length is none that base64 can have.
fn digits(text: &[u8]) -> Option<&[u8]> {
    let digits = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    (digits.len() % 4 != 1 && (digits.len() == text.len() || text.len().is_multiple_of(4))).then_some(digits)
}

/// The alphabet that all of the digits are of.
fn alphabet(digits: &[u8]) -> Option<Alphabet> {
    if all(digits, [b'+', b'/']) {
        return Some(Alphabet::Standard);
    }
    all(digits, [b'-', b'_']).then_some(Alphabet::UrlSafe)
}

/// Looks at many digits at once: within a chunk there is no branch, so that the compiler makes vector instructions of it.
/// A file of some megabytes is checked in the time of a copy that way.
fn all(digits: &[u8], last_two: [u8; 2]) -> bool {
    let is_digit = |byte: u8| {
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'0') < 10;
        letter | digit | (byte == last_two[0]) | (byte == last_two[1])
    };
    let (chunks, rest) = digits.as_chunks::<64>();
    chunks.iter().all(|chunk| chunk.iter().fold(0, |wrong, byte| wrong | u8::from(!is_digit(*byte))) == 0)
        && rest.iter().all(|byte| is_digit(*byte))
}

impl fmt::Debug for InlineBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InlineBytes({} bytes)", self.len())
    }
}

impl PartialEq for InlineBytes {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Decoded(left), Form::Decoded(right)) => left == right,
            _ => self.decode() == other.decode(),
        }
    }
}

impl<T: Into<Bytes>> From<T> for InlineBytes {
    fn from(bytes: T) -> Self {
        Self::new(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_alphabets_with_and_without_padding() {
        let expected = Some(Bytes::from_static(&[0xfb, 0xff, 0x00, 0x10]));
        for text in ["+/8AEA==", "+/8AEA", "-_8AEA==", "-_8AEA"] {
            let inline = InlineBytes::from_base64(text);
            assert_eq!(inline.decode(), expected, "{text}");
            assert_eq!(inline.len(), 4, "{text}");
            assert!(inline.is_valid(), "{text}");
            assert_eq!(inline.to_base64(), "+/8AEA==");
            let checked = InlineBytes::checked_base64(text.into()).unwrap();
            assert_eq!((checked.decode(), checked.len()), (expected.clone(), 4), "{text}");
            assert_eq!(written(&checked), "+/8AEA==", "{text}");
        }
    }

    #[test]
    fn bad_base64_is_known_without_decoding() {
        for text in ["A", "AAAAA", "a b=", "+_8A", "AA=A", "AA===", "=", "ä", "AAAA\n"] {
            let inline = InlineBytes::from_base64(text);
            assert_eq!(inline.decode(), None, "{text}");
            assert!(!inline.is_valid(), "{text}");
            assert!(InlineBytes::checked_base64(text.into()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_wrong_digit_is_found_at_any_place_of_a_long_text() {
        for at in 0..200 {
            for wrong in [b'=', b'-', b' ', 0x80, b'@', b'[', b'`', b'{', b':', b'.'] {
                let mut text = vec![b'A'; 200];
                text[at] = wrong;
                let inline = InlineBytes::from_base64(text);
                assert_eq!(inline.is_valid(), inline.decode().is_some(), "{wrong} at {at}");
                // One foreign digit among standard letters is of the URL-safe alphabet; padding may stand at the end.
                let fits = wrong == b'-' || (wrong == b'=' && at == 199);
                assert_eq!(inline.is_valid(), fits, "{wrong} at {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_goes_out_is_one_form_of_what_came_in(bytes: Vec<u8>, cut: bool, url_safe: bool, bits in 0..4_u8) {
            let expected = ENGINES[0].encode(&bytes);
            let mut text = expected.clone();
            if cut {
                text.truncate(text.trim_end_matches('=').len());
            }
            if text.ends_with('=') || cut && bytes.len() % 3 != 0 {
                // Bits beyond the last byte mean nothing, but are let pass.
                let last = text.trim_end_matches('=').len() - 1;
                if text.as_bytes()[last] == b'A' {
                    text.replace_range(last..=last, ["A", "B", "C", "D"][usize::from(bits)]);
                }
            }
            if url_safe {
                text = text.replace('+', "-").replace('/', "_");
            }
            let inline = InlineBytes::checked_base64(text.into()).unwrap();
            prop_assert_eq!(inline.decode().unwrap(), bytes);
            prop_assert_eq!(&inline.to_base64(), &expected);
            prop_assert_eq!(written(&inline), expected);
        }
    }

    fn written(inline: &InlineBytes) -> String {
        let mut out = Vec::new();
        inline.write_base64(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_length_is_that_of_the_decoded_bytes() {
        for length in 0..40 {
            let bytes = vec![7; length];
            let text = ENGINES[0].encode(&bytes);
            assert_eq!(InlineBytes::from_base64(text.clone()).len(), length);
            assert_eq!(InlineBytes::from_base64(text.trim_end_matches('=').to_owned()).len(), length);
        }
    }
}
