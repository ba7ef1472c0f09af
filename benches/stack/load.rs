//! The load: keep-alive connections of HTTP/1.1 that write ready-made requests and read answers into buffers of their
//! own. They allocate nothing per request, so whatever the heap is asked for is the server's.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
};

#[cfg(feature = "grpc")]
use crate::http2;

/// Every so many answers of a connection one is looked at closely.
const SAMPLE_EVERY: u64 = 256;

/// Which requests to write, and what comes back.
#[derive(Clone)]
pub(crate) struct Work {
    /// Whole requests, head and body; each connection goes round.
    pub(crate) requests: Arc<[Vec<u8>]>,
    pub(crate) status: u16,
    /// Something that must be in the answer's body.
    pub(crate) marker: String,
    /// How many events there must be in it; 0 where it is no stream.
    pub(crate) events: usize,
    /// Whether the requests are calls of gRPC.
    #[cfg(feature = "grpc")]
    pub(crate) http2: bool,
}

impl Work {
    pub(crate) fn new(requests: Vec<Vec<u8>>, marker: &str) -> Self {
        Self {
            requests: requests.into(),
            status: 200,
            marker: marker.to_owned(),
            events: 0,
            #[cfg(feature = "grpc")]
            http2: false,
        }
    }
}

/// What a round came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) elapsed: Duration,
}

/// Some connections to one server.
pub(crate) struct Load {
    work: Work,
    connections: Vec<Link>,
}

/// A connection of either version.
enum Link {
    Http1(Connection),
    #[cfg(feature = "grpc")]
    Http2(http2::Connection),
}

impl Link {
    async fn drive(self, work: Work, until: Instant, most: u64) -> io::Result<(Self, (u64, u64))> {
        Ok(match self {
            Self::Http1(connection) => {
                let (connection, done) = connection.drive(work, until, most).await?;
                (Self::Http1(connection), done)
            }
            #[cfg(feature = "grpc")]
            Self::Http2(connection) => {
                let (connection, done) = connection.drive(work, until, most).await?;
                (Self::Http2(connection), done)
            }
        })
    }
}

impl Load {
    pub(crate) fn connect(runtime: &Runtime, address: SocketAddr, count: usize, work: Work) -> io::Result<Self> {
        let connections = runtime.block_on(async {
            let mut connections = Vec::with_capacity(count);
            for index in 0..count {
                #[cfg(feature = "grpc")]
                if work.http2 {
                    connections.push(Link::Http2(http2::Connection::open(address).await?));
                    continue;
                }
                connections.push(Link::Http1(Connection::open(address, index).await?));
            }
            io::Result::Ok(connections)
        })?;
        Ok(Self { work, connections })
    }

    /// Sends for so long, but no more than so many requests.
    pub(crate) fn run(&mut self, runtime: &Runtime, time: Duration, most: u64) -> io::Result<Round> {
        let each = most.div_ceil(self.connections.len() as u64);
        let began = Instant::now();
        let (mut requests, mut bytes) = (0, 0);
        runtime.block_on(async {
            let running: Vec<_> = self
                .connections
                .drain(..)
                .map(|connection| tokio::spawn(connection.drive(self.work.clone(), began + time, each)))
                .collect();
            for connection in running {
                let (connection, done) = connection.await.map_err(io::Error::other)??;
                requests += done.0;
                bytes += done.1;
                self.connections.push(connection);
            }
            io::Result::Ok(())
        })?;
        Ok(Round { requests, bytes, elapsed: began.elapsed() })
    }
}

/// One connection of HTTP/1.1.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    next: usize,
    exchanges: u64,
    /// The body of an answer that is looked at closely.
    pub(crate) sample: Vec<u8>,
}

