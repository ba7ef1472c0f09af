//! Real clients: hyper's over HTTP/1.1 for JSON-RPC and over HTTP/2 for HTTP+JSON, and the generated ones of tonic.

use std::{
    net::SocketAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use a2a_layers::{
    call::Binding,
    grpc::proto::{
        v0_3::{self as old, a2a_service_client::A2aServiceClient as OldClient},
        v1_0::{self as new, a2a_service_client::A2aServiceClient as Client},
    },
    operation::OperationKind,
};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::{
    client::legacy::{Client as HttpClient, connect::HttpConnector},
    rt::TokioExecutor,
};
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage as _, prost::Message};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tonic::{
    Response, Status, Streaming,
    metadata::{MetadataKey, MetadataMap},
    transport::{Channel, Endpoint},
};

use crate::{
    answer, problem,
    request::{self, Ask},
    way::Way,
};

/// Long enough for a loaded machine, and nothing waits for it unless it fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// The messages as the `.proto` files have them. Their JSON is written and read by a library that knows nothing of ours.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let protos = concat!(env!("CARGO_MANIFEST_DIR"), "/src/grpc/proto");
    let files = protox::compile(["lf/a2a/v1/a2a.proto", "a2a/v1/a2a.proto"], [protos]).expect("sound .proto files");
    DescriptorPool::from_file_descriptor_set(files).expect("sound descriptors")
});

/// A client of one way.
#[derive(Clone)]
pub(crate) struct Talk {
    pub(crate) way: Way,
    address: SocketAddr,
    http: HttpClient<HttpConnector, Full<Bytes>>,
    channel: Channel,
    /// Whether its owners are its own.
    apart: bool,
    /// Told when an answer begins.
    begins: Arc<Notify>,
}

impl Talk {
    pub(crate) fn new(way: Way, address: SocketAddr) -> Self {
        let mut http = HttpClient::builder(TokioExecutor::new());
        http.http2_only(way.binding == Binding::HttpJson);
        let channel = Endpoint::from_shared(format!("http://{address}")).expect("an address").connect_lazy();
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self { way, address, http: http.build(connector), channel, apart: true, begins: Arc::default() }
    }

    /// The answer in its canonical form. A stream is read to its end.
    pub(crate) async fn ask(&self, ask: &Ask) -> Value {
        let answer = async {
            match self.way.binding {
                Binding::JsonRpc => self.json_rpc(ask).await,
                Binding::HttpJson => self.rest(ask).await,
                _ => self.grpc(ask).await,
            }
        };
        tokio::time::timeout(PATIENCE, answer).await.unwrap_or_else(|_| panic!("{}: {ask:?} takes for ever", self.way))
    }

    /// With the owners of all the others.
    pub(crate) fn of_one_owner(self) -> Self {
        Self { apart: false, ..self }
    }

    /// A client that tells of the next answer's beginning, and how it does.
    pub(crate) fn telling(&self) -> (Self, Arc<Notify>) {
        let begins = Arc::<Notify>::default();
        (Self { begins: Arc::clone(&begins), ..self.clone() }, begins)
    }

    fn headers(&self, ask: &Ask) -> Vec<(&'static str, String)> {
        let owner = if self.apart { format!("{} of {}", ask.owner, self.way) } else { ask.owner.to_owned() };
        let mut headers = vec![("x-owner", owner)];
        let stated = ask.headers.iter().any(|(name, _)| *name == "a2a-version");
        if !self.way.is_old() && !stated {
            headers.push(("a2a-version", "1.0".to_owned()));
        }
        headers.extend(ask.headers.iter().cloned());
        headers
    }

    async fn json_rpc(&self, ask: &Ask) -> Value {
        let method = if self.way.is_old() { request::old_method(ask.op) } else { ask.op.name() };
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": request::params(self.way, ask) });
        self.exchange(ask, "POST", "/", "application/json", body.to_string()).await
    }

