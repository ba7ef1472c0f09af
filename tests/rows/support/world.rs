//! The mounts, and a client for them: over sockets, or in process where a socket adds nothing.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use a2a_layers::{
    error::BoxError,
    operation::ProtocolVersion,
    part::{Input, Parts},
    server::{A2aService, Mount, Mounts, Settings, serve},
    types::AgentSkill,
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tower::{Service, ServiceExt};

use super::{Events, Op, Script, SpyBlobs, Talk, talk};

pub(crate) type RequestBody = Full<Bytes>;
pub(super) type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) script: Script,
    via: Via,
}

type Local = Arc<dyn Fn(Request<RequestBody>) -> BoxFuture<'static, Response<ResponseBody>> + Send + Sync>;

#[derive(Clone)]
enum Via {
    Sockets(SocketAddr),
    Here(Local),
}

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {:?}", self.body))
    }

    pub(crate) fn media_type(&self) -> &str {
        self.headers.get(header::CONTENT_TYPE).map_or("", |value| value.to_str().unwrap())
    }

    /// The code of the error that it carries, with everything that goes for errors.
    pub(crate) fn code(&self) -> i64 {
        assert_eq!(self.status, StatusCode::OK, "{self:?}");
        assert_eq!(self.media_type(), "application/json");
        let json = self.json();
        assert_eq!(json["jsonrpc"], "2.0");
        assert!(json.get("id").is_some() && json.get("result").is_none(), "{json}");
        assert!(json["error"]["message"].is_string(), "{json}");
        json["error"]["code"].as_i64().unwrap_or_else(|| panic!("no code: {json}"))
    }
}

/// The agent under these settings, at this talk's places.
fn mount(talk: Talk, script: &Script, settings: Settings) -> Mount<Parts<impl Agent>> {
    Mount::new("scripted", script.agent())
        .url(format!("http://agents.example{}", talk.path))
        .settings(settings.card_path(talk.card).legacy_card_path(None))
}

/// What the scripts are, in few words.
pub(crate) trait Agent:
    Service<Request<Input>, Response = a2a_layers::agent::Reply, Error = BoxError, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Agent for S where
    S: Service<Request<Input>, Response = a2a_layers::agent::Reply, Error = BoxError, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A strict mount that negotiates, at its usual places.
pub(crate) fn strict(script: &Script) -> Mount<Parts<impl Agent>> {
    mount(talk::STRICT_0_3, script, Settings::strict())
}

/// One that behaves like bread.
pub(crate) fn bread(talk: Talk, script: &Script) -> Mount<Parts<impl Agent>> {
    let version = if talk.new { ProtocolVersion::V1_0 } else { ProtocolVersion::V0_3 };
    mount(talk, script, Settings::bread(version)).demand_blob_store()
}

/// One that behaves like bread and has somewhere to put files.
pub(crate) fn files_bread(
    talk: Talk,
    script: &Script,
    blobs: &SpyBlobs,
) -> Mount<Parts<impl Agent>, a2a_layers::task::MemoryTaskStore, SpyBlobs> {
    bread(talk, script).blob_store(blobs.clone(), None)
}

/// One that behaves like Vibes.
pub(crate) fn vibes(script: &Script) -> Mount<Parts<impl Agent>> {
    mount(talk::VIBES, script, Settings::vibes()).skill(AgentSkill::new("s", "Skill", "Does things", "tag"))
}

/// All six, side by side.
fn six<B>(script: &Script) -> Mounts<B>
where
    B: http_body::Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    let built = [
        strict(script).build(),
        mount(talk::ONLY_0_3, script, Settings::strict_0_3()).build(),
        mount(talk::ONLY_1_0, script, Settings::strict_1_0()).build(),
        bread(talk::BREAD_0_3, script).build(),
        bread(talk::BREAD_1_0, script).build(),
        vibes(script).build(),
    ];
    built.into_iter().fold(Mounts::new(), |mounts, mount| mounts.mount(mount.unwrap()).unwrap())
}

impl World {
    /// All six mounts over sockets.
    pub(crate) async fn six() -> Self {
        let script = Script::new();
        Self::sockets(script.clone(), six(&script)).await
    }

    /// All six mounts, without sockets, for where the clock stands still.
    pub(crate) fn six_here() -> Self {
        let script = Script::new();
        Self::here(script.clone(), six(&script))
    }

