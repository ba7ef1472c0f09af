use std::fmt;

use base64::{
    Engine,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
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
}

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD_LENIENT: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
const URL_SAFE_LENIENT: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);

impl InlineBytes {
    /// Bytes as they are.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(Form::Decoded(bytes.into()))
    }

    /// Base64 text, in the standard or the URL-safe alphabet, padded or not; it is looked at when decoded.
    pub fn from_base64(text: impl Into<Bytes>) -> Self {
        Self(Form::Base64(text.into()))
    }

    /// How many bytes there are, reckoned from the length of the text without decoding it.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Decoded(bytes) => bytes.len(),
            Form::Base64(text) => {
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
        match &self.0 {
            Form::Decoded(bytes) => Some(bytes.clone()),
            Form::Base64(text) => {
                let text = digits(text)?;
                let url_safe = text.iter().any(|byte| matches!(byte, b'-' | b'_'));
                let engine = if url_safe { &URL_SAFE_LENIENT } else { &STANDARD_LENIENT };
                engine.decode(text).ok().map(Bytes::from)
            }
        }
    }

    /// True if [`decode`](Self::decode) will succeed; cheaper than decoding.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let Form::Base64(text) = &self.0 else { return true };
        let Some(digits) = digits(text) else { return false };
        let standard = digits.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
        let url_safe = || digits.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        standard || url_safe()
    }

    /// The bytes in standard base64 with padding. Text that came in is decoded and written anew, so that whatever
    /// alphabet it used, the standard one goes out; text that cannot be decoded gives an empty string.
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.decode().unwrap_or_default())
    }
}

/// The text without its padding; `None` if its length is none that base64 can have.
fn digits(text: &[u8]) -> Option<&[u8]> {
    let digits = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    (digits.len() % 4 != 1 && (digits.len() == text.len() || text.len().is_multiple_of(4))).then_some(digits)
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
        }
    }

    #[test]
    fn bad_base64_is_known_without_decoding() {
        for text in ["A", "AAAAA", "a b=", "+_8A", "AA=A", "AA===", "=", "ä", "AAAA\n"] {
            let inline = InlineBytes::from_base64(text);
            assert_eq!(inline.decode(), None, "{text}");
            assert!(!inline.is_valid(), "{text}");
        }
    }

    #[test]
    fn the_length_is_that_of_the_decoded_bytes() {
        for length in 0..40 {
            let bytes = vec![7; length];
            let text = STANDARD.encode(&bytes);
            assert_eq!(InlineBytes::from_base64(text.clone()).len(), length);
            assert_eq!(InlineBytes::from_base64(text.trim_end_matches('=').to_owned()).len(), length);
        }
    }
}
