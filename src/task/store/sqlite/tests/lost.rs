//! Two who look for lost runs at the same moment.

use super::*;
use crate::task::store::{
    durable::{Backend, LostRow, Part, Row, Stored, Topics},
    index::Key,
};

/// A file in which another one takes over what is lost as soon as somebody has seen it.
struct Overtaken {
    seen: SqliteTaskStore,
    faster: SqliteTaskStore,
}

impl Overtaken {
    fn file(&self) -> &Sqlite {
        &self.seen.0.inner().backend
    }
}

impl Backend for Overtaken {
    async fn row(&self, owner: &Owner, id: &str) -> Result<Option<Row>, StoreError> {
        self.file().row(owner, id).await
    }

    async fn task(&self, owner: &Owner, id: &str) -> Result<Option<Stored>, StoreError> {
        self.file().task(owner, id).await
    }

    async fn unfolded(
        &self,
        parts: &[Part],
        show: impl FnMut(usize, &str) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        self.file().unfolded(parts, show).await
    }

    async fn log(
        &self,
        owner: &Owner,
        id: &str,
        after: u64,
        limit: usize,
        show: impl FnMut(u64, &str, &str) -> Result<bool, StoreError> + Send,
    ) -> Result<(), StoreError> {
        self.file().log(owner, id, after, limit, show).await
    }

    async fn list(&self, owner: &Owner, query: &ListQuery, key: Option<Key>) -> Result<(Vec<Stored>, u64), StoreError> {
        self.file().list(owner, query, key).await
    }

    async fn others(&self) -> Result<Vec<(i64, i64)>, StoreError> {
        self.file().others().await
    }

    async fn lost(&self, limit: usize) -> Result<Vec<LostRow>, StoreError> {
        let lost = self.file().lost(limit).await?;
        self.faster.append(&ann(), "t", 1, vec![status(TaskState::Working)]).await?;
        Ok(lost)
    }
}

#[tokio::test]
async fn a_lost_run_that_cannot_be_read_keeps_nobody_from_the_others() {
    let files = Files::default();
    let gone = files.empty().await;
    let file = files.opened.lock().unwrap().values().next().unwrap().clone();
    for id in ["a", "b", "c"] {
        gone.create(&ann(), Arc::new(Task::new(id, "c", TaskState::Working))).await.unwrap();
    }
    execute(&file, "UPDATE log SET events = '[7]' WHERE task = (SELECT seq FROM tasks WHERE id = 'b')").await;
    gone.release_lease().await.unwrap();
    let seen = files.replica(&gone).await.unwrap();
    let lost = seen.lost_runs(9).await.unwrap();
    assert!(lost.iter().map(|run| &*run.snapshot.task.id).eq(["a", "c"]), "{lost:?}");
    assert!(matches!(seen.get(&ann(), "b").await, Err(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn a_run_that_somebody_else_has_taken_over_meanwhile_is_lost_no_more() {
    let files = Files::default();
    let gone = files.empty().await;
    let (seen, faster) = (files.replica(&gone).await.unwrap(), files.replica(&gone).await.unwrap());
    made(&gone).await;
    gone.release_lease().await.unwrap();
    assert_eq!(seen.lost_runs(9).await.unwrap().len(), 1);
    let (writer, limits) = (seen.0.inner().writer.clone(), seen.0.limits());
    let looking = Durable::new(Overtaken { seen, faster }, writer, Topics::default(), limits);
    // At the revision that it has now it is another one's: to end it there would end a run that is alive.
    assert!(looking.lost_runs(9).await.unwrap().is_empty());
}