    async fn rest(&self, ask: &Ask) -> Value {
        let mut params = request::params(self.way, ask);
        let mut take = |name: &str| {
            let taken = params.as_object_mut().and_then(|params| params.remove(name));
            taken.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
        };
        let (verb, mut path) = match ask.op {
            OperationKind::SendMessage => ("POST", "/message:send".to_owned()),
            OperationKind::SendStreamingMessage => ("POST", "/message:stream".to_owned()),
            OperationKind::GetTask => ("GET", format!("/tasks/{}", take("id"))),
            OperationKind::ListTasks => ("GET", "/tasks".to_owned()),
            OperationKind::CancelTask => ("POST", format!("/tasks/{}:cancel", take("id"))),
            OperationKind::SubscribeToTask => ("POST", format!("/tasks/{}:subscribe", take("id"))),
            OperationKind::GetExtendedAgentCard if self.way.is_old() => ("GET", "/card".to_owned()),
            OperationKind::GetExtendedAgentCard => ("GET", "/extendedAgentCard".to_owned()),
            op => {
                // The JSON of 0.3 names the task where its form does not.
                let task = ask.params["taskId"].as_str().unwrap_or_default();
                take("taskId");
                let configs = format!("/tasks/{task}/pushNotificationConfigs");
                match op {
                    OperationKind::CreatePushConfig => ("POST", configs),
                    OperationKind::ListPushConfigs => ("GET", configs),
                    OperationKind::GetPushConfig => ("GET", format!("{configs}/{}", take("id"))),
                    _ => ("DELETE", format!("{configs}/{}", take("id"))),
                }
            }
        };
        if self.way.is_old() {
            path.insert_str(0, "/v1");
        }
        if verb == "GET" {
            let pairs = params.as_object().into_iter().flatten().map(|(name, value)| match value {
                Value::String(text) => format!("{name}={}", text.replace(':', "%3A")),
                other => format!("{name}={other}"),
            });
            let query = pairs.collect::<Vec<_>>().join("&");
            return self.exchange(ask, verb, &format!("{path}?{query}"), "application/json", String::new()).await;
        }
        let media_type = if self.way.is_old() { "application/json" } else { "application/a2a+json" };
        self.exchange(ask, verb, &path, media_type, params.to_string()).await
    }

    /// One exchange over HTTP: a document, or a stream of them.
    async fn exchange(&self, ask: &Ask, verb: &str, path: &str, media_type: &str, body: String) -> Value {
        let mut request = Request::builder().method(verb).uri(format!("http://{}{path}", self.address));
        request = request.header("content-type", media_type);
        for (name, value) in self.headers(ask) {
            request = request.header(name, value);
        }
        let request = request.body(Full::from(body)).expect("a request");
        let response = self.http.request(request).await.expect("an answer");
        self.begins.notify_one();
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (media_type, extensions) = (header("content-type").unwrap_or_default(), self.activated(header));
        let body = response.into_body().collect().await.expect("the whole answer").to_bytes();
        let body = std::str::from_utf8(&body).expect("UTF-8");
        let document = |text: &str| -> Value {
            let document: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"));
            if let Some(error) = problem::of_document(self.way, status, &document) {
                return error;
            }
            assert_eq!(status, 200, "{document}");
            let result = if self.way.binding == Binding::JsonRpc { &document["result"] } else { &document };
            answer::result(self.way, ask.op, result)
        };
        if media_type != "text/event-stream" {
            return with_extensions(document(body), extensions);
        }
        let events: Vec<_> = body.lines().filter_map(|line| line.strip_prefix("data: ")).map(document).collect();
        with_extensions(json!({ "events": events }), extensions)
    }

    /// The extensions that an answer says are activated, under the name of the version.
    fn activated(&self, header: impl Fn(&str) -> Option<String>) -> Option<String> {
        header(if self.way.is_old() { "x-a2a-extensions" } else { "a2a-extensions" })
    }

