use serde_json::{Value, json};

use super::{Answer, Events, INTERNALS, Server, Version};

impl Version {
    /// What this version's paths begin with.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Old => "/v1",
            Self::New => "",
        }
    }

    /// The body of a send over HTTP+JSON with these parts.
    pub(crate) fn rest_message(self, parts: Vec<Value>) -> Value {
        let member = match self {
            Self::Old => "content",
            Self::New => "parts",
        };
        json!({ "message": { "messageId": "m-1", "role": "ROLE_USER", (member): parts } })
    }

    /// The body of a send over HTTP+JSON that makes the agent play a script.
    pub(crate) fn rest_script(self, script: &str) -> Value {
        self.rest_message(vec![json!({ "text": script })])
    }

    /// The media type of this version's answers.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Old => "application/json",
            Self::New => "application/a2a+json",
        }
    }
}

/// A whole request with these header lines, and with a body if there is one.
pub(crate) fn rest(verb: &str, target: &str, headers: &str, body: Option<&[u8]>) -> Vec<u8> {
    let length = body.map(|body| format!("Content-Length: {}\r\n", body.len())).unwrap_or_default();
    let head = format!("{verb} {target} HTTP/1.1\r\nHost: localhost\r\n{length}{headers}\r\n");
    [head.as_bytes(), body.unwrap_or_default()].concat()
}

impl Server {
    /// The answer to a request by a path of a version, with a body if there is one.
    pub(crate) async fn rest(&self, version: Version, verb: &str, path: &str, body: Option<Value>) -> Answer {
        self.raw(&self.rest_bytes(version, verb, path, body)).await.expect("an answer")
    }

    /// The stream that answers such a request.
    pub(crate) async fn rest_events(&self, version: Version, verb: &str, path: &str, body: Option<Value>) -> Events {
        let mut connection = self.connect().await;
        connection.write(&self.rest_bytes(version, verb, path, body)).await;
        Events::begin(connection).await
    }

    fn rest_bytes(&self, version: Version, verb: &str, path: &str, body: Option<Value>) -> Vec<u8> {
        let mut headers = version.header().to_owned();
        let body = body.map(|body| body.to_string());
        if body.is_some() {
            headers.push_str(&format!("Content-Type: {}\r\n", version.media_type()));
        }
        rest(verb, &format!("{}{path}", version.prefix()), &headers, body.as_ref().map(String::as_bytes))
    }

    /// The result of a send over HTTP+JSON that plays a script.
    pub(crate) async fn rest_play(&self, version: Version, script: &str) -> Value {
        self.rest(version, "POST", "/message:send", Some(version.rest_script(script))).await.result(version)
    }
}

impl Answer {
    /// What a request was answered with that went well.
    pub(crate) fn result(&self, version: Version) -> Value {
        assert_eq!((self.status, self.header("content-type")), (200, Some(version.media_type())), "{self:?}");
        serde_json::from_slice(&self.body).expect("a document")
    }

    /// The reason of an error, or the first field that is wrong, or nothing; its form is looked at, and that it says
    /// nothing of the server's inside.
    pub(crate) fn problem(&self, version: Version) -> String {
        assert!(self.status < 500, "{} is a fault of the server's", self.status);
        assert_eq!(self.header("content-type"), Some(version.media_type()), "{self:?}");
        let document: Value = serde_json::from_slice(&self.body).expect("a document");
        check(&document, self.status);
        assert_eq!(document["code"].is_i64() && document["message"].is_string(), version == Version::Old, "{document}");
        let detail = &document["error"]["details"][0];
        let field = &detail["fieldViolations"][0]["field"];
        detail["reason"].as_str().or(field.as_str()).unwrap_or_default().to_owned()
    }
}

/// Looks at the form of an error.
fn check(document: &Value, status: u16) {
    let error = &document["error"];
    assert_eq!(error["code"], status, "{document}");
    assert!(error["status"].is_string() && error["message"].is_string(), "{document}");
    let details = error["details"].as_array().expect("details");
    assert!(details.iter().all(|detail| detail["@type"].is_string()), "{document}");
    let text = document.to_string();
    for internal in INTERNALS {
        assert!(!text.contains(internal), "{internal:?} is in {text}");
    }
}
