//! Lists: order, filters, pages that stay good while tasks come and go, and what is kept.

use std::sync::Arc;

use super::{
    Subject,
    make::{ann, appended, made, status, task_at, word_of},
};
use crate::{
    owner::Owner,
    task::{ListQuery, TaskStore},
    types::{Event, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp},
};

pub(super) async fn check<S: Subject>(subject: &S) {
    let store = subject.empty().await;
    every_filter_alone_and_with_others(&store).await;
    pages_stay_good(&subject.empty().await).await;
    a_change_of_status_moves_a_task_to_the_front(&subject.empty().await).await;
    if let Some(replica) = subject.replica(&store).await {
        let page = replica.list(&ann(), &ListQuery::new(1)).await.expect("a list");
        assert_eq!(page.total_size, 96, "a list sees what others have made");
    }
    if let Some(store) = subject.keeping(10).await {
        only_so_many_are_kept(&store).await;
    }
}

/// The ids of all pages, and how many tasks each page said there are.
async fn walk<T: TaskStore>(store: &T, query: &ListQuery) -> (Vec<String>, Vec<u64>) {
    let (mut ids, mut totals, mut query) = (Vec::new(), Vec::new(), query.clone());
    loop {
        let page = store.list(&ann(), &query).await.expect("a list");
        assert!(page.tasks.len() <= query.page_size, "a page holds no more than it may");
        totals.push(page.total_size);
        ids.extend(page.tasks.iter().map(|task| task.id.to_string()));
        match page.next_page_token {
            Some(token) => query.page_token = Some(token),
            None => return (ids, totals),
        }
    }
}

async fn every_filter_alone_and_with_others<T: TaskStore>(store: &T) {
    let states = TaskState::ALL;
    // Not too old to be kept.
    let begin = Timestamp::now().as_millis() - 3_600_000;
    // The moments come in any order, and some twice.
    let mut all = Vec::new();
    for n in 0..96_usize {
        let (state, context) = (states[n % 8], format!("c{}", n % 3));
        let moment = begin + 1_000 * ((n * 37 % 48) as i64);
        let id = format!("t{n}");
        store.create(&ann(), Arc::new(task_at(&id, &context, state, moment))).await.expect("a task can be made");
        store
            .create(&Owner::new("bob"), Arc::new(task_at(&format!("b{n}"), &context, state, moment)))
            .await
            .expect("a task can be made");
        all.push((moment, n, id, state, context));
    }
    all.sort_by_key(|task| std::cmp::Reverse((task.0, task.1)));
    let contexts = [None, Some("c0"), Some("c2"), Some("none")];
    let times = [None, Some(-1), Some(0), Some(20_000), Some(20_001), Some(47_000), Some(47_001)];
    for context in contexts {
        for state in [None].into_iter().chain(states.map(Some)) {
            for after in times {
                let expected: Vec<_> = all
                    .iter()
                    .filter(|task| context.is_none_or(|context| task.4 == context))
                    .filter(|task| state.is_none_or(|state| task.3 == state))
                    .filter(|task| after.is_none_or(|after| task.0 >= begin + after))
                    .map(|task| task.2.clone())
                    .collect();
                for page_size in [1, 7, usize::MAX] {
                    if page_size == 1 && (context, state, after) != (Some("c0"), None, Some(20_000)) {
                        continue;
                    }
                    let mut query = ListQuery::new(page_size);
                    query.context_id = context.map(Arc::from);
                    query.status = state;
                    query.status_timestamp_after = after.map(|after| Timestamp::from_millis(begin + after));
                    let (ids, totals) = walk(store, &query).await;
                    assert_eq!(ids, expected, "the order of {query:?}");
                    assert!(totals.iter().all(|total| *total == expected.len() as u64), "{totals:?} of {query:?}");
                }
            }
        }
    }
    for token in ["", "x", "1", "1.", ".1", "-1.-1", "'; --", "99999999999999999999.1"] {
        let mut query = ListQuery::new(1);
        query.page_token = Some(token.to_owned());
        assert_eq!(word_of(store.list(&ann(), &query).await), "bad token", "{token:?}");
    }
}

