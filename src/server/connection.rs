//! One connection from its first byte to its last.

#[cfg(feature = "http2")]
use std::io;
use std::{convert::Infallible, future, pin::Pin, time::Duration};

use http::{Request, Response};
#[cfg(feature = "http2")]
use hyper::server::conn::http2;
use hyper::{body::Incoming, server::conn::http1};
#[cfg(feature = "http2")]
use hyper_util::rt::TokioExecutor;
use hyper_util::{rt::TokioIo, server::graceful::GracefulConnection, service::TowerToHyperService};
#[cfg(feature = "http2")]
use tokio::io::AsyncRead;
use tokio::{net::TcpStream, sync::watch};
use tower_service::Service;

#[cfg(feature = "http2")]
use super::preface::Peeked;
use super::{linger::Linger, write_timeout::WriteTimeout};
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
    /// How long the first bytes may take, by which the version is known.
    #[cfg(feature = "http2")]
    pub(super) first_bytes_timeout: Option<Duration>,
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
        let io = Linger::new(WriteTimeout::new(stream, self.write_timeout));
        let service = TowerToHyperService::new(service);
        #[cfg(feature = "http2")]
        let io = match first_bytes(io, self.first_bytes_timeout, phase.clone()).await {
            Ok(io) if io.is_http2() => {
                let connection = Box::pin(self.http2.serve_connection(TokioIo::new(io), service));
                return drive(connection, phase).await;
            }
            Ok(io) => io,
            Err(error) => return tracing::debug!(%error, "a connection did not begin"),
        };
        drive(Box::pin(self.http1.serve_connection(TokioIo::new(io), service)), phase).await;
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
async fn drive<C>(mut connection: Pin<Box<C>>, mut phase: watch::Receiver<Phase>)
where
    C: GracefulConnection<Error = hyper::Error>,
{
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = past_serving(&mut phase) => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = closing(&mut phase) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
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
