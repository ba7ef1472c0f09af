//! The task layer spawns, so it alone has a runtime, of one thread. Its floor is what it cannot do without: a task
//! spawned and waited for, or a look into a map under a lock. The reach of a synchronous layer is not asked of it.

use std::{collections::HashMap, future::Ready, future::ready, sync::Arc, sync::Mutex};

use a2a_layers::{
    agent::Reply,
    error::{BoxError, Error},
    operation::{
        Answer, GetTask, ListTasks, Operation, OperationRequest, Outcome, ProtocolVersion, SendMessage, SubscribeToTask,
    },
    task::{EventStream, TaskLayer, Tasks},
    types::{Message, Task},
};
use futures_util::StreamExt as _;
use http::{Request, Response};
use tokio::runtime::{Builder, Runtime};
use tower::{Layer, ServiceExt as _, service_fn};

use crate::{
    case::{Case, Work, benches, work},
    data::{self, message, operation, text},
};

benches![
    Case::new("send, answered with a task", spawn_floor, send).shown_only(),
    Case::new("get", map_floor, get).shown_only(),
    Case::new("get, no such task", map_floor, missing).shown_only(),
    Case::new("list of 50 of 1,000", map_floor, list).shown_only(),
    Case::new("subscribe, the snapshot of a task at work", map_floor, snapshot).shown_only(),
    Case::new("an event of a stream of 100 chunks", || chunks_floor(100), || chunks(100)).pieces(100).shown_only(),
    Case::new("an event of a stream of 10,000", || chunks_floor(10_000), || chunks(10_000)).pieces(10_000).shown_only(),
];

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn agent(request: Request<Arc<Message>>) -> Ready<Result<Reply, BoxError>> {
    use a2a_layers::agent::IntoReply as _;
    drop(request);
    ready(Ok(text(100).into_reply()))
}

type Agent = fn(Request<Arc<Message>>) -> Ready<Result<Reply, BoxError>>;
type Service_ = Tasks<tower::util::ServiceFn<Agent>, a2a_layers::task::MemoryTaskStore>;

fn service(agent: Agent) -> Service_ {
    TaskLayer::new().layer(service_fn(agent))
}

async fn outcome(service: &Service_, request: OperationRequest) -> Result<Outcome<EventStream>, Error> {
    service.clone().oneshot(operation(request)).await.map(Response::into_body)
}

async fn task_of(service: &Service_) -> Arc<Task> {
    let send = OperationRequest::SendMessage(SendMessage::new(message(100)));
    match outcome(service, send).await {
        Ok(Outcome::Answer(Answer::SentTask(view))) => Arc::clone(view.task()),
        other => panic!("no task but {other:?}"),
    }
}

fn on_runtime<R: 'static>(
    prepare: impl AsyncFnOnce(&Service_) -> R,
    agent: Agent,
    each: impl AsyncFn(&Service_, &R) + 'static,
) -> Work {
    let (runtime, service) = (runtime(), service(agent));
    let prepared = runtime.block_on(prepare(&service));
    work(move || runtime.block_on(each(&service, &prepared)))
}

fn spawn_floor() -> Work {
    let runtime = runtime();
    work(move || {
        let request = data::send(message(100));
        let answer = async move {
            drop(request);
            text(100)
        };
        runtime.block_on(async { tokio::spawn(answer).await.unwrap() })
    })
}

fn map_floor() -> Work {
    let runtime = runtime();
    let tasks = Mutex::new(HashMap::from([(Arc::<str>::from(data::ID), data::task(1))]));
    work(move || {
        let request = operation(OperationRequest::GetTask(GetTask::new(data::ID)));
        drop(request);
        runtime.block_on(async { tasks.lock().unwrap().get(data::ID).cloned() })
    })
}

fn send() -> Work {
    on_runtime(async |_| (), agent, async |service, ()| drop(task_of(service).await))
}

fn get() -> Work {
    on_runtime(task_of, agent, async |service, task| {
        let get = OperationRequest::GetTask(GetTask::new(Arc::clone(&task.id)));
        assert!(outcome(service, get).await.is_ok());
    })
}

fn missing() -> Work {
    on_runtime(
        async |_| (),
        agent,
        async |service, ()| {
            let get = OperationRequest::GetTask(GetTask::new(data::ID));
            assert!(outcome(service, get).await.is_err());
        },
    )
}

fn list() -> Work {
    let thousand = async |service: &Service_| {
        for _ in 0..1_000 {
            task_of(service).await;
        }
    };
    on_runtime(thousand, agent, async |service, ()| {
        let page = outcome(service, OperationRequest::ListTasks(ListTasks::default())).await;
        assert!(matches!(page, Ok(Outcome::Answer(Answer::Tasks(page))) if page.tasks.len() == 50));
    })
}

fn waiting(_: Request<Arc<Message>>) -> Ready<Result<Reply, BoxError>> {
    let never = futures_util::stream::pending::<Result<a2a_layers::agent::Update, BoxError>>();
    ready(Ok(Reply::stream(never)))
}

fn snapshot() -> Work {
    let begin = async |service: &Service_| {
        let mut send = SendMessage::new(message(100));
        send.configuration.return_immediately = true;
        match outcome(service, OperationRequest::SendMessage(send)).await {
            Ok(Outcome::Answer(Answer::SentTask(view))) => Arc::clone(&view.task().id),
            other => panic!("no task but {other:?}"),
        }
    };
    on_runtime(begin, waiting, async |service, id: &Arc<str>| {
        let subscribe = OperationRequest::SubscribeToTask(SubscribeToTask::new(Arc::clone(id)));
        let request =
            Request::new(Operation::new(ProtocolVersion::V1_0, a2a_layers::call::Binding::JsonRpc, subscribe));
        match service.clone().oneshot(request).await.map(Response::into_body) {
            Ok(Outcome::Stream(mut events)) => assert!(events.next().await.is_some_and(|event| event.is_ok())),
            other => panic!("no stream but {other:?}"),
        }
    })
}

fn chunking<const CHUNKS: usize>(_: Request<Arc<Message>>) -> Ready<Result<Reply, BoxError>> {
    let chunks = (0..CHUNKS).map(|_| Ok::<_, BoxError>(text(60)));
    ready(Ok(Reply::stream(futures_util::stream::iter(chunks))))
}

fn chunks(chunks: usize) -> Work {
    let agent: Agent = if chunks == 100 { chunking::<100> } else { chunking::<10_000> };
    on_runtime(
        async |_| (),
        agent,
        async move |service, ()| {
            let send = OperationRequest::SendStreamingMessage(SendMessage::new(message(100)));
            match outcome(service, send).await {
                Ok(Outcome::Stream(events)) => assert!(events.count().await > chunks),
                other => panic!("no stream but {other:?}"),
            }
        },
    )
}

/// The events alone, through a channel.
fn chunks_floor(chunks: usize) -> Work {
    let runtime = runtime();
    work(move || {
        runtime.block_on(async {
            let (sender, mut receiver) = tokio::sync::mpsc::channel(64);
            tokio::spawn(async move {
                for _ in 0..chunks {
                    let _ = sender.send(data::chunk()).await;
                }
            });
            while let Some(event) = receiver.recv().await {
                std::hint::black_box(event);
            }
        });
    })
}
