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
    /// Fields between two marks, of the time before version 3. Nobody here wants one, but readers of protobuf skip them.
    Group,
}

const START_GROUP: u32 = 3;
const END_GROUP: u32 = 4;

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

    /// The number of a field, and how it is written.
    fn key(&mut self) -> Option<(u32, u32)> {
        let key = u32::try_from(self.varint()?).ok()?;
        (key >> 3 != 0).then_some((key >> 3, key & 7))
    }

    fn content(&mut self, wire_type: u32) -> Option<Content<'a>> {
        Some(match wire_type {
            0 => Content::Varint(self.varint()?),
            1 => Content::Fixed64(self.array()?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Content::Bytes(bytes)
            }
            5 => Content::Fixed32(self.array()?),
            _ => return None,
        })
    }

    /// Reads up to the end of a group, and of those within it.
    fn skip_group(&mut self) -> Option<()> {
        let mut open = 1_usize;
        while open > 0 {
            match self.key()?.1 {
                START_GROUP => open += 1,
                END_GROUP => open -= 1,
                wire_type => _ = self.content(wire_type)?,
            }
        }
        Some(())
    }

    fn field(&mut self) -> Option<Field<'a>> {
        let (number, wire_type) = self.key()?;
        let content = match wire_type {
            START_GROUP => self.skip_group().map(|()| Content::Group)?,
            wire_type => self.content(wire_type)?,
        };
        Some((number, content))
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

/// A field of a request that holds a message with repeated fields, or one that has such a field: its number, and those
/// in it.
pub(super) struct Nested(pub(super) u32, pub(super) &'static [Nested]);

/// Refuses a request that has more than [`MAX_ELEMENTS`] fields, those of its own nested messages included.
///
/// An element of a repeated field takes two bytes if it is empty, and a few hundred once it is read.
pub(super) fn check_elements(request: &[u8], nested: &[Nested]) -> Result<(), Error> {
    if count(request, nested, 0) > MAX_ELEMENTS {
        return Err(Error::invalid_params("", format!("there must be {MAX_ELEMENTS} elements at most")));
    }
    Ok(())
}

/// Counts on from a number, up to one that is too large.
fn count(message: &[u8], nested: &[Nested], mut count: usize) -> usize {
    // What is malformed is refused where it is read, which does not come further than this either.
    for (number, content) in Fields::of(message).map_while(Result::ok) {
        count += 1;
        if let (Content::Bytes(bytes), Some(Nested(_, within))) = (content, nested.iter().find(|one| one.0 == number)) {
            count = self::count(bytes, within, count);
        }
        if count > MAX_ELEMENTS {
            break;
        }
    }
    count
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
        for bytes in [
            &[0x08][..],
            &[0x0b],
            &[0x0c],
            &[0x0b, 0x0f, 0x0c],
            &[0x0b, 0x0b, 0x0c],
            &[0x02, 0x00],
            &[0x12, 0x05, 0x00],
            &[0x09, 0, 0],
            &[0xff; 12],
        ] {
            assert!(Fields::of(bytes).any(|field| field == Err(Malformed)), "{bytes:?}");
        }
    }

    #[test]
    fn groups_are_skipped_whatever_is_in_them() {
        // Field 1: a group of a number, a group and a text; then field 2.
        let bytes = [0x0b, 0x10, 0x01, 0x13, 0x14, 0x12, 0x01, b'x', 0x0c, 0x10, 0x07];
        let fields: Vec<_> = Fields::of(&bytes).map(Result::unwrap).collect();
        assert_eq!(fields, [(1, Content::Group), (2, Content::Varint(7))]);
        let deep = [vec![0x0b; 100_000], vec![0x0c; 100_000]].concat();
        assert_eq!(Fields::of(&deep).collect::<Vec<_>>(), [Ok((1, Content::Group))]);
    }

    #[test]
    fn elements_are_counted_at_all_levels() {
        let elements = |count| {
            let mut message = Vec::new();
            (0..count).for_each(|_| put_bytes(&mut message, 5, &[]));
            message
        };
        // After a group, which is one more field, everything counts as it did.
        for before in [&[][..], &[0x7b, 0x7c]] {
            let groups = before.len() / 2;
            let inner = [before, &elements(MAX_ELEMENTS - 1 - 2 * groups)].concat();
            let mut request = before.to_vec();
            put_bytes(&mut request, 2, &inner);
            assert!(check_elements(&request, &[Nested(2, &[])]).is_ok());
            put_bytes(&mut request, 2, &[0x08, 0x00]);
            assert!(check_elements(&request, &[Nested(2, &[])]).is_err());
            assert!(check_elements(&request, &[Nested(3, &[])]).is_ok());
        }
        let (mut middle, mut request) = (Vec::new(), Vec::new());
        put_bytes(&mut middle, 4, &elements(MAX_ELEMENTS - 1));
        put_bytes(&mut request, 2, &middle);
        assert!(check_elements(&request, &[Nested(2, &[])]).is_ok());
        assert!(check_elements(&request, &[Nested(2, &[Nested(4, &[])])]).is_err());
    }
}
