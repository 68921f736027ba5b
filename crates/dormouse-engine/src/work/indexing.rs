//! Work on the memory for which nobody waits.

use dormouse_memory::Memory;

/// How many records are embedded at a time, so that a turn that begins meanwhile throws little away.
const AT_A_TIME: usize = 32;

/// Whether the memory's vectors lack something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Indexing {
    /// They may.
    #[default]
    Due,
    /// They do not, or cannot be helped for now: the next turn tries again.
    Done,
}

/// Lets the memory embed some of what is new. Costs nothing where it has no encoder.
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
