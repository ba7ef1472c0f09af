//! Closing a connection without breaking off its last answer.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

/// How long a client may go on writing after the answer: long enough for one round trip to anywhere.
const PATIENCE: Duration = Duration::from_secs(1);

/// A socket that, when it is shut down, reads and throws away what the client still sends. Closed with something
/// unread, it would reset the connection, and the client might never see the answer that it has got.
pub(super) struct Linger<I> {
    io: I,
    // Set when the writing side is shut; boxed because hyper wants to move the whole.
    patience: Option<Pin<Box<Sleep>>>,
}

impl<I> Linger<I> {
    pub(super) fn new(io: I) -> Self {
        Self { io, patience: None }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Linger<I> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Linger<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { io, patience } = &mut *self;
        if patience.is_none() {
            ready!(Pin::new(&mut *io).poll_shutdown(cx))?;
        }
        let patience = patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(PATIENCE)));
        let mut scrap = [0; 4096];
        while patience.as_mut().poll(cx).is_pending() {
            let mut buf = ReadBuf::new(&mut scrap);
            match ready!(Pin::new(&mut *io).poll_read(cx, &mut buf)) {
                Ok(()) if !buf.filled().is_empty() => {}
                _ => break,
            }
        }
        Poll::Ready(Ok(()))
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
