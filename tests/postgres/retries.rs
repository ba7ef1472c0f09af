//! A message that comes again at another replica.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use a2a_layers::{
    part::Input,
    server::{A2aService, Mount},
};
use bytes::Bytes;
use futures_util::future::join_all;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tower::{ServiceExt as _, service_fn};

use super::Schema;

type Service = A2aService<Full<Bytes>>;

async fn replica(schema: &Schema, calls: Arc<AtomicU32>) -> Service {
    let agent = service_fn(move |_: Request<Input>| {
        let call = calls.fetch_add(1, SeqCst);
        async move {
            // Long enough for the others to come while it is at work.
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok::<_, Infallible>(format!("call {call}"))
        }
    });
    let window = Some(Duration::from_secs(600));
    let mount = Mount::new("once", agent).task_store(schema.open().await).tasks(|tasks| tasks.retry_window(window));
    mount.build().unwrap()
}

/// The id of the task that a message is answered with, and what the agent said.
async fn sent(service: Service, id: String) -> (String, String) {
    let message = json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": "hi" }] });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": message } });
    let request = Request::post("/").header("content-type", "application/json").header("a2a-version", "1.0");
    let request = request.body(Full::from(call.to_string())).unwrap();
    let answer = service.oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let task = &answer["result"]["task"];
    let word = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    (word(&task["id"]), word(&task["artifacts"][0]["parts"][0]["text"]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_again_at_another_replica_or_after_a_restart_runs_once() {
    let Some(schema) = Schema::new("safe retries over Postgres") else { return };
    let calls = Arc::new(AtomicU32::new(0));
    let replicas = [replica(&schema, Arc::clone(&calls)).await, replica(&schema, Arc::clone(&calls)).await];
    let mut first = None;
    for round in 0..5 {
        let sends = (0..6).map(|number| {
            // Texts that Postgres does not take are as good as others.
            tokio::spawn(sent(replicas[number % 2].clone(), format!("m\0{round}")))
        });
        let answers: Vec<_> = join_all(sends).await.into_iter().map(Result::unwrap).collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert_eq!(calls.load(SeqCst), round + 1);
        first.get_or_insert_with(|| answers[0].clone());
    }
    for replica in replicas {
        replica.shutdown(Duration::from_secs(1)).await;
    }
    let later = replica(&schema, Arc::clone(&calls)).await;
    assert_eq!(Some(sent(later, "m\0\u{30}".to_owned()).await), first);
    assert_eq!(calls.load(SeqCst), 5);
}
