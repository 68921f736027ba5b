//! Estimates tokens by length.

use std::num::NonZeroU8;

use dormouse_contracts::{TokenCount, TokenCounter};

/// Divides the number of characters by a fixed number of characters per token, rounded up.
///
/// Four characters per token is usual for English prose; code, numbers and other scripts take up to seven times as many
/// tokens. [`FamilyEstimate`](crate::FamilyEstimate) distinguishes them. The counts are marked as not exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    characters_per_token: NonZeroU8,
}

/// The number of characters per token is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token cannot have 0 characters; expected 1..=255")]
pub struct EstimateError;

impl Estimate {
    /// Creates an estimate with this many characters per token.
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
    /// Four characters per token.
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
}
