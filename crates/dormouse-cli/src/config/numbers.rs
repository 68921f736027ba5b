//! Numbers that are checked while they are read, so that an error knows its line.
//!
//! The bounds of limits are the engine's own: [`Limits`] checks each number.

use std::{fmt::Display, ops::RangeInclusive, time::Duration};

use dormouse_engine::{Limits, OutOfRange};
use serde::{Deserialize, Deserializer, de::Error};

macro_rules! limit {
    ($($name:ident: $type:ty = $with:ident),+ $(,)?) => {$(
        /// One of the engine's limits.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name($type);

        impl $name {
            /// The limits with this one set.
            pub(crate) fn set(self, limits: Limits) -> Result<Limits, OutOfRange> {
                limits.$with(self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = Self(<$type>::deserialize(deserializer)?);
                number.set(Limits::default()).map_err(|error| {
                    Error::custom(format_args!("expected {} to {}", error.low(), error.high()))
                })?;
                Ok(number)
            }
        }
    )+};
}

limit! {
    TickRate: u64 = with_tick_rate_seconds,
    MaxIterations: u32 = with_max_iterations,
    MaxContextTokens: u32 = with_max_context_tokens,
    MaxHistory: usize = with_max_history,
    MaxConsecutiveErrors: u32 = with_max_consecutive_errors,
    MaxParts: usize = with_max_parts,
    GiveUpAfter: u64 = with_give_up_after_seconds,
}

/// A sampling temperature.
pub(crate) type Temperature = UpTo<2>;
/// Nucleus sampling.
pub(crate) type TopP = UpTo<1>;
/// The most tokens of one reply.
pub(crate) type MaxTokens = Whole<1, 1_000_000>;
/// How much a provider allows in a minute.
pub(crate) type AMinute = Whole<1, 1_000_000_000>;
/// How many requests may be under way at the same time.
pub(crate) type AtOnce = Whole<1, 1_000>;
/// How many tokens of a prompt recollections may take.
pub(crate) type RecallTokens = Whole<0, 100_000>;
/// For how many days what was said is kept; 0: for ever.
pub(crate) type KeptDays = Whole<0, 36_500>;
/// A number of tokens.
pub(crate) type TokenCount = Whole<1, 1_000_000_000>;
/// How long a turn waits for its recollections.
pub(crate) type RecallTimeout = Seconds<60>;

/// A whole number within bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole<const LEAST: u32, const MOST: u32>(pub(crate) u32);

/// A price in dollars for a million tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dollars(pub(crate) f64);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(
            deserializer,
            0.0..=10_000.0,
            " dollars for a million tokens",
        )
        .map(Self)
    }
}

/// A number from zero to `MOST`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UpTo<const MOST: u8>(pub(crate) f32);

/// A duration of 1 to `MOST` whole seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seconds<const MOST: u64 = 3_600>(pub(crate) Duration);

impl<'de, const LEAST: u32, const MOST: u32> Deserialize<'de> for Whole<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(deserializer, LEAST..=MOST, "").map(Self)
    }
}

impl<'de, const MOST: u8> Deserialize<'de> for UpTo<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(deserializer, 0.0..=f32::from(MOST), "").map(Self)
    }
}

impl<'de, const MOST: u64> Deserialize<'de> for Seconds<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(deserializer, 1..=MOST, " seconds")
            .map(|seconds| Self(Duration::from_secs(seconds)))
    }
}

/// Reads a number within `range`. The error does not name the setting or the number: both are added to it.
fn bounded<'de, D, N>(deserializer: D, range: RangeInclusive<N>, unit: &str) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + PartialOrd + Display,
{
    let number = N::deserialize(deserializer)?;
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = range.into_inner();
    Err(Error::custom(format_args!(
        "expected {least} to {most}{unit}"
    )))
}
