//! The operations that do not run the agent and answer at once.

use std::sync::Arc;

use super::{
    CancelMode, CancelScope, EventStream, ListQuery, StoreError, TaskStore, error::store_error, service::Shared,
};
use crate::{
    error::{Error, ErrorKind},
    operation::{Answer, CancelTask, GetTask, ListTasks, ListTasksPage, Outcome, TaskView},
    owner::Owner,
    types::{Event, Task, TaskState, TaskStatus, TaskStatusUpdateEvent},
};

pub(super) async fn get<T: TaskStore>(
    shared: Shared<T>,
    owner: Owner,
    request: GetTask,
) -> Result<Outcome<EventStream>, Error> {
    let snapshot = shared.store.get(&owner, &request.id).await.map_err(|error| store_error(error, &request.id))?;
    let view = TaskView::new(snapshot.task);
    Ok(Answer::Task(if shared.settings.status_only {
        view.with_history_length(Some(0)).without_artifacts()
    } else {
        view.with_history_length(request.history_length)
    })
    .into())
}

pub(super) async fn list<T: TaskStore>(
    shared: Shared<T>,
    owner: Owner,
    request: ListTasks,
) -> Result<Outcome<EventStream>, Error> {
    let page_size = request.page_size.unwrap_or(ListTasks::DEFAULT_PAGE_SIZE);
    if !(1..=ListTasks::MAX_PAGE_SIZE).contains(&page_size) {
        return Err(Error::invalid_params("pageSize", format!("must be 1 to {}", ListTasks::MAX_PAGE_SIZE)));
    }
    let query = ListQuery {
        context_id: request.context_id,
        status: request.status,
        status_timestamp_after: request.status_timestamp_after,
        page_size: page_size as usize,
        page_token: request.page_token.filter(|token| !token.is_empty()),
    };
    let page = shared.store.list(&owner, &query).await.map_err(|error| store_error(error, ""))?;
    let view = |task| {
        let view = TaskView::new(task).with_history_length(request.history_length);
        if request.include_artifacts { view } else { view.without_artifacts() }
    };
    let mut answer = ListTasksPage::new(page.tasks.into_iter().map(view).collect(), page_size, page.total_size);
    answer.next_page_token = page.next_page_token.unwrap_or_default();
    Ok(Answer::Tasks(answer).into())
}

/// How often a cancel tries to get in between what a run appends, before it asks the run to do it, or the store where the run
/// is elsewhere.
const TRIES: u32 = 3;

/// Exactly one of cancel and completion wins, because both append to the same log.
pub(super) async fn cancel<T: TaskStore>(
    shared: Shared<T>,
    owner: Owner,
    request: CancelTask,
) -> Result<Outcome<EventStream>, Error> {
    let failed = |error| store_error(error, &request.id);
    let mut tries = 0;
    loop {
        let snapshot = shared.store.get(&owner, &request.id).await.map_err(failed)?;
        let task = snapshot.task;
        let run = shared.runs.get(&request.id);
        let in_scope = match shared.settings.cancel_scope {
            CancelScope::Any => true,
            CancelScope::OwnStreams => run.as_ref().is_some_and(|run| run.streaming),
        };
        if tries > TRIES && task.status.state == TaskState::Canceled {
            return Ok(Answer::Task(TaskView::new(task)).into());
        }
        if task.status.state.is_terminal() || !in_scope {
            return Err(Error::new(ErrorKind::TaskNotCancelable).with_info("taskId", &*request.id));
        }
        if let (CancelMode::Attempt, Some(run)) = (shared.settings.cancel, &run) {
            run.context.cancellation().cancel();
            let mut optimistic = Task::clone(&task);
            optimistic.status = TaskStatus::new(TaskState::Canceled);
            return Ok(Answer::Task(TaskView::new(optimistic)).into());
        }
        let status = TaskStatus::new(TaskState::Canceled);
        let update = TaskStatusUpdateEvent::new(Arc::clone(&task.id), Arc::clone(&task.context_id), status);
        drop(task);
        let ended = if tries > TRIES && run.is_none() {
            shared.store.end(&owner, &request.id, update).await
        } else {
            shared.store.append(&owner, &request.id, snapshot.revision, vec![Event::StatusUpdate(update)]).await
        };
        match ended {
            Ok(canceled) => {
                if let Some(run) = run {
                    run.context.cancellation().cancel();
                }
                return Ok(Answer::Task(TaskView::new(canceled.task)).into());
            }
            // Something was appended since: look again.
            Err(StoreError::Conflict | StoreError::Terminal) => {
                tries += 1;
                if let Some(run) = run.filter(|_| tries > TRIES) {
                    run.context.cancellation().cancel();
                }
            }
            Err(error) => return Err(failed(error)),
        }
    }
}
