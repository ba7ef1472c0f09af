use std::sync::Arc;

use super::{At, Members, Text, read_members};
use crate::{
    call::{Binding, Call},
    error::Error,
};

/// Reads the parameters of a call as [`read_members`] does. Over HTTP+JSON, where all of them may stand in the path,
/// there may be none.
pub(in crate::dialect) fn read_rest<'a, T: Members<'a>>(call: &'a Call) -> Result<T, Error> {
    match call.params() {
        None if call.binding() == Binding::HttpJson => Ok(T::default()),
        _ => read_members(call),
    }
}

/// An id that must be given: that of the path, or, without one, that of the parameters.
pub(in crate::dialect) fn id_of(
    path: Option<&Arc<str>>,
    params: Option<Text<'_>>,
    at: &At<'_>,
) -> Result<Arc<str>, Error> {
    match path {
        Some(id) => Ok(Arc::clone(id)),
        None => at.filled(params).map(|id| id.to_arc()),
    }
}