impl Connection {
    /// Connections that begin at different requests do not ask for the same at the same time.
    pub(crate) async fn open(address: SocketAddr, first: usize) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; 64 << 10].into(),
            start: 0,
            end: 0,
            next: first * 31,
            exchanges: 0,
            sample: Vec::with_capacity(128 << 10),
        })
    }

    async fn drive(mut self, work: Work, until: Instant, most: u64) -> io::Result<(Self, (u64, u64))> {
        let (mut requests, mut bytes) = (0, 0);
        while requests < most && Instant::now() < until {
            let request = &work.requests[self.next % work.requests.len()];
            self.next += 1;
            let sampled = self.exchanges.is_multiple_of(SAMPLE_EVERY);
            self.exchanges += 1;
            let (status, length) = self.exchange(request, sampled).await?;
            if status != work.status || (sampled && !self.sample_fits(&work)) {
                let sample = String::from_utf8_lossy(&self.sample);
                return Err(io::Error::other(format!("unexpected answer, {status}: {sample:.2000}")));
            }
            requests += 1;
            bytes += length as u64;
        }
        Ok((self, (requests, bytes)))
    }

    fn sample_fits(&self, work: &Work) -> bool {
        let text = String::from_utf8_lossy(&self.sample);
        text.contains(&work.marker) && text.matches("\ndata: ").count() == work.events
    }

    /// Writes a request and reads the whole answer: its status, and the length of its body.
    pub(crate) async fn exchange(&mut self, request: &[u8], sampled: bool) -> io::Result<(u16, usize)> {
        let (status, framing) = self.begin(request).await?;
        Ok((status, self.finish(framing, sampled).await?))
    }

    /// Writes a request and reads the head of the answer.
    pub(crate) async fn begin(&mut self, request: &[u8]) -> io::Result<(u16, Framing)> {
        self.stream.write_all(request).await?;
        self.sample.clear();
        self.head().await
    }

    /// Reads the body of the answer: its length.
    pub(crate) async fn finish(&mut self, framing: Framing, sampled: bool) -> io::Result<usize> {
        let mut length = 0;
        match framing {
            Framing::Length(bytes) => {
                self.take(bytes, sampled).await?;
                length = bytes;
            }
            Framing::Chunked => loop {
                let line = self.find(b"\r\n").await?;
                let size = number(&self.buffer[self.start..line], 16)?;
                self.start = line + 2;
                self.take(size, sampled).await?;
                self.take(2, false).await?;
                length += size;
                if size == 0 {
                    break;
                }
            },
        }
        Ok(length)
    }

    async fn head(&mut self) -> io::Result<(u16, Framing)> {
        let end = self.find(b"\r\n\r\n").await?;
        let head = &self.buffer[self.start..end];
        let status = number(head.get(9..12).unwrap_or_default(), 10)? as u16;
        let mut framing = Framing::Length(0);
        for line in head.split(|byte| *byte == b'\n') {
            if let Some(length) = value(line, b"content-length:") {
                framing = Framing::Length(if status == 304 { 0 } else { number(length, 10)? });
            } else if value(line, b"transfer-encoding:").is_some() {
                framing = Framing::Chunked;
            }
        }
        self.start = end + 4;
        Ok((status, framing))
    }

    /// Where this comes next in the buffer, once it is there.
    async fn find(&mut self, mark: &[u8]) -> io::Result<usize> {
        let mut from = self.start;
        loop {
            let found = self.buffer[from..self.end].windows(mark.len()).position(|window| window == mark);
            if let Some(at) = found {
                return Ok(from + at);
            }
            let seen = (self.end - self.start).saturating_sub(mark.len() - 1);
            self.fill().await?;
            from = self.start + seen;
        }
    }

    async fn take(&mut self, mut bytes: usize, sampled: bool) -> io::Result<()> {
        loop {
            let there = bytes.min(self.end - self.start);
            if sampled {
                self.sample.extend_from_slice(&self.buffer[self.start..self.start + there]);
            }
            self.start += there;
            bytes -= there;
            if bytes == 0 {
                return Ok(());
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let read = self.stream.read(&mut self.buffer[self.end..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.end += read;
        Ok(())
    }
}

/// How long a body is.
pub(crate) enum Framing {
    Length(usize),
    Chunked,
}

/// The value of a header, if the line is of that header.
fn value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (head, value) = line.split_at_checked(name.len())?;
    head.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

fn number(digits: &[u8], radix: u32) -> io::Result<usize> {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| usize::from_str_radix(digits, radix).ok());
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
