//! Who a caller is, as far as tasks are concerned.

use std::{fmt, sync::Arc};

/// Whose a task is. A caller sees its own tasks and no others; those of others look as if they did not exist.
///
/// A layer that knows who calls puts an `Owner` into the request's extensions; without one the caller is
/// [anonymous](Self::anonymous), and all anonymous callers share their tasks.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Owner(Option<Arc<str>>);

impl Owner {
    /// A caller that is known by this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(Some(name.into()))
    }

    /// A caller that nobody knows.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self(None)
    }

    /// The name; `None` if nobody knows the caller.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Owner({})", self.name().unwrap_or("anonymous"))
    }
}
