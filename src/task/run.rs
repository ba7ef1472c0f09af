//! One run: an agent on one message, from the call to the last event.

use std::{
    future::poll_fn,
    mem,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};

use http::Request;
use tokio::time::{Instant, Sleep, sleep_until};
use tower_service::Service;

use super::{
    FirstEvent, Snapshot, StoreError, TaskStore,
    error::{overloaded, store_error},
    narrator::{Flow, Narrator},
    next::{Next, poll_next},
    progress::{Begun, Reporter},
    retry::Held,
    runs::RunSlot,
    service::Shared,
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
    /// The task with this message, if the store has it already.
    pub(super) begun: Option<Snapshot>,
    /// True if whoever waits for the beginning wants to see the task as it then is.
    pub(super) shows_beginning: bool,
    /// True if the first thing that the agent says decides whether there is a task at all.
    pub(super) undecided: bool,
    /// False if it is decided that there is one as soon as the agent takes its time.
    pub(super) patient: bool,
    /// When it is decided that there is one, if the agent has said nothing by then.
    pub(super) decide_by: Option<Instant>,
    pub(super) cancellation: Cancellation,
    pub(super) slot: RunSlot,
    pub(super) reporter: Reporter,
    /// That the message is this run's, where one that comes again is recognised.
    pub(super) claim: Option<Held>,
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
        let mut timer: Option<Pin<Box<Sleep>>> = None;
        let first = poll_fn(|cx| {
            loop {
                match poll_next(source.as_mut(), watch.as_mut(), cx) {
                    Poll::Ready(Next::Step(Step::Called)) => called = true,
                    Poll::Ready(next) => return Poll::Ready(Some(next)),
                    // The agent has taken the message without refusing it.
                    Poll::Pending if !(self.context.is_held() || self.undecided && self.patient) => {
                        return Poll::Ready(None);
                    }
                    Poll::Pending => break,
                }
            }
            let Some(deadline) = self.decide_by else { return Poll::Pending };
            timer.get_or_insert_with(|| Box::pin(sleep_until(deadline))).as_mut().poll(cx).map(|()| None)
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
        if self.shared.runs.are_handed_over() {
            // Nobody has seen anything of it yet; whoever sends it again finds another process.
            self.reporter.begin(Err(overloaded()));
            return source.close();
        }
        if let Some(changed) = self.context.take_changed() {
            self.message = changed;
        }
        let Self { shared, owner, task_id, context_id, message, before, begun, shows_beginning, reporter, .. } = self;
        let mut narrator =
            Narrator::new(Arc::clone(&task_id), Arc::clone(&context_id), before.as_ref().map(|before| &*before.task));
        let mut batch = Vec::new();
        let revision = begun.as_ref().or(before.as_ref()).map_or(1, |before| before.revision);
        let beginning = match (begun, &before) {
            (Some(begun), _) => Beginning::Again(begun),
            (None, None) => {
                if shared.settings.first_event == FirstEvent::Working {
                    // The task itself says so.
                    narrator.works(&mut Vec::new());
                }
                let mut task = Task::new(Arc::clone(&task_id), Arc::clone(&context_id), narrator.state());
                task.history.push(message);
                Beginning::Task(Arc::new(task))
            }
            (None, Some(before)) => {
                batch.push(Event::Message(message));
                narrator.works(&mut batch);
                Beginning::Turn(before.revision)
            }
        };
        let mut telling = Telling {
            shared: shared.clone(),
            owner: owner.clone(),
            task_id: Arc::clone(&task_id),
            context_id,
            narrator,
            revision,
            flow: Flow::Goes,
            failure: None,
            cancellation: self.cancellation,
            canceled: false,
            interrupted: false,
            silent: false,
            slot: self.slot,
            reporter: None,
        };
        // What the agent has said by now is written with the beginning, as one, unless somebody wants to see that alone.
        let (mut first, mut rest) = (first, Vec::new());
        let goes_on = !shows_beginning;
        if goes_on {
            let beginning = batch.len();
            poll_fn(|cx| {
                telling.begins(called, first.take(), source.as_mut(), watch.as_mut(), &mut batch, cx);
                Poll::Ready(())
            })
            .await;
            if telling.narrator.state().is_interrupted() {
                // A task that waits for its caller must not be seen before its place is free, nor a place be free before
                // its task is known to be taken.
                rest = batch.split_off(beginning);
            }
        }
        let ends = telling.flow == Flow::Ends && rest.is_empty();
        let mut waited = false;
        let written = {
            let mut write = pin!(beginning.write(&shared.store, &owner, &task_id, &mut batch));
            poll_fn(|cx| {
                let written = write.as_mut().poll(cx);
                waited |= written.is_pending();
                written
            })
            .await
        };
        let snapshot = match written {
            Ok(snapshot) => snapshot,
            Err(error) => {
                reporter.begin(Err(store_error(error, &task_id)));
                return source.close();
            }
        };
        if let Some(claim) = self.claim {
            claim.keep();
        }
        // The agent may have something to say again after that time.
        telling.silent &= !waited;
        // Nothing else may hold on to the snapshot, or the store would have to copy the task to change it.
        let shown = shows_beginning.then(|| snapshot.clone());
        reporter.begin(Ok(Begun::Task(shown)));
        telling.reporter = Some(reporter);
        telling.written(snapshot, ends);
        batch.append(&mut rest);
        if !goes_on {
            poll_fn(|cx| {
                telling.begins(called, first.take(), source.as_mut(), watch.as_mut(), &mut batch, cx);
                Poll::Ready(())
            })
            .await;
        }
        // Most agents have said all by now. What the others need is several times as much as all of this, and has its own
        // room.
        if telling.flow != Flow::Ends || !batch.is_empty() {
            Box::pin(telling.tell(source.as_mut(), watch, batch)).await;
        }
        source.close();
    }
}

/// How the log of a task goes on with a message.
enum Beginning {
    /// The message begins the task.
    Task(Arc<Task>),
    /// It is a further turn, behind this revision.
    Turn(u64),
    /// It is there already, and the agent begins again.
    Again(Snapshot),
}

impl Beginning {
    /// Makes the task, or adds the message to it: then it is no longer the caller's turn, whether the agent has begun
    /// or not.
    async fn write<T: TaskStore>(
        self,
        store: &T,
        owner: &Owner,
        task_id: &str,
        events: &mut Vec<Event>,
    ) -> Result<Snapshot, StoreError> {
        match self {
            Self::Task(task) => store.create_with(owner, task, events).await,
            Self::Turn(revision) => store.append(owner, task_id, revision, mem::take(events)).await,
            Self::Again(begun) if events.is_empty() => Ok(begun),
            Self::Again(begun) => store.append(owner, task_id, begun.revision, mem::take(events)).await,
        }
    }
}

/// True if the message itself was refused, so that no task should come of it.
fn refuses(error: &Error) -> bool {
    error.kind().is_callers_fault() || error.kind() == ErrorKind::Overloaded
}
