use super::{At, List, Struct, Text};
use crate::{
    error::Error,
    types::{Few, Message, Part, Role},
};

/// What a message may have, which every version says alike.
#[derive(Default)]
pub(in crate::dialect) struct Optional<'de> {
    pub(in crate::dialect) context_id: Option<Text<'de>>,
    pub(in crate::dialect) task_id: Option<Text<'de>>,
    pub(in crate::dialect) reference_task_ids: Option<List<Text<'de>>>,
    pub(in crate::dialect) extensions: Option<List<Text<'de>>>,
    pub(in crate::dialect) metadata: Option<Struct>,
}

impl Optional<'_> {
    /// With what a message must have.
    pub(in crate::dialect) fn message(self, message_id: String, role: Role, parts: Few<Part>) -> Message {
        Message {
            message_id,
            role,
            parts,
            context_id: self.context_id.filter(|id| !id.is_empty()).map(|id| id.to_arc()),
            task_id: self.task_id.filter(|id| !id.is_empty()).map(|id| id.to_arc()),
            reference_task_ids: self.reference_task_ids.map_or_else(Vec::new, List::into_strings),
            extensions: self.extensions.map_or_else(Vec::new, List::into_strings),
            metadata: self.metadata.map(|metadata| metadata.0),
        }
    }
}

/// The parts of a message, which must be given.
pub(in crate::dialect) fn parts<T>(
    list: Option<List<T>>,
    at: &At<'_>,
    read: impl Fn(T, &At<'_>) -> Result<Part, Error>,
) -> Result<Few<Part>, Error> {
    let parts = at.required(list)?.0;
    if parts.is_empty() {
        return Err(at.invalid("must not be empty"));
    }
    parts.into_iter().enumerate().map(|(index, part)| read(part, &at.index(index))).collect()
}
