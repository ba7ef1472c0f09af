//! Who waits for a log to grow.

use std::task::Waker;

/// How many are woken at once, outside of the lock.
const AT_ONCE: usize = 8;

/// The wakers of those who follow a log. A follower keeps its place, so that to wait again asks the heap for nothing.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    places: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Waiters {
    /// Waits, at a place that is taken at the first time. What this gives back is to be dropped outside of the lock,
    /// since nobody knows what hangs on a waker.
    #[must_use]
    pub(super) fn wait(&mut self, place: &mut Option<usize>, waker: &Waker) -> Option<Waker> {
        let at = *place.get_or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.places.push(None);
                self.places.len() - 1
            })
        });
        match &mut self.places[at] {
            Some(kept) if kept.will_wake(waker) => None,
            kept => kept.replace(waker.clone()),
        }
    }

    /// How many places there are, taken or not.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Gives a place back.
    #[must_use]
    pub(super) fn leave(&mut self, place: usize) -> Option<Waker> {
        self.free.push(place);
        let waker = self.places[place].take();
        if self.free.len() == self.places.len() {
            *self = Self::default();
        }
        waker
    }

    /// The next few who wait, from this place on; `None` behind the last place.
    pub(super) fn take(&mut self, from: &mut usize) -> Option<[Option<Waker>; AT_ONCE]> {
        let places = self.places.get_mut(*from..).filter(|places| !places.is_empty())?;
        let mut taken = [const { None }; AT_ONCE];
        for (taken, place) in taken.iter_mut().zip(places) {
            *taken = place.take();
            *from += 1;
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn wake(waiters: &mut Waiters) {
        let mut from = 0;
        while let Some(few) = waiters.take(&mut from) {
            few.into_iter().flatten().for_each(Waker::wake);
        }
    }

    #[test]
    fn all_are_woken_once_each_time_they_wait() {
        for followers in [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE + 2] {
            let (mut waiters, count) = (Waiters::default(), Arc::new(Count::default()));
            let waker = Waker::from(Arc::clone(&count));
            let mut places = vec![None; followers];
            for round in 1..=3 {
                for place in &mut places {
                    assert!(waiters.wait(place, &waker).is_none());
                    assert!(waiters.wait(place, &waker).is_none());
                }
                wake(&mut waiters);
                wake(&mut waiters);
                assert_eq!(count.0.load(Ordering::Relaxed), round * followers);
            }
        }
    }

    #[test]
    fn places_are_given_to_others_and_then_given_up() {
        let (mut waiters, count) = (Waiters::default(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let (mut first, mut second, mut third) = (None, None, None);
        assert!(waiters.wait(&mut first, &waker).is_none());
        assert!(waiters.wait(&mut second, Waker::noop()).is_none());
        assert!(waiters.leave(first.unwrap()).is_some());
        assert!(waiters.wait(&mut third, &waker).is_none());
        assert_eq!((third, waiters.places.len()), (first, 2));
        // Whoever is moved to another task is woken there, and only there.
        assert!(waiters.wait(&mut second, &waker).is_some());
        wake(&mut waiters);
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
        assert!(waiters.leave(third.unwrap()).is_none() && waiters.leave(second.unwrap()).is_none());
        assert_eq!(waiters.places.capacity(), 0);
    }
}
