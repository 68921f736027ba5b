//! Everything an assistant needs from outside.

use std::{fmt, sync::Arc};

use dormouse_contracts::{Chance, ChatModel, Clock, EventLog, TokenCounter, World};
use dormouse_memory::Memory;

/// The adapters behind an assistant's ports. Cloning it shares them; many assistants can share all but the memory, which
/// is one assistant's own.
#[derive(Clone)]
pub struct Ports {
    /// Where its life is written down.
    pub log: Arc<dyn EventLog>,
    /// Who thinks.
    pub model: Arc<dyn ChatModel>,
    /// Where it lives.
    pub world: Arc<dyn World>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where chance comes from.
    pub chance: Arc<dyn Chance>,
    /// How long texts are to the model.
    pub counter: Arc<dyn TokenCounter>,
    /// What it remembers: a projection of its log, and filled from it.
    pub memory: Memory,
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports")
            .field("model", &self.model.identity())
            .finish_non_exhaustive()
    }
}
