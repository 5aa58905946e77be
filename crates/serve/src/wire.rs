//! A connection with a timeout for writes.
//!
//! In: a stream and a duration. Out: the same stream, whose writes fail once the other side has
//! taken nothing for that long. Reads have other timeouts: those of the head and of the body.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream whose writes time out.
pub(crate) struct WriteTimeout<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write waits.
    clock: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WriteTimeout<S> {
    /// Limits how long a write may make no progress.
    pub(crate) fn new(stream: S, limit: Duration) -> WriteTimeout<S> {
        WriteTimeout { stream, limit, clock: None }
    }

    /// Returns the outcome of a write, or an error if it has waited too long.
    fn timed<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.clock = None;
            return outcome;
        }
        let limit = self.limit;
        let clock = self.clock.get_or_insert_with(|| Box::pin(sleep(limit)));
        match clock.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(context, outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.timed(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.timed(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.timed(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
