//! The task layer alone, over agents made of plain functions. A test that proves a row of the requirements, or the
//! absence of a fault known from other servers, carries its number.

mod cancel;
mod failure;
mod files;
mod follow;
mod follow_up;
mod leased;
mod leases;
mod limits;
mod list;
mod logged;
mod probe;
mod retry;
mod send;
mod sqlite;
mod store;
mod stream;
mod subscribe;

use std::sync::Arc;

use a2a_layers::{
    agent::{IntoReply, Reply, RequestExt, Update},
    call::Binding,
    error::{BoxError, Error},
    operation::{
        Answer, CancelTask, GetTask, ListTasks, ListTasksPage, Operation, OperationRequest, Outcome, ProtocolVersion,
        SendMessage, StreamEvent, SubscribeToTask, TaskView,
    },
    owner::Owner,
    task::{EventStream, TaskLayer, TaskStore},
    types::{Event, Message, Task, TaskState},
};
use futures_util::{StreamExt, stream as streams};
use http::{Request, Response};
use tokio::sync::mpsc;
use tower::{Layer, Service, ServiceExt, service_fn, util::BoxCloneSyncService};

type Boxed = BoxCloneSyncService<Request<Operation>, Response<Outcome<EventStream>>, Error>;

/// The layer over an agent, as one caller sees it.
#[derive(Clone)]
struct Server {
    service: Boxed,
    owner: Owner,
    version: ProtocolVersion,
}

impl Server {
    fn new<T, S>(layer: TaskLayer<T>, agent: S) -> Self
    where
        T: TaskStore,
        S: Service<Request<Arc<Message>>> + Clone + Send + Sync + 'static,
        S::Response: IntoReply,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        let service = Boxed::new(layer.layer(agent));
        Self { service, owner: Owner::anonymous(), version: ProtocolVersion::V1_0 }
    }

    fn owned_by(&self, name: &str) -> Self {
        Self { owner: Owner::new(name), ..self.clone() }
    }

    fn v0_3(&self) -> Self {
        Self { version: ProtocolVersion::V0_3, ..self.clone() }
    }

    fn request(&self, request: OperationRequest) -> Request<Operation> {
        let mut request = Request::new(Operation::new(self.version, Binding::JsonRpc, request));
        request.extensions_mut().insert(self.owner.clone());
        request
    }

    async fn call(&self, request: Request<Operation>) -> Result<Outcome<EventStream>, Error> {
        self.service.clone().oneshot(request).await.map(Response::into_body)
    }

    async fn answer(&self, request: OperationRequest) -> Result<Answer, Error> {
        match self.call(self.request(request)).await? {
            Outcome::Answer(answer) => Ok(answer),
            other => panic!("{other:?}"),
        }
    }

    /// Sends, and takes a task for an answer.
    async fn send(&self, request: impl IntoSend) -> Result<TaskView, Error> {
        match self.answer(OperationRequest::SendMessage(request.into_send())).await? {
            Answer::SentTask(view) => Ok(view),
            other => panic!("{other:?}"),
        }
    }

    /// Sends, and takes a message for an answer.
    async fn ask(&self, request: impl IntoSend) -> Result<Arc<Message>, Error> {
        match self.answer(OperationRequest::SendMessage(request.into_send())).await? {
            Answer::SentMessage(message) => Ok(message),
            other => panic!("{other:?}"),
        }
    }

    async fn stream(&self, request: impl IntoSend) -> Result<EventStream, Error> {
        self.open(self.request(OperationRequest::SendStreamingMessage(request.into_send()))).await
    }

    async fn subscribe(&self, id: &str) -> Result<EventStream, Error> {
        self.open(self.request(OperationRequest::SubscribeToTask(SubscribeToTask::new(id)))).await
    }

    async fn subscribe_after(&self, id: &str, last: u64) -> Result<EventStream, Error> {
        let mut request = self.request(OperationRequest::SubscribeToTask(SubscribeToTask::new(id)));
        request.headers_mut().insert("last-event-id", last.into());
        self.open(request).await
    }

    async fn open(&self, request: Request<Operation>) -> Result<EventStream, Error> {
        match self.call(request).await? {
            Outcome::Stream(stream) => Ok(stream),
            other => panic!("{other:?}"),
        }
    }

    async fn view(&self, id: &str, history_length: Option<u32>) -> Result<TaskView, Error> {
        let mut get = GetTask::new(id);
        get.history_length = history_length;
        match self.answer(OperationRequest::GetTask(get)).await? {
            Answer::Task(view) => Ok(view),
            other => panic!("{other:?}"),
        }
    }

    async fn get(&self, id: &str) -> Result<Arc<Task>, Error> {
        Ok(Arc::clone(self.view(id, None).await?.task()))
    }

    async fn state(&self, id: &str) -> TaskState {
        self.get(id).await.unwrap().status.state
    }

    async fn cancel(&self, id: &str) -> Result<Arc<Task>, Error> {
        match self.answer(OperationRequest::CancelTask(CancelTask::new(id))).await? {
            Answer::Task(view) => Ok(Arc::clone(view.task())),
            other => panic!("{other:?}"),
        }
    }

    async fn list(&self, request: ListTasks) -> Result<ListTasksPage, Error> {
        match self.answer(OperationRequest::ListTasks(request)).await? {
            Answer::Tasks(page) => Ok(page),
            other => panic!("{other:?}"),
        }
    }
}

