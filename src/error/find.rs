use std::{error::Error as StdError, time::Duration};

use super::{BoxError, Error, ErrorKind};

/// What to advise when a layer of tower sheds load: long enough to matter, short enough for a person who waits.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Finds the [`Error`] in what a service failed with.
///
/// It may lie anywhere in the chain of sources, because tower's layers wrap what they pass on. Their own errors have a
/// meaning too: `load_shed` becomes [`Overloaded`](ErrorKind::Overloaded) with retry advice. Anything else is an
/// internal error, with the original as its source.
///
/// This is a plain function on purpose: an `impl From<BoxError> for Error` would leave stacks with a `timeout` in them
/// impossible to spawn.
#[must_use]
pub fn find_error(error: BoxError) -> Error {
    let error = match error.downcast::<Error>() {
        Ok(error) => return *error,
        Err(error) => error,
    };
    let mut cause: Option<&(dyn StdError + 'static)> = Some(&*error);
    while let Some(current) = cause {
        if let Some(found) = current.downcast_ref::<Error>() {
            return found.shown().with_source(error);
        }
        if current.is::<tower::load_shed::error::Overloaded>() {
            return Error::new(ErrorKind::Overloaded).with_retry_after(RETRY_AFTER).with_source(error);
        }
        cause = current.source();
    }
    Error::internal(error)
}

impl Error {
    /// A copy of all that callers are shown.
    pub(crate) fn shown(&self) -> Self {
        let mut copy = Self::new(self.0.kind);
        copy.0.code = self.0.code;
        copy.0.detail.clone_from(&self.0.detail);
        copy.0.info.clone_from(&self.0.info);
        copy.0.violations.clone_from(&self.0.violations);
        copy.0.retry_after = self.0.retry_after;
        copy.0.data.clone_from(&self.0.data);
        copy
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Wrapped(Error);

    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a layer failed")
        }
    }

    impl StdError for Wrapped {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_error_is_found_bare_or_wrapped() {
        let bare = find_error(Error::task_not_found("t").into());
        assert_eq!(bare.code(), -32001);
        let wrapped = find_error(Wrapped(Error::task_not_found("t")).into());
        assert_eq!((wrapped.code(), wrapped.info()), (-32001, bare.info()));
        assert_eq!(wrapped.source().map(ToString::to_string), Some("a layer failed".to_owned()));
    }

    #[test]
    fn shed_load_comes_with_retry_advice() {
        let error = find_error(tower::load_shed::error::Overloaded::new().into());
        assert_eq!((error.kind(), error.retry_after()), (ErrorKind::Overloaded, Some(RETRY_AFTER)));
    }

    #[test]
    fn f06_anything_else_is_internal_and_says_nothing() {
        let error = find_error("password is hunter2".into());
        assert_eq!(error.code(), -32603);
        assert_eq!(error.message(), "Internal error");
    }
}
