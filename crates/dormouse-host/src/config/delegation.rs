//! `[delegation]`: how far tasks may go that are given to other assistants.

use std::time::Duration;

use dormouse_engine::DelegationSettings;

use super::{
    numbers::{Seconds, TaskCount, TaskDepth, TaskTimeout, TokenCount, Whole},
    section::section,
};

section! {
    /// `[delegation]`: how far tasks may go that are given to other assistants; `execution.sub_agents_enabled` allows them.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct DelegationSection {
        /// How long the assistant waits for the result of a task
        timeout: TaskTimeout = Seconds(DelegationSettings::default().timeout()),
        /// How often a task may be passed on; 1: a delegate cannot delegate
        depth: TaskDepth = Whole(DelegationSettings::default().depth),
        /// Tasks that may follow from one message or occasion, including those that delegates give
        tasks: TaskCount = Whole(DelegationSettings::default().tasks),
        /// Tokens of prompts and replies that one task may take, together with all tasks that follow from it. If the assistant has a budget: at most half of what is left
        tokens: TokenCount = Whole(DelegationSettings::default().tokens),
    }
}

impl DelegationSection {
    /// The section as the engine's own configuration.
    #[must_use]
    pub fn settings(&self) -> DelegationSettings {
        let timeout: Duration = self.timeout.0;
        DelegationSettings {
            // At most a day, so the number of seconds fits.
            timeout_seconds: u32::try_from(timeout.as_secs()).unwrap_or(u32::MAX),
            depth: self.depth.0,
            tasks: self.tasks.0,
            tokens: self.tokens.0,
        }
    }
}
