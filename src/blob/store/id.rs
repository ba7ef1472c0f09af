use std::fmt;

use uuid::Uuid;

/// The id of a blob: random, and all that one needs to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId(Uuid);

impl BlobId {
    /// A fresh one, with 122 random bits.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// Reads an id in the one form in which it prints, so that nothing else ever names a file.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let id = Uuid::try_parse(text).ok().map(Self)?;
        (id.to_string() == text).then_some(id)
    }
}

/// Prints 36 lower-case characters that need no escapes in a URL, a header or a file name.
impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_printed_form_is_an_id() {
        let id = BlobId::random();
        assert_eq!(BlobId::parse(&id.to_string()), Some(id));
        let plain = id.to_string().replace('-', "");
        for text in
            ["", "..", "../etc/passwd", &plain, &format!("{{{id}}}"), &format!("urn:uuid:{id}"), &format!("{id}/")]
        {
            assert_eq!(BlobId::parse(text), None, "{text}");
        }
        assert_eq!(BlobId::parse("67E55044-10B1-426F-9247-BB680E5FE0C8"), None);
    }
}
