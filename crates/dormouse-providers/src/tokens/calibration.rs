//! How far an estimate is from what a provider counts, learnt from what comes back.

use dormouse_contracts::{TokenCount, Usage};
use serde::{Deserialize, Serialize};

use super::{RequestCount, request::PER_MESSAGE};

/// What became of one observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// It was learnt from.
    Learnt,
    /// The request was too small to tell anything.
    TooSmall,
    /// What the provider said cannot be true of this request: nothing, or more than sixteen times more or less.
    Absurd,
}

/// How far an estimate is from what a provider counts: a running ratio, and a running overhead for each message.
///
/// A pure state. It belongs to one model and one counter; kept as JSON (three numbers), it knows after a restart what it
/// knew. What is read back is brought within its bounds.
///
/// - For texts that were estimated, the ratio of what was counted to what was estimated, between 0.25 and 4.
/// - For texts that were counted exactly, there is nothing to learn of the texts. What stands around a message is learnt
///   instead, between 0 and 64 tokens; what a provider makes of the definitions of tools is in there too, spread over the
///   messages.
///
/// A new observation has the weight of one in the number of observations, and of a tenth at least. No single one counts for
/// more than twice or less than half of what is believed, so that one wrong figure cannot turn it over. Requests of fewer
/// than 64 tokens tell nothing, since a provider may add a few dozen of its own.
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
#[serde(from = "Kept")]
pub struct Calibration {
    ratio: f64,
    per_message: f64,
    seen: u32,
}

/// What may stand in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    ratio: f64,
    per_message: f64,
    seen: u32,
}

impl From<Kept> for Calibration {
    fn from(kept: Kept) -> Self {
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
    /// Believes the estimate.
    fn default() -> Self {
        Self {
            ratio: 1.0,
            per_message: PER_MESSAGE.into(),
            seen: 0,
        }
    }
}

impl Calibration {
    /// The least ratio.
    pub const LEAST: f64 = 0.25;
    /// The greatest ratio.
    pub const MOST: f64 = 4.0;
    /// The most tokens that stand around a message.
    const MOST_PER_MESSAGE: f64 = 64.0;
    /// The fewest tokens that tell anything.
    const SMALL: u32 = 64;
    /// A figure further off than this is none.
    const ABSURD: f64 = 16.0;
    /// The least weight of a new observation.
    const WEIGHT: f64 = 0.1;

    /// The ratio of what is counted to what is estimated, in `0.25..=4.0`.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// How many tokens stand around a message, in `0.0..=64.0`.
    #[must_use]
    pub fn per_message(&self) -> f64 {
        self.per_message
    }

    /// How many observations it has learnt from.
    #[must_use]
    pub fn seen(&self) -> u32 {
        self.seen
    }

    /// A count of one text, corrected. An exact count stays as it is; any other stays an estimate.
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

    /// The count of a whole request, corrected. It is an estimate always.
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

    /// Learns from what a provider says of a request whose uncorrected count was `count`. Only the tokens of the prompt
    /// matter, those from a cache included.
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

/// What stands around anything but messages.
fn other_framing(count: &RequestCount) -> u32 {
    count
        .framing
        .saturating_sub(count.messages.saturating_mul(PER_MESSAGE))
}

/// Casting saturates: what is too much becomes the greatest number there is.
fn rounded_up(tokens: f64) -> u32 {
    tokens.ceil() as u32
}

#[cfg(test)]
mod tests;
