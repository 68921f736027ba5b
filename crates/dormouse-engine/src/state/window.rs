//! The learnt limit of the model's context window.

use dormouse_contracts::ModelName;
use serde::{Deserialize, Serialize};

use super::turns::Turns;
use crate::event::{ContextLimit, Event, Replied};

/// After this many replies the configured window is tried again: one prompt that was too long does not mean that later
/// ones are.
const FORGOTTEN_AFTER: u32 = 200;

/// A window that turned out to be smaller than configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearntLimit {
    /// How long prompts may be.
    pub context_limit: ContextLimit,
    /// The model that answered the first prompt that was short enough.
    pub model: ModelName,
    /// How many replies it has given since then.
    pub replies: u32,
}

impl LearntLimit {
    fn new(context_limit: ContextLimit, model: &ModelName) -> Self {
        Self {
            context_limit,
            model: model.clone(),
            replies: 0,
        }
    }

    /// The limit after one more reply; `None` if another model gave the reply, or if the limit was learnt long ago.
    fn after_reply(mut self, model: &ModelName) -> Option<Self> {
        self.replies = self.replies.saturating_add(1);
        (self.model == *model && self.replies < FORGOTTEN_AFTER).then_some(self)
    }
}

/// The limit on the length of prompts, if it turned out to be lower than the configured window allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Window(Option<LearntLimit>);

impl Window {
    /// Folds one event in. `turns` are those before the event.
    pub(super) fn apply(&mut self, event: &Event, turns: &Turns) {
        if let Event::Replied(replied) = event {
            let current = turns.current();
            let found = current.and_then(|turn| turn.context_limit);
            self.reply(replied, found);
        }
    }

    /// Notes a reply. `found` is the limit that its prompt had to keep to, if one was just found.
    fn reply(&mut self, replied: &Replied, found: Option<ContextLimit>) {
        self.0 = match found {
            Some(context_limit) => {
                // The prompt may be longer than the learnt limit: some parts are never left out. The model took it, so
                // the limit is at least its length.
                let tokens = context_limit.tokens.max(replied.prompt_tokens);
                let context_limit = ContextLimit {
                    tokens,
                    ..context_limit
                };
                Some(LearntLimit::new(context_limit, &replied.model))
            }
            None => {
                let learnt = self.0.take();
                learnt.and_then(|learnt| learnt.after_reply(&replied.model))
            }
        };
    }

    /// The limit that was learnt, if one was.
    #[must_use]
    pub fn learnt(&self) -> Option<&LearntLimit> {
        self.0.as_ref()
    }
}
