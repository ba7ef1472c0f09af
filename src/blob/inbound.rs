use std::sync::Arc;

use http::Request;

use super::{BlobStore, files::Files};
use crate::{
    agent::RequestExt as _,
    error::{Error, find_error},
    types::{Message, PartContent},
};

pub(super) fn has_inline(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part.content, PartContent::Raw(_)))
}

/// Looks at every inline file without decoding any.
pub(super) fn check(message: &Message, max_bytes: usize) -> Result<(), Error> {
    let inline = || {
        message.parts.iter().enumerate().filter_map(|(index, part)| match &part.content {
            PartContent::Raw(bytes) => Some((index, bytes)),
            _ => None,
        })
    };
    // Sizes first: they cost nothing, and base64 is then read up to the limit only.
    for (index, bytes) in inline() {
        if bytes.len() > max_bytes {
            let words = format!("is an inline file of {} bytes, of which at most {max_bytes} are allowed", bytes.len());
            return Err(Error::invalid_params(field(index), words));
        }
    }
    inline().find(|(_, bytes)| !bytes.is_valid()).map_or(Ok(()), |(index, _)| Err(bad_base64(index)))
}

/// Puts every inline file into the store and its URL in its place, for the agent and for the task's history; and, without
/// that, notes the files that are named.
pub(super) async fn store<St: BlobStore>(
    files: Files<St>,
    mut req: Request<Arc<Message>>,
    changes: bool,
) -> Result<Request<Arc<Message>>, Error> {
    // Until it is noted that a file is named, it might go; until it is stored, there is nothing to name.
    let hold = req.task_context().hold_message();
    for (index, part) in Arc::make_mut(req.body_mut()).parts.iter_mut().enumerate() {
        if changes || files.is_noted(part) {
            files.take(part, || bad_base64(index)).await.map_err(find_error)?;
        }
    }
    hold.keep(Arc::clone(req.body()));
    Ok(req)
}

fn field(index: usize) -> String {
    format!("message.parts[{index}]")
}

fn bad_base64(index: usize) -> Error {
    Error::invalid_params(field(index), "is an inline file whose base64 is not valid")
}
