//! Small texts that need no memory of their own.

/// How long a text may be that is kept in place: a UUID in quotes, or the longest name of a method, and some.
const ROOM: usize = 46;

/// A copy of a text that is nearly always short, such as an id or a method's name. It neither asks the heap for anything
/// nor holds on to what it was copied from.
#[derive(Clone)]
pub(crate) enum ShortText {
    InPlace(u8, [u8; ROOM]),
    Boxed(Box<[u8]>),
}

impl ShortText {
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut place = [0; ROOM];
        match (place.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(room), Ok(length)) => {
                room.copy_from_slice(text);
                Self::InPlace(length, place)
            }
            _ => Self::Boxed(text.into()),
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::InPlace(length, text) => &text[..usize::from(*length)],
            Self::Boxed(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_any_length_stays_as_it_was() {
        for length in 0..300 {
            let text = "x".repeat(length);
            let short = ShortText::new(text.as_bytes());
            assert_eq!(short.as_bytes(), text.as_bytes());
            assert_eq!(matches!(short, ShortText::InPlace(..)), length <= ROOM);
        }
    }
}
