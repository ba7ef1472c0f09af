/// Where and how to tell a caller about updates of a task (spec 1.0 §4.3.1).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PushNotificationConfig {
    /// Made by the server where the caller gives none.
    pub id: Option<String>,
    /// The task that it is about; empty inside a send.
    pub task_id: Option<String>,
    /// The webhook.
    pub url: String,
    /// Echoed to the webhook.
    pub token: Option<String>,
    /// How the webhook wants to be authenticated to.
    pub authentication: Option<PushAuthentication>,
}

/// How a webhook wants to be authenticated to (spec 1.0 §4.3.2).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PushAuthentication {
    /// The HTTP authentication schemes that it takes; 1.0 has exactly one.
    pub schemes: Vec<String>,
    /// What goes behind the scheme.
    pub credentials: Option<String>,
}

impl PushNotificationConfig {
    /// Tell this webhook.
    pub fn new(url: impl Into<String>) -> Self {
        Self { id: None, task_id: None, url: url.into(), token: None, authentication: None }
    }
}

impl PushAuthentication {
    /// Any of these schemes.
    #[must_use]
    pub const fn new(schemes: Vec<String>) -> Self {
        Self { schemes, credentials: None }
    }
}
