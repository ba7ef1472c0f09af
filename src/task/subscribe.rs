use std::sync::Arc;

use futures_util::stream;
use http::{HeaderMap, Uri, request::Parts};

use super::{
    EventStream, FirstEvent, Replay, Snapshot, TaskStore,
    error::store_error,
    fold,
    service::{Common, Shared},
    settings::Settings,
    stream::Cursor,
};
use crate::{
    error::{Error, ErrorKind},
    operation::{Outcome, ProtocolVersion, StreamEvent, SubscribeToTask, TaskView},
    owner::Owner,
    types::{Event, StateKind, Task},
};

/// Where a reader left off, as it says itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stated {
    /// Where it says so.
    name: &'static str,
    after: u64,
}

/// Where a reader left off: the `Last-Event-ID` header, else the `after` of the query.
///
/// # Errors
/// [`InvalidParams`](ErrorKind::InvalidParams) if it is no number.
pub(super) fn stated(headers: &HeaderMap, uri: &Uri) -> Result<Option<Stated>, Error> {
    let number = |name: &'static str, text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(after) if digits => Ok(Stated { name, after }),
            _ => Err(Error::invalid_params(name, "must be the number of an event")),
        }
    };
    if let Some(value) = headers.get("last-event-id") {
        return number("Last-Event-ID", value.to_str().unwrap_or_default().trim()).map(Some);
    }
    let after = uri.query().into_iter().flat_map(|query| query.split('&')).find_map(|pair| pair.strip_prefix("after="));
    after.map(|text| number("after", text)).transpose()
}

pub(super) async fn subscribe<T: TaskStore>(
    shared: Shared<T>,
    head: Parts,
    owner: Owner,
    version: ProtocolVersion,
    request: SubscribeToTask,
) -> Result<Outcome<EventStream>, Error> {
    let id = request.id;
    let stated = stated(&head.headers, &head.uri)?;
    let snapshot = shared.store.get(&owner, &id).await.map_err(|error| store_error(error, &id))?;
    if snapshot.task.status.state.is_terminal() {
        return Err(Error::new(ErrorKind::UnsupportedOperation)
            .with_detail("the task is over, get it instead")
            .with_info("taskId", &*id));
    }
    let from_start = from_start(&shared.settings, version);
    resume(&shared, owner, snapshot, stated, from_start, false).await
}

/// Whether a stream without a cursor begins with the log instead of the task.
pub(super) fn from_start(settings: &Settings, version: ProtocolVersion) -> bool {
    match settings.replay {
        Replay::ByVersion => version < ProtocolVersion::V1_0,
        Replay::FromStart => true,
        Replay::Snapshot => false,
    }
}

/// A stream that goes on where its reader left off. A subscription waits for what is to come; one that `ends` has a
/// message that was sent for its beginning, and may have been over before.
pub(super) async fn resume<T: TaskStore>(
    shared: &Shared<T>,
    owner: Owner,
    snapshot: Snapshot,
    stated: Option<Stated>,
    from_start: bool,
    ends: bool,
) -> Result<Outcome<EventStream>, Error> {
    let Common { store, settings, .. } = &**shared;
    let id = Arc::clone(&snapshot.task.id);
    if let Some(Stated { name, .. }) = stated.as_ref().filter(|stated| stated.after > snapshot.revision) {
        return Err(Error::invalid_params(*name, "is beyond the task's last event"));
    }
    let is_over = ends && snapshot.task.status.state.kind() != StateKind::Active;
    let last = snapshot.revision;
    let (after, first) = match stated.map(|stated| stated.after) {
        // With a cursor a reader gets what it missed. Where streams must begin with the task, that is the task as it
        // was at the cursor: one as of now would show the same pieces twice.
        Some(0) => (0, None),
        Some(after) if from_start => (after, None),
        Some(after) if after == last => (after, Some(StreamEvent::Snapshot(TaskView::new(snapshot.task), after))),
        Some(after) => {
            let task = task_at(store, &owner, &id, after).await?;
            (after, Some(StreamEvent::Snapshot(TaskView::new(task), after)))
        }
        None if from_start => (0, None),
        None => (last, Some(StreamEvent::Snapshot(TaskView::new(snapshot.task), last))),
    };
    let first = first.filter(|_| settings.first_event != FirstEvent::StatusOnly);
    if is_over && after == last {
        return Ok(Outcome::Stream(EventStream::new(stream::iter(first.map(Ok)))));
    }
    let (close_on, first_event) = (settings.close_on, settings.first_event);
    let opened_at = if ends { after } else { last };
    let cursor =
        Cursor { store: store.clone(), owner, task_id: id, after, opened_at, head: first, close_on, first_event };
    Ok(Outcome::Stream(cursor.into_stream()))
}

/// The task as it was after this event.
pub(super) async fn task_at<T: TaskStore>(store: &T, owner: &Owner, id: &str, revision: u64) -> Result<Task, Error> {
    let limit = usize::try_from(revision).unwrap_or(usize::MAX);
    let entries = store.read(owner, id, 0, limit).await.map_err(|error| store_error(error, id))?;
    let mut entries = entries.iter().map(super::LogEntry::event);
    let Some(Event::Task(first)) = entries.next() else {
        return Err(Error::internal("the log of a task does not begin with the task"));
    };
    let mut task = Task::clone(first);
    for event in entries {
        fold(&mut task, event).map_err(Error::internal)?;
    }
    Ok(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: Option<&str>, uri: &str) -> Result<Option<u64>, i32> {
        let mut headers = HeaderMap::new();
        if let Some(value) = header {
            headers.insert("last-event-id", value.parse().unwrap());
        }
        let stated = stated(&headers, &uri.parse().unwrap());
        stated.map(|stated| stated.map(|stated| stated.after)).map_err(|error| error.code())
    }

    #[test]
    fn b091_the_header_goes_before_the_query() {
        assert_eq!(read(Some("7"), "/?after=3"), Ok(Some(7)));
        assert_eq!(read(None, "/?x=1&after=3"), Ok(Some(3)));
        assert_eq!(read(None, "/?xafter=3"), Ok(None));
        assert_eq!(read(None, "/"), Ok(None));
    }

    #[test]
    fn b121_what_is_no_number_is_refused() {
        for text in ["abc", "-1", "", "1.5", "+1", "99999999999999999999", "0x1"] {
            assert_eq!(read(Some(text), "/"), Err(-32602), "{text}");
            assert_eq!(read(None, &format!("/?after={text}")), Err(-32602), "{text}");
        }
    }
}
