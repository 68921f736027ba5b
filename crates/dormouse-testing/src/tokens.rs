//! Tokens that a test can count by hand.

use dormouse_contracts::{TokenCount, TokenCounter};

/// A [`TokenCounter`] that counts every word as one token, so a test can use up a budget exactly. White space separates
/// words.
///
/// ```
/// use dormouse_contracts::TokenCounter;
/// use dormouse_testing::CountTokens;
///
/// assert_eq!(CountTokens.count("three  little\nwords").tokens, 3);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountTokens;

impl TokenCounter for CountTokens {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount {
            tokens: u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX),
            exact: true,
        }
    }
}
