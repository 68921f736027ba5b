//! What a provider counted, before anybody believes it.

use dormouse_contracts::{Usage, Usd};
use serde_json::Value;

/// More tokens than any request has: who counts as many has miscounted.
const ABSURD: f64 = 100_000_000.0;

/// What a provider counted. A number that is absent, negative, none at all or absurdly large is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Tokens of the prompt, those from and for a cache included.
    pub(crate) prompt: Option<u32>,
    /// Tokens of the reply, its thoughts included.
    pub(crate) completion: Option<u32>,
    /// Those of the prompt that came from a cache.
    pub(crate) cached: Option<u32>,
    /// Those of the prompt that were put into a cache.
    pub(crate) cache_write: Option<u32>,
    /// Those of the reply that were thoughts.
    pub(crate) reasoning: Option<u32>,
    /// What it cost.
    pub(crate) cost: Option<Usd>,
}

impl Counts {
    /// A count as it stands in JSON.
    pub(crate) fn tokens(value: Option<&Value>) -> Option<u32> {
        let count = value?.as_f64()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked"
        )]
        (0.0..ABSURD).contains(&count).then_some(count as u32)
    }

    /// An amount of dollars as it stands in JSON.
    pub(crate) fn dollars(value: Option<&Value>) -> Option<Usd> {
        Usd::from_dollars(value?.as_f64()?)
    }

    /// What both say; where both say something, what `later` says.
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

    /// The usage, if prompt and reply were both counted. A part that is larger than its whole is not believed.
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
    fn a_count_that_is_none_is_unknown_and_not_zero() {
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
            assert_eq!(Counts::tokens(Some(&value)), count, "{value}");
        }
        assert_eq!(Counts::default().usage(), None);
    }

    #[test]
    fn a_part_larger_than_its_whole_is_not_believed() {
        let counts = Counts {
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
