//! The requests of a connection: each goes straight to the service, and the connection knows whether it waits for one.

use std::{
    cell::RefCell,
    convert::Infallible,
    future::Future,
    mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker, ready},
};

use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tower_service::Service;

/// A tower service as hyper wants to have it, for one connection, which keeps one copy of it for all of its requests.
pub(super) struct Requests<S> {
    service: RefCell<S>,
    turns: Turns,
}

/// Whose turn it is on a connection of HTTP/1.1, where one request follows the other: even while a request is waited
/// for, odd while one is being answered.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<AtomicUsize>);

/// One request's turn, which ends with the last of its answer.
pub(super) struct Turn(Turns);

impl Turns {
    pub(super) fn current(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn is_clients(turn: usize) -> bool {
        turn.is_multiple_of(2)
    }

    pub(super) fn begin(&self) -> Turn {
        self.pass();
        Turn(self.clone())
    }

    /// One turn ends and the next one begins. All of it happens in the connection's own task, one after the other, so that
    /// nothing is lost between the two halves of this.
    fn pass(&self) {
        self.0.store(self.current().wrapping_add(1), Ordering::Relaxed);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.pass();
    }
}

impl<S> Requests<S> {
    pub(super) fn new(service: S, turns: Turns) -> Self {
        Self { service: RefCell::new(service), turns }
    }
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Requests<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone,
{
    type Response = Response<ResponseBody<B>>;
    type Error = Infallible;
    type Future = ResponseFuture<S, S::Future>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let turn = Some(self.turns.begin());
        let mut service = self.service.borrow_mut();
        // Most are ready at once, and then nothing has to be kept. One that is not is asked again, by a poll that wakes.
        let state = match service.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => State::Called { future: service.call(request) },
            Poll::Ready(Err(never)) => match never {},
            // What waits keeps its place in whatever queue there is.
            Poll::Pending => {
                let fresh = service.clone();
                State::Waiting { service: mem::replace(&mut *service, fresh), request: Some(request) }
            }
        };
        ResponseFuture { state, turn }
    }
}

pin_project! {
    pub(super) struct ResponseFuture<S, F> {
        #[pin]
        state: State<S, F>,
        turn: Option<Turn>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<S, F> {
        Waiting { service: S, request: Option<Request<Incoming>> },
        Called { #[pin] future: F },
    }
}

impl<S, B> Future for ResponseFuture<S, S::Future>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
{
    type Output = Result<Response<ResponseBody<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let future = match this.state.as_mut().project() {
                StateProjection::Waiting { service, request } => {
                    ready!(service.poll_ready(cx))?;
                    // It is there until the service is called, once.
                    let Some(request) = request.take() else { return Poll::Pending };
                    service.call(request)
                }
                StateProjection::Called { future } => {
                    let response = ready!(future.poll(cx))?;
                    let turn = this.turn.take();
                    return Poll::Ready(Ok(response.map(|body| ResponseBody { body, _turn: turn })));
                }
            };
            this.state.set(State::Called { future });
        }
    }
}

pin_project! {
    pub(super) struct ResponseBody<B> {
        #[pin]
        body: B,
        _turn: Option<Turn>,
    }
}

impl<B: Body> Body for ResponseBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
