use std::{
    fmt,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

/// Tells an agent that its work is no longer wanted. Clones tell the same, and cost a reference count: every request
/// makes a few.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Inner>);

#[derive(Default)]
struct Inner {
    canceled: AtomicBool,
    notify: Notify,
}

impl Cancellation {
    /// One that nobody has asked for yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for it; everyone who waits is told.
    pub fn cancel(&self) {
        self.0.canceled.store(true, Ordering::Release);
        self.0.notify.notify_waiters();
    }

    /// True once it was asked for.
    #[must_use]
    pub fn is_canceled(&self) -> bool {
        self.0.canceled.load(Ordering::Acquire)
    }

    /// Waits until it is asked for.
    pub fn canceled(&self) -> impl Future<Output = ()> + Send + '_ {
        self.0.canceled()
    }

    /// Waits until it is asked for, without borrowing.
    pub fn canceled_owned(&self) -> impl Future<Output = ()> + Send + use<> {
        let inner = Arc::clone(&self.0);
        async move { inner.canceled().await }
    }
}

impl Inner {
    async fn canceled(&self) {
        let mut told = std::pin::pin!(self.notify.notified());
        // From here on a cancel wakes us; one that came before is seen below.
        told.as_mut().enable();
        if !self.canceled.load(Ordering::Acquire) {
            told.await;
        }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation").field(&self.is_canceled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn who_waits_is_told_and_who_comes_later_need_not_wait() {
        let cancellation = Cancellation::new();
        let (mut first, mut second) =
            (Box::pin(cancellation.canceled_owned()), Box::pin(cancellation.clone().canceled_owned()));
        assert!(first.as_mut().now_or_never().is_none() && second.as_mut().now_or_never().is_none());
        let never_polled = Box::pin(cancellation.canceled_owned());
        cancellation.cancel();
        for waiting in [first, second, never_polled] {
            assert!(waiting.now_or_never().is_some());
        }
        assert!(cancellation.is_canceled() && cancellation.canceled().now_or_never().is_some());
    }
}
