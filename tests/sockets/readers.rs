//! Readers of streams that stop, and those that go away by the thousand.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, LogEntry, MemoryTaskStore, Snapshot, StoreError, StoredPage, TaskStore},
    types::{Event, Task},
};
use futures_util::future::join_all;
use serde_json::json;

use crate::wire::{Server, Version, state, task};

/// How much memory the process has of its own, in bytes. Other tests run beside, so bounds have to be generous.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < Duration::from_secs(60), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn f49_a_reader_that_stops_holds_up_nobody_and_then_gets_every_event_in_order() {
    const COUNT: usize = 10_000;
    let server = Server::start().await;
    for version in Version::BOTH {
        let before = resident();
        let mut events = server.open(version, version.stream(), version.script(&format!("burst {COUNT}"))).await;
        let id = task(&events.next().await.unwrap())["id"].clone();
        assert_eq!(events.head.header("content-length"), None);
        // It reads nothing more, and the agent comes to its end all the same.
        until("the agent ends", async || {
            let params = json!({ "id": id, "historyLength": 0 });
            state(&server.call(version, version.get(), params).await) == "completed"
        })
        .await;
        assert!(resident() < before + (256 << 20), "a stopped reader takes memory");
        let mut expected = 0;
        while let Some(event) = events.next().await {
            let update = if version == Version::New { &event["result"]["statusUpdate"] } else { &event["result"] };
            if let Some(text) = update["status"]["message"]["parts"][0]["text"].as_str() {
                assert_eq!(text, format!("{expected:05}"));
                expected += 1;
            }
        }
        assert_eq!(expected, COUNT);
    }
}

/// A store that knows how many readers wait for something to happen.
#[derive(Clone)]
struct Counting {
    store: MemoryTaskStore,
    readers: Arc<AtomicUsize>,
}

struct Reader(Arc<AtomicUsize>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl TaskStore for Counting {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.store.create(owner, task).await
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        self.store.append(owner, id, expected, events).await
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        self.store.get(owner, id).await
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.store.read(owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        self.readers.fetch_add(1, Ordering::SeqCst);
        let _reader = Reader(Arc::clone(&self.readers));
        self.store.grown(owner, id, after).await
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        self.store.list(owner, query).await
    }
}

#[tokio::test]
async fn f47_f84_of_10_000_streams_that_were_opened_and_dropped_nothing_is_left() {
    const ROUNDS: usize = 25;
    const AT_ONCE: usize = 100;
    // More than end in a round, so that a reader still finds the end of its task.
    const KEPT: usize = 2 * AT_ONCE;
    let store = Counting { store: MemoryTaskStore::new().max_finished(KEPT), readers: Arc::default() };
    let server = Server::with(|mount| mount.task_store(store.clone())).await;
    let mut grown = Vec::new();
    for version in Version::BOTH {
        let mut first = server.open(version, version.stream(), version.script("wait")).await;
        let mut id = task(&first.next().await.unwrap())["id"].clone();
        for round in 0..ROUNDS {
            // Readers of one task.
            let open = async || {
                let mut events = server.open(version, version.subscribe(), json!({ "id": id })).await;
                events.next().await.unwrap();
                events
            };
            drop(join_all((0..AT_ONCE).map(|_| open())).await);
            // Tasks whose reader leaves at once.
            let open = async || {
                let mut events = server.open(version, version.stream(), version.script("wait")).await;
                events.next().await.unwrap();
                events
            };
            drop(join_all((0..AT_ONCE).map(|_| open())).await);
            until("only the first reader is left", async || store.readers.load(Ordering::SeqCst) <= 1).await;
            assert_eq!(server.stage.waiting.load(Ordering::SeqCst), AT_ONCE + 1, "the work goes on");
            server.stage.gate.add_permits(AT_ONCE + 1);
            until("the work ends", async || server.stage.waiting.load(Ordering::SeqCst) == 0).await;
            until("what has ended is let go", async || store.store.len() <= KEPT).await;
            // The first task has ended with the others; the next round has its own.
            assert_eq!(state(first.rest().await.last().unwrap()), "completed");
            first = server.open(version, version.stream(), version.script("wait")).await;
            id = task(&first.next().await.unwrap())["id"].clone();
            if round == 2 || round == ROUNDS - 1 {
                grown.push(resident());
            }
        }
        server.stage.gate.add_permits(1);
        assert_eq!(state(first.rest().await.last().unwrap()), "completed");
    }
    until("no reader is left", async || store.readers.load(Ordering::SeqCst) == 0).await;
    for (early, late) in [(grown[0], grown[1]), (grown[2], grown[3])] {
        assert!(late < early + (64 << 20), "memory grew from {early} to {late}");
    }
}
