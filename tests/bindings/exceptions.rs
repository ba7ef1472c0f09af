//! Where a way may differ, and why: the only place where it may.

use serde_json::Value;

use crate::way::Way;

/// One difference.
pub(crate) struct Exception {
    pub(crate) of: fn(Way) -> bool,
    /// The scenarios; none at all are all of them.
    pub(crate) scenarios: &'static [&'static str],
    pub(crate) why: &'static str,
    pub(crate) change: Change,
}

pub(crate) enum Change {
    /// It is not played over this way.
    Absent,
    /// What the first way answers has to be changed like this.
    Edit(fn(&mut [Value])),
}

pub(crate) const EXCEPTIONS: &[Exception] = &[];
