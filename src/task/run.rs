//! One run: an agent on one message, from the call to the last event.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};

use http::Request;
use tokio::time::{Instant, Sleep, sleep_until};
use tower_service::Service;

use super::{
    FirstEvent, Snapshot, StoreError, TaskStore,
    error::store_error,
    narrator::{Flow, Narrator},
    next::{Next, poll_next},
    progress::{Begun, Reporter},
    runs::RunSlot,
    service::{Common, Shared},
    source::{Source, Step},
    telling::Telling,
    watch::Watch,
};
use crate::{
    agent::{Cancellation, IntoReply, TaskContext, Update},
    error::{BoxError, Error, ErrorKind},
    owner::Owner,
    types::{Event, Message, Role, Task},
};

/// What a run has to know.
pub(super) struct Run<T> {
    pub(super) shared: Shared<T>,
    pub(super) owner: Owner,
    pub(super) task_id: Arc<str>,
    pub(super) context_id: Arc<str>,
    pub(super) message: Arc<Message>,
    /// When the message came.
    pub(super) began: Instant,
    /// What the layers below say about the message.
    pub(super) context: TaskContext,
    /// The task before this message; `None` if the message begins it.
    pub(super) before: Option<Snapshot>,
    /// True if whoever waits for the beginning wants to see the task as it then is.
    pub(super) shows_beginning: bool,
    /// True if the first thing that the agent says decides whether there is a task at all.
    pub(super) undecided: bool,
    /// When it is decided that there is one, if the agent has said nothing by then.
    pub(super) decide_by: Option<Instant>,
    pub(super) cancellation: Cancellation,
    pub(super) slot: RunSlot,
    pub(super) reporter: Reporter,
}

impl<T: TaskStore> Run<T> {
    pub(super) async fn drive<S>(mut self, inner: S, request: Request<Arc<Message>>)
    where
        S: Service<Request<Arc<Message>>>,
        S::Response: IntoReply,
        S::Error: Into<BoxError>,
    {
        let mut source = pin!(Source::new(inner, request));
        let mut watch = pin!(Watch::new(self.cancellation.clone(), &self.shared.settings, self.began));
        let mut called = false;
        // Made only for agents that take their time.
        let mut timer = pin!(None::<Sleep>);
        let first = poll_fn(|cx| {
            loop {
                match poll_next(source.as_mut(), watch.as_mut(), cx) {
                    Poll::Ready(Next::Step(Step::Called)) => called = true,
                    Poll::Ready(next) => return Poll::Ready(Some(next)),
                    // The agent has taken the message without refusing it.
                    Poll::Pending if !self.undecided && !self.context.is_held() => return Poll::Ready(None),
                    Poll::Pending => break,
                }
            }
            let Some(deadline) = self.decide_by else { return Poll::Pending };
            if timer.is_none() {
                timer.set(Some(sleep_until(deadline)));
            }
            timer.as_mut().as_pin_mut().map_or(Poll::Pending, |timer| timer.poll(cx).map(|()| None))
        });
        let first = match first.await {
            Some(Next::Step(Step::Failed(error))) if refuses(&error) || self.context.is_lost() => {
                self.reporter.begin(Err(error));
                return;
            }
            Some(Next::Step(Step::Update(Update::Message(mut message)))) if self.undecided => {
                message.role = Role::Agent;
                message.context_id.get_or_insert(self.context_id);
                self.reporter.begin(Ok(Begun::Message(Arc::new(message))));
                return source.close();
            }
            first => first,
        };
        let task = self.before.as_ref().map(|before| &*before.task);
        let mut narrator = Narrator::new(Arc::clone(&self.task_id), Arc::clone(&self.context_id), task);
        let snapshot = match self.create(&mut narrator).await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.reporter.begin(Err(store_error(error, &self.task_id)));
                return source.close();
            }
        };
        let revision = snapshot.revision;
        // Nothing else may hold on to the snapshot, or the store would have to copy the task to change it.
        self.reporter.begin(Ok(Begun::Task(self.shows_beginning.then_some(snapshot))));
        let mut batch = Vec::new();
        if called {
            narrator.works(&mut batch);
        }
        let mut telling = Telling {
            shared: self.shared,
            owner: self.owner,
            task_id: self.task_id,
            context_id: self.context_id,
            narrator,
            revision,
            flow: Flow::Goes,
            failure: None,
            cancellation: self.cancellation,
            canceled: false,
            interrupted: false,
            silent: false,
            slot: Some(self.slot),
            reporter: Some(self.reporter),
        };
        if let Some(next) = first {
            telling.hear(next, watch.as_mut(), &mut batch);
        }
        telling.tell(source.as_mut(), watch, batch).await;
        source.close();
    }

    /// Makes the task, or adds the message to it: then it is no longer the caller's turn, whether the agent has begun
    /// or not.
    async fn create(&mut self, narrator: &mut Narrator) -> Result<Snapshot, StoreError> {
        if let Some(changed) = self.context.take_changed() {
            self.message = changed;
        }
        let Common { store, settings, .. } = &*self.shared;
        match &self.before {
            None => {
                if settings.first_event == FirstEvent::Working {
                    // The task itself says so.
                    narrator.works(&mut Vec::new());
                }
                let ids = (Arc::clone(&self.task_id), Arc::clone(&self.context_id));
                let mut task = Task::new(ids.0, ids.1, narrator.state());
                task.history.push(Arc::clone(&self.message));
                store.create(&self.owner, Arc::new(task)).await
            }
            Some(before) => {
                let mut events = vec![Event::Message(Arc::clone(&self.message))];
                narrator.works(&mut events);
                store.append(&self.owner, &self.task_id, before.revision, events).await
            }
        }
    }
}

/// True if the message itself was refused, so that no task should come of it.
fn refuses(error: &Error) -> bool {
    error.kind().is_callers_fault() || error.kind() == ErrorKind::Overloaded
}
