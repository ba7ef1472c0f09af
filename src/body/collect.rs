//! What has been read of a body.

use bytes::{Bytes, BytesMut};

/// The pieces of a body, joined only if there are several.
#[derive(Debug, Default)]
pub(super) struct Collected {
    first: Bytes,
    joined: Option<BytesMut>,
}

impl Collected {
    pub(super) fn len(&self) -> usize {
        self.joined.as_ref().map_or(self.first.len(), BytesMut::len)
    }

    /// Takes the next piece. `remaining` is what is said to follow; it has to be trusted no further than the limit.
    pub(super) fn push(&mut self, piece: Bytes, remaining: usize) {
        if let Some(joined) = &mut self.joined {
            joined.extend_from_slice(&piece);
        } else if self.first.is_empty() {
            self.first = piece;
        } else if !piece.is_empty() {
            let mut joined = BytesMut::with_capacity(self.first.len() + piece.len() + remaining);
            joined.extend_from_slice(&self.first);
            joined.extend_from_slice(&piece);
            self.first = Bytes::new();
            self.joined = Some(joined);
        }
    }

    pub(super) fn take(&mut self) -> Bytes {
        let first = std::mem::take(&mut self.first);
        self.joined.take().map_or(first, BytesMut::freeze)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_piece_is_passed_on_as_it_is() {
        let piece = Bytes::from(vec![b'x'; 100]);
        let mut collected = Collected::default();
        collected.push(Bytes::new(), 100);
        collected.push(piece.clone(), 0);
        collected.push(Bytes::new(), 0);
        assert_eq!(collected.take().as_ptr(), piece.as_ptr());
    }

    #[test]
    fn several_are_joined_in_one_allocation() {
        let mut collected = Collected::default();
        for (piece, remaining) in [("ab", 6), ("cd", 4), ("ef", 2), ("gh", 0)] {
            collected.push(Bytes::from(piece), remaining);
        }
        assert_eq!(collected.len(), 8);
        assert_eq!(collected.take(), "abcdefgh");
    }
}
