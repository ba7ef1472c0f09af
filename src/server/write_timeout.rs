//! Giving up on clients that take nothing of what they asked for.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A socket whose writes fail when the client has taken nothing for so long. Otherwise one that does not read would keep
/// its connection, and the answer that waits there, for as long as it likes.
pub(super) struct WriteTimeout<I> {
    io: I,
    timeout: Option<Duration>,
    // Set while a write waits; boxed because hyper wants to move the whole.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<I> WriteTimeout<I> {
    pub(super) fn new(io: I, timeout: Option<Duration>) -> Self {
        Self { io, timeout, timer: None }
    }

    fn watched(&mut self, written: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let Some(timeout) = self.timeout else { return Poll::Pending };
        ready!(self.timer.get_or_insert_with(|| Box::pin(sleep(timeout))).as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for WriteTimeout<I> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.watched(written, cx)
    }

    // Sockets have nothing to flush.
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
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.watched(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        time::Instant,
    };

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_given_up() {
        let (_client, io) = duplex(8);
        let begun = Instant::now();
        let error = WriteTimeout::new(io, Some(TIMEOUT)).write_all(&[0; 9]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed().as_secs()), (io::ErrorKind::TimedOut, 60));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_takes_a_little_now_and_then_is_not() {
        let (mut client, io) = duplex(8);
        let reading = tokio::spawn(async move {
            let mut taken = [0; 4];
            for _ in 0..10 {
                sleep(TIMEOUT - Duration::from_secs(1)).await;
                client.read_exact(&mut taken).await.unwrap();
            }
        });
        let mut io = WriteTimeout::new(io, Some(TIMEOUT));
        io.write_all(&[0; 40]).await.unwrap();
        // Nothing waits now, however long it takes until there is more to say.
        sleep(10 * TIMEOUT).await;
        reading.await.unwrap();
        assert_eq!(io.write_all(&[0; 8]).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_it_waits_for_ever() {
        let (_client, io) = duplex(8);
        let mut io = WriteTimeout::new(io, None);
        assert!(tokio::time::timeout(1000 * TIMEOUT, io.write_all(&[0; 9])).await.is_err());
    }
}
