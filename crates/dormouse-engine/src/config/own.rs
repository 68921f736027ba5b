//! How much an assistant may keep for itself, and how much of it is shown.

use dormouse_contracts::Trust;
use dormouse_memory::MIN_TRUST;
use serde::{Deserialize, Serialize};

use crate::event::SelfNoteKind;

/// How much an assistant may keep for itself: projects, session memory, guidelines. A log without it has none of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelfSettings {
    /// The most tokens of all of it in a prompt; 0 shows nothing. Default 400. In a small context window it takes at most an
    /// eighth of what the turn leaves free.
    pub prompt_tokens: u32,
    /// How many projects may be unfinished. Default 20.
    pub projects: u32,
    /// How many facts it may keep; 0 for none. Default 40.
    pub facts: u32,
    /// How many patterns it may keep; 0 for none. Default 20.
    pub patterns: u32,
    /// How many guidelines it may have; 0 for none. Default 10.
    pub guidelines: u32,
    /// The least trust of facts, patterns and guidelines. Default 0.5.
    pub least_trust: Trust,
}

impl SelfSettings {
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// How many notes of a kind there may be.
    pub(crate) fn most(&self, kind: SelfNoteKind) -> u32 {
        match kind {
            SelfNoteKind::Fact => self.facts,
            SelfNoteKind::Pattern => self.patterns,
            SelfNoteKind::Guideline => self.guidelines,
        }
    }
}

impl Default for SelfSettings {
    fn default() -> Self {
        Self {
            prompt_tokens: 400,
            projects: 20,
            facts: 40,
            patterns: 20,
            guidelines: 10,
            least_trust: MIN_TRUST,
        }
    }
}
