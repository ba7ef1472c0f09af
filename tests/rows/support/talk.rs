//! How a client has to speak to each of the mounts.

use serde_json::{Value, json};

/// A mount, and the version in which it is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Talk {
    pub(crate) path: &'static str,
    /// True for 1.0.
    pub(crate) new: bool,
    /// True if the version has to be stated.
    pub(crate) negotiated: bool,
    /// True if a send is answered with a message.
    pub(crate) messages: bool,
    /// True if stream events come without envelopes.
    pub(crate) bare: bool,
    pub(crate) card: &'static str,
}

const STRICT: Talk = Talk {
    path: "/strict",
    new: false,
    negotiated: true,
    messages: false,
    bare: false,
    card: "/.well-known/agent-card.json",
};

pub(crate) const STRICT_0_3: Talk = STRICT;
pub(crate) const STRICT_1_0: Talk = Talk { new: true, ..STRICT };
pub(crate) const ONLY_0_3: Talk =
    Talk { path: "/strict-0.3", negotiated: false, card: "/.well-known/agent-card-0.3.json", ..STRICT };
pub(crate) const ONLY_1_0: Talk =
    Talk { path: "/strict-1.0", new: true, card: "/.well-known/agent-card-1.0.json", ..ONLY_0_3 };
pub(crate) const BREAD_0_3: Talk =
    Talk { path: "/a2a", messages: true, card: "/.well-known/agent-card-v03.json", ..ONLY_0_3 };
pub(crate) const BREAD_1_0: Talk =
    Talk { path: "/a2a-v1", new: true, card: "/.well-known/agent-card-v1.json", ..BREAD_0_3 };
pub(crate) const VIBES: Talk = Talk { path: "/", bare: true, card: "/.well-known/agent.json", ..ONLY_0_3 };

pub(crate) const BREAD: [Talk; 2] = [BREAD_0_3, BREAD_1_0];
pub(crate) const ALL: [Talk; 7] = [STRICT_0_3, STRICT_1_0, ONLY_0_3, ONLY_1_0, BREAD_0_3, BREAD_1_0, VIBES];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Send,
    Stream,
    Get,
    Cancel,
    Subscribe,
}

impl Talk {
    pub(crate) fn method(self, op: Op) -> &'static str {
        match (op, self.new) {
            (Op::Send, false) => "message/send",
            (Op::Send, true) => "SendMessage",
            (Op::Stream, false) => "message/stream",
            (Op::Stream, true) => "SendStreamingMessage",
            (Op::Get, false) => "tasks/get",
            (Op::Get, true) => "GetTask",
            (Op::Cancel, false) => "tasks/cancel",
            (Op::Cancel, true) => "CancelTask",
            (Op::Subscribe, false) => "tasks/resubscribe",
            (Op::Subscribe, true) => "SubscribeToTask",
        }
    }

    pub(crate) fn headers(self) -> Vec<(&'static str, &'static str)> {
        let version = if self.new { "1.0" } else { "0.3" };
        self.negotiated.then_some(("a2a-version", version)).into_iter().collect()
    }

    pub(crate) fn text(self, text: &str) -> Value {
        if self.new { json!({ "text": text }) } else { json!({ "kind": "text", "text": text }) }
    }

    pub(crate) fn data(self, data: Value) -> Value {
        if self.new { json!({ "data": data }) } else { json!({ "kind": "data", "data": data }) }
    }

    pub(crate) fn url(self, url: &str) -> Value {
        if self.new { json!({ "url": url }) } else { json!({ "kind": "file", "file": { "fileWithUri": url } }) }
    }

    pub(crate) fn raw(self, base64: &str) -> Value {
        if self.new { json!({ "raw": base64 }) } else { json!({ "kind": "file", "file": { "fileWithBytes": base64 } }) }
    }

    /// With a media type and a name, in the version's own places.
    pub(crate) fn named(self, mut part: Value, media_type: &str, name: &str) -> Value {
        if self.new {
            part["mediaType"] = media_type.into();
            part["filename"] = name.into();
        } else {
            part["file"]["mimeType"] = media_type.into();
            part["file"]["name"] = name.into();
        }
        part
    }

    /// The params of a send.
    pub(crate) fn message(self, parts: Vec<Value>) -> Value {
        if self.new {
            json!({ "message": { "messageId": "m1", "role": "ROLE_USER", "parts": parts } })
        } else {
            json!({ "message": { "kind": "message", "messageId": "m1", "role": "user", "parts": parts } })
        }
    }

    pub(crate) fn says(self, text: &str) -> Value {
        self.message(vec![self.text(text)])
    }

    /// The params of a send that does not wait.
    pub(crate) fn says_without_waiting(self, text: &str) -> Value {
        let mut params = self.says(text);
        params["configuration"] =
            if self.new { json!({ "returnImmediately": true }) } else { json!({ "blocking": false }) };
        params
    }

    /// A state's name, from that of 0.3.
    pub(crate) fn state(self, state: &str) -> String {
        if self.new { format!("TASK_STATE_{}", state.to_uppercase().replace('-', "_")) } else { state.to_owned() }
    }

    /// The task that a send was answered with.
    pub(crate) fn sent_task(self, result: &Value) -> Value {
        if self.new { result["task"].clone() } else { result.clone() }
    }

    /// The message that a send was answered with.
    pub(crate) fn sent_message(self, result: &Value) -> Value {
        if self.new { result["message"].clone() } else { result.clone() }
    }
}
