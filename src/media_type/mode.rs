use crate::types::{Part, PartContent};

/// The type without its parameters.
pub(super) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// The type that a part states, without its parameters; `None` if it states none.
pub(super) fn stated(part: &Part) -> Option<&str> {
    part.media_type.as_deref().map(essence).filter(|media_type| !media_type.is_empty())
}

/// True if a mode stands for a type. Parameters and case do not count.
pub(super) fn covers(mode: &str, media_type: &str) -> bool {
    let mode = essence(mode);
    let family = match mode.split_once('/') {
        _ if mode == "*" => return true,
        Some(("*", "*")) => return true,
        Some((family, "*")) => family,
        Some(_) => return mode.eq_ignore_ascii_case(essence(media_type)),
        None => mode,
    };
    media_type.split_once('/').is_some_and(|(of, _)| of.trim().eq_ignore_ascii_case(family))
}

/// True if a caller who accepts these modes can take the part.
///
/// Text is plain text and Markdown alike, data is JSON whatever else it states, and a file that states no type may be
/// anything.
pub(super) fn accepts(modes: &[String], part: &Part) -> bool {
    let stated = stated(part);
    let any = |media_type: &str| modes.iter().any(|mode| covers(mode, media_type));
    let is_json = |mode: &String| essence(mode).to_ascii_lowercase().ends_with("+json");
    match (&part.content, stated) {
        (PartContent::Text(_), None) => any("text/plain") || any("text/markdown"),
        (PartContent::Text(_), Some(stated)) => {
            let plain = ["text/plain", "text/markdown"].iter().any(|plain| plain.eq_ignore_ascii_case(stated));
            any(stated) || (plain && (any("text/plain") || any("text/markdown")))
        }
        (PartContent::Data(_), None) => any("application/json") || modes.iter().any(is_json),
        (PartContent::Data(_), Some(stated)) => any(stated) || any("application/json"),
        (PartContent::Raw(_) | PartContent::Url(_), Some(stated)) => any(stated),
        (PartContent::Raw(_) | PartContent::Url(_), None) => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn modes_cover_types_without_case_and_parameters() {
        for (mode, media_type) in [
            ("text/plain", "TEXT/Plain; charset=utf-8"),
            ("Image/*", "image/png"),
            ("image/*; q=0.5", "image/png"),
            ("*/*", "x/y"),
            ("*", "nonsense"),
            ("text", "text/csv"),
            (" text/plain ;q=1", "text/plain"),
        ] {
            assert!(covers(mode, media_type), "{mode} {media_type}");
        }
        for (mode, media_type) in [
            ("text/plain", "text/plainer"),
            ("image/*", "imagery/png"),
            ("image/*", "image"),
            ("text", "application/text"),
            ("", "text/plain"),
            ("text/plain", ""),
        ] {
            assert!(!covers(mode, media_type), "{mode} {media_type}");
        }
    }

    #[test]
    fn parts_have_a_type_even_if_they_state_none() {
        let accepts = |mode: &str, part: Part| accepts(&[mode.to_owned()], &part);
        for mode in ["text/plain", "text/markdown", "text/*", "text", "*/*"] {
            assert!(accepts(mode, Part::text("a")), "{mode}");
            assert!(accepts(mode, Part::text("a").with_media_type("text/markdown")), "{mode}");
        }
        assert!(!accepts("text/html", Part::text("a")));
        assert!(!accepts("text/plain", Part::text("a").with_media_type("text/html")));
        assert!(accepts("application/json", Part::data(json!({}))));
        assert!(accepts("application/geo+json", Part::data(json!({}))));
        assert!(accepts("application/json", Part::data(json!({})).with_media_type("application/geo+json")));
        assert!(!accepts("text/plain", Part::data(json!({}))));
        assert!(accepts("text/plain", Part::url("https://example.com/a")));
        assert!(!accepts("text/plain", Part::url("https://example.com/a").with_media_type("image/png")));
        assert!(accepts("IMAGE/*", Part::raw(vec![1]).with_media_type("image/png")));
    }

    proptest! {
        #[test]
        fn a_type_covers_itself_and_its_family(family in "[a-z]{1,9}", kind in "[a-z+.-]{1,9}", parameter in "[ -~]{0,9}") {
            let media_type = format!("{family}/{kind}");
            let stated = format!("{};{parameter}", media_type.to_uppercase());
            prop_assert!(covers(&media_type, &stated));
            let whole_family = format!("{family}/*");
            prop_assert!(covers(&whole_family, &stated));
            prop_assert!(covers(&family, &stated));
        }
    }
}
