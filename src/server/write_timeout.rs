//! How answers go out: small ones in one piece, and none for ever to a client that takes nothing.

use std::{
    cell::RefCell,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::requests::{Turn, Turns};

/// A socket whose writes fail when the client has taken nothing for so long. Otherwise one that does not read would keep
/// its connection, and the answer that waits there, for as long as it likes.
pub(super) struct WriteTimeout<I> {
    io: I,
    timeout: Option<Duration>,
    // Set while a write waits; boxed because hyper wants to move the whole.
    timer: Option<Pin<Box<Sleep>>>,
    /// Odd while a write waits.
    stalls: Turns,
    stall: Option<Turn>,
}

impl<I> WriteTimeout<I> {
    pub(super) fn new(io: I, timeout: Option<Duration>, stalls: Turns) -> Self {
        Self { io, timeout, timer: None, stalls, stall: None }
    }

    fn watched(&mut self, written: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            (self.timer, self.stall) = (None, None);
            return written;
        }
        self.stall.get_or_insert_with(|| self.stalls.begin());
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
        let mut io = Pin::new(&mut self.io);
        let written = match gather(bufs, |whole| io.as_mut().poll_write(cx, whole)) {
            Some(written) => written,
            None => io.poll_write_vectored(cx, bufs),
        };
        self.watched(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

/// How many bytes are gathered at most: about where copying them begins to cost what it saves.
const GATHERED: usize = 2 << 10;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(GATHERED));
}

/// Puts several small pieces, such as a head and its body, into one: systems take one piece quicker than a list, by more
/// than so few bytes cost to copy. `None` if they are not small, or not several.
fn gather<T>(bufs: &[io::IoSlice<'_>], write: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let whole: usize = bufs.iter().map(|buf| buf.len()).sum();
    if bufs.len() < 2 || whole > GATHERED {
        return None;
    }
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        bufs.iter().for_each(|buf| buffer.extend_from_slice(buf));
        Some(write(buffer))
    })
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
        let error = WriteTimeout::new(io, Some(TIMEOUT), Turns::default()).write_all(&[0; 9]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed().as_secs()), (io::ErrorKind::TimedOut, 60));
    }

    #[tokio::test]
    async fn small_pieces_go_out_in_one_and_large_ones_as_they_are() {
        for (sizes, pieces) in
            [([100, 1_900], 1), ([GATHERED / 2, GATHERED / 2], 1), ([GATHERED / 2 + 1, GATHERED / 2], 2)]
        {
            let [first, second] = sizes.map(|size| vec![size.to_le_bytes()[0]; size]);
            let mut io = WriteTimeout::new(Pieces::default(), Some(TIMEOUT), Turns::default());
            let bufs = [io::IoSlice::new(&first), io::IoSlice::new(&second)];
            assert_eq!(io.write_vectored(&bufs).await.unwrap(), first.len() + second.len());
            assert_eq!(io.io.0.len(), pieces, "{sizes:?}");
            assert_eq!(io.io.0.concat(), [first, second].concat());
        }
        // What a socket has no room for stays with the caller.
        let (mut client, io) = duplex(5);
        let bufs = [io::IoSlice::new(b"abcd"), io::IoSlice::new(b"efgh")];
        assert_eq!(WriteTimeout::new(io, None, Turns::default()).write_vectored(&bufs).await.unwrap(), 5);
        let mut read = Vec::new();
        client.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"abcde");
    }

    /// What was written, by the call that wrote it, or by the piece of it.
    #[derive(Default)]
    struct Pieces(Vec<Vec<u8>>);

    impl AsyncWrite for Pieces {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            self.0.push(buf.to_vec());
            Poll::Ready(Ok(buf.len()))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bufs: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.0.extend(bufs.iter().map(|buf| buf.to_vec()));
            Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
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
        let mut io = WriteTimeout::new(io, Some(TIMEOUT), Turns::default());
        io.write_all(&[0; 40]).await.unwrap();
        // Nothing waits now, however long it takes until there is more to say.
        sleep(10 * TIMEOUT).await;
        reading.await.unwrap();
        assert_eq!(io.write_all(&[0; 8]).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_it_waits_for_ever() {
        let (_client, io) = duplex(8);
        let mut io = WriteTimeout::new(io, None, Turns::default());
        assert!(tokio::time::timeout(1000 * TIMEOUT, io.write_all(&[0; 9])).await.is_err());
    }
}
