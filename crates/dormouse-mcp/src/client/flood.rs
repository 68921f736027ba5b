//! A bound on what a server may send.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::io::{AsyncRead, ReadBuf};

/// The longest line, in bytes. It is kept in memory until it ends.
pub(super) const LINE_LIMIT: u64 = 4 << 20;
/// What may be sent until the next call begins, in bytes and in lines. Over HTTP, each message counts as a line.
const BYTES_LIMIT: u64 = 16 << 20;
const LINES_LIMIT: u64 = 20_000;

/// What a server has sent since a call began.
#[derive(Debug, Default)]
pub(super) struct Sent {
    bytes: AtomicU64,
    lines: AtomicU64,
}

impl Sent {
    /// A call begins.
    pub(super) fn call_begins(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.lines.store(0, Ordering::Relaxed);
    }

    fn count(&self, bytes: u64, lines: u64) -> bool {
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let lines = self.lines.fetch_add(lines, Ordering::Relaxed) + lines;
        bytes <= BYTES_LIMIT && lines <= LINES_LIMIT
    }
}

/// The output of a server, which fails once the server has sent too much.
pub(super) struct Bounded<R> {
    output: R,
    sent: Arc<Sent>,
    /// The bytes of the line that has not ended.
    line: u64,
}

impl<R> Bounded<R> {
    pub(super) fn new(output: R, sent: Arc<Sent>) -> Self {
        Self {
            output,
            sent,
            line: 0,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.output).poll_read(context, into);
        let new = into.filled().get(before..).unwrap_or_default();
        let length = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let lines = new.iter().filter(|byte| **byte == b'\n').count();
        self.line = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => length(new.get(end..).unwrap_or_default()),
            None => self.line.saturating_add(length(new)),
        };
        let lines = u64::try_from(lines).unwrap_or(u64::MAX);
        if !self.sent.count(length(new), lines) || self.line > LINE_LIMIT {
            // A read that fails has read nothing.
            into.set_filled(before);
            return Poll::Ready(Err(io::Error::other("the server sends too much")));
        }
        read
    }
}

/// A connection without lines, which ends once the server has sent too many messages.
pub(super) struct Counted<T> {
    transport: T,
    sent: Arc<Sent>,
    /// Whether too much was sent.
    is_over: bool,
}

impl<T> Counted<T> {
    pub(super) fn new(transport: T, sent: Arc<Sent>) -> Self {
        Self {
            transport,
            sent,
            is_over: false,
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Counted<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let received = self.transport.receive().await?;
        self.is_over = !self.sent.count(0, 1);
        (!self.is_over).then_some(received)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        if self.is_over {
            // It would wait until all that was sent is received. It ends when it is dropped, which is next.
            return Ok(());
        }
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn read(text: &[u8], sent: &Arc<Sent>) -> io::Result<usize> {
        let mut all = Vec::new();
        Bounded::new(text, Arc::clone(sent))
            .read_to_end(&mut all)
            .await
    }

    #[tokio::test]
    async fn a_line_and_all_lines_of_a_call_have_a_bound() {
        let sent = Arc::default();
        let long = vec![b' '; usize::try_from(LINE_LIMIT).unwrap()];
        assert_eq!(read(&long, &sent).await.unwrap(), long.len());
        assert!(
            read(&[long.as_slice(), b"  "].concat(), &sent)
                .await
                .is_err()
        );
        sent.call_begins();
        for _ in 0..BYTES_LIMIT / LINE_LIMIT {
            read(&long, &sent).await.unwrap();
        }
        assert!(read(b"x", &sent).await.is_err(), "too many bytes");
        sent.call_begins();
        let lines = vec![b'\n'; usize::try_from(LINES_LIMIT).unwrap()];
        read(&lines, &sent).await.unwrap();
        assert!(read(b"\n", &sent).await.is_err(), "too many lines");
        sent.call_begins();
        assert_eq!(read(b"\n", &sent).await.unwrap(), 1);
    }
}
