use std::fmt;

use crate::agent_card::CardError;

/// Why a server cannot be made as it was described.
///
/// Both `Display` and `Debug` say it in words, so that a `main` that returns it does too.
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
    /// The URL has a query or a fragment.
    UrlWithQuery(String),
    /// There is a [retry window](crate::task::TaskLayer::retry_window), but the task store takes no
    /// [claims](crate::task::TaskStore#claims).
    NoClaims,
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
            Self::NoCardPath => f.write_str("these settings need a card path: set one with Mount::card_path"),
            Self::BadPath(path) => write!(f, "{path:?} is no path: it must begin with a slash"),
            Self::BadUrl(url) => write!(f, "{url:?} is no absolute http or https URL"),
            Self::UrlWithQuery(url) => write!(
                f,
                "{url:?} has a query or a fragment: leave it out, an agent is found by its path, and clients would put paths \
                 of their own behind it"
            ),
            Self::NoClaims => f.write_str(
                "the task store takes no claims, so a message that comes again cannot be recognised: leave \
                 TaskLayer::retry_window out, or implement TaskStore::claim",
            ),
            Self::PathTaken { path, first, second } => {
                write!(
                    f,
                    "the path {path} is claimed by the agent {first:?} and by the agent {second:?}: set another with \
                     Mount::card_path, Mount::rpc_path or another path for its files"
                )
            }
        }
    }
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Card(_) => "Card",
            Self::NoCardPath => "NoCardPath",
            Self::BadPath(_) => "BadPath",
            Self::BadUrl(_) => "BadUrl",
            Self::UrlWithQuery(_) => "UrlWithQuery",
            Self::NoClaims => "NoClaims",
            Self::PathTaken { .. } => "PathTaken",
        };
        write!(f, "{name}({self})")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_says_the_words_and_the_cure() {
        let (path, first, second) = ("/x".to_owned(), "a".to_owned(), "b".to_owned());
        let error = ConfigError::PathTaken { path, first, second };
        assert!(error.to_string().contains("Mount::card_path"));
        assert_eq!(format!("{error:?}"), format!("PathTaken({error})"));
        assert!(format!("{:?}", ConfigError::NoCardPath).contains("Mount::card_path"));
    }
}
