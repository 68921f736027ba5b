//! Token counts of a provider, checked for plausibility.

use dormouse_contracts::{Usage, Usd};
use serde_json::Value;

/// More tokens than any request has; such a count is wrong.
const ABSURD: f64 = 100_000_000.0;

/// Token counts of a provider. A number that is missing, negative, not a number or absurdly large is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TokenCounts {
    /// Tokens of the prompt, including those read from or written to a cache.
    pub(crate) prompt: Option<u32>,
    /// Tokens of the reply, including thoughts.
    pub(crate) completion: Option<u32>,
    /// Prompt tokens that were read from a cache.
    pub(crate) cached: Option<u32>,
    /// Prompt tokens that were written to a cache.
    pub(crate) cache_write: Option<u32>,
    /// Reply tokens that were thoughts.
    pub(crate) reasoning: Option<u32>,
    /// The price of the request.
    pub(crate) cost: Option<Usd>,
}

impl TokenCounts {
    /// Reads a count from JSON.
    pub(crate) fn tokens(value: Option<&Value>) -> Option<u32> {
        let count = value?.as_f64()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked"
        )]
        (0.0..ABSURD).contains(&count).then_some(count as u32)
    }

    /// Reads an amount of dollars from JSON.
    pub(crate) fn dollars(value: Option<&Value>) -> Option<Usd> {
        Usd::from_dollars(value?.as_f64()?)
    }

    /// Merges two counts; a number in `later` wins.
    pub(crate) fn updated(self, later: Self) -> Self {
        Self {
            prompt: later.prompt.or(self.prompt),
            completion: later.completion.or(self.completion),
            cached: later.cached.or(self.cached),
            cache_write: later.cache_write.or(self.cache_write),
            reasoning: later.reasoning.or(self.reasoning),
            cost: later.cost.or(self.cost),
        }
    }

    /// Returns the usage if prompt and reply were counted. A part that is larger than its whole counts as zero.
    pub(crate) fn usage(self) -> Option<Usage> {
        let (prompt_tokens, completion_tokens) = (self.prompt?, self.completion?);
        let part = |part: Option<u32>, whole| part.filter(|part| *part <= whole).unwrap_or(0);
        let cached_tokens = part(self.cached, prompt_tokens);
        Some(Usage {
            prompt_tokens,
            completion_tokens,
            cached_tokens,
            cache_write_tokens: part(self.cache_write, prompt_tokens - cached_tokens),
            reasoning_tokens: part(self.reasoning, completion_tokens),
            cost: self.cost,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_invalid_count_is_unknown_and_not_zero() {
        for (value, count) in [
            (json!(7), Some(7)),
            (json!(7.0), Some(7)),
            (json!(0), Some(0)),
            (json!(-1), None),
            (json!("7"), None),
            (json!(null), None),
            (json!(1e300), None),
            (json!(100_000_000), None),
        ] {
            assert_eq!(TokenCounts::tokens(Some(&value)), count, "{value}");
        }
        assert_eq!(TokenCounts::default().usage(), None);
    }

    #[test]
    fn a_part_larger_than_its_whole_is_not_believed() {
        let counts = TokenCounts {
            prompt: Some(10),
            completion: Some(5),
            cached: Some(8),
            cache_write: Some(3),
            reasoning: Some(6),
            cost: None,
        };
        let usage = Usage {
            prompt_tokens: 10,
            completion_tokens: 5,
            cached_tokens: 8,
            ..Usage::default()
        };
        assert_eq!(counts.usage(), Some(usage));
    }
}