async fn pages_stay_good<T: TaskStore>(store: &T) {
    let begin = Timestamp::now().as_millis() - 3_600_000;
    for n in 0..20 {
        let task = task_at(&format!("t{n}"), "c", TaskState::Working, begin + n);
        store.create(&ann(), Arc::new(task)).await.expect("a task can be made");
    }
    let mut query = ListQuery::new(5);
    let (mut ids, mut round) = (Vec::new(), 0);
    loop {
        let page = store.list(&ann(), &query).await.expect("a list");
        ids.extend(page.tasks.iter().map(|task| task.id.to_string()));
        // New ones come in front, and one of those that were shown moves there.
        let new = task_at(&format!("new{round}"), "c", TaskState::Working, begin + 5_000 + round);
        store.create(&ann(), Arc::new(new)).await.expect("a task can be made");
        let shown = page.tasks[0].id.to_string();
        appended(store, &shown, 1, vec![status(&shown, TaskState::InputRequired)]).await;
        round += 1;
        match page.next_page_token {
            Some(token) => query.page_token = Some(token),
            None => break,
        }
    }
    let expected: Vec<_> = (0..20).rev().map(|n| format!("t{n}")).collect();
    assert_eq!(ids, expected, "each task that was there is shown once");
}

async fn a_change_of_status_moves_a_task_to_the_front<T: TaskStore>(store: &T) {
    let begin = Timestamp::now().as_millis() - 3_600_000;
    for id in ["a", "b"] {
        let moment = begin + if id == "a" { 1_000 } else { 2_000 };
        store.create(&ann(), Arc::new(task_at(id, "c", TaskState::Working, moment))).await.expect("a task can be made");
    }
    let mut update = TaskStatusUpdateEvent::new("a".into(), "c".into(), TaskStatus::new(TaskState::InputRequired));
    update.status.timestamp = Some(Timestamp::from_millis(begin + 3_000));
    appended(store, "a", 1, vec![Event::StatusUpdate(update)]).await;
    assert_eq!(walk(store, &ListQuery::new(10)).await.0, ["a", "b"]);
    for (state, expected) in [(TaskState::Working, "b"), (TaskState::InputRequired, "a")] {
        let mut query = ListQuery::new(10);
        query.status = Some(state);
        assert_eq!(walk(store, &query).await, (vec![expected.to_owned()], vec![1]), "those that are {state}");
    }
    // The tasks are those that a get shows.
    let page = store.list(&ann(), &ListQuery::new(10)).await.expect("a list");
    for task in page.tasks {
        assert_eq!(task, store.get(&ann(), &task.id).await.expect("a task can be read").task);
    }
}

async fn only_so_many_are_kept<T: TaskStore>(store: &T) {
    for (n, state) in (0..30).flat_map(|n| [(n, TaskState::Completed), (n, TaskState::InputRequired)]) {
        let id = format!("{state}-{n}");
        made(store, &ann(), &id).await;
        appended(store, &id, 1, vec![status(&id, state)]).await;
    }
    made(store, &ann(), "at work").await;
    store.retain().await.expect("retention");
    let count = |state| async move {
        let mut query = ListQuery::new(100);
        query.status = Some(state);
        store.list(&ann(), &query).await.expect("a list").total_size
    };
    assert_eq!(count(TaskState::Completed).await, 10, "finished tasks are kept up to a number");
    assert_eq!(count(TaskState::InputRequired).await, 10, "tasks that wait are kept up to a number");
    assert_eq!(count(TaskState::Submitted).await, 1, "tasks at work stay");
    for (id, word) in [("completed-0", "not found"), ("completed-29", "done"), ("input-required-0", "not found")] {
        assert_eq!(word_of(store.get(&ann(), id).await), word, "{id}: the oldest go first");
    }
    assert_eq!(word_of(store.read(&ann(), "completed-0", 0, 1).await), "not found");
}
