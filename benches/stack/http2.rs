//! Connections of HTTP/2 that write ready-made calls of gRPC and read the answers. Like those of HTTP/1.1 they allocate
//! nothing per request: headers are written without a table, and those that come are passed over.

use std::{io, net::SocketAddr, time::Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::load::Work;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
/// Of `DATA` and `HEADERS`.
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// Every so many answers of a connection one is looked at closely.
const SAMPLE_EVERY: u64 = 256;
/// More than any round has; nothing is to wait for a window.
const WINDOW: u32 = (1 << 31) - 1;

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags, 0, 0, 0, 0]);
    out.extend_from_slice(payload);
}

/// A header, as it is.
fn literal(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(0);
    for text in [name, value] {
        out.push(text.len() as u8);
        out.extend_from_slice(text.as_bytes());
    }
}

/// A call of this method: its frames, on stream 0.
pub(crate) fn call(path: &str, message: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "127.0.0.1"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ] {
        literal(&mut head, name, value);
    }
    let mut body = vec![0];
    body.extend_from_slice(&(message.len() as u32).to_be_bytes());
    body.extend_from_slice(message);
    let mut out = Vec::new();
    frame(&mut out, HEADERS, END_HEADERS, &head);
    frame(&mut out, DATA, END_STREAM, &body);
    out
}

/// One connection, with one call at a time.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    out: Vec<u8>,
    next_stream: u32,
    exchanges: u64,
    sample: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        let mut settings = vec![0, 4];
        settings.extend_from_slice(&WINDOW.to_be_bytes());
        frame(&mut hello, SETTINGS, 0, &settings);
        frame(&mut hello, WINDOW_UPDATE, 0, &(WINDOW - 65_535).to_be_bytes());
        stream.write_all(&hello).await?;
        Ok(Self {
            stream,
            buffer: vec![0; 64 << 10].into(),
            start: 0,
            end: 0,
            out: Vec::with_capacity(4 << 10),
            next_stream: 1,
            exchanges: 0,
            sample: Vec::with_capacity(128 << 10),
        })
    }

    pub(crate) async fn drive(mut self, work: Work, until: Instant, most: u64) -> io::Result<(Self, (u64, u64))> {
        let (mut requests, mut bytes) = (0, 0);
        while requests < most && Instant::now() < until {
            let sampled = self.exchanges.is_multiple_of(SAMPLE_EVERY);
            self.exchanges += 1;
            let length = self.exchange(&work.requests[0], sampled).await?;
            if sampled && !self.sample_fits(&work) {
                let sample = String::from_utf8_lossy(&self.sample);
                return Err(io::Error::other(format!("unexpected answer: {sample:.2000}")));
            }
            requests += 1;
            bytes += length as u64;
        }
        Ok((self, (requests, bytes)))
    }

    /// How many messages there are, and whether the last one ends with the body.
    fn sample_fits(&self, work: &Work) -> bool {
        let (mut rest, mut messages) = (&self.sample[..], 0);
        while let Some((prefix, behind)) = rest.split_first_chunk::<5>() {
            let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
            let Some(behind) = behind.get(length..) else { return false };
            (rest, messages) = (behind, messages + 1);
        }
        let text = String::from_utf8_lossy(&self.sample);
        rest.is_empty() && text.contains(&work.marker) && messages == work.events.max(1)
    }

    /// Makes a call and reads the whole answer: the length of its body.
    async fn exchange(&mut self, request: &[u8], sampled: bool) -> io::Result<usize> {
        let stream = self.next_stream.to_be_bytes();
        self.next_stream += 2;
        self.out.clear();
        self.out.extend_from_slice(request);
        let second = 9 + u32::from_be_bytes([0, request[0], request[1], request[2]]) as usize;
        for at in [5, second + 5] {
            self.out[at..at + 4].copy_from_slice(&stream);
        }
        self.stream.write_all(&self.out).await?;
        self.sample.clear();
        let mut length = 0;
        loop {
            self.need(9).await?;
            let head = &self.buffer[self.start..self.start + 9];
            let size = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let (kind, flags) = (head[3], head[4]);
            self.need(9 + size).await?;
            let payload = &self.buffer[self.start + 9..self.start + 9 + size];
            self.start += 9 + size;
            match kind {
                DATA => {
                    length += size;
                    if sampled {
                        self.sample.extend_from_slice(payload);
                    }
                }
                SETTINGS | PING if flags & ACK == 0 => {
                    self.out.clear();
                    frame(&mut self.out, kind, ACK, if kind == PING { payload } else { &[] });
                    self.stream.write_all(&self.out).await?;
                }
                GOAWAY | RST_STREAM => return Err(io::Error::other("the server breaks off")),
                _ => {}
            }
            if matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0 {
                return Ok(length);
            }
        }
    }

    /// Waits until so many bytes are there.
    async fn need(&mut self, bytes: usize) -> io::Result<()> {
        while self.end - self.start < bytes {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let read = self.stream.read(&mut self.buffer[self.end..]).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.end += read;
        }
        Ok(())
    }
}
