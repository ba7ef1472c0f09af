use std::{borrow::Cow, fmt};

/// What is wrong with a card, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardError {
    field: String,
    problem: Cow<'static, str>,
}

impl CardError {
    pub(super) fn new(field: impl Into<String>, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }

    /// The path of the field as version 1.0 spells it, such as `supportedInterfaces[0].url`.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl fmt::Display for CardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent card: {}{}{}", self.field, if self.field.is_empty() { "" } else { " " }, self.problem)
    }
}

impl std::error::Error for CardError {}
