//! Counting tokens by length alone.

use std::num::NonZeroU8;

use dormouse_contracts::{TokenCount, TokenCounter};

/// Counts tokens by the length of the text: one token for so many characters, rounded up.
///
/// Four characters a token is the usual figure for English prose; code, numbers and other scripts take more tokens than
/// this says, up to seven times as many. [`FamilyEstimate`](crate::FamilyEstimate) knows them apart. Its counts are marked
/// as not exact.
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
