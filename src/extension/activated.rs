use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::operation::ProtocolVersion;

const HEADER: HeaderName = HeaderName::from_static("a2a-extensions");
const HEADER_0_3: HeaderName = HeaderName::from_static("x-a2a-extensions");

/// The extensions that the caller has activated and the agent supports, as [`Extension`](super::Extension) puts them
/// into the request's extensions. Clones share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivatedExtensions(
    /// `None` for none at all, as with most requests, which then share nothing.
    Option<Arc<[Arc<str>]>>,
);

impl ActivatedExtensions {
    /// These extensions.
    pub fn new(uris: impl IntoIterator<Item = Arc<str>>) -> Self {
        let uris: Arc<[_]> = uris.into_iter().collect();
        Self(Some(uris).filter(|uris| !uris.is_empty()))
    }

    /// True if the extension of this URI is among them.
    #[must_use]
    pub fn contains(&self, uri: &str) -> bool {
        self.iter().any(|activated| activated == uri)
    }

    /// Their URIs, in the order of the card.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|uris| uris.iter()).map(|uri| &**uri)
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of the header that names them; `None` if there are none, or one cannot stand in a header.
    pub(super) fn header_value(&self) -> Option<HeaderValue> {
        HeaderValue::try_from(self.0.as_ref()?.join(", ")).ok()
    }
}

/// The header in which a response of this version names what was activated.
pub(super) fn header_of(version: ProtocolVersion) -> HeaderName {
    if version < ProtocolVersion::V1_0 { HEADER_0_3 } else { HEADER }
}

/// Every URI that a request names, in either header, over any number of lines.
pub(super) fn requested(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(HEADER).into_iter().chain(headers.get_all(HEADER_0_3));
    lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn uris_are_found_however_they_are_listed(
            lines in prop::collection::vec(
                prop::collection::vec(("[ \t]{0,2}", "[a-z:/.]{0,8}", "[ \t]{0,2}"), 1..4), 0..4),
            old: bool,
        ) {
            let mut headers = HeaderMap::new();
            let mut expected = Vec::new();
            for line in &lines {
                let text: Vec<_> = line.iter().map(|(before, uri, behind)| format!("{before}{uri}{behind}")).collect();
                let name = if old { HEADER_0_3 } else { HEADER };
                headers.append(name, HeaderValue::try_from(text.join(",")).unwrap());
                expected.extend(line.iter().map(|(_, uri, _)| uri.clone().into_bytes()));
            }
            let found: Vec<_> = requested(&headers).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn any_header_is_read(value in prop::collection::vec(32_u8..=255, 0..64)) {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                let headers = HeaderMap::from_iter([(HEADER, value)]);
                prop_assert!(requested(&headers).count() > 0);
            }
        }
    }
}
