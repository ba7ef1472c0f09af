use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

use crate::error::{Error, ErrorKind};

pub(crate) fn document_response(status: StatusCode, media_type: &'static str, document: Bytes) -> Response<Bytes> {
    let mut response = Response::new(document);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// When a retry makes sense, in whole seconds: a broken one counts whole.
pub(crate) fn retry_after(error: &Error) -> Option<HeaderValue> {
    let after = error.retry_after()?;
    Some(HeaderValue::from(after.as_secs() + u64::from(after.subsec_nanos() > 0)))
}

/// Tells the log what callers are not told.
pub(crate) fn log(error: &Error) {
    if matches!(error.kind(), ErrorKind::Internal | ErrorKind::InvalidAgentResponse) {
        tracing::error!(error = %Causes(error), "a call failed inside");
    }
}

/// An error and what led to it, on one line.
struct Causes<'a>(&'a (dyn std::error::Error + 'static));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// Writes text as it stands inside a JSON string.
pub(crate) struct Escaped<'a>(pub(crate) &'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(|character: char| matches!(character, '"' | '\\') || character.is_control()) {
            let (plain, special) = rest.split_at(at);
            self.0.push_str(plain);
            let mut characters = special.chars();
            match characters.next() {
                Some('\n') => self.0.push_str("\\n"),
                Some(quoted @ ('"' | '\\')) => self.0.extend(['\\', quoted]),
                Some(control) => write!(self.0, "\\u{:04x}", u32::from(control))?,
                None => {}
            }
            rest = characters.as_str();
        }
        self.0.push_str(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_broken_second_counts_whole() {
        let retry = |after| retry_after(&Error::new(ErrorKind::Overloaded).with_retry_after(after)).unwrap();
        assert_eq!(retry(Duration::from_secs(3)), "3");
        assert_eq!(retry(Duration::from_millis(3001)), "4");
        assert!(retry_after(&ErrorKind::Overloaded.into()).is_none());
    }

    #[test]
    fn f06_the_log_has_the_causes() {
        let inner = std::io::Error::other("disk on fire");
        assert_eq!(Causes(&Error::internal(inner)).to_string(), "Internal error: disk on fire");
    }
}
