//! One run: an agent on one message, from the call to the last event.

use std::{
    future::poll_fn,
    mem,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use tokio::time::{Instant, Sleep, sleep_until};

use super::{
    FirstEvent, Snapshot, StoreError, TaskStore,
    error::{overloaded, store_error},
    narrator::{Flow, Narrator},
    progress::Begun,
    retry::Held,
    runs::RunSlot,
    service::Shared,
    source::Step,
    telling::Telling,
    voice::Voice,
    work::{AtWork, Next, Work},
};
use crate::{
    agent::{TaskContext, Update},
    error::{Error, ErrorKind},
    types::{Event, Message, Role, Task},
};

/// What a run has to know.
pub(super) struct Run<T> {
    pub(super) shared: Shared<T>,
    pub(super) message: Arc<Message>,
    /// When the message came.
    pub(super) began: Instant,
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
    pub(super) timer: Option<Pin<Box<Sleep>>>,
    /// True once the agent has the message.
    pub(super) called: bool,
    pub(super) slot: RunSlot,
    /// That the message is this run's, where one that comes again is recognised.
    pub(super) claim: Option<Held>,
}

/// What goes on of a run when its first turn is over.
type Rest = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A run whose agent has taken the message, before anything of it is written.
struct Opening<T> {
    telling: Telling<T>,
    work: Work<T>,
    beginning: Beginning,
    called: bool,
    /// What the agent did first, where the beginning is to be seen alone.
    first: Option<Box<Next>>,
    shows_beginning: bool,
    batch: Vec<Event>,
    /// What is written behind the beginning.
    rest: Vec<Event>,
    claim: Option<Held>,
}

impl<T: TaskStore> Run<T> {
    /// The first turn, in which an agent with a ready answer says all that it has to say. Gives back what goes on, unless
    /// that was all.
    pub(super) fn begin(mut self, mut work: Work<T>, cx: &mut Context<'_>) -> Option<Rest> {
        match self.poll_first(work.as_mut(), cx) {
            Poll::Ready(first) => Some(Box::pin(self.open(first, work, cx)?.write())),
            Poll::Pending => {
                self.slot.list();
                Some(Box::pin(self.drive(work)))
            }
        }
    }

    /// All of it.
    pub(super) async fn drive(mut self, mut work: Work<T>) {
        let first = poll_fn(|cx| self.poll_first(work.as_mut(), cx)).await;
        let (mut run, mut input) = (Some(self), Some((first, work)));
        let opening = poll_fn(|cx| {
            Poll::Ready(run.take().zip(input.take()).and_then(|(run, (first, work))| run.open(first, work, cx)))
        });
        if let Some(opening) = opening.await {
            opening.write().await;
        }
    }

    /// Ready when it is known whether there will be a task; `None` if the agent has nothing to say to that.
    fn poll_first(&mut self, mut work: AtWork<'_, T>, cx: &mut Context<'_>) -> Poll<Option<Next>> {
        loop {
            match work.as_mut().poll_next(cx, self.slot.context()) {
                Poll::Ready(Next::Step(Step::Called)) => self.called = true,
                Poll::Ready(next) => return Poll::Ready(Some(next)),
                // The agent has taken the message without refusing it.
                Poll::Pending if !(self.slot.context().is_held() || self.undecided && self.patient) => {
                    return Poll::Ready(None);
                }
                Poll::Pending => break,
            }
        }
        let Some(deadline) = self.decide_by else { return Poll::Pending };
        self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline))).as_mut().poll(cx).map(|()| None)
    }

    /// What the agent did first begins a task, unless it makes one needless.
    fn open(mut self, first: Option<Next>, mut work: Work<T>, cx: &mut Context<'_>) -> Option<Opening<T>> {
        let first = match first {
            // What is begun again was taken once; its task is there, and has to end.
            Some(Next::Step(Step::Failed(error)))
                if self.begun.is_none() && (refuses(&error) || self.slot.context().is_lost()) =>
            {
                self.slot.answer(Err(error));
                return None;
            }
            Some(Next::Step(Step::Update(Update::Message(mut message)))) if self.undecided => {
                message.role = Role::Agent;
                message.context_id.get_or_insert_with(|| Arc::clone(self.slot.context().context_id()));
                self.slot.answer(Ok(Begun::Message(Arc::new(message))));
                work.as_mut().close();
                return None;
            }
            first => first,
        };
        if self.shared.runs.are_handed_over() {
            // Nobody has seen anything of it yet; whoever sends it again finds another process.
            self.slot.answer(Err(overloaded()));
            work.as_mut().close();
            return None;
        }
        if let Some(changed) = self.slot.context().take_changed() {
            self.message = changed;
        }
        let Self { shared, message, before, begun, called, shows_beginning, slot, claim, .. } = self;
        let ids = || (Arc::clone(slot.context().task_id()), Arc::clone(slot.context().context_id()));
        let (task_id, context_id) = ids();
        let mut narrator = Narrator::new(task_id, context_id, before.as_ref().map(|before| &*before.task));
        let mut batch = Vec::new();
        let revision = begun.as_ref().or(before.as_ref()).map_or(1, |before| before.revision);
        let beginning = match (begun, &before) {
            (Some(begun), _) => Beginning::Again(begun),
            (None, None) => {
                if shared.settings.first_event == FirstEvent::Working {
                    // The task itself says so.
                    narrator.works(&mut Vec::new());
                }
                let (task_id, context_id) = ids();
                let mut task = Task::new(task_id, context_id, narrator.state());
                task.history.push(message);
                Beginning::Task(Arc::new(task))
            }
            (None, Some(before)) => {
                batch.push(Event::Message(message));
                narrator.works(&mut batch);
                Beginning::Turn(before.revision)
            }
        };
        let mut telling = Telling { shared, slot, voice: Voice::new(narrator, revision), interrupted: false };
        // What the agent has said by now is written with the beginning, as one, unless somebody wants to see that alone.
        let mut rest = Vec::new();
        let first = if shows_beginning {
            first.map(Box::new)
        } else {
            let beginning = batch.len();
            let (voice, about) = telling.voice();
            voice.begins(called, first, work.as_mut(), &mut batch, about, cx);
            if telling.voice.narrator.state().is_interrupted() {
                // A task that waits for its caller must not be seen before its place is free, nor a place be free before
                // its task is known to be taken.
                rest = batch.split_off(beginning);
            }
            None
        };
        if telling.voice.flow != Flow::Ends || !rest.is_empty() {
            // Whoever can see the task from here on may want to cancel it.
            telling.slot.list();
        }
        Some(Opening { telling, work, beginning, called, first, shows_beginning, batch, rest, claim })
    }
}

