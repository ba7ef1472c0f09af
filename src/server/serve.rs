use std::{
    convert::Infallible,
    fmt,
    future::{self, Pending},
    io,
    pin::pin,
    time::Duration,
};

use http::{Request, Response};
#[cfg(feature = "http2")]
use hyper::server::conn::http2;
use hyper::{body::Incoming, server::conn::http1};
#[cfg(feature = "http2")]
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};
use tower_service::Service;

use super::connection::{Phase, Protocols};
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
/// With the feature `http2` it serves HTTP/2 as well, on the same port, to clients that begin with it ("prior
/// knowledge"), as those of gRPC do. There is no TLS; something in front has to end it.
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
    write_timeout: Option<Duration>,
    max_headers: usize,
    max_header_size: usize,
    shutdown_deadline: Duration,
    #[cfg(feature = "http2")]
    http2: Http2,
    shutdown: F,
}

/// What is there in HTTP/2 alone.
#[cfg(feature = "http2")]
#[derive(Clone, Copy, Debug)]
struct Http2 {
    max_concurrent_streams: u32,
    max_pending_resets: usize,
    keep_alive_interval: Option<Duration>,
    keep_alive_timeout: Duration,
}

impl Serve {
    /// How long a request's head may take by default, and a connection be idle: 30 seconds.
    pub const DEFAULT_HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);
    /// How long a client may take nothing of what is sent to it by default: 60 seconds, as long as proxies wait. Streams
    /// can be taken up where they stopped.
    pub const DEFAULT_WRITE_TIMEOUT: Duration = Duration::from_secs(60);
    /// How many headers a request may have by default: 100, several times what browsers and proxies send.
    pub const DEFAULT_MAX_HEADERS: usize = 100;
    /// How large a request's head may be by default: 64 KiB, so that large tokens and trace headers fit.
    pub const DEFAULT_MAX_HEADER_SIZE: usize = 64 << 10;
    /// How long connections may go on after the shutdown has begun by default: 10 seconds, well under the 30 after
    /// which supervisors kill.
    pub const DEFAULT_SHUTDOWN_DEADLINE: Duration = Duration::from_secs(10);

    /// How many streams a connection of HTTP/2 may have open by default: 200, twice what RFC 9113 wants at least.
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub const DEFAULT_MAX_CONCURRENT_STREAMS: u32 = 200;
    /// How many streams a client of HTTP/2 may open and reset before the server has looked at them, by default: 20. A
    /// client has little reason to; one that wants to keep a server busy has (CVE-2023-44487).
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub const DEFAULT_MAX_PENDING_RESETS: usize = 20;
    /// After how much time a client of HTTP/2 is asked whether it is still there, by default: 20 seconds, within which
    /// proxies keep a silent connection.
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub const DEFAULT_KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(20);
    /// How long its answer may take by default: 20 seconds, as is usual among servers of gRPC.
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub const DEFAULT_KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(20);

    /// With the defaults, and no shutdown.
    pub fn new() -> Self {
        Self {
            header_read_timeout: Some(Self::DEFAULT_HEADER_READ_TIMEOUT),
            write_timeout: Some(Self::DEFAULT_WRITE_TIMEOUT),
            max_headers: Self::DEFAULT_MAX_HEADERS,
            max_header_size: Self::DEFAULT_MAX_HEADER_SIZE,
            shutdown_deadline: Self::DEFAULT_SHUTDOWN_DEADLINE,
            #[cfg(feature = "http2")]
            http2: Http2 {
                max_concurrent_streams: Self::DEFAULT_MAX_CONCURRENT_STREAMS,
                max_pending_resets: Self::DEFAULT_MAX_PENDING_RESETS,
                keep_alive_interval: Some(Self::DEFAULT_KEEP_ALIVE_INTERVAL),
                keep_alive_timeout: Self::DEFAULT_KEEP_ALIVE_TIMEOUT,
            },
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
    /// Closes a connection whose next request's head is not there after so much time; `None` waits for ever. One of HTTP/2
    /// must begin within it, and then stays as long as its client answers (`keep_alive_interval`).
    /// Default: [`DEFAULT_HEADER_READ_TIMEOUT`](Serve::DEFAULT_HEADER_READ_TIMEOUT).
    pub fn header_read_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.header_read_timeout = timeout.into();
        self
    }

    /// Closes a connection on which something waits to be sent and the client has taken nothing for so long; `None` waits
    /// for ever. Over HTTP/2, clients that read may still hold back single streams. Default:
    /// [`DEFAULT_WRITE_TIMEOUT`](Serve::DEFAULT_WRITE_TIMEOUT).
    pub fn write_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.write_timeout = timeout.into();
        self
    }

    /// How many headers a request of HTTP/1.1 may have; with more it is answered with 431.
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

    /// How many streams a connection of HTTP/2 may have open; one more is refused.
    /// Default: [`DEFAULT_MAX_CONCURRENT_STREAMS`](Serve::DEFAULT_MAX_CONCURRENT_STREAMS).
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub fn max_concurrent_streams(mut self, count: u32) -> Self {
        self.http2.max_concurrent_streams = count;
        self
    }

    /// How many streams a client of HTTP/2 may have opened and reset before the server has looked at them; with more its
    /// connection is closed. Default: [`DEFAULT_MAX_PENDING_RESETS`](Serve::DEFAULT_MAX_PENDING_RESETS).
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub fn max_pending_resets(mut self, count: usize) -> Self {
        self.http2.max_pending_resets = count;
        self
    }

    /// After how much time a client of HTTP/2 is asked whether it is still there; `None` asks never.
    /// Default: [`DEFAULT_KEEP_ALIVE_INTERVAL`](Serve::DEFAULT_KEEP_ALIVE_INTERVAL).
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub fn keep_alive_interval(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.http2.keep_alive_interval = interval.into();
        self
    }

    /// How long the answer to that may take; without one the connection is closed.
    /// Default: [`DEFAULT_KEEP_ALIVE_TIMEOUT`](Serve::DEFAULT_KEEP_ALIVE_TIMEOUT).
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub fn keep_alive_timeout(mut self, timeout: Duration) -> Self {
        self.http2.keep_alive_timeout = timeout;
        self
    }

    /// Stops when this future is ready: takes no more connections, lets requests in flight finish, and closes what is
    /// still open after the [deadline](Self::shutdown_deadline).
    pub fn with_shutdown<G>(self, shutdown: G) -> Serve<G> {
        Serve {
            header_read_timeout: self.header_read_timeout,
            write_timeout: self.write_timeout,
            max_headers: self.max_headers,
            max_header_size: self.max_header_size,
            shutdown_deadline: self.shutdown_deadline,
            #[cfg(feature = "http2")]
            http2: self.http2,
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
        let protocols = self.protocols();
        let (phase, watcher) = watch::channel(Phase::Serving);
        let mut shutdown = pin!(self.shutdown);
        loop {
            let stream = tokio::select! {
                _ = shutdown.as_mut() => break,
                stream = accept(&listener) => stream,
            };
            tokio::spawn(protocols.clone().serve(stream, service.clone(), watcher.clone()));
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

impl<F> Serve<F> {
    fn protocols(&self) -> Protocols {
        let mut http1 = http1::Builder::new();
        http1.max_header_size(self.max_header_size);
        // That is seen to around the connection.
        http1.header_read_timeout(None);
        // Our default is hyper's. Set, even to that, it costs each request two buffers that are filled beforehand.
        if self.max_headers != Serve::DEFAULT_MAX_HEADERS {
            http1.max_headers(self.max_headers);
        }
        Protocols {
            write_timeout: self.write_timeout,
            http1,
            #[cfg(feature = "http2")]
            http2: self.http2(),
            head_timeout: self.header_read_timeout,
        }
    }

    #[cfg(feature = "http2")]
    fn http2(&self) -> http2::Builder<TokioExecutor> {
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(self.max_header_size).unwrap_or(u32::MAX))
            .max_concurrent_streams(self.http2.max_concurrent_streams)
            .max_pending_accept_reset_streams(self.http2.max_pending_resets)
            .keep_alive_interval(self.http2.keep_alive_interval)
            .keep_alive_timeout(self.http2.keep_alive_timeout);
        http2
    }
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

impl<F> fmt::Debug for Serve<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("header_read_timeout", &self.header_read_timeout)
            .field("write_timeout", &self.write_timeout)
            .field("max_headers", &self.max_headers)
            .field("max_header_size", &self.max_header_size)
            .field("shutdown_deadline", &self.shutdown_deadline)
            .finish_non_exhaustive()
    }
}
