use std::{fmt, sync::Arc};

use crate::types::{Artifact, Event, Few, Part, PartContent, Task, TaskArtifactUpdateEvent, TaskStatus};

/// Why an event cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoldError {
    /// The task is in a terminal state, after which nothing happens.
    Terminal,
}

impl fmt::Display for FoldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task is over")
    }
}

impl std::error::Error for FoldError {}

/// What a task is after one more event.
///
/// - A task event replaces the task.
/// - A message joins the history, behind what the agent last said in its status.
/// - A status replaces the status; what the agent said in the old one joins the history.
/// - An artifact replaces the one of its id or is added. With `append`, its parts are added to the one of its id, a
///   text that says nothing else joins the text before it, and metadata is laid over; if there is none of its id, it is
///   added.
///
/// # Errors
/// If the task is over.
pub fn fold(task: &mut Task, event: &Event) -> Result<(), FoldError> {
    if task.status.state.is_terminal() {
        return Err(FoldError::Terminal);
    }
    match event {
        Event::Task(replacement) => *task = Task::clone(replacement),
        Event::Message(message) => {
            task.history.extend(task.status.message.take());
            task.history.push(Arc::clone(message));
        }
        Event::StatusUpdate(update) => {
            let TaskStatus { message, .. } = std::mem::replace(&mut task.status, update.status.clone());
            task.history.extend(message);
            if let Some(metadata) = &update.metadata {
                task.metadata =
                    Some(task.metadata.as_ref().map_or_else(|| metadata.clone(), |old| old.merged(metadata)));
            }
        }
        Event::ArtifactUpdate(update) => fold_artifact(&mut task.artifacts, update),
    }
    Ok(())
}

fn fold_artifact(artifacts: &mut Few<Arc<Artifact>>, update: &TaskArtifactUpdateEvent) {
    // The one that grows is nearly always the last.
    let found = artifacts.iter_mut().rev().find(|artifact| artifact.artifact_id == update.artifact.artifact_id);
    match found {
        Some(artifact) if update.append => append(Arc::make_mut(artifact), &update.artifact),
        Some(artifact) => *artifact = Arc::clone(&update.artifact),
        None => artifacts.push(Arc::clone(&update.artifact)),
    }
}

fn append(artifact: &mut Artifact, more: &Artifact) {
    for part in &more.parts {
        match (artifact.parts.last_mut(), &part.content) {
            (
                Some(Part { content: PartContent::Text(text), metadata: None, filename: None, media_type: None }),
                PartContent::Text(delta),
            ) if part.is_plain_text() => {
                text.push_str(delta);
            }
            _ => artifact.parts.push(part.clone()),
        }
    }
    if let Some(name) = &more.name {
        artifact.name = Some(name.clone());
    }
    if let Some(description) = &more.description {
        artifact.description = Some(description.clone());
    }
    for extension in &more.extensions {
        if !artifact.extensions.contains(extension) {
            artifact.extensions.push(extension.clone());
        }
    }
    if let Some(metadata) = &more.metadata {
        artifact.metadata =
            Some(artifact.metadata.as_ref().map_or_else(|| metadata.clone(), |old| old.merged(metadata)));
    }
}
