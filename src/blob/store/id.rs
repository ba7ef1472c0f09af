use std::{fmt, ops::RangeInclusive};

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

    /// Which of 256 equal parts of all blobs it is in: the first byte of the id.
    #[must_use]
    pub const fn part(self) -> u8 {
        self.0.as_bytes()[0]
    }

    /// The blobs of this part.
    pub(super) const fn all_of(part: u8) -> RangeInclusive<Self> {
        let (mut first, mut last) = ([0; 16], [u8::MAX; 16]);
        first[0] = part;
        last[0] = part;
        RangeInclusive::new(Self(Uuid::from_bytes(first)), Self(Uuid::from_bytes(last)))
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

    #[test]
    fn every_blob_is_in_one_part() {
        for _ in 0..1_000 {
            let id = BlobId::random();
            let parts: Vec<_> = (0..=u8::MAX).filter(|part| BlobId::all_of(*part).contains(&id)).collect();
            assert_eq!(parts, [id.part()]);
        }
    }
}
