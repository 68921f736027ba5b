//! Background work on the memory.

use dormouse_memory::Memory;

/// How many records are embedded at a time, so that a turn that begins meanwhile loses little work.
const AT_A_TIME: usize = 32;

/// Whether the memory's vectors are incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Indexing {
    /// They may be incomplete.
    #[default]
    Due,
    /// They are complete, or cannot be completed for now: the next turn tries again.
    Done,
}

/// Lets the memory embed some new records. Costs nothing without an encoder.
pub(crate) async fn index_pending(memory: Memory) -> Indexing {
    match memory.index_pending(AT_A_TIME).await {
        Ok(progress) => {
            let goes_on =
                progress.interrupted_by.is_none() && progress.embedded + progress.indexed > 0;
            if goes_on && progress.waiting > 0 {
                Indexing::Due
            } else {
                Indexing::Done
            }
        }
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the memory's vectors are not kept"
            );
            Indexing::Done
        }
    }
}
