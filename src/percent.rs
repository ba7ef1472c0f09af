//! Percent-encoding (RFC 3986 §2.1), undone once.

use std::borrow::Cow;

/// What a piece of a URI says; `None` if an escape is none, or if the bytes are no UTF-8.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        bytes.push(if *first == b'%' {
            let (digits, behind) = others.split_at_checked(2)?;
            rest = behind;
            (digit(digits[0])? << 4) | digit(digits[1])?
        } else {
            *first
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// What a name or a value of a query says, in which a plus sign is a space.
#[cfg(feature = "rest")]
pub(crate) fn decode_form(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('+') {
        return decode(text);
    }
    decode(&text.replace('+', " ")).map(|decoded| Cow::Owned(decoded.into_owned()))
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn f117_escapes_are_undone_once() {
        for (text, expected) in [
            ("", Some("")),
            ("t1", Some("t1")),
            ("a%2Fb", Some("a/b")),
            ("%252e%252e", Some("%2e%2e")),
            ("%e6%BC%a2", Some("漢")),
            ("a+b", Some("a+b")),
            ("%00", Some("\0")),
            ("%", None),
            ("%2", None),
            ("a%zz", None),
            ("%+1", None),
            ("%é1", None),
            ("%ff", None),
            ("%C3", None),
        ] {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    #[cfg(feature = "rest")]
    fn a_plus_sign_of_a_form_is_a_space() {
        assert_eq!(decode_form("a+b%2B").as_deref(), Some("a b+"));
        assert_eq!(decode_form("a%2").as_deref(), None);
    }

    proptest! {
        #[test]
        fn whatever_is_encoded_comes_back(text in "\\PC{0,20}") {
            let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let decoded = decode(&encoded);
            prop_assert_eq!(decoded.as_deref(), Some(&*text));
        }

        #[test]
        fn anything_else_is_refused_without_a_panic(text in "[%0-9a-gé+]{0,12}") {
            if let Some(decoded) = decode(&text) {
                prop_assert!(decoded.len() <= text.len());
            }
        }
    }
}
