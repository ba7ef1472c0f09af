use std::sync::Arc;

use super::{Few, JsonObject, Part};

/// A result of a task (spec 1.0 §4.1.7).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Artifact {
    /// Unique within the task.
    pub artifact_id: Arc<str>,
    /// A name for people.
    pub name: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// What it holds.
    pub parts: Few<Part>,
    /// URIs of the extensions that are at work in it.
    pub extensions: Vec<String>,
    /// Anything else the agent wants to say about it.
    pub metadata: Option<JsonObject>,
}

impl Artifact {
    /// An artifact of these parts.
    pub fn new(artifact_id: impl Into<Arc<str>>, parts: impl Into<Few<Part>>) -> Self {
        Self {
            artifact_id: artifact_id.into(),
            name: None,
            description: None,
            parts: parts.into(),
            extensions: Vec::new(),
            metadata: None,
        }
    }

    /// With this name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// With this description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// With this metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: JsonObject) -> Self {
        self.metadata = Some(metadata);
        self
    }
}
