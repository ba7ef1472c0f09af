use std::{
    convert::Infallible,
    fmt,
    future::{self, Pending},
    io,
    pin::pin,
    time::Duration,
};

use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};
use tower_service::Service;

use super::linger::Linger;
use crate::error::BoxError;

/// How long to wait after the system refused a connection for want of something that others have to give back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves HTTP/1.1 on a listener, with the defaults of [`Serve`].
///
/// # Errors
/// None at present: a connection that cannot be accepted is no reason to stop.
pub async fn serve<S, B>(listener: TcpListener, service: S) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    Serve::new().run(listener, service).await
}

/// Serves HTTP/1.1 on a listener: a loop around hyper, for those who have no server yet.
///
/// Each connection runs in a task of its own, so that none can harm another. When a connection is to be closed, what
/// the client still sends is read and thrown away for up to a second, so that the last answer reaches it.
///
/// It takes any tower service over HTTP that never fails: an [`A2aService`](super::A2aService),
/// [`Mounts`](super::Mounts), an axum `Router`. A router under `axum::serve` works as well, with two differences: streams
/// that are open hold a graceful shutdown back until their tasks are over, since there is no deadline, and a client may
/// take for ever with its headers.
#[must_use = "it does nothing until it runs"]
pub struct Serve<F = Pending<()>> {
    header_read_timeout: Option<Duration>,
    max_headers: usize,
    max_header_size: usize,
    shutdown_deadline: Duration,
    shutdown: F,
}

impl Serve {
    /// How long a request's head may take by default, and a connection be idle: 30 seconds.
    pub const DEFAULT_HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);
    /// How many headers a request may have by default: 100, several times what browsers and proxies send.
    pub const DEFAULT_MAX_HEADERS: usize = 100;
    /// How large a request's head may be by default: 64 KiB, so that large tokens and trace headers fit.
    pub const DEFAULT_MAX_HEADER_SIZE: usize = 64 << 10;
    /// How long connections may go on after the shutdown has begun by default: 10 seconds, well under the 30 after
    /// which supervisors kill.
    pub const DEFAULT_SHUTDOWN_DEADLINE: Duration = Duration::from_secs(10);

    /// With the defaults, and no shutdown.
    pub fn new() -> Self {
        Self {
            header_read_timeout: Some(Self::DEFAULT_HEADER_READ_TIMEOUT),
            max_headers: Self::DEFAULT_MAX_HEADERS,
            max_header_size: Self::DEFAULT_MAX_HEADER_SIZE,
            shutdown_deadline: Self::DEFAULT_SHUTDOWN_DEADLINE,
            shutdown: future::pending(),
        }
    }
}

impl Default for Serve {
    fn default() -> Self {
        Self::new()
    }
}

impl<F> Serve<F> {
    /// Closes a connection whose next request's head is not there after so much time; `None` waits for ever.
    /// Default: [`DEFAULT_HEADER_READ_TIMEOUT`](Serve::DEFAULT_HEADER_READ_TIMEOUT).
    pub fn header_read_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.header_read_timeout = timeout.into();
        self
    }

    /// How many headers a request may have; with more it is answered with 431.
    /// Default: [`DEFAULT_MAX_HEADERS`](Serve::DEFAULT_MAX_HEADERS).
    pub fn max_headers(mut self, count: usize) -> Self {
        self.max_headers = count;
        self
    }

    /// How large a request's head may be, in bytes; a larger one is answered with 431.
    /// Default: [`DEFAULT_MAX_HEADER_SIZE`](Serve::DEFAULT_MAX_HEADER_SIZE).
    pub fn max_header_size(mut self, bytes: usize) -> Self {
        self.max_header_size = bytes;
        self
    }

    /// Stops when this future is ready: takes no more connections, lets requests in flight finish, and closes what is
    /// still open after the [deadline](Self::shutdown_deadline).
    pub fn with_shutdown<G>(self, shutdown: G) -> Serve<G> {
        Serve {
            header_read_timeout: self.header_read_timeout,
            max_headers: self.max_headers,
            max_header_size: self.max_header_size,
            shutdown_deadline: self.shutdown_deadline,
            shutdown,
        }
    }

    /// How long connections may go on after the shutdown has begun.
    /// Default: [`DEFAULT_SHUTDOWN_DEADLINE`](Serve::DEFAULT_SHUTDOWN_DEADLINE).
    pub fn shutdown_deadline(mut self, deadline: Duration) -> Self {
        self.shutdown_deadline = deadline;
        self
    }

    /// Serves until the shutdown, or for ever.
    ///
    /// # Errors
    /// None at present: a connection that cannot be accepted is no reason to stop.
    pub async fn run<S, B>(self, listener: TcpListener, service: S) -> io::Result<()>
    where
        F: Future,
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_read_timeout)
            .max_header_size(self.max_header_size);
        // Our default is hyper's. Set, even to that, it costs each request two buffers that are filled beforehand.
        if self.max_headers != Serve::DEFAULT_MAX_HEADERS {
            builder.max_headers(self.max_headers);
        }
        let (phase, watcher) = watch::channel(Phase::Serving);
        let mut shutdown = pin!(self.shutdown);
        loop {
            let stream = tokio::select! {
                _ = shutdown.as_mut() => break,
                stream = accept(&listener) => stream,
            };
            tokio::spawn(connection(builder.clone(), stream, service.clone(), watcher.clone()));
        }
        drop((listener, watcher));
        // Both fail only if there is no connection left, which is what is wanted.
        let _ = phase.send(Phase::Finishing);
        if timeout(self.shutdown_deadline, phase.closed()).await.is_err() {
            let _ = phase.send(Phase::Closing);
            phase.closed().await;
        }
        Ok(())
    }
}

/// How far a server is on its way to the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Serving,
    Finishing,
    Closing,
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // That client has gone again; the next one knows nothing of it.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionAborted
                        | io::ErrorKind::ConnectionReset
                        | io::ErrorKind::ConnectionRefused
                ) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
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

async fn connection<S, B>(builder: http1::Builder, stream: TcpStream, service: S, mut phase: watch::Receiver<Phase>)
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
    let io = TokioIo::new(Linger::new(stream));
    let mut connection = pin!(builder.serve_connection(io, TowerToHyperService::new(service)));
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

impl<F> fmt::Debug for Serve<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("header_read_timeout", &self.header_read_timeout)
            .field("max_headers", &self.max_headers)
            .field("max_header_size", &self.max_header_size)
            .field("shutdown_deadline", &self.shutdown_deadline)
            .finish_non_exhaustive()
    }
}
