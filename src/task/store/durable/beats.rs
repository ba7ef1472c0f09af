//! Who is alive, as far as this process has seen.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

/// When a holder was last seen to count on. A clock that jumps changes nothing about it.
#[derive(Debug, Default)]
pub(super) struct Beats(HashMap<i64, (i64, Instant)>);

impl Beats {
    /// Those that have not counted on for as long as a lease lasts, of all that there are.
    pub(super) fn look(&mut self, beats: &[(i64, i64)], lease: Duration) -> Vec<(i64, i64)> {
        let now = Instant::now();
        self.0.retain(|holder, _| beats.iter().any(|(one, _)| one == holder));
        let is_gone = |&&(holder, beat): &&(i64, i64)| {
            let (last, since) = self.0.entry(holder).or_insert((beat, now));
            if *last != beat {
                (*last, *since) = (beat, now);
            }
            now - *since >= lease
        };
        beats.iter().filter(is_gone).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_holder_is_gone_when_it_was_not_seen_to_count_on_for_a_lease() {
        let (mut beats, lease) = (Beats::default(), Duration::from_secs(30));
        assert!(beats.look(&[(1, 5), (2, 0)], lease).is_empty(), "however old the file is");
        tokio::time::advance(lease - Duration::from_millis(1)).await;
        assert!(beats.look(&[(1, 6), (2, 0)], lease).is_empty());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(beats.look(&[(1, 6), (2, 0)], lease), [(2, 0)]);
        assert!(beats.look(&[(1, 6), (2, 1)], lease).is_empty(), "it is back");
        tokio::time::advance(lease).await;
        assert_eq!(beats.look(&[(1, 6), (2, 1)], lease), [(1, 6), (2, 1)]);
    }
}
