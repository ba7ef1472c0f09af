//! What a database has to answer.

use std::{borrow::Cow, future::Future};

use crate::{
    error::BoxError,
    owner::Owner,
    task::{ListQuery, StoreError, store::index::Key},
    types::TaskState,
};

/// A database that holds tasks, as one holder of a lease sees it.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Where the owner's task stands.
    fn row(&self, owner: &Owner, id: &str) -> impl Future<Output = Result<Option<Row>, StoreError>> + Send;

    /// The owner's task with the snapshot beside its log.
    fn task(&self, owner: &Owner, id: &str) -> impl Future<Output = Result<Option<Stored>, StoreError>> + Send;

    /// Shows these parts of logs, one append after the other, in order within each part: the part's place in the slice,
    /// and the text of the events.
    fn unfolded(
        &self,
        parts: &[Part],
        show: impl FnMut(usize, &str) -> Result<(), StoreError> + Send,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Shows the log of the owner's task from the append that holds the event behind `after` on: the number of its first
    /// event, the task's context, the text of the events. It ends when that says false, and after `limit` appends it may.
    fn log(
        &self,
        owner: &Owner,
        id: &str,
        after: u64,
        limit: usize,
        show: impl FnMut(u64, &str, &str) -> Result<bool, StoreError> + Send,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The owner's tasks that a query asks for, from behind this place on, one more than make a page; and how many there
    /// are in all.
    fn list(
        &self,
        owner: &Owner,
        query: &ListQuery,
        before: Option<Key>,
    ) -> impl Future<Output = Result<(Vec<Stored>, u64), StoreError>> + Send;

    /// The other holders that are not known to be gone, and how far each has counted.
    fn others(&self) -> impl Future<Output = Result<Vec<(i64, i64)>, StoreError>> + Send;

    /// The tasks that those other holders have lost that are known to be gone.
    fn lost(&self, limit: usize) -> impl Future<Output = Result<Vec<LostRow>, StoreError>> + Send;
}

/// What is known of a task without its body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The number of its row.
    pub(crate) seq: i64,
    pub(crate) revision: u64,
    pub(crate) is_over: bool,
}

/// A task whose holder is gone.
#[derive(Clone, Debug)]
pub(crate) struct LostRow {
    pub(crate) owner: Owner,
    pub(crate) id: String,
    /// At which it was that holder's.
    pub(crate) revision: u64,
}

/// A task as the database has it.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) row: Row,
    pub(crate) id: String,
    pub(crate) context: String,
    /// Of its status, in milliseconds since the epoch.
    pub(crate) moment: i64,
    /// The revision of the snapshot, or 0.
    pub(crate) folded: u64,
    pub(crate) body: Option<String>,
}

/// A part of a log: all behind `after`, up to `until`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) seq: i64,
    pub(crate) after: u64,
    pub(crate) until: u64,
}

/// How an owner is written: the one without a name differs from the one whose name is empty.
pub(crate) fn owner_text(owner: &Owner) -> Cow<'static, str> {
    owner.name().map_or(Cow::Borrowed(""), |name| Cow::Owned(format!("={name}")))
}

pub(crate) fn read_owner(text: &str) -> Owner {
    text.strip_prefix('=').map_or_else(Owner::anonymous, Owner::new)
}

pub(crate) fn unavailable(error: impl Into<BoxError>) -> StoreError {
    StoreError::Unavailable(error.into())
}

/// Numbers of events are those that this store gave, so they fit.
pub(crate) fn number(stored: i64) -> u64 {
    stored.unsigned_abs()
}

pub(crate) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A task's place in [`TaskState::ALL`], which only ever grows at its end.
pub(crate) fn state_number(state: TaskState) -> i64 {
    TaskState::ALL.iter().position(|one| *one == state).map_or(-1, |at| at as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_of_a_state_never_changes() {
        let written = [
            (TaskState::Unspecified, -1),
            (TaskState::Submitted, 0),
            (TaskState::Working, 1),
            (TaskState::Completed, 2),
            (TaskState::Failed, 3),
            (TaskState::Canceled, 4),
            (TaskState::InputRequired, 5),
            (TaskState::Rejected, 6),
            (TaskState::AuthRequired, 7),
        ];
        for (state, number) in written {
            assert_eq!(state_number(state), number, "{state}");
        }
    }
}
