use crate::types::{Part, PartContent};

/// The type without its parameters.
pub(super) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// The type that a part states, without its parameters; `None` if it states none.
pub(super) fn stated(part: &Part) -> Option<&str> {
    part.media_type.as_deref().map(essence).filter(|media_type| !media_type.is_empty())
}

/// Which types a mode stands for.
#[derive(Clone, Debug)]
pub(super) enum Mode<T> {
    All,
    Family(T),
    One(T),
}

impl<'a> Mode<&'a str> {
    /// Reads a mode. Its parameters do not count.
    pub(super) fn read(mode: &'a str) -> Self {
        let mode = essence(mode);
        match mode.split_once('/') {
            _ if mode == "*" => Self::All,
            Some(("*", "*")) => Self::All,
            Some((family, "*")) => Self::Family(family),
            Some(_) => Self::One(mode),
            None => Self::Family(mode),
        }
    }

    pub(super) fn to_owned(&self) -> Mode<Box<str>> {
        match self {
            Self::All => Mode::All,
            Self::Family(family) => Mode::Family((*family).into()),
            Self::One(media_type) => Mode::One((*media_type).into()),
        }
    }
}

impl<T: AsRef<str>> Mode<T> {
    /// True if it stands for this type, which has no parameters. Case does not count.
    pub(super) fn covers(&self, media_type: &str) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => one.as_ref().eq_ignore_ascii_case(media_type),
            Self::Family(family) => {
                media_type.split_once('/').is_some_and(|(of, _)| of.trim().eq_ignore_ascii_case(family.as_ref()))
            }
        }
    }
}

/// True if a caller who accepts these modes can take the part.
///
/// Text is plain text and Markdown alike, data is JSON whatever else it states, and a file that states no type may be
/// anything.
pub(super) fn accepts(modes: &[String], part: &Part) -> bool {
    let stated = stated(part);
    let any = |media_type: &str| modes.iter().any(|mode| Mode::read(mode).covers(media_type));
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
            assert!(Mode::read(mode).to_owned().covers(essence(media_type)), "{mode} {media_type}");
        }
        for (mode, media_type) in [
            ("text/plain", "text/plainer"),
            ("image/*", "imagery/png"),
            ("image/*", "image"),
            ("text", "application/text"),
            ("", "text/plain"),
            ("text/plain", ""),
        ] {
            assert!(!Mode::read(mode).to_owned().covers(essence(media_type)), "{mode} {media_type}");
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
            prop_assert!(Mode::read(&media_type).covers(essence(&stated)));
            let whole_family = format!("{family}/*");
            prop_assert!(Mode::read(&whole_family).covers(essence(&stated)));
            prop_assert!(Mode::read(&family).covers(essence(&stated)));
        }
    }
}
