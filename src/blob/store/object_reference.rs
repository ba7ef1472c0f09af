//! How an object store notes that a task refers to a file: in the name of an object, so that a listing says it all.

use std::{fmt::Write as _, sync::Arc};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Referrer;
use crate::owner::Owner;

/// How long the name of an object may be here, in bytes: with prefix, part and blob it stays below the 1,024 that backends
/// take.
const MAX_NAME: usize = 800;
/// How long one piece of a name may be: file systems take 255 bytes.
const MAX_PIECE: usize = 200;

/// A task, and its owner if that has a name.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note(String, Option<String>);

impl Note {
    pub(super) fn of(referrer: &Referrer) -> Self {
        Self((*referrer.task_id).to_owned(), referrer.owner.name().map(str::to_owned))
    }

    pub(super) fn referrer(self) -> Referrer {
        Referrer::new(self.1.map_or_else(Owner::anonymous, Owner::new), Arc::from(self.0))
    }

    /// The name of its object, and what is in it. Ids and names may be any text of any length: where they are short, as is
    /// the rule, they are the name, in hexadecimal digits, which are the same to backends that know no capitals.
    pub(super) fn written(&self) -> (String, Vec<u8>) {
        // Two strings can always be written.
        let words = serde_json::to_vec(self).unwrap_or_default();
        if words.len() * 2 > MAX_NAME {
            return (format!("x{}", Uuid::new_v4().simple()), words);
        }
        let mut name = String::with_capacity(words.len() * 2);
        for byte in &words {
            let _ = write!(name, "{byte:02x}");
        }
        (name, Vec::new())
    }

    /// What a name says; `None` if it does not.
    pub(super) fn named(name: &str) -> Option<Self> {
        let digits = name.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        Self::read(&digits.collect::<Option<Vec<u8>>>()?)
    }

    pub(super) fn read(words: &[u8]) -> Option<Self> {
        serde_json::from_slice(words).ok()
    }

    pub(super) fn pieces(name: &str) -> impl Iterator<Item = &str> {
        // Names are digits alone.
        (0..name.len()).step_by(MAX_PIECE).filter_map(|at| name.get(at..name.len().min(at + MAX_PIECE)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_task_of_any_owner_is_found_again(task in ".{0,300}", owner in proptest::option::of(".{0,300}")) {
            let referrer = Referrer::new(owner.map_or_else(Owner::anonymous, Owner::new), task);
            let (name, words) = Note::of(&referrer).written();
            prop_assert!(name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            prop_assert!(Note::pieces(&name).all(|piece| !piece.is_empty() && piece.len() <= MAX_PIECE));
            prop_assert_eq!(Note::pieces(&name).collect::<String>(), name.clone());
            let note = Note::named(&name).or_else(|| Note::read(&words)).unwrap();
            prop_assert_eq!(note.referrer(), referrer);
        }

        #[test]
        fn what_is_no_name_says_nothing(name in "[^0-9a-f].*|.*[^0-9a-f]") {
            prop_assert_eq!(Note::named(&name), None);
        }
    }
}