    async fn grpc(&self, ask: &Ask) -> Value {
        let (answer, metadata) = match self.call(ask).await {
            Ok(answer) => answer,
            Err(status) => return problem::of_status(self.way, &status),
        };
        let header = |name: &str| metadata.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let answer = match answer {
            Answer::One(message) => answer::result(self.way, ask.op, &message),
            Answer::Many(events) => {
                let events = events.into_iter().map(|event| match event {
                    Ok(message) => answer::result(self.way, ask.op, &message),
                    Err(status) => problem::of_status(self.way, &status),
                });
                json!({ "events": events.collect::<Vec<_>>() })
            }
        };
        with_extensions(answer, self.activated(header))
    }

    async fn call(&self, ask: &Ask) -> Result<(Answer, MetadataMap), Status> {
        if self.way.is_old() { self.call_old(ask).await } else { self.call_new(ask).await }
    }

    async fn call_new(&self, ask: &Ask) -> Result<(Answer, MetadataMap), Status> {
        const PACKAGE: &str = "lf.a2a.v1";
        let mut client = Client::new(self.channel.clone());
        macro_rules! unary {
            ($method:ident, $request:ident, $response:literal) => {{
                let request = self.typed::<new::$request>(ask, &format!("{PACKAGE}.{}", stringify!($request)));
                one(&format!("{PACKAGE}.{}", $response), client.$method(request).await?)
            }};
        }
        macro_rules! stream {
            ($method:ident, $request:ident) => {{
                let request = self.typed::<new::$request>(ask, &format!("{PACKAGE}.{}", stringify!($request)));
                let response = client.$method(request).await?;
                self.begins.notify_one();
                many(&format!("{PACKAGE}.StreamResponse"), response).await
            }};
        }
        Ok(match ask.op {
            OperationKind::SendMessage => unary!(send_message, SendMessageRequest, "SendMessageResponse"),
            OperationKind::SendStreamingMessage => stream!(send_streaming_message, SendMessageRequest),
            OperationKind::GetTask => unary!(get_task, GetTaskRequest, "Task"),
            OperationKind::ListTasks => unary!(list_tasks, ListTasksRequest, "ListTasksResponse"),
            OperationKind::CancelTask => unary!(cancel_task, CancelTaskRequest, "Task"),
            OperationKind::SubscribeToTask => stream!(subscribe_to_task, SubscribeToTaskRequest),
            OperationKind::CreatePushConfig => {
                unary!(create_task_push_notification_config, TaskPushNotificationConfig, "TaskPushNotificationConfig")
            }
            OperationKind::GetPushConfig => unary!(
                get_task_push_notification_config,
                GetTaskPushNotificationConfigRequest,
                "TaskPushNotificationConfig"
            ),
            OperationKind::ListPushConfigs => unary!(
                list_task_push_notification_configs,
                ListTaskPushNotificationConfigsRequest,
                "ListTaskPushNotificationConfigsResponse"
            ),
            OperationKind::DeletePushConfig => {
                let name = format!("{PACKAGE}.DeleteTaskPushNotificationConfigRequest");
                let request = self.typed::<new::DeleteTaskPushNotificationConfigRequest>(ask, &name);
                let (metadata, ..) = client.delete_task_push_notification_config(request).await?.into_parts();
                (Answer::One(json!({})), metadata)
            }
            OperationKind::GetExtendedAgentCard => {
                unary!(get_extended_agent_card, GetExtendedAgentCardRequest, "AgentCard")
            }
            other => panic!("no such operation: {other:?}"),
        })
    }

