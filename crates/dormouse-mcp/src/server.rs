//! A memory, served over a stream.

use std::{future::Future, sync::Arc};

use dormouse_memory::{Memory, MemoryError};
use rmcp::{ServiceExt, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    handler::Handler,
    tools::{FollowsLog, MemoryLimits, MemoryTools},
};

/// Why a server ended too early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client broke the protocol before it began.
    #[error("the client does not speak the Model Context Protocol: {0}")]
    Protocol(String),
    /// The task that serves panicked.
    #[error("the server failed: {0}")]
    Failed(String),
}

/// A memory for clients of the Model Context Protocol.
#[derive(Debug)]
pub struct MemoryServer {
    tools: Arc<MemoryTools>,
}

/// Why a memory cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeMemoryError {
    /// Another log decides about it.
    #[error(transparent)]
    FollowsLog(#[from] FollowsLog),
    /// The file failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl MemoryServer {
    /// Offers this memory, within these limits.
    ///
    /// # Errors
    ///
    /// [`ServeMemoryError`] if the memory is made from the log of an assistant, or its file fails.
    pub async fn try_new(memory: Memory, limits: MemoryLimits) -> Result<Self, ServeMemoryError> {
        if memory.stats().await?.log_through > 0 {
            return Err(FollowsLog.into());
        }
        Ok(Self {
            tools: Arc::new(MemoryTools { memory, limits }),
        })
    }

    /// Serves one client over this stream, one message a line, until it closes the stream or `stopped` is done. A line of
    /// more than 16 MiB is refused. Calls are carried out at the same time; a change that was answered is on disk.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if the client does not begin as the protocol says.
    pub async fn serve(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stopped: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let memory = self.tools.memory.clone();
        let mut stopped = std::pin::pin!(stopped);
        let begun = tokio::select! {
            begun = Box::pin(Handler { surface: self.tools }.serve((input, output))) => begun,
            () = &mut stopped => {
                memory.close().await;
                return Ok(());
            }
        };
        let running = match begun {
            Ok(running) => running,
            Err(error) => {
                memory.close().await;
                return match error {
                    // A client that goes without a word.
                    ServerInitializeError::ConnectionClosed(_) => Ok(()),
                    error => Err(ServeError::Protocol(error.to_string())),
                };
            }
        };
        let cancel = running.cancellation_token();
        let mut waiting = std::pin::pin!(running.waiting());
        let ended = tokio::select! {
            ended = &mut waiting => ended,
            () = &mut stopped => {
                cancel.cancel();
                waiting.await
            }
        };
        memory.close().await;
        ended
            .map(|_reason| ())
            .map_err(|panicked| ServeError::Failed(panicked.to_string()))
    }
}
