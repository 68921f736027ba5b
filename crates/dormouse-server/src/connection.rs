//! One connection. Its headers must arrive in time, and the client must read the answers in time.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    select,
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use crate::service::over;

/// The most headers of a request.
const HEADERS: usize = 64;

/// The most bytes of all headers of a request, and of the output buffer of a slow reader.
const BUFFER: usize = 32 * 1024;

/// How patient the service is with a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How long the headers of a request may take. A connection without a request is also closed after this time.
    pub(crate) headers: Duration,
    /// How long a client may read nothing although there is output for it.
    pub(crate) reading: Duration,
}

/// Answers the requests of one client until it goes away, is too slow, or the service ends.
pub(crate) async fn attend(
    stream: TcpStream,
    router: Router,
    patience: Patience,
    mut ending: watch::Receiver<bool>,
) {
    // Without this option, small pieces of a stream wait for each other.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps the delay of the system");
    }
    let io = TokioIo::new(ImpatientStream::new(stream, patience.reading));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(patience.headers)
        .max_headers(HEADERS)
        .max_buf_size(BUFFER);
    let mut connection = Box::pin(http.serve_connection(io, TowerToHyperService::new(router)));
    let ended = select! {
        ended = &mut connection => ended,
        () = over(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// A stream whose writes fail if the other side reads nothing for too long.
struct ImpatientStream {
    stream: TcpStream,
    patience: Duration,
    /// When the write under way fails.
    gives_up: Option<Pin<Box<Sleep>>>,
}

impl ImpatientStream {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            gives_up: None,
        }
    }

    /// The result of a write; an error if it has been pending for too long.
    fn judge<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(written) = written {
            self.gives_up = None;
            return Poll::Ready(written);
        }
        let patience = self.patience;
        let new = || Box::pin(sleep_until(Instant::now() + patience));
        let gives_up = self.gives_up.get_or_insert_with(new);
        ready!(gives_up.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for ImpatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ImpatientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
