//! Numbers that are checked while they are read, so that an error knows its line.
//!
//! The bounds are the engine's own: each number is handed to [`Limits`], and what that says is the error.

use std::time::Duration;

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
                number.set(Limits::default()).map_err(Error::custom)?;
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
}

/// A sampling temperature, 0 to 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Temperature(pub(crate) f32);

impl<'de> Deserialize<'de> for Temperature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f32::deserialize(deserializer)?;
        if (0.0..=2.0).contains(&number) {
            Ok(Self(number))
        } else {
            Err(Error::custom(format_args!(
                "temperature is {number}; it must be between 0 and 2"
            )))
        }
    }
}

/// The most tokens of one reply, 1 to 1,000,000.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxTokens(pub(crate) u32);

impl<'de> Deserialize<'de> for MaxTokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(deserializer)?;
        if (1..=1_000_000).contains(&number) {
            Ok(Self(number))
        } else {
            Err(Error::custom(format_args!(
                "max_tokens is {number}; it must be between 1 and 1000000"
            )))
        }
    }
}

/// How long one attempt of a model call may take: 1 to 3,600 seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeout(pub(crate) Duration);

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if (1..=3_600).contains(&number) {
            Ok(Self(Duration::from_secs(number)))
        } else {
            Err(Error::custom(format_args!(
                "timeout is {number}; it must be between 1 and 3600 seconds"
            )))
        }
    }
}

/// Nucleus sampling, 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopP(pub(crate) f32);

impl<'de> Deserialize<'de> for TopP {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f32::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&number) {
            Ok(Self(number))
        } else {
            Err(Error::custom(format_args!(
                "top_p is {number}; it must be between 0 and 1"
            )))
        }
    }
}

/// How much a provider allows in a minute, 1 to 1,000,000,000.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AMinute(pub(crate) u32);

impl<'de> Deserialize<'de> for AMinute {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        whole(deserializer, 1_000_000_000).map(Self)
    }
}

/// How many requests may be under way at the same time, 1 to 1,000.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtOnce(pub(crate) u32);

impl<'de> Deserialize<'de> for AtOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        whole(deserializer, 1_000).map(Self)
    }
}

fn whole<'de, D: Deserializer<'de>>(deserializer: D, most: u32) -> Result<u32, D::Error> {
    let number = u32::deserialize(deserializer)?;
    if (1..=most).contains(&number) {
        Ok(number)
    } else {
        Err(Error::custom(format_args!(
            "the number is {number}; it must be between 1 and {most}"
        )))
    }
}
