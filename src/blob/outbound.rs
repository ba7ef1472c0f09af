use std::{
    pin::Pin,
    slice,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use super::{BlobStore, file_output::file_output, files::Files};
use crate::{
    agent::{Reply, ReplyForm, Update, Updates},
    error::{BoxError, Error, ErrorKind, find_error},
    types::{Part, PartContent},
};

pub(super) type Storing<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// Puts the files of replies into the store.
#[derive(Clone, Debug)]
pub(super) struct Outbound<St> {
    files: Files<St>,
    file_outputs: bool,
}

/// A reply that can be sent, or one whose files have to be stored before.
#[expect(clippy::large_enum_variant, reason = "most are the large one, which is moved a few times and never kept")]
pub(super) enum Prepared {
    Ready(Reply),
    Storing(Storing<Reply>),
}

impl<St> Outbound<St> {
    pub(super) const fn new(files: Files<St>, file_outputs: bool) -> Self {
        Self { files, file_outputs }
    }
}

impl<St: BlobStore> Outbound<St> {
    pub(super) fn prepare(self, reply: Reply) -> Prepared {
        match reply.0 {
            ReplyForm::One(mut update) => {
                self.mark_file(&mut update);
                if !self.files.are_in(&update) {
                    return Prepared::Ready(update.into());
                }
                match update {
                    Update::Message(mut message) => Prepared::Storing(Box::pin(async move {
                        self.files.take_all(&mut message.parts).await?;
                        Ok(Reply::message(message))
                    })),
                    update => Prepared::Storing(Box::pin(self.store_updates(vec![update]))),
                }
            }
            ReplyForm::Updates(mut updates) => {
                updates.iter_mut().for_each(|update| self.mark_file(update));
                if !updates.iter().any(|update| self.files.are_in(update)) {
                    return Prepared::Ready(Reply::updates(updates));
                }
                Prepared::Storing(Box::pin(self.store_updates(updates)))
            }
            ReplyForm::Stream(updates) => Prepared::Ready(Reply::stream(Stored { updates, out: self, storing: None })),
        }
    }

    /// If the store fails, what was stored before is sent, and the failure behind it.
    async fn store_updates(self, mut updates: Vec<Update>) -> Result<Reply, BoxError> {
        for index in 0..updates.len() {
            if let Err(error) = self.files.take_all(parts_mut(&mut updates[index])).await {
                updates.truncate(index);
                let items: Vec<_> = updates.into_iter().map(Ok).chain([Err(error)]).collect();
                return Ok(Reply::stream(futures_util::stream::iter(items)));
            }
        }
        Ok(Reply::updates(updates))
    }

    fn mark_file(&self, update: &mut Update) {
        if let (true, Update::Part(Part { content: PartContent::Data(data), metadata, .. })) =
            (self.file_outputs, &*update)
            && let Some(mut file) = file_output(data)
        {
            file.metadata.clone_from(metadata);
            *update = Update::Part(file);
        }
    }
}

/// A stream of updates whose files are stored as they come, one behind the other.
struct Stored<St> {
    updates: Updates,
    out: Outbound<St>,
    storing: Option<Storing<Update>>,
}

impl<St> Unpin for Stored<St> {}

impl<St: BlobStore> Stream for Stored<St> {
    type Item = Result<Update, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(storing) = &mut self.storing {
                let stored = ready!(storing.as_mut().poll(cx));
                self.storing = None;
                return Poll::Ready(Some(stored));
            }
            let Some(update) = ready!(self.updates.as_mut().poll_next(cx)) else { return Poll::Ready(None) };
            let mut update = match update {
                Ok(update) => update,
                Err(error) => return Poll::Ready(Some(Err(error))),
            };
            self.out.mark_file(&mut update);
            if !self.out.files.are_in(&update) {
                return Poll::Ready(Some(Ok(update)));
            }
            let files = self.out.files.clone();
            self.storing = Some(Box::pin(async move {
                files.take_all(parts_mut(&mut update)).await?;
                Ok(update)
            }));
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let waiting = usize::from(self.storing.is_some());
        let (least, most) = self.updates.size_hint();
        (least.saturating_add(waiting), most.and_then(|most| most.checked_add(waiting)))
    }
}

impl<St: BlobStore> Files<St> {
    async fn take_all(&self, parts: &mut [Part]) -> Result<(), BoxError> {
        for part in parts {
            let bad_base64 =
                || Error::new(ErrorKind::InvalidAgentResponse).with_detail("the base64 of a file is not valid");
            self.take(part, bad_base64).await.map_err(find_error)?;
        }
        Ok(())
    }

    /// True if there is anything to store or to note.
    fn are_in(&self, update: &Update) -> bool {
        let is_one = |part: &Part| matches!(part.content, PartContent::Raw(_)) || self.is_noted(part);
        match update {
            Update::Text(_) => false,
            Update::Part(part) => is_one(part),
            Update::Artifact(update) => update.artifact.parts.iter().any(is_one),
            Update::Status(update) => update.message.iter().flat_map(|message| &message.parts).any(is_one),
            Update::Message(message) => message.parts.iter().any(is_one),
        }
    }
}

fn parts_mut(update: &mut Update) -> &mut [Part] {
    match update {
        Update::Text(_) => &mut [],
        Update::Part(part) => slice::from_mut(part),
        Update::Artifact(update) => &mut update.artifact.parts,
        Update::Status(update) => update.message.as_mut().map_or(&mut [], |message| &mut message.parts),
        Update::Message(message) => &mut message.parts,
    }
}
