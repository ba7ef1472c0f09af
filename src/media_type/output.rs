use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use http::Request;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use super::mode::{accepts, essence, stated};
use crate::{
    agent::{IntoReply, Reply, ReplyForm, RequestExt, TaskContext, Update, Updates},
    error::{BoxError, Error, ErrorKind, find_error},
    types::{Part, PartContent, TaskState},
};

/// Refuses answers in none of the media types that the caller takes.
///
/// It stands next to the agent, at the message or the input level, and makes a [`Reply`] of whatever the agent answers.
/// An answer passes if one part of it can be taken: text beside a file that cannot be shown is still an answer. A stream
/// is sent as it comes; if nothing in it could be taken, its end is an error. What is said about a state (a question, a
/// reason) is not an answer and always passes, and so does everything if the caller names no modes.
///
/// ```
/// use a2a_layers::{
///     agent::TaskContext,
///     error::{BoxError, ErrorKind},
///     media_type::AcceptedOutputLayer,
/// };
/// use http::Request;
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let agent = ServiceBuilder::new()
///     .layer(AcceptedOutputLayer::new())
///     .service(service_fn(|_: Request<&str>| async { Ok::<_, BoxError>("only words") }));
///
/// let mut request = Request::new("draw a cat");
/// let modes = vec!["image/*".to_owned()];
/// request.extensions_mut().insert(TaskContext::builder("t", "c").accepted_output_modes(modes).build());
///
/// let error = agent.oneshot(request).await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::ContentTypeNotSupported);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct AcceptedOutputLayer {
    _private: (),
}

impl AcceptedOutputLayer {
    /// Holds the agent to what its callers take.
    pub const fn new() -> Self {
        Self { _private: () }
    }
}

impl<S> Layer<S> for AcceptedOutputLayer {
    type Service = AcceptedOutput<S>;

    fn layer(&self, inner: S) -> Self::Service {
        AcceptedOutput::new(inner)
    }
}

/// Refuses answers in none of the media types that the caller takes. See [`AcceptedOutputLayer`].
#[derive(Clone, Debug)]
pub struct AcceptedOutput<S> {
    inner: S,
}

impl<S> AcceptedOutput<S> {
    /// Holds this service to what its callers take.
    pub const fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S, T> Service<Request<T>> for AcceptedOutput<S>
where
    S: Service<Request<T>>,
    S::Response: IntoReply,
    S::Error: Into<BoxError>,
{
    type Response = Reply;
    type Error = Error;
    type Future = AcceptedOutputFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| find_error(error.into()))
    }

    fn call(&mut self, request: Request<T>) -> Self::Future {
        let context = request.task_context();
        let picky = context.accepted_output_modes().iter().any(|mode| !essence(mode).is_empty());
        let accepted = picky.then(|| context.clone());
        AcceptedOutputFuture { future: self.inner.call(request), accepted }
    }
}

pin_project! {
    /// Response future of [`AcceptedOutput`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct AcceptedOutputFuture<F> {
        #[pin]
        future: F,
        accepted: Option<TaskContext>,
    }
}

impl<F, R, E> Future for AcceptedOutputFuture<F>
where
    F: Future<Output = Result<R, E>>,
    E: Into<BoxError>,
    R: IntoReply,
{
    type Output = Result<Reply, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut reply = ready!(this.future.poll(cx)).map_err(|error| find_error(error.into()))?.into_reply();
        if let Some(accepted) = this.accepted.take() {
            reply = check(reply, accepted)?;
        }
        Poll::Ready(Ok(reply))
    }
}

fn check(reply: Reply, accepted: TaskContext) -> Result<Reply, Error> {
    let modes = accepted.accepted_output_modes();
    match &reply.0 {
        ReplyForm::One(update) => check_parts(modes, said(update))?,
        ReplyForm::Updates(updates) => check_parts(modes, updates.iter().flat_map(said))?,
        ReplyForm::Stream(_) => {
            let updates = reply.into_updates();
            return Ok(Reply::stream(Checked { updates: Some(updates), accepted, taken: false, refused: None }));
        }
    }
    Ok(reply)
}

/// A piece of an answer.
enum Said<'a> {
    Text,
    Part(&'a Part),
}

fn said(update: &Update) -> impl Iterator<Item = Said<'_>> {
    let (text, parts) = match update {
        Update::Text(_) => (Some(Said::Text), &[][..]),
        Update::Part(part) => (None, std::slice::from_ref(part)),
        Update::Artifact(update) => (None, &*update.artifact.parts),
        Update::Message(message) => (None, &*message.parts),
        Update::Status(_) => (None, &[][..]),
    };
    text.into_iter().chain(parts.iter().map(Said::Part))
}

/// Passes if there is nothing, or something that can be taken.
fn check_parts<'a>(modes: &[String], said: impl Iterator<Item = Said<'a>>) -> Result<(), Error> {
    let plain = Part::text("");
    let mut refused = None;
    for piece in said {
        let part = if let Said::Part(part) = piece { part } else { &plain };
        if accepts(modes, part) {
            return Ok(());
        }
        refused.get_or_insert_with(|| type_of(part).to_owned());
    }
    let Some(media_type) = refused else { return Ok(()) };
    let accepted = modes.join(", ");
    Err(Error::new(ErrorKind::ContentTypeNotSupported)
        .with_detail(format!("the agent answered in {media_type}, the caller takes {accepted}"))
        .with_info("mediaType", media_type)
        .with_info("acceptedOutputModes", accepted))
}

fn type_of(part: &Part) -> &str {
    stated(part).unwrap_or(match part.content {
        PartContent::Text(_) => "text/plain",
        PartContent::Data(_) => "application/json",
        PartContent::Raw(_) | PartContent::Url(_) => "application/octet-stream",
    })
}

/// The updates, and an error in the place of a good end if none of them could be taken.
struct Checked {
    updates: Option<Updates>,
    accepted: TaskContext,
    taken: bool,
    refused: Option<Error>,
}

impl Checked {
    fn look_at(&mut self, update: &Update) {
        if self.taken || said(update).next().is_none() {
            return;
        }
        match check_parts(self.accepted.accepted_output_modes(), said(update)) {
            Ok(()) => self.taken = true,
            Err(error) => {
                self.refused.get_or_insert(error);
            }
        }
    }

    /// What the end of the answer is, if it is no good one.
    fn complaint(&mut self) -> Option<BoxError> {
        if self.taken { None } else { self.refused.take().map(Into::into) }
    }
}

impl Stream for Checked {
    type Item = Result<Update, BoxError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(updates) = &mut this.updates else { return Poll::Ready(None) };
        let next = ready!(updates.as_mut().poll_next(cx));
        if let Some(Ok(update)) = &next {
            this.look_at(update);
        }
        if let Some(Err(_)) = &next {
            this.updates = None;
        }
        let ends = match &next {
            None | Some(Ok(Update::Message(_))) => true,
            Some(Ok(Update::Status(update))) => update.state == TaskState::Completed,
            Some(_) => false,
        };
        if !ends {
            return Poll::Ready(next);
        }
        let complaint = this.complaint();
        if next.is_none() || complaint.is_some() {
            this.updates = None;
        }
        Poll::Ready(complaint.map(Err).or(next))
    }
}
