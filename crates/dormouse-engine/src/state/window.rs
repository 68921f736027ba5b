//! What was learnt about the model's context window.

use dormouse_contracts::ModelName;
use serde::{Deserialize, Serialize};

use crate::event::ContextLimit;

/// After this many replies the configured window is tried again: the cause of one long prompt need not make others too
/// long.
const FORGOTTEN_AFTER: u32 = 200;

/// A window that turned out to be smaller than configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearntLimit {
    /// How long prompts may be.
    pub context_limit: ContextLimit,
    /// The model that answered the first prompt that was short enough.
    pub model: ModelName,
    /// How many replies it has given since.
    pub replies: u32,
}

impl LearntLimit {
    pub(super) fn new(context_limit: ContextLimit, model: &ModelName) -> Self {
        Self {
            context_limit,
            model: model.clone(),
            replies: 0,
        }
    }

    /// What is known after one more reply; `None` if another model gave it, or if the limit was learnt long ago.
    pub(super) fn after_reply(mut self, model: &ModelName) -> Option<Self> {
        self.replies = self.replies.saturating_add(1);
        (self.model == *model && self.replies < FORGOTTEN_AFTER).then_some(self)
    }
}
