//! Everything an assistant needs from outside.

use std::{fmt, sync::Arc};

use dormouse_contracts::{Chance, ChatModel, Clock, EventLog, TokenCounter, World};

/// The adapters behind an assistant's ports. Cloning it shares them; many assistants can.
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
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports")
            .field("model", &self.model.identity())
            .finish_non_exhaustive()
    }
}