/// What can be sent: a text, a message, or a whole request.
trait IntoSend {
    fn into_send(self) -> SendMessage;
}

impl IntoSend for &str {
    fn into_send(self) -> SendMessage {
        SendMessage::new(Message::user(self))
    }
}

impl IntoSend for Message {
    fn into_send(self) -> SendMessage {
        SendMessage::new(self)
    }
}

impl IntoSend for SendMessage {
    fn into_send(self) -> SendMessage {
        self
    }
}

/// A message that does not wait for the end of the work.
fn at_once(text: &str) -> SendMessage {
    let mut request = text.into_send();
    request.configuration.return_immediately = true;
    request
}

fn with_history(message: Message, length: Option<u32>) -> SendMessage {
    let mut request = message.into_send();
    request.configuration.history_length = length;
    request
}

fn follow_up(task: &str, text: &str) -> Message {
    Message::user(text).with_task_id(task)
}

trait Agent:
    Service<Request<Arc<Message>>, Response = Reply, Error = BoxError, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> Agent for S where
    S: Service<Request<Arc<Message>>, Response = Reply, Error = BoxError, Future: Send> + Clone + Send + Sync + 'static
{
}

/// An agent that answers on the spot.
fn replying<R: IntoReply>(reply: impl Fn(&Request<Arc<Message>>) -> R + Clone + Send + Sync + 'static) -> impl Agent {
    service_fn(move |request| std::future::ready(Ok(reply(&request).into_reply())))
}

fn failing(error: impl Fn() -> BoxError + Clone + Send + Sync + 'static) -> impl Agent {
    service_fn(move |_| std::future::ready(Err(error())))
}

/// An agent that says what it is told.
fn saying(updates: Vec<Update>) -> impl Agent {
    replying(move |_| Reply::stream(streams::iter(updates.clone().into_iter().map(Ok::<_, BoxError>))))
}

/// An agent that asks "which?" at first, and is done after the answer.
fn asking() -> impl Agent {
    replying(|request| match request.task_context().task() {
        None => Reply::updates(vec![Update::input_required("which?")]),
        Some(_) => Reply::updates(vec![Update::text(format!("so {}", request.body().text()))]),
    })
}

/// One call of a driven agent. The reply ends when this is dropped.
struct Run {
    request: Request<Arc<Message>>,
    updates: mpsc::UnboundedSender<Result<Update, BoxError>>,
}

impl Run {
    fn say(&self, update: impl Into<Update>) {
        // An agent that is no longer listened to talks to itself.
        let _ = self.updates.send(Ok(update.into()));
    }

    fn fail(self, error: impl Into<BoxError>) {
        let _ = self.updates.send(Err(error.into()));
    }

    fn id(&self) -> Arc<str> {
        Arc::clone(self.request.task_id())
    }
}

/// An agent that a test drives by hand, call by call.
fn driven() -> (impl Agent, mpsc::UnboundedReceiver<Run>) {
    let (calls, runs) = mpsc::unbounded_channel();
    let agent = service_fn(move |request| {
        let (updates, told) = mpsc::unbounded_channel();
        let _ = calls.send(Run { request, updates });
        let told = streams::unfold(told, |mut told| async move { Some((told.recv().await?, told)) });
        std::future::ready(Ok::<_, BoxError>(Reply::stream(told)))
    });
    (agent, runs)
}

/// The next event; the stream must not be over.
async fn next(stream: &mut EventStream) -> StreamEvent {
    stream.next().await.expect("the stream is over").unwrap()
}

/// All events up to the end of the stream.
async fn rest(stream: EventStream) -> Vec<StreamEvent> {
    stream.map(Result::unwrap).collect().await
}

fn numbers(events: &[StreamEvent]) -> Vec<u64> {
    events.iter().map(|event| event.number().unwrap()).collect()
}

fn states(events: &[StreamEvent]) -> Vec<TaskState> {
    events.iter().filter_map(|event| event.to_event().state()).collect()
}

fn text_of(event: &StreamEvent) -> String {
    match event.to_event() {
        Event::ArtifactUpdate(update) => update.artifact.parts[0].as_text().unwrap().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn texts(task: &Task) -> Vec<String> {
    task.history.iter().map(|message| message.text()).collect()
}

/// Lets everything that can go on without time passing do so.
async fn quiet() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn code<T>(result: Result<T, Error>) -> i32 {
    match result {
        Ok(_) => panic!("it went well"),
        Err(error) => error.code(),
    }
}
