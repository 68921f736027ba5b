//! `[goals]`: when goals call for turns, and how much of them is shown.

use dormouse_contracts::Trust;
use dormouse_engine::GoalSettings;

use super::{
    numbers::{DividedAfter, PursuedTurns, PursuitPause, RecallTokens, Seconds, Whole, trust},
    section::section,
    words,
};

section! {
    /// `[goals]`: when its goals call for turns, and how much of them is shown.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct GoalsSection {
        /// False: goals are kept and shown, but never call for a turn by themselves
        pursue: bool = GoalSettings::default().pursue,
        /// Minimum trust of a goal that calls for turns by itself
        #[serde(deserialize_with = "trust")]
        #[schemars(schema_with = "words::trust")]
        pursue_trust: Trust = GoalSettings::default().pursue_trust,
        /// Tokens of a prompt that goals may take; 0: no goal is shown
        prompt_tokens: RecallTokens = Whole(GoalSettings::default().prompt_tokens),
        /// A goal is blocked after this many turns in a row without progress or with errors
        attempts: PursuedTurns = Whole(GoalSettings::default().attempts),
        /// A goal that does not recur is blocked if it is not completed after this many turns
        turns: PursuedTurns = Whole(GoalSettings::default().turns),
        /// Minimum time between two turns for a goal that does not recur. It doubles while the turns make no progress, up to a day
        retry_after: PursuitPause = Seconds(std::time::Duration::from_secs(
            GoalSettings::default().retry_after_seconds.into(),
        )),
        /// After this many turns without progress, a goal without parts is divided once, in a turn of context goal_decompose; 0: never
        divide_after: DividedAfter = Whole(GoalSettings::default().divide_after),
    }
}

impl GoalsSection {
    /// The section as the engine's own configuration.
    #[must_use]
    pub fn settings(&self) -> GoalSettings {
        let most = GoalSettings::default().retry_after_seconds;
        GoalSettings {
            pursue: self.pursue,
            pursue_trust: self.pursue_trust,
            prompt_tokens: self.prompt_tokens.0,
            attempts: self.attempts.0,
            turns: self.turns.0,
            divide_after: self.divide_after.0,
            // At most a day, so the number of seconds fits.
            retry_after_seconds: u32::try_from(self.retry_after.0.as_secs()).unwrap_or(most),
        }
    }
}
