//! V044 to V060: states, get, cancel, methods.

use serde_json::{Value, json};

use crate::support::{Event, Op, VIBES, World};

fn states(events: &[Event]) -> Vec<String> {
    events.iter().filter(|event| event.kind == "status-update").map(|event| event.state().unwrap()).collect()
}

async fn trace(text: &str) -> Vec<String> {
    states(&World::six().await.stream(VIBES, text).await.rest().await)
}

async fn canceled() -> (World, String, Vec<Event>) {
    let world = World::six().await;
    let mut stream = world.stream(VIBES, "wait").await;
    let mut events = stream.until("working").await;
    let id = events[0].task_id();
    world.ok(VIBES, Op::Cancel, json!({ "id": id })).await;
    events.extend(stream.rest().await);
    (world, id, events)
}

#[tokio::test]
async fn v044_a_task_begins_as_submitted() {
    for text in ["hi", "fail late", "ask"] {
        assert_eq!(trace(text).await[0], "submitted");
    }
}

#[tokio::test]
async fn v045_then_it_is_working() {
    for text in ["hi", "fail late", "ask"] {
        assert_eq!(trace(text).await[..2], ["submitted", "working"]);
    }
}

#[tokio::test]
async fn v046_success_is_completed() {
    assert_eq!(trace("chunks").await, ["submitted", "working", "completed"]);
}

#[tokio::test]
async fn v047_an_error_is_failed() {
    assert_eq!(trace("fail late").await, ["submitted", "working", "failed"]);
    assert_eq!(trace("fail").await, ["submitted", "working", "failed"]);
}

#[tokio::test]
async fn v048_a_cancel_is_canceled() {
    assert_eq!(states(&canceled().await.2), ["submitted", "working", "canceled"]);
}

#[tokio::test]
async fn v049_a_question_is_input_required_and_can_be_answered() {
    let world = World::six().await;
    let events = world.stream(VIBES, "ask").await.rest().await;
    assert_eq!(states(&events), ["submitted", "working", "input-required"]);
    let mut answer = VIBES.says("this one");
    answer["message"]["taskId"] = events[0].task_id().into();
    let task = world.ok(VIBES, Op::Send, answer).await;
    assert_eq!((&task["id"], &task["status"]["state"]), (&json!(events[0].task_id()), &json!("completed")));
    assert_eq!((world.script.last().history, world.script.input()), (2, json!("this one")));
}

#[tokio::test]
async fn v050_the_six_words() {
    let world = World::six().await;
    let mut words = Vec::new();
    for text in ["hi", "fail", "cancel", "ask"] {
        words.extend(states(&world.stream(VIBES, text).await.rest().await));
    }
    words.sort_unstable();
    words.dedup();
    assert_eq!(words, ["canceled", "completed", "failed", "input-required", "submitted", "working"]);
}

#[tokio::test]
async fn v051_completed_means_that_the_artifacts_are_there() {
    let world = World::six().await;
    let id = world.stream(VIBES, "chunks").await.rest().await[0].task_id();
    let task = world.ok(VIBES, Op::Get, json!({ "id": id })).await;
    assert_eq!(task["status"]["state"], "completed");
    assert_eq!(task["artifacts"][0]["parts"], json!([{ "kind": "text", "text": "one two three" }]));
}

#[tokio::test]
async fn v052_failed_means_that_there_was_an_error() {
    let world = World::six().await;
    let task = world.task(VIBES, "fail").await;
    assert_eq!(task["status"]["state"], "failed");
    assert_eq!(task["status"]["message"]["parts"][0]["text"], "Internal error");
}

#[tokio::test]
async fn v053_canceled_comes_from_a_cancel() {
    let (world, id, _) = canceled().await;
    assert_eq!(world.state(VIBES, &id).await, "canceled");
}

