//! A runtime for commands, which wait for one thing at a time.

use tokio::runtime::Builder;

use super::error::CommandError;

/// Runs the future to its end on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, CommandError> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CommandError::System)?;
    Ok(runtime.block_on(future))
}
