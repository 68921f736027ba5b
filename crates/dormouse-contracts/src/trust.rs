//! How far a statement is believed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far a statement is believed, in `0.0..=1.0`; by default not at all. What is derived from several sources has the
/// lowest of their scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f32", into = "f32")]
pub struct Trust(f32);

/// A number that is not a trust score.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not a trust score: it must be between 0 and 1")]
pub struct TrustError(f32);

impl Trust {
    /// Not believed at all.
    pub const NONE: Self = Self(0.0);
    /// Believed completely.
    pub const FULL: Self = Self(1.0);

    /// Takes a number as a trust score.
    ///
    /// # Errors
    ///
    /// [`TrustError`] if it is not a number in `0.0..=1.0`.
    pub const fn try_new(score: f32) -> Result<Self, TrustError> {
        if score >= 0.0 && score <= 1.0 {
            Ok(Self(score))
        } else {
            Err(TrustError(score))
        }
    }

    /// The score, in `0.0..=1.0`.
    #[must_use]
    pub const fn score(self) -> f32 {
        self.0
    }

    /// The lower of the two: the trust of anything derived from both.
    #[must_use]
    pub fn lowest(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

impl TryFrom<f32> for Trust {
    type Error = TrustError;
    fn try_from(score: f32) -> Result<Self, TrustError> {
        Self::try_new(score)
    }
}

impl From<Trust> for f32 {
    fn from(trust: Trust) -> f32 {
        trust.0
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_zero_to_one_is_a_trust_score() {
        assert!(Trust::try_new(0.9).is_ok());
        for score in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
            assert!(Trust::try_new(score).is_err(), "{score}");
        }
        assert_eq!(Trust::FULL.lowest(Trust::NONE), Trust::NONE);
    }
}
