//! While the agent is saturated, whatever does not run it is answered all the same.

use std::{convert::Infallible, sync::Arc, time::Duration};

use a2a_layers::{
    ServiceBuilderExt,
    error::{BoxError, ErrorKind},
    part::Input,
    task::MemoryTaskStore,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::{sync::Semaphore, time::timeout};
use tower::{Service, ServiceBuilder};

use crate::{
    card,
    client::{ask, call, message},
};

/// Longer than any answer may take, if it does not wait for the agent. Time is paused, so nobody waits for it.
const SOON: Duration = Duration::from_secs(1);

/// An agent that answers only when it gets a permit.
fn waits_for(permits: &Arc<Semaphore>) -> impl Future<Output = Result<&'static str, Infallible>> + Send + use<> {
    let permits = Arc::clone(permits);
    async move {
        permits.acquire().await.expect("nobody closes it").forget();
        Ok("at last")
    }
}

/// Sends a message and does not wait for the work to end.
async fn begin<S, B>(service: &S) -> Value
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible> + Clone,
    B: http_body::Body<Error: std::fmt::Debug>,
{
    let mut params = message(json!({ "text": "hello" }));
    params["configuration"] = json!({ "returnImmediately": true });
    timeout(SOON, ask(service, call("SendMessage", params))).await.unwrap().result()["task"].take()
}

async fn state<S, B>(service: &S, task: &Value) -> Value
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible> + Clone,
    B: http_body::Body<Error: std::fmt::Debug>,
{
    let get = call("GetTask", json!({ "id": task["id"] }));
    timeout(SOON, ask(service, get)).await.unwrap().result()["status"]["state"].take()
}

#[tokio::test(start_paused = true)]
async fn a_concurrency_limit_keeps_tasks_waiting_and_nothing_else() -> Result<(), BoxError> {
    let (card, permits) = (card()?, Arc::new(Semaphore::new(0)));
    let agent = Arc::clone(&permits);
    let service = ServiceBuilder::new()
        .sse()
        .body()
        .json_rpc("/rpc")
        .version()
        .capability(&card)
        .task(MemoryTaskStore::new())
        .concurrency_limit(1)
        .timeout(Duration::from_secs(600))
        .part()
        .service_fn(move |_: Request<Input>| waits_for(&agent));

    let (first, second) = (begin(&service).await, begin(&service).await);
    tokio::task::yield_now().await;
    assert_eq!(state(&service, &first).await, "TASK_STATE_WORKING");
    assert_eq!(state(&service, &second).await, "TASK_STATE_SUBMITTED");
    let list = timeout(SOON, ask(&service, call("ListTasks", json!({})))).await?.result();
    assert_eq!(list["totalSize"], 2);

    // A task that waits for the agent can be canceled, too, and the one that runs goes on.
    let cancel = call("CancelTask", json!({ "id": second["id"] }));
    assert_eq!(timeout(SOON, ask(&service, cancel)).await?.result()["status"]["state"], "TASK_STATE_CANCELED");
    permits.add_permits(1);
    let mut subscription = call("SubscribeToTask", json!({ "id": first["id"] }));
    subscription.headers_mut().insert("last-event-id", "0".parse()?);
    let events = timeout(SOON, ask(&service, subscription)).await?.text;
    assert!(events.contains("at last") && events.contains("TASK_STATE_COMPLETED"), "{events}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn load_shed_refuses_messages_with_retry_advice_and_nothing_else() -> Result<(), BoxError> {
    let (card, permits) = (card()?, Arc::new(Semaphore::new(0)));
    let agent = Arc::clone(&permits);
    let service = ServiceBuilder::new()
        .sse()
        .body()
        .json_rpc("/rpc")
        .version()
        .capability(&card)
        .task(MemoryTaskStore::new())
        .load_shed()
        .concurrency_limit(1)
        .part()
        .service_fn(move |_: Request<Input>| waits_for(&agent));

    let first = begin(&service).await;
    let refused = timeout(SOON, ask(&service, call("SendMessage", message(json!({ "text": "hello" }))))).await?;
    assert_eq!(refused.headers["retry-after"], "1");
    let error = refused.error();
    assert_eq!(error["code"], ErrorKind::Overloaded.code());
    assert_eq!(error["message"], "Too much to do, try again later");

    assert_eq!(state(&service, &first).await, "TASK_STATE_WORKING");
    let list = timeout(SOON, ask(&service, call("ListTasks", json!({})))).await?.result();
    assert_eq!(list["totalSize"], 1);
    permits.add_permits(2);
    while state(&service, &first).await != "TASK_STATE_COMPLETED" {
        tokio::task::yield_now().await;
    }
    let sent = timeout(SOON, ask(&service, call("SendMessage", message(json!({ "text": "again" }))))).await?.result();
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    Ok(())
}
