use std::{
    fmt, mem,
    ops::{Deref, DerefMut},
    option, slice, vec,
};

/// A list that nearly always has one element, such as the parts of a [`Message`](super::Message): a single one is kept in
/// place and not on the heap. It is used as a slice.
///
/// ```
/// use a2a_layers::types::{Few, Part};
///
/// let mut parts = Few::from(Part::text("hello"));
/// parts.push(Part::url("https://example.com/a.png"));
/// assert_eq!(parts.len(), 2);
/// assert_eq!(parts[0].as_text(), Some("hello"));
/// ```
#[derive(Clone)]
pub struct Few<T>(Form<T>);

#[derive(Clone)]
enum Form<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Form::Many(Vec::new()))
    }

    /// One more at the end.
    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            Form::Many(items) if items.capacity() == 0 => self.0 = Form::One(item),
            Form::Many(items) => items.push(item),
            Form::One(_) => {
                let mut items = mem::take(self).into_vec();
                items.push(item);
                self.0 = Form::Many(items);
            }
        }
    }

    /// As a list of the standard library.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Form::One(item) => vec![item],
            Form::Many(items) => items,
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Form::One(item) => slice::from_ref(item),
            Form::Many(items) => items,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Form::One(item) => slice::from_mut(item),
            Form::Many(items) => items,
        }
    }
}

impl<T> From<T> for Few<T> {
    fn from(item: T) -> Self {
        Self(Form::One(item))
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(mut items: Vec<T>) -> Self {
        match items.pop() {
            Some(item) if items.is_empty() => Self::from(item),
            last => {
                items.extend(last);
                Self(Form::Many(items))
            }
        }
    }
}

impl<T, const N: usize> From<[T; N]> for Few<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = Self::new();
        all.extend(items);
        all
    }
}

impl<T> Extend<T> for Few<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = FewIntoIter<T>;

    fn into_iter(self) -> FewIntoIter<T> {
        let (one, many) = match self.0 {
            Form::One(item) => (Some(item), Vec::new()),
            Form::Many(items) => (None, items),
        };
        FewIntoIter { one: one.into_iter(), many: many.into_iter() }
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Few<T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for Few<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        **self == *other
    }
}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// The elements of [`Few`], one after the other.
#[derive(Debug)]
pub struct FewIntoIter<T> {
    one: option::IntoIter<T>,
    many: vec::IntoIter<T>,
}

impl<T> Iterator for FewIntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.one.next().or_else(|| self.many.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.one.len() + self.many.len();
        (count, Some(count))
    }
}

impl<T> DoubleEndedIterator for FewIntoIter<T> {
    fn next_back(&mut self) -> Option<T> {
        self.many.next_back().or_else(|| self.one.next_back())
    }
}

impl<T> ExactSizeIterator for FewIntoIter<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Part;

    fn list(count: usize) -> Vec<Part> {
        (0..count).map(|number| Part::text(number.to_string())).collect()
    }

    #[test]
    fn it_is_a_list_of_any_length_however_it_came_to_be() {
        for count in 0..5 {
            let expected = list(count);
            let mut pushed = Few::new();
            expected.iter().cloned().for_each(|part| pushed.push(part));
            let mut extended = Few::from(list(count / 2));
            extended.extend(expected[count / 2..].iter().cloned());
            let mut roomy = Vec::with_capacity(8);
            roomy.extend(list(count));
            for mut parts in
                [pushed, extended, Few::from(list(count)), Few::from(roomy), list(count).into_iter().collect()]
            {
                assert_eq!((&parts[..], parts.clone()), (&expected[..], Few::from(list(count))));
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
        assert_ne!(Few::<Part>::from(list(1)), Few::from(list(2)));
        assert_eq!(format!("{:?}", Few::<Part>::from(list(1))), format!("{:?}", list(1)));
    }
}
