//! Who is alive, as far as this process has seen.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

/// When holders were last seen to count on. A clock that jumps changes nothing about it.
#[derive(Debug, Default)]
pub(super) struct Beats {
    seen: HashMap<i64, (i64, Instant)>,
    /// When it was last looked.
    looked: Option<Instant>,
}

impl Beats {
    /// Those that have not counted on for as long as a lease lasts, of all that there are.
    ///
    /// Whoever looks is to do so several times in a lease. If it could not, because the database was away or this process
    /// stood still, then others may have been in the same case, and have as much time again from here.
    pub(super) fn look(&mut self, beats: &[(i64, i64)], lease: Duration) -> Vec<(i64, i64)> {
        let now = Instant::now();
        let was_away = self.looked.replace(now).is_some_and(|last| now - last > lease / 2);
        self.seen.retain(|holder, _| beats.iter().any(|(one, _)| one == holder));
        let is_gone = |&&(holder, beat): &&(i64, i64)| {
            let (last, since) = self.seen.entry(holder).or_insert((beat, now));
            if *last != beat || was_away {
                (*last, *since) = (beat, now);
            }
            now - *since >= lease
        };
        beats.iter().filter(is_gone).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_holder_is_gone_when_it_was_not_seen_to_count_on_for_a_lease() {
        let mut beats = Beats::default();
        assert!(beats.look(&[(1, 5), (2, 0)], LEASE).is_empty(), "however old the file is");
        advance(LEASE / 2).await;
        assert!(beats.look(&[(1, 5), (2, 0)], LEASE).is_empty());
        advance(LEASE / 2 - Duration::from_millis(1)).await;
        assert!(beats.look(&[(1, 6), (2, 0)], LEASE).is_empty());
        advance(Duration::from_millis(1)).await;
        assert_eq!(beats.look(&[(1, 6), (2, 0)], LEASE), [(2, 0)]);
        assert!(beats.look(&[(1, 6), (2, 1)], LEASE).is_empty(), "it is back");
        advance(LEASE / 2).await;
        assert!(beats.look(&[(1, 6), (2, 1)], LEASE).is_empty());
        advance(LEASE / 2).await;
        assert_eq!(beats.look(&[(1, 6), (2, 1)], LEASE), [(1, 6), (2, 1)]);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_gone_for_a_time_in_which_it_was_not_looked() {
        let (mut beats, others) = (Beats::default(), [(1, 5), (2, 0)]);
        assert!(beats.look(&others, LEASE).is_empty());
        advance(LEASE * 10).await;
        assert!(beats.look(&others, LEASE).is_empty(), "they could not count either");
        advance(LEASE / 2).await;
        assert!(beats.look(&[(1, 6), (2, 0)], LEASE).is_empty());
        advance(LEASE / 2).await;
        assert_eq!(beats.look(&[(1, 6), (2, 0)], LEASE), [(2, 0)], "this one is");
    }
}
