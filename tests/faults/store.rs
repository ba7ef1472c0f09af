use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use a2a_layers::{
    owner::Owner,
    task::{ListQuery, LogEntry, MemoryTaskStore, Snapshot, StoreError, StoredPage, TaskStore},
    types::{Event, Task, TaskState},
};
use serde_json::{Value, json};

use crate::wire::{Server, Version, error_code, state, task};

/// A store that counts its writes, and can be told to fail at the end of a task.
#[derive(Clone, Default)]
struct Watched {
    store: MemoryTaskStore,
    writes: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    fails_at_the_end: Arc<AtomicBool>,
}

impl TaskStore for Watched {
    async fn create(&self, owner: &Owner, task: Arc<Task>) -> Result<Snapshot, StoreError> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.store.create(owner, task).await
    }

    async fn append(&self, owner: &Owner, id: &str, expected: u64, events: Vec<Event>) -> Result<Snapshot, StoreError> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        let completes = events.iter().any(|event| event.state() == Some(TaskState::Completed));
        if completes && self.fails_at_the_end.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable(crate::wire::SECRET.into()));
        }
        self.store.append(owner, id, expected, events).await
    }

    async fn get(&self, owner: &Owner, id: &str) -> Result<Snapshot, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.get(owner, id).await
    }

    async fn read(&self, owner: &Owner, id: &str, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        self.store.read(owner, id, after, limit).await
    }

    async fn grown(&self, owner: &Owner, id: &str, after: u64) -> Result<(), StoreError> {
        self.store.grown(owner, id, after).await
    }

    async fn list(&self, owner: &Owner, query: &ListQuery) -> Result<StoredPage, StoreError> {
        self.store.list(owner, query).await
    }
}

#[tokio::test]
async fn f86_many_pieces_cost_few_writes_and_the_task_is_not_read_again_for_each() {
    let store = Watched::default();
    let server = Server::with(|mount| mount.task_store(store.clone())).await;
    for version in Version::BOTH {
        store.writes.store(0, Ordering::SeqCst);
        store.reads.store(0, Ordering::SeqCst);
        let envelope = server.play(version, "deltas 5000").await;
        let text = task(&envelope)["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
        assert_eq!(text.len(), 5000);
        let (writes, reads) = (store.writes.load(Ordering::SeqCst), store.reads.load(Ordering::SeqCst));
        assert!(writes <= 5000 / 50, "{writes} writes");
        assert!(reads <= 2, "{reads} reads");
    }
}

#[tokio::test]
async fn f52_stream_and_store_agree_even_if_the_end_cannot_be_written() {
    let store = Watched::default();
    store.fails_at_the_end.store(true, Ordering::SeqCst);
    let server = Server::with(|mount| mount.task_store(store.clone())).await;
    for version in Version::BOTH {
        let mut events = server.open(version, version.stream(), version.script("done")).await;
        let first = events.next().await.unwrap();
        let last = events.rest().await.pop().unwrap();
        let kept = server.call(version, version.get(), json!({ "id": task(&first)["id"] })).await;
        assert_eq!((state(&last), state(&kept)), ("failed".into(), "failed".into()));
        assert_eq!(state(&server.play(version, "done").await), "failed", "a send that waits is told as well");
    }
}

#[tokio::test]
async fn f06_a_store_that_fails_says_nothing_of_itself() {
    #[derive(Clone)]
    struct Broken;

    fn broken<T>() -> Result<T, StoreError> {
        Err(StoreError::Unavailable(format!("{}: SELECT * FROM tasks", crate::wire::SECRET).into()))
    }

    impl TaskStore for Broken {
        async fn create(&self, _: &Owner, _: Arc<Task>) -> Result<Snapshot, StoreError> {
            broken()
        }

        async fn append(&self, _: &Owner, _: &str, _: u64, _: Vec<Event>) -> Result<Snapshot, StoreError> {
            broken()
        }

        async fn get(&self, _: &Owner, _: &str) -> Result<Snapshot, StoreError> {
            broken()
        }

        async fn read(&self, _: &Owner, _: &str, _: u64, _: usize) -> Result<Vec<LogEntry>, StoreError> {
            broken()
        }

        async fn grown(&self, _: &Owner, _: &str, _: u64) -> Result<(), StoreError> {
            broken()
        }

        async fn list(&self, _: &Owner, _: &ListQuery) -> Result<StoredPage, StoreError> {
            broken()
        }
    }

    let server = Server::with(|mount| mount.task_store(Broken)).await;
    for version in Version::BOTH {
        for (method, params) in [
            (version.send(), version.script("done")),
            (version.stream(), version.script("done")),
            (version.get(), json!({ "id": "t" })),
            (version.cancel(), json!({ "id": "t" })),
            (version.subscribe(), json!({ "id": "t" })),
        ] {
            let envelope = server.call(version, method, params).await;
            assert_eq!(error_code(&envelope), -32603, "{method}");
            assert!(!envelope.to_string().contains("SELECT"), "{envelope}");
        }
    }
    assert_eq!(error_code(&server.call(Version::New, "ListTasks", json!({})).await), -32603);
}

async fn list(server: &Server, params: Value) -> Value {
    server.call(Version::New, "ListTasks", params).await
}

#[tokio::test]
async fn f77_f29_a_list_without_a_filter_has_every_task_bare() {
    let server = Server::start().await;
    server.play(Version::New, "done").await;
    for params in [json!({}), json!({ "status": null }), json!({ "status": "TASK_STATE_UNSPECIFIED", "contextId": "" })]
    {
        let envelope = list(&server, params).await;
        let tasks = envelope["result"]["tasks"].as_array().unwrap();
        assert_eq!((tasks.len(), &tasks[0]["status"]["state"]), (1, &json!("TASK_STATE_COMPLETED")));
        assert!(tasks[0]["id"].is_string(), "{envelope}");
    }
}

#[tokio::test]
async fn f78_an_empty_list_has_all_its_members() {
    let server = Server::start().await;
    let envelope = list(&server, json!({})).await;
    let expected = json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 });
    assert_eq!(envelope["result"], expected);
}

