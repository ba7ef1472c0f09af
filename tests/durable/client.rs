//! Those who send work, are cut off, and come back.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};

use super::Outcome;

/// How long an answer may take to begin, when nothing is wrong with the database.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The parameters of a send.
pub(crate) fn message(text: impl Into<String>) -> Value {
    json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": text.into() }] } })
}

/// True for what a caller is told that may try again, with the advice when.
pub(crate) fn is_retryable(error: &Value) -> bool {
    let is_advice = |detail: &Value| {
        detail["@type"] == "type.googleapis.com/google.rpc.RetryInfo" && detail["retryDelay"].is_string()
    };
    error["code"] == -32603 && error["data"].as_array().is_some_and(|details| details.iter().any(is_advice))
}

/// A connection to one server, for one call after the other.
#[derive(Debug)]
pub(crate) struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    pub(crate) async fn to(url: &str) -> Outcome<Self> {
        let authority = url.trim_start_matches("http://").trim_end_matches('/');
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    async fn call(&mut self, method: &str, params: Value, last: Option<u64>) -> Outcome<Incoming> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut request = Request::post("/").header("host", "localhost").header("content-type", "application/json");
        request = request.header("a2a-version", "1.0");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        self.0.ready().await?;
        Ok(timeout(PATIENCE, self.0.send_request(request.body(Full::from(body))?)).await??.into_body())
    }

    /// The whole envelope that a call is answered with.
    pub(crate) async fn answer(&mut self, method: &str, params: Value) -> Outcome<Value> {
        let body = self.call(method, params, None).await?;
        Ok(serde_json::from_slice(&timeout(PATIENCE, body.collect()).await??.to_bytes())?)
    }

    /// What a call is answered with as a stream, from the event behind the last one that was seen.
    pub(crate) async fn events(&mut self, method: &str, params: Value, last: Option<u64>) -> Outcome<Events> {
        Ok(Events { body: self.call(method, params, last).await?, text: String::new(), has_begun: false })
    }
}

/// The result of a method.
pub(crate) async fn result(url: &str, method: &str, params: Value) -> Outcome<Value> {
    let mut answer = Connection::to(url).await?.answer(method, params).await?;
    if answer["result"].is_null() { Err(answer.to_string().into()) } else { Ok(answer["result"].take()) }
}

/// A stream of events.
#[derive(Debug)]
pub(crate) struct Events {
    body: Incoming,
    text: String,
    has_begun: bool,
}

/// What comes next on a stream.
#[derive(Debug)]
pub(crate) enum Said {
    /// An event and its number.
    Event(u64, Value),
    /// The error of a JSON-RPC envelope: instead of a stream, or as its last word.
    Error(Value),
    /// Nothing any more, and in good order.
    End,
    /// The connection was cut.
    Cut,
}

impl Events {
    pub(crate) async fn next(&mut self) -> Outcome<Said> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let (number, data) = (line("id: ").map(str::parse).transpose()?, line("data: "));
                let envelope: Option<Value> = data.map(serde_json::from_str).transpose()?;
                self.text = rest.to_owned();
                self.has_begun = true;
                match (number, envelope) {
                    (Some(number), Some(mut envelope)) => {
                        return Ok(Said::Event(number, envelope["result"].take()));
                    }
                    (None, Some(mut envelope)) => return Ok(Said::Error(envelope["error"].take())),
                    // A comment, which keeps the connection open.
                    (_, None) => continue,
                }
            }
            match self.body.frame().await {
                Some(Ok(frame)) => self.text += std::str::from_utf8(frame.data_ref().ok_or("no data")?)?,
                Some(Err(_)) => return Ok(Said::Cut),
                // An error that came before the first event is a plain answer.
                None if !self.has_begun && self.text.starts_with('{') => {
                    let mut envelope: Value = serde_json::from_str(&self.text)?;
                    self.text.clear();
                    return Ok(Said::Error(envelope["error"].take()));
                }
                None => return Ok(Said::End),
            }
        }
    }
}

/// The state that an event tells of, if it does.
pub(crate) fn state(event: &Value) -> Option<&str> {
    event["task"]["status"]["state"].as_str().or(event["statusUpdate"]["status"]["state"].as_str())
}

/// True if nothing comes behind it before the caller says something.
pub(crate) fn is_at_rest(state: &str) -> bool {
    !matches!(state, "TASK_STATE_SUBMITTED" | "TASK_STATE_WORKING")
}

/// What a task says, in all its artifacts.
pub(crate) fn text_of_task(task: &Value) -> String {
    task["artifacts"].as_array().into_iter().flatten().map(text_of_artifact).collect()
}

pub(crate) fn text_of_artifact(artifact: &Value) -> String {
    let parts = artifact["parts"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}
