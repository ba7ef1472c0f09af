use serde_json::{Value, json};

/// The versions of the protocol, as a client writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Old,
    New,
}

impl Version {
    pub(crate) const BOTH: [Self; 2] = [Self::Old, Self::New];

    /// The header lines that say it; 0.3 has none.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Old => "",
            Self::New => "A2A-Version: 1.0\r\n",
        }
    }

    pub(crate) fn send(self) -> &'static str {
        match self {
            Self::Old => "message/send",
            Self::New => "SendMessage",
        }
    }

    pub(crate) fn stream(self) -> &'static str {
        match self {
            Self::Old => "message/stream",
            Self::New => "SendStreamingMessage",
        }
    }

    pub(crate) fn get(self) -> &'static str {
        match self {
            Self::Old => "tasks/get",
            Self::New => "GetTask",
        }
    }

    pub(crate) fn cancel(self) -> &'static str {
        match self {
            Self::Old => "tasks/cancel",
            Self::New => "CancelTask",
        }
    }

    pub(crate) fn subscribe(self) -> &'static str {
        match self {
            Self::Old => "tasks/resubscribe",
            Self::New => "SubscribeToTask",
        }
    }

    /// One part of text.
    pub(crate) fn text(self, text: &str) -> Value {
        match self {
            Self::Old => json!({ "kind": "text", "text": text }),
            Self::New => json!({ "text": text }),
        }
    }

    /// The parameters of a send with these parts.
    pub(crate) fn message(self, parts: Vec<Value>) -> Value {
        let role = match self {
            Self::Old => "user",
            Self::New => "ROLE_USER",
        };
        json!({ "message": { "messageId": "m-1", "role": role, "parts": parts } })
    }

    /// The parameters of a send that makes the agent play a script.
    pub(crate) fn script(self, script: &str) -> Value {
        self.message(vec![self.text(script)])
    }

    /// The same for a task that is there already.
    pub(crate) fn follow_up(self, script: &str, task_id: &str) -> Value {
        let mut params = self.script(script);
        params["message"]["taskId"] = task_id.into();
        params
    }

    /// The configuration that asks for an answer at once.
    pub(crate) fn at_once(self) -> Value {
        match self {
            Self::Old => json!({ "blocking": false }),
            Self::New => json!({ "returnImmediately": true }),
        }
    }
}
