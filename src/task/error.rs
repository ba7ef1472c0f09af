use std::time::Duration;

use super::StoreError;
use crate::error::{Error, ErrorKind};

/// What to advise when there is no room, or the store is not available: databases that restart are back within seconds.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What a caller is told whose message this process has no room for, or no more.
pub(super) fn overloaded() -> Error {
    Error::new(ErrorKind::Overloaded).with_retry_after(RETRY_AFTER)
}

/// What a caller is told of a store's error.
pub(super) fn store_error(error: StoreError, task_id: &str) -> Error {
    match error {
        StoreError::NotFound => Error::task_not_found(task_id),
        StoreError::BadToken => Error::invalid_params("pageToken", "is not one that this server gave"),
        StoreError::Terminal => {
            Error::new(ErrorKind::UnsupportedOperation).with_detail("the task is over").with_info("taskId", task_id)
        }
        StoreError::Conflict => Error::new(ErrorKind::UnsupportedOperation)
            .with_detail("the task has changed meanwhile")
            .with_info("taskId", task_id),
        StoreError::Unavailable(_) => {
            Error::new(ErrorKind::Unavailable).with_source(error).with_retry_after(RETRY_AFTER)
        }
    }
}
