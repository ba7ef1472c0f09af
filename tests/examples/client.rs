//! A running example, and a client small enough to see what goes over the wire.

use std::{path::PathBuf, process::Stdio, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    net::TcpStream,
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// How long anything may take. Much longer than it does, so that a busy machine fails no test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// `cargo test` builds the examples beside the tests.
pub(crate) fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let program = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "build the examples first, as `cargo test` without `--test` does: {program:?}");
    program
}

/// An example that runs until it is dropped.
pub(crate) struct Example {
    process: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    /// The address it said it serves on.
    pub(crate) url: String,
}

impl Example {
    pub(crate) async fn start(name: &str) -> Self {
        Self::start_with(name, &[], &[]).await
    }

    pub(crate) async fn start_with(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut process = Command::new(program(name))
            .arg("127.0.0.1:0")
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut example = Self { process, stdout, url: String::new() };
        let line = example.line().await;
        example.url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
        example
    }

    /// The next line that it prints.
    pub(crate) async fn line(&mut self) -> String {
        timeout(PATIENCE, self.stdout.next_line()).await.unwrap().unwrap().expect("it has ended")
    }

    /// Its address without a path.
    pub(crate) fn origin(&self) -> String {
        let rest = &self.url["http://".len()..];
        format!("http://{}", rest.split('/').next().unwrap())
    }

    /// What a blocking send of this text is answered with, the task or message itself.
    pub(crate) async fn send(&self, text: &str) -> Value {
        self.call("SendMessage", message(text)).await
    }

    /// All events of a stream, once it has ended.
    pub(crate) async fn stream(&self, text: &str) -> Vec<Value> {
        let mut events = self.events("SendStreamingMessage", message(text)).await;
        let mut all = Vec::new();
        while let Some(event) = events.next().await {
            all.push(event);
        }
        all
    }

    /// The result of a method in version 1.0.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let mut answer = self.envelope("1.0", method, params).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    /// The whole answer of a method.
    pub(crate) async fn envelope(&self, version: &str, method: &str, params: Value) -> Value {
        let (head, body) = self.post(version, method, params).await.into_parts();
        assert_eq!(head.status, StatusCode::OK);
        let body = timeout(PATIENCE, body.collect()).await.unwrap().unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }

    /// The whole answer of a method in version 1.0 to a caller with this token.
    pub(crate) async fn call_as(&self, token: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let bearer = format!("Bearer {token}");
        let headers = [("content-type", "application/json"), ("a2a-version", "1.0"), ("authorization", &bearer)];
        let response = request(Method::POST, &self.url, &headers, body).await;
        let body = timeout(PATIENCE, response.into_body().collect()).await.unwrap().unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }

    /// Asks it to stop, as ctrl-c does, and sees it end well.
    pub(crate) async fn interrupt(mut self) {
        let pid = self.process.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().await.unwrap().success());
        let status = timeout(PATIENCE, self.process.wait()).await.expect("it goes on").unwrap();
        assert!(status.success(), "{status}");
    }

    /// The events of a method, one by one, in version 1.0.
    pub(crate) async fn events(&self, method: &str, params: Value) -> Events {
        self.events_of("1.0", method, params).await
    }

    pub(crate) async fn events_of(&self, version: &str, method: &str, params: Value) -> Events {
        let response = self.post(version, method, params).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events { body: response.into_body(), text: String::new() }
    }

    async fn post(&self, version: &str, method: &str, params: Value) -> Response<Incoming> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let headers = [("content-type", "application/json"), ("a2a-version", version)];
        request(Method::POST, &self.url, &headers, body).await
    }
}

/// The parameters of a send.
pub(crate) fn message(text: &str) -> Value {
    json!({ "message": { "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

/// All text of a task's artifacts.
pub(crate) fn text_of(task: &Value) -> String {
    let artifacts = task["artifacts"].as_array().into_iter().flatten();
    let parts = artifacts.flat_map(|artifact| artifact["parts"].as_array().unwrap());
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// A stream of server-sent events that is being read.
pub(crate) struct Events {
    body: Incoming,
    text: String,
}

impl Events {
    /// The result in the next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let (_, data) = self.next_raw().await?;
        let mut envelope: Value = serde_json::from_str(&data).unwrap();
        assert!(envelope.get("error").is_none(), "{envelope}");
        Some(envelope["result"].take())
    }

    /// The next event's id and data.
    pub(crate) async fn next_raw(&mut self) -> Option<(Option<u64>, String)> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let line = |name: &str| event.lines().find_map(|line| Some(line.strip_prefix(name)?.to_owned()));
                let found = line("data: ").map(|data| (line("id: ").map(|id| id.parse().unwrap()), data));
                self.text = rest.to_owned();
                if found.is_some() {
                    return found;
                }
            }
            let frame = timeout(PATIENCE, self.body.frame()).await.expect("the stream is silent")?;
            self.text += std::str::from_utf8(frame.unwrap().data_ref().unwrap()).unwrap();
        }
    }
}

/// What is there at a URL.
pub(crate) async fn get(url: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, Bytes) {
    let (head, body) = request(Method::GET, url, headers, String::new()).await.into_parts();
    let body = timeout(PATIENCE, body.collect()).await.unwrap().unwrap().to_bytes();
    (head.status, head.headers, body)
}

/// The events at a URL.
pub(crate) async fn get_events(url: &str, headers: &[(&str, &str)]) -> Events {
    let response = request(Method::GET, url, headers, String::new()).await;
    Events { body: response.into_body(), text: String::new() }
}

async fn request(method: Method, url: &str, headers: &[(&str, &str)], body: String) -> Response<Incoming> {
    let uri: http::Uri = url.parse().unwrap();
    let authority = uri.authority().unwrap().as_str();
    let stream = timeout(PATIENCE, TcpStream::connect(authority)).await.unwrap().unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(uri.path()).header("host", authority);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::<Bytes>::from(body)).unwrap();
    timeout(PATIENCE, sender.send_request(request)).await.expect("no answer").unwrap()
}

/// What a unary method of gRPC answers to this message, over HTTP/2 from the first byte.
pub(crate) async fn grpc(origin: &str, path: &str, message: &[u8]) -> Vec<u8> {
    let stream = TcpStream::connect(&origin["http://".len()..]).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let request = Request::post(format!("{origin}{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::<Bytes>::from([&[0], &length[..], message].concat()))
        .unwrap();
    let response = timeout(PATIENCE, sender.send_request(request)).await.expect("no answer").unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let body = timeout(PATIENCE, response.into_body().collect()).await.unwrap().unwrap();
    assert_eq!(body.trailers().unwrap()["grpc-status"], "0");
    body.to_bytes()[5..].to_vec()
}