    /// These over sockets.
    pub(crate) async fn sockets<S, B>(script: Script, service: S) -> Self
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>,
        S: Clone + Send + 'static,
        B: http_body::Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, service));
        Self { script, via: Via::Sockets(address) }
    }

    /// These without sockets.
    pub(crate) fn here<S, B>(script: Script, service: S) -> Self
    where
        S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible, Future: Send>,
        S: Clone + Send + Sync + 'static,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let local = move |request| -> BoxFuture<'static, _> {
            let service = service.clone();
            Box::pin(async move {
                let Ok(response) = service.oneshot(request).await;
                response.map(|body| body.map_err(Into::into).boxed_unsync())
            })
        };
        Self { script, via: Via::Here(Arc::new(local)) }
    }

    /// One mount, without sockets.
    pub(crate) fn one(script: &Script, service: A2aService<RequestBody>) -> Self {
        Self::here(script.clone(), service)
    }

    pub(crate) async fn request(&self, request: Request<RequestBody>) -> Response<ResponseBody> {
        let answer = async {
            match &self.via {
                Via::Here(local) => local(request).await,
                Via::Sockets(address) => {
                    let stream = TcpStream::connect(address).await.unwrap();
                    let (mut sender, connection) =
                        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
                    tokio::spawn(connection);
                    let response = sender.send_request(request).await.unwrap();
                    response.map(|body| body.map_err(BoxError::from).boxed_unsync())
                }
            }
        };
        tokio::time::timeout(PATIENCE, answer).await.expect("no answer")
    }

    async fn whole(&self, request: Request<RequestBody>) -> Answer {
        let (head, body) = self.request(request).await.into_parts();
        let body = tokio::time::timeout(PATIENCE, body.collect()).await.expect("no end").unwrap().to_bytes();
        Answer { status: head.status, headers: head.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.fetch(path, &[]).await
    }

    pub(crate) async fn fetch(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.whole(build(Request::get(path), headers, "")).await
    }

    /// A card, which must be there.
    pub(crate) async fn card(&self, talk: Talk) -> Value {
        let answer = self.get(talk.card).await;
        assert_eq!((answer.status, answer.media_type()), (StatusCode::OK, "application/json"));
        answer.json()
    }

    /// A text, as it is.
    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        self.whole(posting(path, headers, body)).await
    }

    /// A text, as it is, to a mount.
    pub(crate) async fn verbatim(&self, talk: Talk, body: &str) -> Answer {
        self.post(talk.path, &talk.headers(), body.to_owned()).await
    }

    pub(crate) async fn call(&self, talk: Talk, method: &str, params: Value) -> Answer {
        self.verbatim(talk, &envelope(method, &params)).await
    }

    /// What an operation is answered with, which must be a result.
    pub(crate) async fn ok(&self, talk: Talk, op: Op, params: Value) -> Value {
        let answer = self.call(talk, talk.method(op), params).await;
        assert_eq!((answer.status, answer.media_type()), (StatusCode::OK, "application/json"), "{answer:?}");
        let mut json = answer.json();
        assert_eq!((&json["jsonrpc"], &json["id"]), (&json!("2.0"), &json!(7)));
        assert!(json.get("error").is_none(), "{json}");
        json["result"].take()
    }

    /// The code that an operation is answered with, which must be an error.
    pub(crate) async fn code(&self, talk: Talk, op: Op, params: Value) -> i64 {
        self.call(talk, talk.method(op), params).await.code()
    }

    /// The task that a send is answered with.
    pub(crate) async fn task(&self, talk: Talk, text: &str) -> Value {
        talk.sent_task(&self.ok(talk, Op::Send, talk.says(text)).await)
    }

    /// The parts of the message that a send is answered with.
    pub(crate) async fn parts(&self, talk: Talk, text: &str) -> Value {
        talk.sent_message(&self.ok(talk, Op::Send, talk.says(text)).await)["parts"].clone()
    }

    /// The state of a task in the words of 0.3.
    pub(crate) async fn state(&self, talk: Talk, id: &str) -> String {
        let task = self.ok(talk, Op::Get, json!({ "id": id })).await;
        let state = task["status"]["state"].as_str().unwrap();
        state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-")
    }

    /// A stream, which must begin.
    pub(crate) async fn open(&self, talk: Talk, op: Op, params: Value) -> Events {
        self.open_with(talk, talk.method(op), params, &[], "").await
    }

    pub(crate) async fn open_with(
        &self,
        talk: Talk,
        method: &str,
        params: Value,
        headers: &[(&str, &str)],
        query: &str,
    ) -> Events {
        let headers: Vec<_> = talk.headers().into_iter().chain(headers.iter().copied()).collect();
        self.open_text(talk, &headers, query, envelope(method, &params)).await
    }

    pub(crate) async fn open_text(
        &self,
        talk: Talk,
        headers: &[(&str, &str)],
        query: &str,
        body: impl Into<Bytes>,
    ) -> Events {
        let response = self.request(posting(&format!("{}{query}", talk.path), headers, body)).await;
        assert_eq!(response.status(), StatusCode::OK);
        let media_type = response.headers()[header::CONTENT_TYPE].clone();
        if media_type != "text/event-stream" {
            panic!("no stream: {:?}", response.into_body().collect().await.unwrap().to_bytes());
        }
        Events::new(talk, response)
    }

    /// A stream of what the agent says to a text.
    pub(crate) async fn stream(&self, talk: Talk, text: &str) -> Events {
        self.open(talk, Op::Stream, talk.says(text)).await
    }
}

fn envelope(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string()
}

fn posting(path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request<RequestBody> {
    build(Request::post(path).header(header::CONTENT_TYPE, "application/json"), headers, body)
}

fn build(request: http::request::Builder, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request<RequestBody> {
    let request = request.header(header::HOST, "agents.example");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(Full::new(body.into())).unwrap()
}
