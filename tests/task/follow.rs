//! Following a log, with what a store brings itself and with what the trait makes of reading and waiting.

use std::pin::{Pin, pin};

use a2a_layers::{
    dialect::DialectKey,
    encoded::Text,
    task::{LogEntry, MemoryTaskStore, StoreError},
    types::{TaskStatus, TaskStatusUpdateEvent},
};
use futures_util::{FutureExt, Stream};

use super::{probe::Probe, *};

fn said(text: &str) -> Event {
    Event::Message(Arc::new(Message::agent(text)))
}

fn over() -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent::new("t".into(), "c".into(), TaskStatus::new(TaskState::Completed)))
}

async fn with_task<T: TaskStore>(store: T) -> T {
    store.create(&Owner::anonymous(), Arc::new(Task::new("t", "c", TaskState::Submitted))).await.unwrap();
    store
}

async fn say(store: &impl TaskStore, after: u64, events: usize) {
    let owner = Owner::anonymous();
    match events {
        1 => store.append_one(&owner, "t", after, said("one")).await,
        _ => store.append(&owner, "t", after, (0..events).map(|_| said("many")).collect()).await,
    }
    .unwrap();
}

/// The numbers of all entries that are there, or the error.
fn heard<S>(follow: &mut Pin<&mut S>) -> Result<Vec<u64>, StoreError>
where
    S: Stream<Item = Result<LogEntry, StoreError>>,
{
    let mut numbers = Vec::new();
    while let Some(entry) = follow.next().now_or_never() {
        numbers.push(entry.expect("a stream without an end")?.number());
    }
    Ok(numbers)
}

async fn every_entry_comes_once<T: TaskStore>(store: T) {
    let store = with_task(store).await;
    let follow = |after| store.clone().follow(Owner::anonymous(), "t".into(), after);
    let (mut first, mut later) = (pin!(follow(0)), pin!(follow(3)));
    assert_eq!(heard(&mut first).unwrap(), [1]);
    assert!(heard(&mut later).unwrap().is_empty());
    let mut revision = 1;
    for events in [1, 1, 2, 1, 63, 64, 65, 130, 1] {
        say(&store, revision, events).await;
        let new = revision + 1..=revision + events as u64;
        revision += events as u64;
        assert_eq!(heard(&mut first).unwrap(), new.clone().collect::<Vec<_>>());
        assert_eq!(heard(&mut later).unwrap(), new.filter(|number| *number > 3).collect::<Vec<_>>());
        assert_eq!(heard(&mut pin!(follow(0))).unwrap().len() as u64, revision);
    }
}

#[tokio::test]
async fn f44_every_entry_comes_once_and_in_order() {
    every_entry_comes_once(MemoryTaskStore::new()).await;
    every_entry_comes_once(Probe::default()).await;
}

#[tokio::test]
async fn f98_what_there_is_not_cannot_be_followed() {
    async fn try_to<T: TaskStore>(store: T) {
        let store = with_task(store).await;
        for (owner, id) in [(Owner::anonymous(), "u"), (Owner::new("bob"), "t")] {
            let mut follow = pin!(store.clone().follow(owner, id.into(), 0));
            assert!(matches!(follow.next().await, Some(Err(StoreError::NotFound))));
            assert!(follow.next().await.is_none());
        }
    }
    try_to(MemoryTaskStore::new()).await;
    try_to(Probe::default()).await;
}

#[tokio::test]
async fn who_follows_is_woken_wherever_it_waits_and_leaves_nothing_behind() {
    let store = with_task(MemoryTaskStore::new()).await;
    let mut tasks: Vec<_> = (0..100)
        .map(|_| {
            let mut follow = Box::pin(store.clone().follow(Owner::anonymous(), "t".into(), 1));
            tokio_test::task::spawn(async move { follow.next().await.unwrap().unwrap().number() })
        })
        .collect();
    assert!(tasks.iter_mut().all(|task| task.poll().is_pending()));
    // Some leave without having heard anything.
    tasks.truncate(70);
    tasks.drain(..10);
    say(&store, 1, 1).await;
    for task in &mut tasks {
        assert!(task.is_woken());
        assert_eq!(task.poll(), std::task::Poll::Ready(2));
    }
}

#[tokio::test]
async fn who_follows_a_task_that_goes_is_told() {
    let store = with_task(MemoryTaskStore::new().max_finished(0)).await;
    let mut follow = pin!(store.clone().follow(Owner::anonymous(), "t".into(), 1));
    let mut task = tokio_test::task::spawn(());
    assert!(task.enter(|cx, _| follow.as_mut().poll_next(cx)).is_pending());
    store.append_one(&Owner::anonymous(), "t", 1, over()).await.unwrap();
    assert!(task.is_woken());
    assert!(matches!(follow.next().await, Some(Err(StoreError::NotFound))));
    assert!(follow.next().await.is_none());
}

#[tokio::test]
async fn texts_are_kept_as_long_as_somebody_may_need_them() {
    let (store, key, owner) = (with_task(MemoryTaskStore::new()).await, DialectKey::unique(), Owner::anonymous());
    let follow = || Box::pin(store.clone().follow(owner.clone(), "t".into(), 0));
    let made = async || {
        let (mut made, log) = (0, store.read(&owner, "t", 0, 10).await.unwrap());
        for entry in log {
            let text = entry.text(key, || {
                made += 1;
                Ok::<_, ()>(Text::shared(b"{}"))
            });
            assert_eq!(&*text.unwrap(), b"{}");
        }
        made
    };
    let first = follow();
    assert_eq!((made().await, made().await), (1, 0));
    drop(first);
    assert_eq!(made().await, 0, "it is not over");
    let (second, third) = (follow(), follow());
    store.append(&owner, "t", 1, vec![said("x"), over()]).await.unwrap();
    assert_eq!(made().await, 2);
    drop(second);
    assert_eq!(made().await, 0, "one is left");
    drop(third);
    assert_eq!(made().await, 3, "nobody is left");
}
