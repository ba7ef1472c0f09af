use http::HeaderValue;

/// How much of a name is kept: what common file systems take.
const MAX_NAME_BYTES: usize = 255;

/// What bytes are served as if nobody knows better.
pub(super) const OCTET_STREAM: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// A media type as a header, if it is one.
pub(super) fn content_type(media_type: Option<&str>) -> HeaderValue {
    media_type
        .filter(|text| is_media_type(text))
        .and_then(|text| HeaderValue::from_str(text).ok())
        .unwrap_or(OCTET_STREAM)
}

/// `type/subtype`, and parameters in printable ASCII.
fn is_media_type(text: &str) -> bool {
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    let token = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    essence.trim_end().split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype))
        && parameters.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b',')
}

/// A download under this name (RFC 6266): in ASCII for old readers, then as it is. Whatever the name, the text is one
/// header value of printable ASCII, and names no directory.
pub(in crate::blob) fn content_disposition(filename: Option<&str>) -> String {
    let Some(name) = filename.map(safe_name).filter(|name| !name.is_empty()) else { return "attachment".to_owned() };
    let ascii: String = name
        .chars()
        .map(|letter| if matches!(letter, ' '..='~') && !matches!(letter, '"' | '\\' | '%') { letter } else { '_' })
        .collect();
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{}", percent_encode(&name))
}

/// The name that [`content_disposition`] has put into a header.
#[cfg(feature = "object-store")]
pub(in crate::blob) fn filename_of(disposition: &str) -> Option<String> {
    let (_, encoded) = disposition.rsplit_once("filename*=UTF-8''")?;
    let (mut bytes, mut rest) = (Vec::with_capacity(encoded.len()), encoded.as_bytes());
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn safe_name(name: &str) -> String {
    let mut safe: String = name
        .chars()
        .map(|letter| if letter.is_control() || matches!(letter, '/' | '\\') { '_' } else { letter })
        .collect();
    if safe.len() > MAX_NAME_BYTES {
        safe.truncate((0..=MAX_NAME_BYTES).rev().find(|at| safe.is_char_boundary(*at)).unwrap_or_default());
    }
    safe
}

fn percent_encode(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        // The attr-char of RFC 5987 without its rarer signs.
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_kept_and_tamed() {
        assert_eq!(content_disposition(None), "attachment");
        assert_eq!(content_disposition(Some("")), "attachment");
        assert_eq!(content_disposition(Some("a.png")), "attachment; filename=\"a.png\"; filename*=UTF-8''a.png");
        assert_eq!(
            content_disposition(Some("ü \"1\".txt")),
            "attachment; filename=\"_ _1_.txt\"; filename*=UTF-8''%C3%BC%20%221%22.txt"
        );
        let tamed = content_disposition(Some("../x\r\nSet-Cookie: a=b"));
        assert_eq!(
            tamed,
            "attachment; filename=\".._x__Set-Cookie: a=b\"; filename*=UTF-8''.._x__Set-Cookie%3A%20a%3Db"
        );
    }

    #[test]
    fn names_are_cut_at_the_limit() {
        let longest = "n".repeat(MAX_NAME_BYTES);
        assert_eq!(safe_name(&longest), longest);
        assert_eq!(safe_name(&format!("{longest}n")), longest);
        assert_eq!(safe_name(&"ü".repeat(200)).len(), MAX_NAME_BYTES - 1);
    }

    #[test]
    fn only_media_types_are_content_types() {
        for text in ["image/png", "text/plain; charset=utf-8", "application/vnd.a+json"] {
            assert_eq!(content_type(Some(text)), text);
        }
        for text in ["", "png", "image/", "/png", "a/b/c", "image/p ng", "text/html\r\nX: y", "text/ü", "a/b, c/d"] {
            assert_eq!(content_type(Some(text)), OCTET_STREAM, "{text}");
        }
        assert_eq!(content_type(None), OCTET_STREAM);
    }

    proptest! {
        #[test]
        fn any_name_makes_a_header(name in any::<String>()) {
            let text = content_disposition(Some(&name));
            prop_assert!(HeaderValue::from_str(&text).is_ok());
            prop_assert!(text.is_ascii());
        }
    }

    #[cfg(feature = "object-store")]
    proptest! {
        #[test]
        fn names_are_read_back(name in ".{1,60}") {
            prop_assert_eq!(filename_of(&content_disposition(Some(&name))), Some(safe_name(&name)));
        }
    }
}
