//! Learns how much an estimate differs from a provider's count.

use dormouse_contracts::{TokenCount, Usage};
use serde::{Deserialize, Serialize};

use super::{RequestCount, request::PER_MESSAGE};

/// The effect of one observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// It changed the calibration.
    Learnt,
    /// The request was too small to be useful.
    TooSmall,
    /// The count is implausible for this request: zero, or off by a factor of more than sixteen.
    Absurd,
}

/// How much an estimate differs from a provider's count: a moving ratio, and a moving overhead for each message.
///
/// This is plain state for one model and one counter. It is saved as JSON (three numbers). Loading limits the numbers
/// to their valid ranges.
///
/// - For estimated texts: the ratio of the provider's count to the estimate, between 0.25 and 4.
/// - For exactly counted texts: the overhead of a message, between 0 and 64 tokens. It includes the overhead of tool
///   definitions, spread over the messages.
///
/// The value is a moving mean: the nth observation has the weight 1/(n + 1), and at least 0.1. An observed ratio is
/// limited to between half and twice the current ratio, so that one wrong count cannot change much. Requests of fewer
/// than 64 tokens are ignored, since a provider may add a few dozen tokens.
///
/// # Examples
///
/// ```
/// use dormouse_contracts::Usage;
/// use dormouse_providers::{Calibration, RequestCount};
///
/// let estimate = RequestCount { texts: 1_000, framing: 0, messages: 1, exact_texts: false };
/// let counted = Usage { prompt_tokens: 1_300, ..Usage::default() };
/// let mut calibration = Calibration::default();
/// for _ in 0..50 {
///     calibration.observe(&estimate, &counted);
/// }
/// assert!((1_290..=1_310).contains(&calibration.apply(&estimate)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedCalibration")]
pub struct Calibration {
    ratio: f64,
    per_message: f64,
    seen: u32,
}

/// The saved form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCalibration {
    ratio: f64,
    per_message: f64,
    seen: u32,
}

impl From<SavedCalibration> for Calibration {
    fn from(kept: SavedCalibration) -> Self {
        let finite = |value: f64, or: f64| if value.is_finite() { value } else { or };
        Self {
            ratio: finite(kept.ratio, 1.0).clamp(Self::LEAST, Self::MOST),
            per_message: finite(kept.per_message, PER_MESSAGE.into())
                .clamp(0.0, Self::MOST_PER_MESSAGE),
            seen: kept.seen,
        }
    }
}

impl Default for Calibration {
    /// A calibration that corrects nothing.
    fn default() -> Self {
        Self {
            ratio: 1.0,
            per_message: PER_MESSAGE.into(),
            seen: 0,
        }
    }
}

impl Calibration {
    /// The smallest ratio.
    pub const LEAST: f64 = 0.25;
    /// The greatest ratio.
    pub const MOST: f64 = 4.0;
    /// The largest overhead of a message, in tokens.
    const MOST_PER_MESSAGE: f64 = 64.0;
    /// The smallest useful request, in tokens.
    const SMALL: u32 = 64;
    /// Counts that are off by more than this factor are ignored.
    const ABSURD: f64 = 16.0;
    /// The smallest weight of a new observation.
    const WEIGHT: f64 = 0.1;

    /// Returns the ratio of counted to estimated tokens, in `0.25..=4.0`.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Returns the overhead of a message in tokens, in `0.0..=64.0`.
    #[must_use]
    pub fn per_message(&self) -> f64 {
        self.per_message
    }

    /// Returns the number of observations.
    #[must_use]
    pub fn seen(&self) -> u32 {
        self.seen
    }

    /// Corrects the count of a text. An exact count stays unchanged; any other stays an estimate.
    #[must_use]
    pub fn scale(&self, counted: TokenCount) -> TokenCount {
        if counted.exact {
            return counted;
        }
        TokenCount {
            tokens: rounded_up(f64::from(counted.tokens) * self.ratio),
            exact: false,
        }
    }

    /// Corrects the count of a request; the result is an estimate.
    #[must_use]
    pub fn apply(&self, count: &RequestCount) -> u32 {
        if count.exact_texts {
            let learnt = f64::from(count.messages) * self.per_message;
            count
                .texts
                .saturating_add(rounded_up(f64::from(other_framing(count)) + learnt))
        } else {
            rounded_up(f64::from(count.total()) * self.ratio)
        }
    }

    /// Learns from the reported usage of a request with the uncorrected `count`. Only prompt tokens matter, including
    /// cached ones.
    pub fn observe(&mut self, count: &RequestCount, usage: &Usage) -> Observed {
        let (estimated, counted) = (count.total(), usage.prompt_tokens);
        if counted == 0 {
            return Observed::Absurd;
        }
        if estimated < Self::SMALL {
            return Observed::TooSmall;
        }
        let ratio = f64::from(counted) / f64::from(estimated);
        if !(1.0 / Self::ABSURD..=Self::ABSURD).contains(&ratio) {
            return Observed::Absurd;
        }
        let weight = (1.0 / (f64::from(self.seen) + 2.0)).max(Self::WEIGHT);
        if count.exact_texts {
            let around =
                f64::from(counted) - f64::from(count.texts) - f64::from(other_framing(count));
            let each =
                (around / f64::from(count.messages.max(1))).clamp(0.0, Self::MOST_PER_MESSAGE);
            self.per_message += weight * (each - self.per_message);
        } else {
            let believable = ratio.clamp(self.ratio / 2.0, self.ratio * 2.0);
            let ratio = self.ratio + weight * (believable - self.ratio);
            self.ratio = ratio.clamp(Self::LEAST, Self::MOST);
        }
        self.seen = self.seen.saturating_add(1);
        Observed::Learnt
    }
}

/// Returns the overhead of the request without the overhead of its messages.
fn other_framing(count: &RequestCount) -> u32 {
    count
        .framing
        .saturating_sub(count.messages.saturating_mul(PER_MESSAGE))
}

/// Rounds up. The cast saturates, so a large value becomes `u32::MAX`.
fn rounded_up(tokens: f64) -> u32 {
    tokens.ceil() as u32
}

#[cfg(test)]
mod tests;
