use std::task::{Context, Poll, ready};

use tower_service::Service;

use super::log;
use crate::error::{BoxError, Error, find_error};

/// Whether the service below a binding has failed. A failed service is never called again; its error answers every call
/// of this clone, so that a caller gets an answer where the connection would break otherwise.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Option<Error>);

impl Readiness {
    /// Ready as soon as the service is, or has failed.
    pub(crate) fn poll<S, R>(&mut self, service: &mut S, cx: &mut Context<'_>) -> Poll<()>
    where
        S: Service<R>,
        S::Error: Into<BoxError>,
    {
        if self.0.is_none()
            && let Err(error) = ready!(service.poll_ready(cx))
        {
            let error = find_error(error.into());
            log(&error);
            self.0 = Some(error);
        }
        Poll::Ready(())
    }

    /// What it failed with.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.0.as_ref()
    }
}