#[tokio::test]
async fn f79_artifacts_are_listed_only_where_asked_for() {
    let server = Server::start().await;
    server.play(Version::New, "done").await;
    for (params, there) in [
        (json!({}), false),
        (json!({ "includeArtifacts": false }), false),
        (json!({ "includeArtifacts": true }), true),
        (json!({ "include_artifacts": true }), true),
    ] {
        let envelope = list(&server, params).await;
        assert_eq!(envelope["result"]["tasks"][0].get("artifacts").is_some(), there);
    }
}

#[tokio::test]
async fn f80_pages_miss_nothing_and_tokens_are_checked() {
    let server = Server::start().await;
    // So many in so little time that some have the same moment.
    for _ in 0..25 {
        server.play(Version::New, "done").await;
    }
    for page_size in [1, 2, 7, 25, 100] {
        let (mut seen, mut token) = (Vec::new(), String::new());
        loop {
            let page = list(&server, json!({ "pageSize": page_size, "pageToken": token })).await;
            assert_eq!(page["result"]["totalSize"], 25);
            seen.extend(page["result"]["tasks"].as_array().unwrap().iter().map(|task| task["id"].to_string()));
            token = page["result"]["nextPageToken"].as_str().unwrap().to_owned();
            if token.is_empty() {
                break;
            }
        }
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((all, seen.len()), (25, 25), "by {page_size}");
    }
    for token in ["garbage", "0", "1.", "-1.-1", "\u{0}", "zzzz.1", &"9".repeat(1000)] {
        assert_eq!(error_code(&list(&server, json!({ "pageToken": token })).await), -32602, "{token}");
    }
}

#[tokio::test]
async fn f81_page_sizes_are_refused_beyond_their_edges() {
    let server = Server::start().await;
    for (size, code) in [
        (json!(1), 0),
        (json!(100), 0),
        (json!("7"), 0),
        (json!(0), -32602),
        (json!(101), -32602),
        (json!(-1), -32602),
        (json!(4_294_967_297_i64), -32602),
        (json!(1.5), -32602),
        (json!(true), -32602),
    ] {
        assert_eq!(error_code(&list(&server, json!({ "pageSize": size })).await), code, "{size}");
    }
}

