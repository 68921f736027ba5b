//! The cost of a request.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The cost of a request in tokens, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt, including those from a cache.
    pub prompt_tokens: u32,
    /// Tokens of the reply, including its thoughts.
    pub completion_tokens: u32,
    /// Tokens of the prompt that came from a cache and are cheaper.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_tokens: u32,
    /// Tokens of the prompt that were written to a cache; some providers charge more for them.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u32,
    /// Tokens of the reply that were thoughts.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u32,
    /// The price, if the provider reports it. An unknown price is `None`, never zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
}

/// Counts of zero are left out of stored events.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(tokens: &u32) -> bool {
    *tokens == 0
}

/// An amount of money in United States dollars, exact to a millionth of a millionth, so that the price of a single
/// token can be stored.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Usd(u64);

impl Usd {
    /// No cost.
    pub const ZERO: Self = Self(0);

    const PICOS: u64 = 1_000_000_000_000;

    /// An amount in millionths of a millionth of a dollar. One dollar per million tokens is 1,000,000 of these units
    /// per token.
    #[must_use]
    pub fn from_picos(picos: u64) -> Self {
        Self(picos)
    }

    /// An amount as providers write it. `None` if it is negative, not a number, or more than 18 million dollars.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let picos = dollars * 1e12;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked"
        )]
        (0.0..1.8e19)
            .contains(&picos)
            .then(|| Self(picos.round() as u64))
    }

    /// The amount in millionths of a millionth of a dollar.
    #[must_use]
    pub fn picos(self) -> u64 {
        self.0
    }

    /// The amount in dollars, for people and for JSON.
    #[must_use]
    pub fn dollars(self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "it is for people, who do not read 15 digits"
        )]
        let picos = self.0 as f64;
        picos / 1e12
    }

    /// The sum, at most the largest representable amount.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The product, at most the largest representable amount.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

/// Renders as `$0.000123`, to the millionth of a dollar. Rounds up, so that no cost is shown as zero.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.div_ceil(Self::PICOS / 1_000_000);
        let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
        f.pad(&format!("${whole}.{part:06}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_exact_to_a_single_token_and_never_shown_as_none() {
        let token = Usd::from_picos(100_000);
        assert_eq!(token.times(1_000_000), Usd::from_dollars(0.1).unwrap());
        assert_eq!(token.to_string(), "$0.000001");
        assert_eq!(Usd::ZERO.to_string(), "$0.000000");
        assert_eq!(Usd::from_dollars(12.5).unwrap().to_string(), "$12.500000");
        assert_eq!(
            Usd::from_picos(u64::MAX).plus(token).times(3),
            Usd::from_picos(u64::MAX)
        );
    }

    #[test]
    fn what_is_no_amount_is_unknown() {
        for dollars in [-0.01, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Usd::from_dollars(dollars), None, "{dollars}");
        }
    }
}
