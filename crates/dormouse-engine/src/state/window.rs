//! What was learnt about the model's context window.

use dormouse_contracts::ModelName;
use serde::{Deserialize, Serialize};

use crate::event::Narrowed;

/// After so many replies the window is tried whole again: what made one prompt too long need not make others so.
const FORGOTTEN_AFTER: u32 = 200;

/// A window that turned out to be smaller than configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearntWindow {
    /// How long prompts may be.
    pub narrowed: Narrowed,
    /// The model that answered the first prompt that was short enough.
    pub model: ModelName,
    /// How many replies it has given since.
    pub replies: u32,
}

impl LearntWindow {
    pub(super) fn new(narrowed: Narrowed, model: &ModelName) -> Self {
        Self {
            narrowed,
            model: model.clone(),
            replies: 0,
        }
    }

    /// What is known after one more reply: nothing, if another model gave it or if it was long
    /// ago that this was learnt.
    pub(super) fn after_reply(mut self, model: &ModelName) -> Option<Self> {
        self.replies = self.replies.saturating_add(1);
        (self.model == *model && self.replies < FORGOTTEN_AFTER).then_some(self)
    }
}
