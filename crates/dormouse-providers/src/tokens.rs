//! Counting tokens: exactly where the vocabulary is known, by estimate elsewhere.

use std::{num::NonZeroU8, sync::Arc};

use dormouse_contracts::{ModelName, TokenCount, TokenCounter};

#[cfg(feature = "tiktoken")]
mod tiktoken;
#[cfg(feature = "tiktoken")]
pub use tiktoken::Tiktoken;

/// Counts tokens by the length of the text: one token for so many characters, rounded up.
///
/// Four characters a token is the usual figure for English prose with current vocabularies; code, numbers and other
/// scripts take more tokens than this says. Its counts are marked as not exact: reconcile them with the usage a
/// provider reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    characters_per_token: NonZeroU8,
}

/// A number of characters that no token has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no token has 0 characters: between 1 and 255 are possible")]
pub struct EstimateError;

impl Estimate {
    /// An estimate of this many characters a token.
    ///
    /// # Errors
    ///
    /// [`EstimateError`] if it is zero.
    pub fn try_new(characters_per_token: u8) -> Result<Self, EstimateError> {
        NonZeroU8::new(characters_per_token)
            .map(|characters_per_token| Self {
                characters_per_token,
            })
            .ok_or(EstimateError)
    }
}

impl Default for Estimate {
    /// Four characters a token.
    fn default() -> Self {
        Self {
            characters_per_token: NonZeroU8::MIN.saturating_add(3),
        }
    }
}

impl TokenCounter for Estimate {
    fn count(&self, text: &str) -> TokenCount {
        let per_token = usize::from(self.characters_per_token.get());
        let tokens = text.chars().count().div_ceil(per_token);
        TokenCount {
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            exact: false,
        }
    }
}

/// The best counter there is for this model: its own vocabulary if that is known (and the feature `tiktoken` is on),
/// an [`Estimate`] otherwise. A provider's prefix as in `openai/gpt-4.1` is looked through. Loads nothing yet.
#[must_use]
pub fn token_counter_for(model: &ModelName) -> Arc<dyn TokenCounter> {
    #[cfg(feature = "tiktoken")]
    if let Some(exact) = Tiktoken::for_model(model) {
        return Arc::new(exact);
    }
    let _unused_without_the_feature = model;
    Arc::new(Estimate::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(text: &str) -> u32 {
        Estimate::default().count(text).tokens
    }

    #[test]
    fn an_estimate_counts_characters_not_bytes_and_rounds_up() {
        assert_eq!(
            ["", "a", "four", "fives", "日本語で"].map(estimate),
            [0, 1, 1, 2, 1]
        );
        assert!(!Estimate::default().count("a").exact);
        assert_eq!(Estimate::try_new(0), Err(EstimateError));
        assert_eq!(Estimate::try_new(2).unwrap().count("four").tokens, 2);
    }

    #[test]
    fn a_model_nobody_knows_is_estimated() {
        let counter = token_counter_for(&ModelName::try_new("dormouse-7b").unwrap());
        assert_eq!(
            counter.count("eight ch"),
            TokenCount {
                tokens: 2,
                exact: false
            }
        );
    }

    #[cfg(feature = "tiktoken")]
    #[test]
    fn a_known_model_is_counted_exactly_also_behind_a_providers_prefix() {
        for name in ["gpt-4.1-mini", "openai/gpt-4.1-mini"] {
            let counter = token_counter_for(&ModelName::try_new(name).unwrap());
            assert_eq!(
                counter.count("hello world"),
                TokenCount {
                    tokens: 2,
                    exact: true
                }
            );
        }
    }
}
