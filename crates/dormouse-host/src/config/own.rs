//! `[own]`: what an assistant keeps for itself, and how much of it is shown.

use dormouse_contracts::Trust;
use dormouse_engine::SelfSettings;

use super::{
    numbers::{KeptForItself, RecallTokens, Whole, trust},
    section::section,
    words,
};

section! {
    /// `[own]`: what it keeps for itself: projects, session memory (facts and patterns) and guidelines.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct OwnSection {
        /// Tokens of a prompt that guidelines, the active project, facts and patterns may take; 0: nothing is shown
        prompt_tokens: RecallTokens = Whole(SelfSettings::default().prompt_tokens),
        /// Maximum number of projects that are not completed
        projects: KeptForItself = Whole(SelfSettings::default().projects),
        /// Maximum number of facts in its session memory
        facts: KeptForItself = Whole(SelfSettings::default().facts),
        /// Maximum number of patterns in its session memory
        patterns: KeptForItself = Whole(SelfSettings::default().patterns),
        /// Maximum number of guidelines; 0: it cannot set any. `dormouse note drop` removes one
        guidelines: KeptForItself = Whole(SelfSettings::default().guidelines),
        /// Minimum trust of facts, patterns and guidelines
        #[serde(deserialize_with = "trust")]
        #[schemars(schema_with = "words::trust")]
        least_trust: Trust = SelfSettings::default().least_trust,
    }
}

impl OwnSection {
    /// The section as the engine's own configuration.
    #[must_use]
    pub fn settings(&self) -> SelfSettings {
        SelfSettings {
            prompt_tokens: self.prompt_tokens.0,
            projects: self.projects.0,
            facts: self.facts.0,
            patterns: self.patterns.0,
            guidelines: self.guidelines.0,
            least_trust: self.least_trust,
        }
    }
}
