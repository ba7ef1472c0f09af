//! Protobuf, as far as it can be read without knowing what it says.

use crate::{dialect::MAX_ELEMENTS, error::Error};

/// One field of a message: its number and what it holds.
pub(super) type Field<'a> = (u32, Content<'a>);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(&'a [u8]),
}

/// Reads the fields of a message one by one.
pub(super) struct Fields<'a>(&'a [u8]);

/// Bytes that are no message.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed;

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self(message)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for place in 0..10 {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            if place == 9 && *byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn field(&mut self) -> Option<Field<'a>> {
        let key = u32::try_from(self.varint()?).ok()?;
        let content = match key & 7 {
            0 => Content::Varint(self.varint()?),
            1 => Content::Fixed64(self.array()?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Content::Bytes(bytes)
            }
            5 => Content::Fixed32(self.array()?),
            // Groups are of the time before version 3.
            _ => return None,
        };
        (key >> 3 != 0).then_some((key >> 3, content))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field().ok_or(Malformed);
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

/// Refuses a request one of whose messages has more than [`MAX_ELEMENTS`] fields.
///
/// An element of a repeated field takes two bytes if it is empty, and a few hundred once it is read. `nested` are the
/// numbers of the request's own messages that have repeated fields.
pub(super) fn check_elements(request: &[u8], nested: &[u32]) -> Result<(), Error> {
    let mut count = 0;
    for field in Fields::of(request) {
        // What is malformed is refused where it is read.
        let Ok((number, content)) = field else { return Ok(()) };
        count += 1;
        if let (Content::Bytes(bytes), true) = (content, nested.contains(&number)) {
            count += Fields::of(bytes).count();
        }
        if count > MAX_ELEMENTS {
            return Err(Error::invalid_params("", format!("there must be {MAX_ELEMENTS} elements at most")));
        }
    }
    Ok(())
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field that holds bytes: a text or a message. Its number must be below 16.
pub(super) fn put_bytes(out: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    out.push(number << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_any_length(value: u64) {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            let mut reader = Fields(&out);
            prop_assert_eq!(reader.varint(), Some(value));
            prop_assert!(reader.0.is_empty());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let fields: Vec<_> = Fields::of(&bytes).collect();
            prop_assert!(fields.len() <= bytes.len());
        }
    }

    #[test]
    fn what_is_no_field_is_refused() {
        for bytes in [&[0x08][..], &[0x0b], &[0x0c], &[0x02, 0x00], &[0x12, 0x05, 0x00], &[0x09, 0, 0], &[0xff; 12]] {
            assert!(Fields::of(bytes).any(|field| field == Err(Malformed)), "{bytes:?}");
        }
    }

    #[test]
    fn elements_are_counted_at_both_levels() {
        let mut inner = Vec::new();
        for _ in 0..MAX_ELEMENTS - 1 {
            put_bytes(&mut inner, 5, &[]);
        }
        let mut request = Vec::new();
        put_bytes(&mut request, 2, &inner);
        assert!(check_elements(&request, &[2]).is_ok());
        put_bytes(&mut request, 2, &[0x08, 0x00]);
        assert!(check_elements(&request, &[2]).is_err());
        assert!(check_elements(&request, &[3]).is_ok());
    }
}
