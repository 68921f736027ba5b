//! Everything an assistant needs from outside.

use std::{fmt, sync::Arc};

use dormouse_contracts::{ChatModel, Clock, EventLog, Random, TokenCounter, World};
use dormouse_memory::Memory;

/// The adapters behind an assistant's ports. A clone shares them; many assistants can share all but the memory, which
/// belongs to one assistant.
#[derive(Clone)]
pub struct Ports {
    /// The log of its life.
    pub log: Arc<dyn EventLog>,
    /// The model that it asks.
    pub model: Arc<dyn ChatModel>,
    /// The world that it lives in.
    pub world: Arc<dyn World>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub random: Arc<dyn Random>,
    /// Counts the tokens of texts.
    pub counter: Arc<dyn TokenCounter>,
    /// Its memory: a projection of its log, filled from the log.
    pub memory: Memory,
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports")
            .field("model", &self.model.identity())
            .finish_non_exhaustive()
    }
}
