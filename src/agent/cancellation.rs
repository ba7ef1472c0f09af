use std::future::Future;

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Tells an agent that its work is no longer wanted. Clones tell the same.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(CancellationToken);

impl Cancellation {
    /// One that nobody has asked for yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for it; everyone who waits is told.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// True once it was asked for.
    #[must_use]
    pub fn is_canceled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until it is asked for.
    pub fn canceled(&self) -> impl Future<Output = ()> + Send + '_ {
        self.0.cancelled()
    }

    /// Waits until it is asked for, without borrowing.
    pub fn canceled_owned(&self) -> impl Future<Output = ()> + Send + use<> {
        self.canceled_future()
    }

    pub(crate) fn canceled_future(&self) -> WaitForCancellationFutureOwned {
        self.0.clone().cancelled_owned()
    }
}