impl<T: TaskStore> Opening<T> {
    /// Writes the beginning, and goes on with the run.
    fn write(self) -> impl Future<Output = ()> + Send {
        // Taken apart out here: a future keeps what it was made of beside what it makes of that.
        let Self { mut telling, mut work, beginning, called, mut first, shows_beginning, .. } = self;
        let Self { mut batch, mut rest, claim, .. } = self;
        async move {
            let ends = telling.voice.flow == Flow::Ends && rest.is_empty();
            let (is_again, mut waited) = (matches!(beginning, Beginning::Again(_)), false);
            let written = {
                let mut write = pin!(beginning.write(&telling.shared.store, telling.slot.context(), &mut batch));
                poll_fn(|cx| {
                    let written = write.as_mut().poll(cx);
                    waited |= written.is_pending();
                    written
                })
                .await
            };
            let snapshot = match written {
                Ok(snapshot) => snapshot,
                Err(error @ StoreError::Unavailable(_)) if is_again => {
                    work.as_mut().close();
                    return Box::pin(telling.last_words(error)).await;
                }
                Err(error) => {
                    let error = store_error(error, telling.slot.context().task_id());
                    telling.slot.answer(Err(error));
                    return work.as_mut().close();
                }
            };
            if let Some(claim) = claim {
                claim.keep();
            }
            // The agent may have something to say again after that time.
            telling.voice.silent &= !waited;
            // Nothing else may hold on to the snapshot, or the store would have to copy the task to change it.
            let shown = shows_beginning.then(|| snapshot.clone());
            telling.slot.begins(Begun::Task(shown));
            telling.written(snapshot, ends);
            telling.slot.tell();
            batch.append(&mut rest);
            if shows_beginning {
                let mut first = first.take().map(|first| *first);
                poll_fn(|cx| {
                    let (voice, about) = telling.voice();
                    voice.begins(called, first.take(), work.as_mut(), &mut batch, about, cx);
                    Poll::Ready(())
                })
                .await;
            }
            // Most agents have said all by now. What the others need is several times as much as all of this, and has its
            // own room.
            if telling.voice.flow != Flow::Ends || !batch.is_empty() {
                Box::pin(telling.tell(work.as_mut(), batch)).await;
            }
            work.as_mut().close();
        }
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
        context: &TaskContext,
        events: &mut Vec<Event>,
    ) -> Result<Snapshot, StoreError> {
        let (owner, task_id) = (context.owner(), context.task_id());
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
