//! A reader of event streams, which keeps the chunks that they came in.

use std::{pin::Pin, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body_util::BodyExt;
use serde_json::Value;

use super::{Talk, world::ResponseBody};

const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Events {
    pub(crate) headers: HeaderMap,
    /// The chunks so far.
    pub(crate) chunks: Vec<Bytes>,
    talk: Talk,
    body: Pin<Box<ResponseBody>>,
    text: String,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Its `id:`.
    pub(crate) id: Option<String>,
    /// Its `data:`.
    pub(crate) data: Value,
    /// What happened, out of its envelope, and out of the wrapper of 1.0.
    pub(crate) value: Value,
    /// What happened, in the words of 0.3.
    pub(crate) kind: String,
}

impl Event {
    fn new(talk: Talk, id: Option<String>, data: Value) -> Self {
        let result = if talk.bare { &data } else { &data["result"] };
        let (value, kind) = if talk.new {
            let members = result.as_object().unwrap_or_else(|| panic!("no result: {data}"));
            assert_eq!(members.len(), 1, "{data}");
            let (name, value) = members.iter().next().unwrap();
            let kind = match name.as_str() {
                "statusUpdate" => "status-update",
                "artifactUpdate" => "artifact-update",
                other => other,
            };
            (value.clone(), kind.to_owned())
        } else {
            let kind = result["kind"].as_str().unwrap_or_else(|| panic!("no kind: {data}"));
            (result.clone(), kind.to_owned())
        };
        Self { id, data, value, kind }
    }

    /// Its state in the words of 0.3, if it has one.
    pub(crate) fn state(&self) -> Option<String> {
        let state = self.value["status"]["state"].as_str()?;
        Some(state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-"))
    }

    pub(crate) fn task_id(&self) -> String {
        let id = if self.kind == "task" { &self.value["id"] } else { &self.value["taskId"] };
        id.as_str().unwrap_or_else(|| panic!("no id: {}", self.value)).to_owned()
    }

    /// The text of its artifact.
    pub(crate) fn text(&self) -> &str {
        self.value["artifact"]["parts"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {}", self.value))
    }
}

impl Events {
    pub(super) fn new(talk: Talk, response: Response<ResponseBody>) -> Self {
        let (head, body) = response.into_parts();
        Self { headers: head.headers, chunks: Vec::new(), talk, body: Box::pin(body), text: String::new() }
    }

    /// One chunk more; false at the end.
    pub(crate) async fn chunk(&mut self) -> bool {
        let frame = self.body.frame().await;
        let Some(frame) = frame else { return false };
        let data = frame.expect("the stream broke off").into_data().expect("no data");
        self.text.push_str(std::str::from_utf8(&data).expect("UTF-8"));
        self.chunks.push(data);
        true
    }

    /// The next comment, or the next block of other lines; `None` at the end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            self.text = self.text.trim_start_matches('\n').to_owned();
            let end = if self.text.starts_with(':') { "\n" } else { "\n\n" };
            if let Some((block, rest)) = self.text.split_once(end) {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            if !self.chunk().await {
                assert_eq!(self.text, "", "half an event at the end");
                return None;
            }
        }
    }

    /// The next event; comments are passed over.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        // Pings do not count as something that comes.
        tokio::time::timeout(PATIENCE, self.next_event()).await.expect("no event comes")
    }

    async fn next_event(&mut self) -> Option<Event> {
        loop {
            let block = self.block().await?;
            let (mut id, mut data) = (None, None);
            for line in block.lines() {
                if let Some(text) = line.strip_prefix("data: ") {
                    assert_eq!(data, None, "two data lines: {block}");
                    data = Some(serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}")));
                } else if let Some(text) = line.strip_prefix("id: ") {
                    id = Some(text.to_owned());
                } else {
                    assert!(line.starts_with(':'), "unknown line: {line}");
                }
            }
            if let Some(data) = data {
                return Some(Event::new(self.talk, id, data));
            }
        }
    }

    /// The next event, which must be there.
    pub(crate) async fn one(&mut self) -> Event {
        self.next().await.expect("the stream has ended")
    }

    /// Events up to the first of this state, that one included.
    pub(crate) async fn until(&mut self, state: &str) -> Vec<Event> {
        let mut events = vec![self.one().await];
        while events.last().unwrap().state().as_deref() != Some(state) {
            events.push(self.one().await);
        }
        events
    }

    /// All the events to the end.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}