#[tokio::test]
async fn v054_the_example_of_get() {
    let world = World::six().await;
    let id = world.task(VIBES, "hi").await["id"].as_str().unwrap().to_owned();
    let body = r#"{"jsonrpc":"2.0","method":"tasks/get","id":"req-3","params":{"id":"task-abc123"}}"#;
    assert_eq!(world.verbatim(VIBES, body).await.code(), -32001, "that very task is none of ours");
    let answer = world.verbatim(VIBES, &body.replace("task-abc123", &id)).await.json();
    assert_eq!((&answer["id"], &answer["result"]["status"]["state"]), (&json!("req-3"), &json!("completed")));
}

#[tokio::test]
async fn v055_get_answers_with_the_task_as_it_is() {
    let world = World::six().await;
    let mut stream = world.stream(VIBES, "steps").await;
    let id = json!({ "id": stream.until("working").await[0].task_id() });
    let task = world.ok(VIBES, Op::Get, id.clone()).await;
    assert_eq!(
        (&task["kind"], &task["status"]["state"], task.get("artifacts")),
        (&json!("task"), &json!("working"), None)
    );
    world.script.step(3);
    stream.rest().await;
    let task = world.ok(VIBES, Op::Get, id).await;
    assert_eq!(
        (&task["status"]["state"], &task["artifacts"][0]["parts"][0]["text"]),
        (&json!("completed"), &json!("one two three"))
    );
}

#[tokio::test]
async fn v056_the_example_of_cancel() {
    let world = World::six().await;
    let mut stream = world.stream(VIBES, "wait").await;
    let id = stream.until("working").await[0].task_id();
    let body = r#"{"jsonrpc":"2.0","method":"tasks/cancel","id":"req-4","params":{"id":"task-abc123"}}"#;
    let answer = world.verbatim(VIBES, &body.replace("task-abc123", &id)).await.json();
    assert_eq!(
        (&answer["id"], &answer["result"]["kind"], &answer["result"]["id"]),
        (&json!("req-4"), &json!("task"), &json!(id))
    );
    assert_eq!(answer["result"]["status"]["state"], "canceled");
}

#[tokio::test]
async fn v057_a_cancel_stops_what_runs_and_tells_the_stream() {
    let (world, _, events) = canceled().await;
    let last = events.last().unwrap();
    assert_eq!((last.state().as_deref(), &last.value["final"]), (Some("canceled"), &json!(true)));
    // The agent had not been let go on, so it was stopped where it waited.
    assert!(!events.iter().any(|event| event.kind == "artifact-update"), "{events:?}");
    assert_eq!(world.script.seen().len(), 1);
}

#[tokio::test]
async fn v058_the_stream_ends_with_the_cancel() {
    let world = World::six().await;
    let mut streams = Vec::new();
    let mut first = world.stream(VIBES, "wait").await;
    let id = json!({ "id": first.until("working").await[0].task_id() });
    streams.push(first);
    streams.push(world.open(VIBES, Op::Subscribe, id.clone()).await);
    world.ok(VIBES, Op::Cancel, id).await;
    for mut stream in streams {
        assert_eq!(stream.rest().await.last().unwrap().state().as_deref(), Some("canceled"));
        assert_eq!(stream.block().await, None);
    }
}

#[tokio::test]
async fn v059_v060_the_table_of_methods() {
    let world = World::six().await;
    for (method, known) in [
        ("message/send", true),
        ("tasks/send", true),
        ("tasks/get", true),
        ("tasks/cancel", true),
        ("tasks/status", false),
        ("tasks/fetch", false),
        ("tasks/abort", false),
        ("tasks/stop", false),
        ("tasks/list", false),
        ("message/get", false),
        ("message/cancel", false),
        ("GetTask", false),
    ] {
        // With nothing to go by, a method that is known complains of its parameters.
        let expected = if known { -32602 } else { -32601 };
        assert_eq!(world.call(VIBES, method, json!({})).await.code(), expected, "{method}");
    }
    for method in ["message/stream", "tasks/sendSubscribe"] {
        let events = world.open_with(VIBES, method, VIBES.says("hi"), &[], "").await.rest().await;
        assert_eq!(events.last().map(|event| event.value["final"].clone()), Some(Value::Bool(true)));
    }
}