#[tokio::test]
async fn f82_what_was_read_does_not_change_when_the_task_does() {
    let store = MemoryTaskStore::new();
    let server = Server::with(|mount| mount.task_store(store.clone())).await;
    let asked = server.play(Version::New, "ask").await;
    let id = task(&asked)["id"].as_str().unwrap();
    let before = store.get(&Owner::anonymous(), id).await.unwrap();
    server.call(Version::New, "SendMessage", Version::New.follow_up("done", id)).await;
    let after = store.get(&Owner::anonymous(), id).await.unwrap();
    assert_eq!(before.task.status.state, TaskState::InputRequired);
    assert_eq!((before.task.history.len(), after.task.history.len()), (1, 3));
    assert!(before.revision < after.revision);
}

#[tokio::test]
async fn f83_of_many_answers_to_one_question_one_is_taken() {
    let server = Server::start().await;
    for version in Version::BOTH {
        let asked = server.play(version, "ask").await;
        let id = task(&asked)["id"].as_str().unwrap();
        let answers = (0..50).map(|_| server.call(version, version.send(), version.follow_up("done", id)));
        let envelopes = futures_util::future::join_all(answers).await;
        let taken = envelopes.iter().filter(|envelope| state(envelope) == "completed").count();
        let refused = envelopes.iter().filter(|envelope| error_code(envelope) == -32004).count();
        assert_eq!((taken, refused), (1, 49));
        let kept = server.call(version, version.get(), json!({ "id": id })).await;
        assert_eq!(task(&kept)["history"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn f84_finished_tasks_are_kept_up_to_a_number_and_an_age() {
    let store = MemoryTaskStore::new().max_finished(10);
    let server = Server::with(|mount| mount.task_store(store.clone())).await;
    let asked = server.play(Version::New, "ask").await;
    for _ in 0..30 {
        server.play(Version::New, "done").await;
    }
    assert_eq!(store.len(), 11, "ten that are over, and the one that waits");
    let got = server.call(Version::New, "GetTask", json!({ "id": task(&asked)["id"] })).await;
    assert_eq!(state(&got), "input-required");
    let brief = MemoryTaskStore::new().max_age(Duration::ZERO);
    let server = Server::with(|mount| mount.task_store(brief.clone())).await;
    let over = server.play(Version::New, "done").await;
    tokio::time::sleep(Duration::from_millis(3)).await;
    let got = server.call(Version::New, "GetTask", json!({ "id": task(&over)["id"] })).await;
    assert_eq!(error_code(&got), -32001);
    list(&server, json!({})).await;
    assert!(brief.is_empty());
}

#[tokio::test]
async fn f84_tasks_that_wait_for_their_callers_are_kept_up_to_a_number_and_an_age() {
    let store = MemoryTaskStore::new().max_interrupted(10);
    let server = Server::with(|mount| mount.task_store(store.clone())).await;
    let mut ids = Vec::new();
    for _ in 0..30 {
        ids.push(task(&server.play(Version::New, "ask").await)["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(store.len(), 10);
    let answer =
        async |id: &str, script| server.call(Version::New, "SendMessage", Version::New.follow_up(script, id)).await;
    assert_eq!(error_code(&answer(&ids[19], "done").await), -32001);
    // One that was answered and asks again has begun to wait anew; one that is over counts no more.
    assert_eq!(state(&answer(&ids[20], "ask").await), "input-required");
    assert_eq!(state(&answer(&ids[29], "done").await), "completed");
    for _ in 0..9 {
        server.play(Version::New, "ask").await;
    }
    assert_eq!((store.len(), state(&answer(&ids[20], "done").await)), (11, "completed".into()));
    let brief = MemoryTaskStore::new().max_interrupted_age(Duration::ZERO);
    let server = Server::with(|mount| mount.task_store(brief.clone())).await;
    let asked = server.play(Version::New, "ask").await;
    tokio::time::sleep(Duration::from_millis(3)).await;
    let got = server.call(Version::New, "GetTask", json!({ "id": task(&asked)["id"] })).await;
    assert_eq!(error_code(&got), -32001);
    list(&server, json!({})).await;
    assert!(brief.is_empty());
}
