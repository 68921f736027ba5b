//! What was spent and done since the assistant was created.

use dormouse_contracts::Usage;
use serde::{Deserialize, Serialize};

use crate::event::{AssessmentOutcome, Event, TaskAssessed};

/// What was spent since the assistant was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Model calls that were answered.
    pub replies: u64,
    /// Model calls that failed.
    pub failures: u64,
    /// Tokens of all prompts, as the provider counted them, or as the engine counted them if the provider did not
    /// report any.
    pub prompt_tokens: u64,
    /// Tokens of all replies, counted in the same way.
    pub completion_tokens: u64,
}

impl Spent {
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Replied(it) => self.reply(it.reply.usage, it.prompt_tokens, it.tokens),
            Event::Consulted(it) => self.reply(it.reply.usage, it.prompt_tokens, it.tokens),
            Event::TaskAssessed(it) => self.assessment(it),
            Event::HistorySummarized(it) => {
                self.reply(it.reply.usage, it.prompt_tokens, it.tokens);
            }
            Event::ModelFailed(_) => self.failures = self.failures.saturating_add(1),
            _ => {}
        }
    }

    fn assessment(&mut self, assessed: &TaskAssessed) {
        let Some(call) = &assessed.asked else { return };
        match call.outcome {
            AssessmentOutcome::Replied { usage, tokens, .. } => {
                self.reply(usage, call.prompt_tokens, tokens);
            }
            AssessmentOutcome::Failed(_) => self.failures = self.failures.saturating_add(1),
        }
    }

    fn reply(&mut self, usage: Option<Usage>, prompt_tokens: u32, tokens: u32) {
        let prompt = usage.map_or(prompt_tokens, |usage| usage.prompt_tokens);
        let completion = usage.map_or(tokens, |usage| usage.completion_tokens);
        self.replies = self.replies.saturating_add(1);
        self.prompt_tokens = self.prompt_tokens.saturating_add(prompt.into());
        self.completion_tokens = self.completion_tokens.saturating_add(completion.into());
    }
}

/// Counts of what was done since the assistant was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Ticks that found a reason to think.
    pub ticks: u64,
    /// Messages that ended without an answer, including those that were given up.
    pub unanswered: u64,
    /// Memories that it stored on purpose. The text itself is in its memory.
    pub remembered: u64,
    /// How many tokens the last prompt took.
    pub prompt_tokens: u32,
    /// How often the emergency stop was triggered.
    #[serde(default)]
    pub stops: u64,
}

impl Counts {
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::TickStarted(started) => self.ticks = started.tick,
            Event::Unanswered(_) => self.unanswered = self.unanswered.saturating_add(1),
            Event::Remembered(_) => self.remembered = self.remembered.saturating_add(1),
            Event::EmergencyStopTriggered(_) => self.stops = self.stops.saturating_add(1),
            Event::Replied(replied) => self.prompt_tokens = replied.prompt_tokens,
            _ => {}
        }
    }
}
