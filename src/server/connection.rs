//! One connection from its first byte to its last.

#[cfg(feature = "http2")]
use std::io;
use std::{
    convert::Infallible,
    future::{self, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response};
#[cfg(feature = "http2")]
use hyper::server::conn::http2;
use hyper::{body::Incoming, server::conn::http1};
#[cfg(feature = "http2")]
use hyper_util::rt::TokioExecutor;
use hyper_util::{rt::TokioIo, server::graceful::GracefulConnection};
#[cfg(feature = "http2")]
use tokio::io::AsyncRead;
use tokio::{net::TcpStream, sync::watch};
use tower_service::Service;

#[cfg(feature = "http2")]
use super::preface::Peeked;
use super::{
    head_timeout::HeadTimeout,
    linger::Linger,
    requests::{Requests, Turns},
    write_timeout::WriteTimeout,
};
use crate::error::BoxError;

/// How far a server is on its way to the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Serving,
    Finishing,
    Closing,
}

/// How connections are spoken to.
#[derive(Clone)]
pub(super) struct Protocols {
    /// How long a client may take nothing of what is sent to it.
    pub(super) write_timeout: Option<Duration>,
    pub(super) http1: http1::Builder,
    #[cfg(feature = "http2")]
    pub(super) http2: http2::Builder<TokioExecutor>,
    /// How long a request's head may take over HTTP/1.1, and the first bytes, by which the version is known.
    pub(super) head_timeout: Option<Duration>,
}

impl Protocols {
    /// Serves one connection until its end, or until the server's.
    pub(super) async fn serve<S, B>(self, stream: TcpStream, service: S, phase: watch::Receiver<Phase>)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "events may be held back");
        }
        let (turns, stalls) = (Turns::default(), Turns::default());
        let io = Linger::new(WriteTimeout::new(stream, self.write_timeout, stalls.clone()));
        let service = Requests::new(service, turns.clone());
        #[cfg(feature = "http2")]
        let io = match first_bytes(io, self.head_timeout, phase.clone()).await {
            Ok(io) if io.is_http2() => {
                let connection = Box::pin(self.http2.serve_connection(TokioIo::new(io), service));
                return drive(connection, None, phase).await;
            }
            Ok(io) => io,
            Err(error) => return tracing::debug!(%error, "a connection did not begin"),
        };
        let head_timeout = self.head_timeout.map(|timeout| HeadTimeout::new(timeout, turns, stalls));
        drive(Box::pin(self.http1.serve_connection(TokioIo::new(io), service)), head_timeout, phase).await;
    }
}

#[cfg(feature = "http2")]
async fn first_bytes<I: AsyncRead + Unpin>(
    io: I,
    timeout: Option<Duration>,
    mut phase: watch::Receiver<Phase>,
) -> io::Result<Peeked<I>> {
    let late = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => future::pending().await,
        }
    };
    tokio::select! {
        peeked = Peeked::new(io) => peeked,
        () = late => Err(io::ErrorKind::TimedOut.into()),
        // Who has said nothing has nothing to finish.
        () = past_serving(&mut phase) => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

/// In a box, a connection takes the room of its own version, and takes it once.
async fn drive<C>(mut connection: Pin<Box<C>>, mut head_timeout: Option<HeadTimeout>, mut phase: watch::Receiver<Phase>)
where
    C: GracefulConnection<Error = hyper::Error>,
{
    let mut ended = serve_on(connection.as_mut(), head_timeout.as_mut(), phase.clone()).await;
    if matches!(ended, End::Server) {
        connection.as_mut().graceful_shutdown();
        let served = poll_fn(|cx| poll_served(connection.as_mut(), head_timeout.as_mut(), cx));
        ended = tokio::select! {
            ended = served => ended,
            () = closing(&mut phase) => return,
        };
    }
    match ended {
        End::Connection(Err(error)) => tracing::debug!(%error, "a connection broke off"),
        End::Late => tracing::debug!("a client took too long with a request's head"),
        End::Connection(Ok(())) | End::Server => {}
    }
}

/// Why a connection is served no longer.
enum End {
    Connection(hyper::Result<()>),
    /// The client takes too long.
    Late,
    /// The server takes no more.
    Server,
}

fn poll_served<C>(connection: Pin<&mut C>, head_timeout: Option<&mut HeadTimeout>, cx: &mut Context<'_>) -> Poll<End>
where
    C: GracefulConnection<Error = hyper::Error>,
{
    if let Poll::Ready(ended) = connection.poll(cx) {
        return Poll::Ready(End::Connection(ended));
    }
    head_timeout.map_or(Poll::Pending, |timeout| timeout.poll(cx).map(|()| End::Late))
}

async fn serve_on<C>(
    mut connection: Pin<&mut C>,
    mut head_timeout: Option<&mut HeadTimeout>,
    mut phase: watch::Receiver<Phase>,
) -> End
where
    C: GracefulConnection<Error = hyper::Error>,
{
    let seen = phase.clone();
    let mut past_serving = pin!(past_serving(&mut phase));
    let mut is_awaited = false;
    poll_fn(|cx| {
        if let Poll::Ready(ended) = poll_served(connection.as_mut(), head_timeout.as_deref_mut(), cx) {
            return Poll::Ready(ended);
        }
        // The end has this task's waker from the first time on, and every request would pay for asking again.
        if (!is_awaited || seen.has_changed().unwrap_or(true)) && past_serving.as_mut().poll(cx).is_ready() {
            return Poll::Ready(End::Server);
        }
        is_awaited = true;
        Poll::Pending
    })
    .await
}

/// Ready when the server takes no more connections, or is gone.
async fn past_serving(phase: &mut watch::Receiver<Phase>) {
    let _ = phase.wait_for(|phase| *phase != Phase::Serving).await;
}

/// Ready when the server's patience has ended. A server that is gone has none to end.
async fn closing(phase: &mut watch::Receiver<Phase>) {
    if phase.wait_for(|phase| *phase == Phase::Closing).await.is_err() {
        future::pending::<()>().await;
    }
}
