//! Claims of a store in memory.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::Claim;
use crate::owner::Owner;

type Place = (Owner, Arc<str>);

/// Who has sent what. A claim goes when its time is over, and when its task goes, so there are never more than the messages
/// of the tasks that are kept.
#[derive(Debug, Default)]
pub(super) struct Claims {
    kept: HashMap<Place, Kept>,
    of_tasks: HashMap<Arc<str>, Vec<Place>>,
    /// By the moment at which they run out.
    ends: BTreeMap<(Instant, u64), Place>,
    made: u64,
}

#[derive(Debug)]
struct Kept {
    claim: Claim,
    since: Instant,
    end: (Instant, u64),
}

impl Claims {
    /// The claim that was there already, if it is younger than this; otherwise the new one is kept.
    pub(super) fn claim(&mut self, owner: &Owner, claim: &Claim, window: Duration) -> Option<Claim> {
        let now = Instant::now();
        while let Some(first) = self.ends.first_entry()
            && first.key().0 <= now
        {
            let place = first.remove();
            self.remove(&place);
        }
        let place = (owner.clone(), Arc::clone(&claim.key));
        if let Some(kept) = self.kept.get(&place).filter(|kept| now - kept.since < window) {
            return Some(kept.claim.clone());
        }
        self.remove(&place);
        self.made += 1;
        // What lasts longer than time can be reckoned goes with its task.
        let end = (now.checked_add(window).unwrap_or_else(|| now + Duration::from_secs(u32::MAX.into())), self.made);
        self.ends.insert(end, place.clone());
        self.of_tasks.entry(Arc::clone(&claim.task_id)).or_default().push(place.clone());
        self.kept.insert(place, Kept { claim: claim.clone(), since: now, end });
        None
    }

    /// Lets go of this very claim.
    pub(super) fn release(&mut self, owner: &Owner, claim: &Claim) {
        let place = (owner.clone(), Arc::clone(&claim.key));
        if self.kept.get(&place).is_some_and(|kept| kept.claim == *claim) {
            self.remove(&place);
        }
    }

    /// Lets go of the claims of a task that is gone.
    pub(super) fn forget(&mut self, task_id: &str) {
        for place in self.of_tasks.get(task_id).cloned().unwrap_or_default() {
            self.remove(&place);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    fn remove(&mut self, place: &Place) {
        let Some(kept) = self.kept.remove(place) else { return };
        self.ends.remove(&kept.end);
        if let Some(places) = self.of_tasks.get_mut(&kept.claim.task_id) {
            places.retain(|one| one != place);
            if places.is_empty() {
                self.of_tasks.remove(&kept.claim.task_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn nothing_stays_of_a_claim_that_is_over() {
        let (mut claims, ann) = (Claims::default(), Owner::new("ann"));
        let claim = |key: &str, task: &str| Claim::new(key, 1, task);
        for (key, task) in [("a", "1"), ("b", "1"), ("c", "2"), ("d", "3")] {
            assert_eq!(claims.claim(&ann, &claim(key, task), WINDOW), None);
        }
        claims.forget("1");
        assert_eq!(claims.kept.len(), 2);
        claims.release(&ann, &claim("c", "another"));
        assert_eq!(claims.kept.len(), 2, "somebody else's claim stays");
        claims.release(&ann, &claim("c", "2"));
        assert_eq!((claims.kept.len(), claims.of_tasks.len(), claims.ends.len()), (1, 1, 1));
        tokio::time::advance(WINDOW).await;
        assert_eq!(claims.claim(&ann, &claim("e", "5"), Duration::MAX), None);
        assert_eq!((claims.kept.len(), claims.of_tasks.len(), claims.ends.len()), (1, 1, 1));
        claims.forget("5");
        assert!(claims.is_empty() && claims.of_tasks.is_empty() && claims.ends.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_says_how_old_a_claim_may_be() {
        let (mut claims, ann) = (Claims::default(), Owner::new("ann"));
        let (first, second) = (Claim::new("a", 1, "1"), Claim::new("a", 1, "2").behind(3));
        assert_eq!(claims.claim(&ann, &first, WINDOW), None);
        tokio::time::advance(WINDOW / 2).await;
        assert_eq!(claims.claim(&Owner::new("bob"), &first, WINDOW), None, "owners do not meet");
        assert_eq!(claims.claim(&ann, &second, WINDOW), Some(first.clone()));
        assert_eq!(claims.claim(&ann, &second, WINDOW / 2), None, "it is too old for this one");
        assert_eq!(claims.claim(&ann, &first, WINDOW), Some(second));
        assert_eq!((claims.kept.len(), claims.of_tasks.len(), claims.ends.len()), (2, 2, 2));
    }
}
