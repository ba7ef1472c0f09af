use std::{
    fmt, mem,
    ops::{Deref, DerefMut},
    option, slice, vec,
};

use super::Part;

/// The parts of a [`Message`](super::Message) or an [`Artifact`](super::Artifact): a list, as a slice is one.
///
/// Nearly all have one part, which is kept in place and not on the heap.
///
/// ```
/// use a2a_layers::types::{Part, Parts};
///
/// let mut parts = Parts::from(Part::text("hello"));
/// parts.push(Part::url("https://example.com/a.png"));
/// assert_eq!(parts.len(), 2);
/// assert_eq!(parts[0].as_text(), Some("hello"));
/// ```
#[derive(Clone)]
pub struct Parts(Form);

#[derive(Clone)]
enum Form {
    One(Part),
    Many(Vec<Part>),
}

impl Parts {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Form::Many(Vec::new()))
    }

    /// One more at the end.
    pub fn push(&mut self, part: Part) {
        match &mut self.0 {
            Form::Many(parts) if parts.capacity() == 0 => self.0 = Form::One(part),
            Form::Many(parts) => parts.push(part),
            Form::One(_) => {
                let mut parts = mem::take(self).into_vec();
                parts.push(part);
                self.0 = Form::Many(parts);
            }
        }
    }

    /// As a list of the standard library.
    #[must_use]
    pub fn into_vec(self) -> Vec<Part> {
        match self.0 {
            Form::One(part) => vec![part],
            Form::Many(parts) => parts,
        }
    }
}

impl Default for Parts {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Parts {
    type Target = [Part];

    fn deref(&self) -> &[Part] {
        match &self.0 {
            Form::One(part) => slice::from_ref(part),
            Form::Many(parts) => parts,
        }
    }
}

impl DerefMut for Parts {
    fn deref_mut(&mut self) -> &mut [Part] {
        match &mut self.0 {
            Form::One(part) => slice::from_mut(part),
            Form::Many(parts) => parts,
        }
    }
}

impl From<Part> for Parts {
    fn from(part: Part) -> Self {
        Self(Form::One(part))
    }
}

impl From<Vec<Part>> for Parts {
    fn from(mut parts: Vec<Part>) -> Self {
        match parts.pop() {
            Some(part) if parts.is_empty() => Self::from(part),
            last => {
                parts.extend(last);
                Self(Form::Many(parts))
            }
        }
    }
}

impl<const N: usize> From<[Part; N]> for Parts {
    fn from(parts: [Part; N]) -> Self {
        parts.into_iter().collect()
    }
}

impl FromIterator<Part> for Parts {
    fn from_iter<T: IntoIterator<Item = Part>>(parts: T) -> Self {
        let mut all = Self::new();
        all.extend(parts);
        all
    }
}

impl Extend<Part> for Parts {
    fn extend<T: IntoIterator<Item = Part>>(&mut self, parts: T) {
        parts.into_iter().for_each(|part| self.push(part));
    }
}

impl IntoIterator for Parts {
    type Item = Part;
    type IntoIter = PartsIntoIter;

    fn into_iter(self) -> PartsIntoIter {
        let (one, many) = match self.0 {
            Form::One(part) => (Some(part), Vec::new()),
            Form::Many(parts) => (None, parts),
        };
        PartsIntoIter { one: one.into_iter(), many: many.into_iter() }
    }
}

impl<'a> IntoIterator for &'a Parts {
    type Item = &'a Part;
    type IntoIter = slice::Iter<'a, Part>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Parts {
    type Item = &'a mut Part;
    type IntoIter = slice::IterMut<'a, Part>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl PartialEq for Parts {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<const N: usize> PartialEq<[Part; N]> for Parts {
    fn eq(&self, other: &[Part; N]) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// [`Parts`], one after the other.
#[derive(Debug)]
pub struct PartsIntoIter {
    one: option::IntoIter<Part>,
    many: vec::IntoIter<Part>,
}

impl Iterator for PartsIntoIter {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        self.one.next().or_else(|| self.many.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.one.len() + self.many.len();
        (count, Some(count))
    }
}

impl DoubleEndedIterator for PartsIntoIter {
    fn next_back(&mut self) -> Option<Part> {
        self.many.next_back().or_else(|| self.one.next_back())
    }
}

impl ExactSizeIterator for PartsIntoIter {}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(count: usize) -> Vec<Part> {
        (0..count).map(|number| Part::text(number.to_string())).collect()
    }

    #[test]
    fn it_is_a_list_of_any_length_however_it_came_to_be() {
        for count in 0..5 {
            let expected = list(count);
            let mut pushed = Parts::new();
            expected.iter().cloned().for_each(|part| pushed.push(part));
            let mut extended = Parts::from(list(count / 2));
            extended.extend(expected[count / 2..].iter().cloned());
            let mut roomy = Vec::with_capacity(8);
            roomy.extend(list(count));
            for mut parts in
                [pushed, extended, Parts::from(list(count)), Parts::from(roomy), list(count).into_iter().collect()]
            {
                assert_eq!((&parts[..], parts.clone()), (&expected[..], Parts::from(list(count))));
                assert_eq!(matches!(parts.0, Form::One(_)), count == 1);
                assert_eq!(parts.clone().into_vec(), expected);
                let all = parts.clone().into_iter();
                assert_eq!(
                    (all.len(), all.rev().collect::<Vec<_>>()),
                    (count, expected.iter().rev().cloned().collect())
                );
                assert!(parts.clone().into_iter().eq(expected.iter().cloned()) && (&parts).into_iter().eq(&expected));
                for part in &mut parts {
                    part.filename = Some("f".to_owned());
                }
                assert!(parts.iter().all(|part| part.filename.is_some()));
            }
        }
        assert_ne!(Parts::from(list(1)), Parts::from(list(2)));
        assert_eq!(format!("{:?}", Parts::from(list(1))), format!("{:?}", list(1)));
    }
}
