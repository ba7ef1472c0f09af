use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::SECRET;

/// How long anything may take before it counts as a hang. The machine may be busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// What no answer may hold.
pub(crate) const INTERNALS: [&str; 14] = [
    ".rs",
    "serde",
    "at line ",
    "line 1 column",
    "panicked",
    "RawValue",
    "a2a_layers",
    "tokio",
    "core::",
    "std::",
    "alloc::",
    "called `",
    "invalid type",
    SECRET,
];

/// A whole request: a `POST` of JSON, with these further header lines.
pub(crate) fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// One connection, on which nothing takes for ever.
pub(crate) struct Connection {
    pub(crate) socket: TcpStream,
    unread: Vec<u8>,
}

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let socket = timeout(PATIENCE, TcpStream::connect(address)).await.expect("connects in time").expect("connects");
        Self { socket, unread: Vec::new() }
    }

    /// Writes, or gives up if the server has closed: what it said before that is what counts.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let _ = timeout(PATIENCE, self.socket.write_all(bytes)).await.expect("is read in time");
    }

    /// False at the end.
    async fn fill(&mut self) -> bool {
        let mut piece = [0; 16 << 10];
        let read = timeout(PATIENCE, self.socket.read(&mut piece)).await.expect("answers in time");
        let read = read.unwrap_or(0);
        self.unread.extend_from_slice(&piece[..read]);
        read > 0
    }

    /// Everything up to and with this mark; `None` if the connection ends before it.
    async fn take_until(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        let mut from = 0;
        loop {
            let found = self.unread[from..].windows(mark.len()).position(|window| window == mark);
            if let Some(found) = found {
                return Some(self.unread.drain(..from + found + mark.len()).collect());
            }
            from = self.unread.len().saturating_sub(mark.len());
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.unread.len() < length {
            if !self.fill().await {
                return None;
            }
        }
        Some(self.unread.drain(..length).collect())
    }

    /// The head of the next answer; `None` if the connection ends instead.
    pub(crate) async fn head(&mut self) -> Option<Answer> {
        let head = String::from_utf8(self.take_until(b"\r\n\r\n").await?).expect("heads are text");
        let mut lines = head.trim_end().lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().expect("a status");
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
        Some(Answer { status, headers, body: Vec::new() })
    }

    /// The next whole answer; `None` if the connection ends instead.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        let mut answer = self.head().await?;
        if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk().await {
                answer.body.extend_from_slice(&chunk);
            }
        } else if let Some(length) = answer.header("content-length") {
            answer.body = self.take(length.parse().expect("a length")).await?;
        }
        Some(answer)
    }

    /// The next chunk of a chunked body; `None` at its end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = String::from_utf8(self.take_until(b"\r\n").await?).expect("chunk heads are text");
        let length = usize::from_str_radix(line.trim(), 16).expect("a chunk's length");
        let mut chunk = self.take(length + 2).await?;
        chunk.truncate(length);
        Some(chunk).filter(|chunk| !chunk.is_empty())
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The one envelope in the body, which must be there, well-formed, and say nothing of the server's inside.
    pub(crate) fn envelope(&self) -> Value {
        assert!(self.status < 500, "{} is a fault of the server's", self.status);
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        check(&self.body)
    }
}

/// Reads an envelope.
fn check(text: &[u8]) -> Value {
    let envelope: Value = serde_json::from_slice(text)
        .unwrap_or_else(|error| panic!("no JSON ({error}): {}", String::from_utf8_lossy(text)));
    assert_eq!(envelope["jsonrpc"], "2.0", "{envelope}");
    let members: Vec<&str> = envelope.as_object().expect("an object").keys().map(|name| &**name).collect();
    assert!(matches!(members[..], ["error", "id", "jsonrpc"] | ["id", "jsonrpc", "result"]), "{envelope}");
    if let Some(error) = envelope.get("error") {
        let text = error.to_string();
        for internal in INTERNALS {
            assert!(!text.contains(internal), "{internal:?} is in {text}");
        }
        assert!(error["code"].is_i64() && error["message"].is_string(), "{envelope}");
    }
    envelope
}

/// A stream of server-sent events.
pub(crate) struct Events {
    pub(crate) connection: Connection,
    pub(crate) head: Answer,
    text: Vec<u8>,
    /// The id of the last event.
    pub(crate) last_id: Option<u64>,
}

impl Events {
    /// Reads the head; panics if it is no stream.
    pub(crate) async fn begin(mut connection: Connection) -> Self {
        let head = connection.head().await.expect("an answer");
        Self::with(connection, head)
    }

    /// With the head that was read; panics if it is that of no stream.
    pub(crate) fn with(connection: Connection, head: Answer) -> Self {
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
        Self { connection, head, text: Vec::new(), last_id: None }
    }

    /// The next envelope; `None` at the end. Comments are passed over.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        self.next_line().await.map(|line| check(line.as_bytes()))
    }

    /// The next document without an envelope; `None` at the end. Comments are passed over.
    pub(crate) async fn next_bare(&mut self) -> Option<Value> {
        self.next_line().await.map(|line| serde_json::from_str(&line).expect("JSON"))
    }

    async fn next_line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.windows(2).position(|window| window == b"\n\n") {
                let event: Vec<u8> = self.text.drain(..end + 2).collect();
                let event = String::from_utf8(event).expect("events are UTF-8");
                let mut data = event.lines().filter_map(|line| line.strip_prefix("data: "));
                let id = event.lines().find_map(|line| line.strip_prefix("id: "));
                self.last_id = id.map(|id| id.parse().expect("a number")).or(self.last_id);
                if let Some(line) = data.next() {
                    assert_eq!(data.next(), None, "one line a document");
                    assert!(!line.contains(SECRET), "{line}");
                    return Some(line.to_owned());
                }
            } else {
                let chunk = self.connection.chunk().await;
                self.text.extend_from_slice(&chunk?);
            }
        }
    }

    /// The next comment; `None` at the end. Events are passed over.
    pub(crate) async fn comment(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.text.drain(..=end).collect();
                let line = String::from_utf8(line).expect("UTF-8");
                if let Some(comment) = line.strip_prefix(": ") {
                    return Some(comment.trim_end().to_owned());
                }
            } else {
                let chunk = self.connection.chunk().await;
                self.text.extend_from_slice(&chunk?);
            }
        }
    }

    /// All documents without envelopes that are still to come.
    pub(crate) async fn bare_rest(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(event) = self.next_bare().await {
            all.push(event);
        }
        all
    }

    /// All that is still to come.
    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}
