//! Errors as gRPC says them: a code, words, and details that programs can read (spec 1.0 §5.4, §10.6).

use std::collections::HashMap;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::error::{Error, ErrorKind};

pub(super) use crate::binding::log;

/// The domain of the protocol's own reasons.
const DOMAIN: &str = "a2a-protocol.org";

/// How long the words of an error may be, in bytes, and all that its details say. Both go into the head, where they grow
/// by half and more, and clients of gRPC take 8 KiB of that by default: more would hide the code from them. Names that
/// callers make up are in both.
const MAX_MESSAGE: usize = 1 << 10;
const MAX_DETAILS: usize = 2 << 10;

/// The code of a kind, which the table of kinds says.
pub(super) fn code(kind: ErrorKind) -> Code {
    Code::from_i32(kind.grpc_code() as i32)
}

/// An error, as it goes to the caller. What led to it stays here.
pub(super) fn status(error: &Error) -> Status {
    let (code, message) = (code(error.kind()), shortened(&error.message(), &mut { MAX_MESSAGE }));
    let mut room = MAX_DETAILS;
    let mut details = ErrorDetails::new();
    if let Some(reason) = error.kind().reason() {
        let metadata: HashMap<_, _> =
            error.info().iter().map(|(name, value)| ((*name).to_owned(), shortened(value, &mut room))).collect();
        details.set_error_info(reason, DOMAIN, metadata);
    }
    for violation in error.violations() {
        if room > 0 {
            let field = shortened(&violation.field, &mut room);
            details.add_bad_request_violation(field, shortened(&violation.description, &mut room));
        }
    }
    if let Some(after) = error.retry_after() {
        details.set_retry_info(Some(after));
    }
    let bare = details.error_info().is_none() && details.bad_request().is_none() && details.retry_info().is_none();
    if bare { Status::new(code, message) } else { Status::with_error_details(code, message, details) }
}

/// As much of a text as there is room for, with a mark if that is not all.
fn shortened(text: &str, room: &mut usize) -> String {
    let end = (0..=text.len().min(*room)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    *room -= end;
    if end == text.len() { text.to_owned() } else { format!("{}…", &text[..end]) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_kind_has_the_code_of_the_table() {
        for kind in ErrorKind::ALL {
            // The names are those of the numbers.
            assert_eq!(format!("{:?}", code(kind)).to_uppercase(), kind.grpc_code().name().replace('_', ""));
            let status = status(&Error::new(kind));
            assert_eq!(status.message(), kind.message());
            let passes = matches!(kind, ErrorKind::Overloaded | ErrorKind::Unavailable);
            assert_eq!(status.code() == Code::Internal, !kind.is_callers_fault() && !passes);
        }
        for (kind, expected) in [
            (ErrorKind::TaskNotFound, Code::NotFound),
            (ErrorKind::TaskNotCancelable, Code::FailedPrecondition),
            (ErrorKind::ContentTypeNotSupported, Code::InvalidArgument),
            (ErrorKind::RequestTimeout, Code::DeadlineExceeded),
            (ErrorKind::Overloaded, Code::Unavailable),
            // Where HTTP's statuses say it in another way.
            (ErrorKind::MethodNotFound, Code::Unimplemented),
            (ErrorKind::PayloadTooLarge, Code::ResourceExhausted),
        ] {
            assert_eq!(code(kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn f118_details_tell_errors_of_one_code_apart() {
        let details = status(&Error::task_not_found("t9")).get_error_details();
        let info = details.error_info().unwrap();
        assert_eq!((&*info.reason, &*info.domain), ("TASK_NOT_FOUND", "a2a-protocol.org"));
        assert_eq!(info.metadata["taskId"], "t9");

        let details = status(&Error::invalid_params("message.parts", "must not be empty")).get_error_details();
        assert!(details.error_info().is_none());
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, "message.parts");

        let busy = Error::new(ErrorKind::Overloaded).with_retry_after(Duration::from_millis(1500));
        let details = status(&busy).get_error_details();
        assert_eq!(details.retry_info().unwrap().retry_delay, Some(Duration::from_millis(1500)));
        assert!(status(&Error::internal("secret")).details().is_empty());
    }

    #[test]
    fn what_callers_make_up_fits_into_a_head() {
        let mut many = Error::invalid_params("first", "must be given");
        for _ in 0..1000 {
            many = many.with_violation("é".repeat(100), "must be given");
        }
        for error in [
            Error::task_not_found("漢".repeat(100_000)),
            Error::new(ErrorKind::MethodNotFound).with_detail("漢".repeat(100_000)),
            Error::invalid_params("é".repeat(100_000), "é".repeat(100_000)),
            many,
        ] {
            let status = status(&error);
            let head = status.clone().into_http::<()>();
            let size: usize = head.headers().iter().map(|(name, value)| 32 + name.as_str().len() + value.len()).sum();
            assert!(size < 8 << 10, "{size}");
            assert_eq!(status.code(), code(error.kind()));
        }
        let details = |id: &str| status(&Error::task_not_found(id)).get_error_details().error_info().unwrap().clone();
        let longest = "x".repeat(MAX_DETAILS);
        assert_eq!(details(&longest).metadata["taskId"], longest);
        assert_eq!(details(&format!("{longest}y")).metadata["taskId"], format!("{longest}…"));
    }
}