    async fn call_old(&self, ask: &Ask) -> Result<(Answer, MetadataMap), Status> {
        const PACKAGE: &str = "a2a.v1";
        let mut client = OldClient::new(self.channel.clone());
        macro_rules! unary {
            ($method:ident, $request:ident, $response:literal) => {{
                let request = self.typed::<old::$request>(ask, &format!("{PACKAGE}.{}", stringify!($request)));
                one(&format!("{PACKAGE}.{}", $response), client.$method(request).await?)
            }};
        }
        macro_rules! stream {
            ($method:ident, $request:ident) => {{
                let request = self.typed::<old::$request>(ask, &format!("{PACKAGE}.{}", stringify!($request)));
                let response = client.$method(request).await?;
                self.begins.notify_one();
                many(&format!("{PACKAGE}.StreamResponse"), response).await
            }};
        }
        Ok(match ask.op {
            OperationKind::SendMessage => unary!(send_message, SendMessageRequest, "SendMessageResponse"),
            OperationKind::SendStreamingMessage => stream!(send_streaming_message, SendMessageRequest),
            OperationKind::GetTask => unary!(get_task, GetTaskRequest, "Task"),
            OperationKind::CancelTask => unary!(cancel_task, CancelTaskRequest, "Task"),
            OperationKind::SubscribeToTask => stream!(task_subscription, TaskSubscriptionRequest),
            OperationKind::CreatePushConfig => unary!(
                create_task_push_notification_config,
                CreateTaskPushNotificationConfigRequest,
                "TaskPushNotificationConfig"
            ),
            OperationKind::GetPushConfig => unary!(
                get_task_push_notification_config,
                GetTaskPushNotificationConfigRequest,
                "TaskPushNotificationConfig"
            ),
            OperationKind::ListPushConfigs => unary!(
                list_task_push_notification_config,
                ListTaskPushNotificationConfigRequest,
                "ListTaskPushNotificationConfigResponse"
            ),
            OperationKind::DeletePushConfig => {
                let name = format!("{PACKAGE}.DeleteTaskPushNotificationConfigRequest");
                let request = self.typed::<old::DeleteTaskPushNotificationConfigRequest>(ask, &name);
                let (metadata, ..) = client.delete_task_push_notification_config(request).await?.into_parts();
                (Answer::One(json!({})), metadata)
            }
            OperationKind::GetExtendedAgentCard => unary!(get_agent_card, GetAgentCardRequest, "AgentCard"),
            other => panic!("version 0.3 has no {other:?} over gRPC"),
        })
    }

    /// The message of a request, and its metadata.
    fn typed<M: Message + Default>(&self, ask: &Ask, name: &str) -> tonic::Request<M> {
        let kind = POOL.get_message_by_name(name).unwrap_or_else(|| panic!("there is no {name}"));
        let params = request::params(self.way, ask);
        let message = DynamicMessage::deserialize(kind, &params).unwrap_or_else(|error| panic!("{params}: {error}"));
        let mut request = tonic::Request::new(message.transcode_to().expect("the same message"));
        for (name, value) in self.headers(ask) {
            let key = MetadataKey::from_static(name);
            request.metadata_mut().insert(key, value.parse().expect("a value"));
        }
        request
    }
}

/// What gRPC answers with, in its JSON.
enum Answer {
    One(Value),
    Many(Vec<Result<Value, Status>>),
}

fn one<M: Message>(name: &str, response: Response<M>) -> (Answer, MetadataMap) {
    let (metadata, message, _) = response.into_parts();
    (Answer::One(json_of(name, &message)), metadata)
}

async fn many<M: Message>(name: &str, response: Response<Streaming<M>>) -> (Answer, MetadataMap) {
    let (metadata, mut stream, _) = response.into_parts();
    let mut events = Vec::new();
    while let Some(event) = stream.message().await.transpose() {
        events.push(event.map(|message| json_of(name, &message)));
    }
    (Answer::Many(events), metadata)
}

fn json_of(name: &str, message: &impl Message) -> Value {
    let kind = POOL.get_message_by_name(name).unwrap_or_else(|| panic!("there is no {name}"));
    let message = DynamicMessage::decode(kind, &*message.encode_to_vec()).expect("the same message");
    assert_eq!(message.unknown_fields().count(), 0, "{:?} of {}", message, message.descriptor().full_name());
    serde_json::to_value(message).expect("JSON")
}

fn with_extensions(mut answer: Value, extensions: Option<String>) -> Value {
    if let (Some(extensions), Some(members)) = (extensions, answer.as_object_mut()) {
        let members: &mut Map<_, _> = members;
        members.insert("extensions".into(), extensions.into());
    }
    answer
}
