//! `[tools]`: how many tools a prompt offers, how often a call is tried, and when a tool is not called for a while.

use std::{collections::BTreeMap, time::Duration};

use dormouse_contracts::ToolName;
use dormouse_engine::{ToolBreaker, ToolRetries};
use dormouse_resilience::RetryPolicy;
use serde::{Deserialize, Serialize};

use super::{
    numbers::{
        BreakerCooldown, BreakerFailures, BreakerWindow, DefinitionTokens, Seconds, ToolAttempts,
        Whole,
    },
    section::section,
};

/// By what factor each pause is longer than the one before.
const FACTOR: f64 = 2.0;

section! {
    /// `[tools]`: how many tools a prompt offers, how often a call is tried, and when a tool is not called for a while.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct ToolsSection {
        /// Tokens that definitions of tools may take in one prompt. If all of them take more, a turn offers a selection, and the model finds the others with tool_search; 0: any number
        definition_tokens: DefinitionTokens = Whole(8_192),
        /// Maximum number of attempts of a call that gets no answer and may be repeated; 1: no repetition
        attempts: ToolAttempts = Whole(4),
        /// Longest pause after the first attempt. Each later pause may be twice as long as the one before, up to longest_pause
        first_pause: Seconds = Seconds(Duration::from_secs(1)),
        /// Longest pause between two attempts
        longest_pause: Seconds = Seconds(Duration::from_secs(10)),
        /// attempts, first_pause and longest_pause for single tools, by name
        #[schemars(schema_with = "super::words::tool_retries", extend("default" = {}, "x-example" = {
            "inspect_location": {"attempts": 2, "first_pause": 2},
        }))]
        retry: BTreeMap<ToolName, ToolRetrySection> = BTreeMap::new(),
        /// After this many calls without an answer, a tool is not called for a while (breaker_cooldown). This does not apply to tools that speak; 0: tools are always called
        breaker_failures: BreakerFailures = Whole(ToolBreaker::default().failures),
        /// Calls without an answer count towards breaker_failures for this long
        breaker_window: BreakerWindow = seconds(ToolBreaker::default().window_seconds),
        /// How long a tool is not called after breaker_failures is reached. The time doubles with each repetition, up to ten times this value
        breaker_cooldown: BreakerCooldown = seconds(ToolBreaker::default().cooldown_seconds),
    }
}

/// How often calls of one tool are tried. Absent fields are as for the other tools.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolRetrySection {
    /// How often a call is made until it is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<ToolAttempts>,
    /// The longest pause after the first attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_pause: Option<Seconds>,
    /// The longest pause between two attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_pause: Option<Seconds>,
}

fn seconds<const MOST: u64>(seconds: u32) -> Seconds<MOST> {
    Seconds(Duration::from_secs(seconds.into()))
}

impl ToolsSection {
    /// How many tokens the definitions of tools may take in one prompt; 0: any number.
    #[must_use]
    pub fn definition_tokens(&self) -> u32 {
        self.definition_tokens.0
    }

    /// When tools are not called for a while, in the form that the engine takes.
    #[must_use]
    pub fn breaker(&self) -> ToolBreaker {
        let whole = |duration: Duration| u32::try_from(duration.as_secs()).unwrap_or(u32::MAX);
        ToolBreaker {
            failures: self.breaker_failures.0,
            window_seconds: whole(self.breaker_window.0),
            cooldown_seconds: whole(self.breaker_cooldown.0),
        }
    }

    /// How often calls are tried, in the form that the engine takes.
    #[must_use]
    pub fn retries(&self) -> ToolRetries {
        let each = self.retry.iter();
        ToolRetries {
            usual: self.policy(ToolRetrySection::default()),
            each: each
                .map(|(tool, retry)| (tool.to_string(), self.policy(*retry)))
                .collect(),
        }
    }

    fn policy(&self, of_tool: ToolRetrySection) -> RetryPolicy {
        let attempts = of_tool.attempts.unwrap_or(self.attempts).0;
        let longest = of_tool.longest_pause.unwrap_or(self.longest_pause).0;
        // A pause is never longer than the longest one, whichever was set last.
        let first = of_tool.first_pause.unwrap_or(self.first_pause).0;
        let policy = RetryPolicy::try_new(attempts, first.min(longest), FACTOR, longest);
        // This cannot fail: the types of the settings have the bounds of a policy.
        policy.unwrap_or_else(|_| RetryPolicy::tool_call())
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_tool_is_tried_as_the_settings_say_for_it_or_else_for_all() {
        let text = "[tools]\nattempts = 3\nlongest_pause = 5\nbreaker_failures = 2\n\
                    retry = { look = { attempts = 1 }, weather = { first_pause = 9 } }\n";
        let tools = parse(None, text).unwrap().tools;
        let policy = |attempts, first| RetryPolicy::try_new(attempts, first, 2.0, 5 * SECOND);
        let expected = ToolRetries {
            usual: policy(3, SECOND).unwrap(),
            each: [
                ("look".to_owned(), policy(1, SECOND).unwrap()),
                ("weather".to_owned(), policy(3, 5 * SECOND).unwrap()),
            ]
            .into(),
        };
        assert_eq!(tools.retries(), expected);
        assert_eq!(tools.breaker().failures, 2);
        let usual = parse(None, "").unwrap().tools;
        assert_eq!(usual.retries(), ToolRetries::default());
        assert_eq!(usual.breaker(), ToolBreaker::default());
        for wrong in [
            "attempts = 0",
            "attempts = 21",
            "breaker_window = 0",
            "retry = { look = { tries = 1 } }",
            "retry = { \"two words\" = { attempts = 1 } }",
        ] {
            assert!(
                parse(None, &format!("[tools]\n{wrong}\n")).is_err(),
                "{wrong}"
            );
        }
    }
}
