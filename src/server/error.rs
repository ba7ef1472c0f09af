use std::fmt;

use crate::agent_card::CardError;

/// Why a server cannot be made as it was described.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The card breaks a rule of the protocol.
    Card(CardError),
    /// The mount says at no path where its card is, and its settings have no default.
    NoCardPath,
    /// A path does not begin with a slash, or is none.
    BadPath(String),
    /// The URL is none that a client could call.
    BadUrl(String),
    /// Two mounts claim the same path; only one of them could be reached.
    PathTaken {
        /// The path.
        path: String,
        /// The agent that has it.
        first: String,
        /// The agent that wants it too.
        second: String,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Card(error) => error.fmt(f),
            Self::NoCardPath => f.write_str("these settings need a card path, and none is set"),
            Self::BadPath(path) => write!(f, "{path:?} is no path: it must begin with a slash"),
            Self::BadUrl(url) => write!(f, "{url:?} is no absolute http or https URL"),
            Self::PathTaken { path, first, second } => {
                write!(f, "the path {path} is claimed by the agent {first:?} and by the agent {second:?}")
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Card(error) = self { Some(error) } else { None }
    }
}

impl From<CardError> for ConfigError {
    fn from(error: CardError) -> Self {
        Self::Card(error)
    }
}
