//! Which version of HTTP a connection speaks, by its first bytes.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// What a client of HTTP/2 begins with (RFC 9113 §3.4). No request of HTTP/1.1 begins so.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A socket whose first bytes have been looked at, and are still to be read.
pub(super) struct Peeked<I> {
    io: I,
    first: [u8; PREFACE.len()],
    /// Which of the first bytes are still to be read.
    start: usize,
    end: usize,
}

impl<I: AsyncRead + Unpin> Peeked<I> {
    /// Waits until it is known what the client speaks. It is HTTP/1.1 if the connection ends before.
    pub(super) async fn new(io: I) -> io::Result<Self> {
        let mut peeked = Self { io, first: [0; PREFACE.len()], start: 0, end: 0 };
        while peeked.end < PREFACE.len() && PREFACE.starts_with(&peeked.first[..peeked.end]) {
            let read = peeked.io.read(&mut peeked.first[peeked.end..]).await?;
            if read == 0 {
                break;
            }
            peeked.end += read;
        }
        Ok(peeked)
    }

    pub(super) fn is_http2(&self) -> bool {
        self.first == *PREFACE
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Peeked<I> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.start == self.end {
            return Pin::new(&mut self.io).poll_read(cx, buf);
        }
        let count = buf.remaining().min(self.end - self.start);
        buf.put_slice(&self.first[self.start..self.start + count]);
        self.start += count;
        if buf.remaining() > 0 {
            // What came with the first bytes goes with them: hyper would keep a buffer for a read as short as theirs. An
            // error waits until it is asked for again.
            let _ = Pin::new(&mut self.io).poll_read(cx, buf);
        }
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Peeked<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio_test::io::Builder;

    use super::*;

    #[tokio::test]
    async fn what_came_with_the_first_bytes_is_read_with_them() {
        let mut io = Builder::new();
        let mut peeked = Peeked::new(io.read(b"GET / HTTP/1.1\r\n").read(b"host: x\r\n\r\n").build()).await.unwrap();
        let mut all = [0; 100];
        let count = peeked.read(&mut all).await.unwrap();
        assert_eq!(&all[..count], b"GET / HTTP/1.1\r\nhost: x\r\n\r\n");
        assert_eq!(peeked.read(&mut all).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn the_version_is_known_and_nothing_is_lost() {
        for (pieces, is_http2) in [
            (&["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "more"][..], true),
            (&["P", "RI * HTTP/2.0\r\n\r\nSM\r\n", "\r", "\nmore"], true),
            (&["PRI * HTTP/2.0\r\n\r\nSM\r\n\r!", "more"], false),
            (&["POST / HTTP/1.1\r\n", "more"], false),
            (&["P"], false),
            (&[], false),
        ] {
            let mut io = Builder::new();
            for piece in pieces {
                io.read(piece.as_bytes());
            }
            let mut peeked = Peeked::new(io.build()).await.unwrap();
            assert_eq!(peeked.is_http2(), is_http2, "{pieces:?}");
            let mut all = String::new();
            peeked.read_to_string(&mut all).await.unwrap();
            assert_eq!(all, pieces.concat());
        }
    }
}
