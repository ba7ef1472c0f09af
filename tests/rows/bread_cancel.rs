//! B098 to B108: cancels.

use std::time::Duration;

use a2a_layers::task::MemoryTaskStore;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    bread_lifecycle::{id, running, states},
    support::{ALL, BREAD, Ledger, ONLY_0_3, ONLY_1_0, Op, STRICT_0_3, STRICT_1_0, Script, VIBES, World, bread},
};

#[tokio::test]
async fn b098_the_examples_of_cancel() {
    let world = World::six().await;
    for talk in BREAD {
        let (task, _stream) = running(&world, talk, "wait").await;
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"<method>","params":{"id":"<taskId>"}}"#;
        let body = body.replace("<method>", talk.method(Op::Cancel)).replace("<taskId>", &task);
        let answer = world.verbatim(talk, &body).await.json();
        assert_eq!((&answer["id"], &answer["result"]["id"]), (&json!(1), &json!(task)));
        let word = if talk.new { "TASK_STATE_CANCELED" } else { "canceled" };
        assert_eq!(answer["result"]["status"]["state"], word);
    }
}

#[tokio::test]
async fn b099_bread_cancels_its_own_live_streams_alone() {
    let world = World::six().await;
    for talk in BREAD {
        let (own, _stream) = running(&world, talk, "wait").await;
        assert_eq!(world.ok(talk, Op::Cancel, id(&own)).await["status"]["state"], talk.state("canceled"));
        let sent = world.ok(talk, Op::Send, talk.says_without_waiting("wait")).await;
        let sent = talk.sent_message(&sent)["taskId"].as_str().unwrap().to_owned();
        assert_eq!(world.code(talk, Op::Cancel, id(&sent)).await, -32002, "begun by a send");
        let over = world.stream(talk, "hi").await.rest().await[0].task_id();
        assert_eq!(world.code(talk, Op::Cancel, id(&over)).await, -32002, "over");
        let paused = world.stream(talk, "ask").await.rest().await[0].task_id();
        assert_eq!(world.code(talk, Op::Cancel, id(&paused)).await, -32002, "no longer live");
    }
}

#[tokio::test]
async fn b100_a_cancel_right_after_the_first_event_works() {
    let world = World::six().await;
    for talk in ALL {
        for _ in 0..20 {
            let mut stream = world.stream(talk, "wait").await;
            let first = stream.one().await;
            let canceled = world.ok(talk, Op::Cancel, id(&first.task_id())).await;
            assert_eq!(canceled["status"]["state"], talk.state("canceled"));
            assert_eq!(stream.rest().await.last().unwrap().state().as_deref(), Some("canceled"), "{talk:?}");
        }
    }
}

#[tokio::test]
async fn b101_another_replica_can_cancel() {
    // Two servers on one store; the task runs on the first.
    let (script, log) = (Script::new(), Ledger::default());
    let start = || World::one(&script, crate::support::strict(&script).task_store(log.clone()).build().unwrap());
    let (one, other) = (start(), start());
    for talk in [STRICT_0_3, STRICT_1_0] {
        let (task, mut stream) = running(&one, talk, "wait").await;
        let canceled = other.ok(talk, Op::Cancel, id(&task)).await;
        assert_eq!(canceled["status"]["state"], talk.state("canceled"));
        assert_eq!(stream.rest().await.last().unwrap().state().as_deref(), Some("canceled"));
    }
}

#[tokio::test]
async fn b102_a_task_that_a_send_began_can_be_canceled() {
    let world = World::six().await;
    for talk in [STRICT_0_3, STRICT_1_0, ONLY_0_3, ONLY_1_0, VIBES] {
        let sent = world.ok(talk, Op::Send, talk.says_without_waiting("wait")).await;
        let task = talk.sent_task(&sent);
        let task = task["id"].as_str().unwrap();
        assert_eq!(world.ok(talk, Op::Cancel, id(task)).await["status"]["state"], talk.state("canceled"));
        assert_eq!(world.state(talk, task).await, "canceled");
    }
}

#[tokio::test]
async fn b103_bread_cannot_cancel_what_runs_elsewhere() {
    for talk in BREAD {
        let (script, store) = (Script::new(), MemoryTaskStore::new());
        let start = || World::one(&script, bread(talk, &script).task_store(store.clone()).build().unwrap());
        let (one, other) = (start(), start());
        let (task, _stream) = running(&one, talk, "wait").await;
        assert_eq!(other.state(talk, &task).await, "working");
        assert_eq!(other.code(talk, Op::Cancel, id(&task)).await, -32002);
        assert_eq!(other.state(talk, &task).await, "working");
    }
}

#[tokio::test]
async fn b104_what_is_over_cannot_be_canceled() {
    let world = World::six().await;
    for talk in ALL {
        for text in ["hi", "fail", "reject", "cancel"] {
            let task = world.stream(talk, text).await.rest().await[0].task_id();
            assert_eq!(world.code(talk, Op::Cancel, id(&task)).await, -32002, "{talk:?} {text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b105_a_cancel_is_answered_before_the_agent_has_stopped() {
    let world = World::six_here();
    for talk in BREAD {
        // This agent pays no heed, so its run ends only when its grace is over.
        let (task, mut stream) = running(&world, talk, "stubborn").await;
        let began = Instant::now();
        let canceled = world.ok(talk, Op::Cancel, id(&task)).await;
        assert_eq!(canceled["status"]["state"], talk.state("canceled"));
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(world.state(talk, &task).await, "working", "the log does not know of it yet");
        assert_eq!(states(&stream.rest().await), ["canceled"]);
        assert!(began.elapsed() > Duration::ZERO);
    }
}

#[tokio::test]
async fn b106_the_open_stream_ends_as_canceled() {
    let world = World::six().await;
    for talk in ALL {
        let (task, mut stream) = running(&world, talk, "wait").await;
        world.ok(talk, Op::Cancel, id(&task)).await;
        let events = stream.rest().await;
        assert_eq!(states(&events), ["canceled"], "{talk:?}: not failed, and nothing behind it");
        if !talk.new {
            assert_eq!(events[0].value["final"], json!(true));
        }
    }
}

#[tokio::test]
async fn b107_get_confirms_a_cancel() {
    let world = World::six().await;
    for talk in ALL {
        let (task, mut stream) = running(&world, talk, "wait").await;
        world.ok(talk, Op::Cancel, id(&task)).await;
        stream.rest().await;
        assert_eq!(world.state(talk, &task).await, "canceled");
    }
}

#[tokio::test]
async fn b108_the_answer_to_a_send_leads_to_its_task() {
    let world = World::six().await;
    for talk in ALL {
        let result = world.ok(talk, Op::Send, talk.says("hi")).await;
        let task = if talk.messages {
            talk.sent_message(&result)["taskId"].clone()
        } else {
            talk.sent_task(&result)["id"].clone()
        };
        assert_eq!(world.state(talk, task.as_str().unwrap()).await, "completed", "{talk:?}");
    }
}
