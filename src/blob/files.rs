use super::{BlobStore, File, Referrer};
use crate::{
    agent::TaskContext,
    error::{BoxError, Error},
    types::{Part, PartContent},
};

/// A store, and the task that refers to what is put into it, where that is noted.
#[derive(Clone, Debug)]
pub(super) struct Files<St> {
    store: St,
    referrer: Option<Referrer>,
}

impl<St: BlobStore> Files<St> {
    /// With the context of a task, whatever happens is noted.
    pub(super) fn new(store: St, context: Option<&TaskContext>) -> Self {
        // Whoever has no task has nobody who would miss the files.
        let context = context.filter(|context| !context.task_id().is_empty() && store.keeps_references());
        let referrer = context.map(|context| Referrer::new(context.owner().clone(), context.task_id().clone()));
        Self { store, referrer }
    }

    /// True if the part names a file of the store, and it is to be noted who does.
    pub(super) fn is_noted(&self, part: &Part) -> bool {
        self.referrer.is_some() && matches!(&part.content, PartContent::Url(url) if self.store.id_of(url).is_some())
    }

    /// Puts an inline file into the store and its URL in its place, and notes what is named. All else stays as it is.
    pub(super) async fn take(&self, part: &mut Part, bad_base64: impl FnOnce() -> Error) -> Result<(), BoxError> {
        match (&part.content, &self.referrer) {
            (PartContent::Raw(bytes), referrer) => {
                let file = File::of_part(bytes.decode().ok_or_else(bad_base64)?, part);
                let url = match referrer {
                    Some(referrer) => self.store.put_for(file, referrer).await?,
                    None => self.store.put(file).await?,
                };
                part.content = PartContent::Url(url);
            }
            (PartContent::Url(url), Some(referrer)) => {
                if let Some(blob) = self.store.id_of(url) {
                    self.store.refer(blob, referrer).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}
