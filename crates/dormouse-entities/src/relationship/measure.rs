//! The measures of a relationship, as numbers that cannot leave their range.

use dormouse_contracts::Trust;
use serde::{Deserialize, Serialize};

/// The trust in a new entity.
pub(crate) const HALF: Trust = match Trust::try_new(0.5) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// A number outside the range of a measure.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{value} is not between {least} and 1")]
pub struct MeasureError {
    /// The number.
    value: f32,
    /// The lower limit.
    least: f32,
}

macro_rules! measure {
    ($(#[$doc:meta])* $name:ident, $least:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f32", into = "f32")]
        pub struct $name(pub(super) f32);

        impl $name {
            /// Checks a number.
            ///
            /// # Errors
            ///
            /// [`MeasureError`] if the number is NaN or out of range.
            pub const fn try_new(value: f32) -> Result<Self, MeasureError> {
                if value >= $least && value <= 1.0 {
                    Ok(Self(value))
                } else {
                    Err(MeasureError { value, least: $least })
                }
            }

            /// The number.
            #[must_use]
            pub const fn value(self) -> f32 {
                self.0
            }

            /// The number moved by `by`, within the range.
            pub(crate) fn moved(self, by: f32) -> Self {
                Self((self.0 + by).clamp($least, 1.0))
            }
        }

        impl TryFrom<f32> for $name {
            type Error = MeasureError;
            fn try_from(value: f32) -> Result<Self, MeasureError> {
                Self::try_new(value)
            }
        }

        impl From<$name> for f32 {
            fn from(measure: $name) -> f32 {
                measure.0
            }
        }
    };
}

measure!(
    /// How much an assistant likes an entity, in `-1.0..=1.0`; initially 0.
    Favorability, -1.0
);
measure!(
    /// How well an assistant and an entity know each other, in `0.0..=1.0`; initially 0.
    Rapport, 0.0
);

impl Favorability {
    /// The mean of two values, weighted by interactions plus one.
    pub(crate) fn weighted(self, own: u64, other: Self, others: u64) -> Self {
        let (own, others) = (weight(own), weight(others));
        let sum = f64::from(self.0) * own + f64::from(other.0) * others;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a mean of two numbers in range is in range; its last digits do not matter"
        )]
        let mean = (sum / (own + others)) as f32;
        Self(mean.clamp(-1.0, 1.0))
    }
}

/// How much the first of two counts in their mean, by interactions plus one.
pub(crate) fn part_of(own: u64, others: u64) -> f32 {
    let (own, others) = (weight(own), weight(others));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a part between 0 and 1, whose last digits do not matter"
    )]
    let part = (own / (own + others)) as f32;
    part
}

fn weight(interactions: u64) -> f64 {
    // The weight is capped at 2³² interactions.
    f64::from(u32::try_from(interactions).unwrap_or(u32::MAX)) + 1.0
}

/// The trust moved by `by`, within the range.
pub(crate) fn trust_moved(trust: Trust, by: f32) -> Trust {
    Trust::try_new((trust.score() + by).clamp(0.0, 1.0)).unwrap_or(trust)
}
