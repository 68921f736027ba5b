//! Numbers that are checked while they are read, so that an error has a line number.
//!
//! The bounds and defaults of limits are the engine's own: [`Limits`] checks each number.

use std::{borrow::Cow, fmt::Display, ops::RangeInclusive, time::Duration};

use dormouse_contracts::Trust;
use dormouse_engine::{Limits, OutOfRange};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

macro_rules! limit {
    ($($name:ident: $type:ty = $with:ident, $default:expr, $unit:literal;)+) => {$(
        /// One of the engine's limits.
        #[derive(Clone, Copy, Debug, Serialize)]
        pub struct $name($type);

        impl Default for $name {
            fn default() -> Self {
                Self($default(Limits::default()))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                // The engine's error for a number that is too large names both bounds.
                let refused = Limits::default().$with(<$type>::MAX).err();
                let (low, high) = refused.map_or((0, 0), |error| (error.low(), error.high()));
                whole(low, high, $unit)
            }
        }

        impl $name {
            /// The limits with this limit set.
            pub(super) fn set(self, limits: Limits) -> Result<Limits, OutOfRange> {
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
    TickRate: u64 = with_tick_rate_seconds, |limits: Limits| limits.tick_rate().as_secs(), "seconds";
    MaxIterations: u32 = with_max_iterations, |limits: Limits| limits.max_iterations(), "";
    MaxContextTokens: u32 = with_max_context_tokens, |limits: Limits| limits.max_context_tokens(), "";
    MaxHistory: usize = with_max_history, |limits: Limits| limits.max_history(), "";
    MaxConsecutiveErrors: u32 = with_max_consecutive_errors, |limits: Limits| limits.max_consecutive_errors(), "";
    MaxParts: usize = with_max_parts, |limits: Limits| limits.max_parts(), "";
    MaxExchanges: u32 = with_max_exchanges, |limits: Limits| limits.max_exchanges().unwrap_or_default(), "";
    MaxRepeatedCalls: u32 = with_max_repeated_calls,
        |limits: Limits| limits.max_repeated_calls().unwrap_or_default(), "";
    GiveUpAfter: u64 = with_give_up_after_seconds,
        |limits: Limits| limits.give_up_after().map_or(0, |after| after.as_secs()), "seconds";
}

impl MaxContextTokens {
    /// The number of tokens.
    pub(super) fn tokens(self) -> u32 {
        self.0
    }
}

/// A whole number within these bounds.
fn whole(low: u64, high: u64, unit: &str) -> Schema {
    let mut schema = json_schema!({"type": "integer", "minimum": low, "maximum": high});
    if !unit.is_empty() {
        schema.insert("x-unit".to_owned(), unit.into());
    }
    schema
}

/// A sampling temperature.
pub(super) type Temperature = UpTo<2>;
/// Nucleus sampling.
pub(super) type TopP = UpTo<1>;
/// The most tokens of one reply.
pub(super) type MaxTokens = Whole<1, 1_000_000>;
/// How much a provider allows in a minute.
pub(super) type AMinute = Whole<1, 1_000_000_000>;
/// How many requests may be under way at the same time.
pub(super) type AtOnce = Whole<1, 1_000>;
/// How many tokens of a prompt recollections may take.
pub(super) type RecallTokens = Whole<0, 100_000>;
/// How many messages of one sender are taken at once; 0: any number.
pub(super) type MessagesAtOnce = Whole<0, 1_000>;
/// How many lines of one sender are kept in a minute; 0: all.
pub(super) type LinesPerMinute = Whole<0, 100_000>;
/// How long a sender over a limit waits before one more message is answered.
pub(super) type CoolDown = Seconds<3_600>;
/// How many turns a goal may take.
pub(super) type PursuedTurns = Whole<1, 1_000>;
/// After how many turns without progress a goal is divided; 0: never.
pub(super) type DividedAfter = Whole<0, 1_000>;
/// How many entries of one kind an assistant keeps for itself.
pub(super) type KeptForItself = Whole<0, 200>;
/// How many entries a journal has.
pub(super) type JournalEntries = Whole<1, 100_000>;
/// How many hours apart repeated entries may be.
pub(super) type JournalHours = Whole<0, 8_760>;
/// An age of entries in days.
pub(super) type JournalDays = Whole<0, 36_500>;
/// After how many days recency has fallen to 0.37.
pub(super) type DecayDays = Whole<1, 36_500>;
/// A weight in a mean.
pub(super) type EpisodicWeight = UpTo<100>;
/// A share of words.
pub(super) type JournalShare = UpTo<1>;
/// How many entries one step of a night takes.
pub(super) type ScoredEntries = Whole<1, 100>;
/// An importance.
pub(super) type ImportanceNumber = Whole<1, 10>;
/// A cumulative importance.
pub(super) type ReflectionThreshold = Whole<1, 100_000>;
/// After how many ticks it reflects; 0: never.
pub(super) type ReflectionCount = Whole<0, 1_000_000>;
/// The hour at which an assistant falls asleep.
pub(super) type StartHour = Whole<0, 23>;
/// For how many hours it sleeps.
pub(super) type SleepHours = Whole<1, 23>;
/// How many tools an assistant must have used before it may choose to sleep.
pub(super) type LeastActivity = Whole<0, 1_000>;
/// How many turns it has in a night.
pub(super) type SleepTurns = Whole<0, 24>;
/// The time between two pieces of work in its sleep.
pub(super) type SleepTick = Seconds<3_600>;
/// How long it must have been quiet before it goes back to sleep.
pub(super) type QuietTime = Seconds<86_400>;
/// How often a call of a tool is tried.
pub(super) type ToolAttempts = Whole<1, 20>;
/// How many tokens definitions of tools may take; 0: any number.
pub(super) type DefinitionTokens = Whole<0, 1_000_000>;
/// How many calls must stay without an answer before a tool is not called for a while; 0: never.
pub(super) type BreakerFailures = Whole<0, 1_000>;
/// Within what time these calls count.
pub(super) type BreakerWindow = Seconds<86_400>;
/// How long a tool is not called after its breaker opens the first time.
pub(super) type BreakerCooldown = Seconds<8_640>;
/// How many of the newest messages are kept in full when earlier ones are left out.
pub(super) type PreservedMessages = Whole<0, 1_000>;
/// For how many days what was said is kept; 0: for ever.
pub(super) type KeptDays = Whole<0, 36_500>;
/// How many tasks may be delegated at the same time.
pub(super) type SubAgents = Whole<0, 100>;
/// How long an act may take to be confirmed and done.
pub(super) type ApprovalExpires = Seconds<2_592_000>;
/// A share in percent.
pub(super) type Percent = Whole<0, 100>;
/// A number of tokens.
pub(super) type TokenCount = Whole<1, 1_000_000_000>;
/// The least time between two turns for a goal.
pub(super) type PursuitPause = Seconds<86_400>;
/// How long the assistant waits for the result of a task.
pub(super) type TaskTimeout = Seconds<86_400>;
/// How often a task may be passed on.
pub(super) type TaskDepth = Whole<1, 10>;
/// How many tasks may follow from one message.
pub(super) type TaskCount = Whole<1, 1_000>;
/// How long a turn waits for its recollections.
pub(super) type RecallTimeout = Seconds<60>;

/// How many requests a minute a token may make.
pub(super) type RequestsPerMinute = Whole<1, 1_000_000>;
/// How many requests a token may make at once.
pub(super) type RequestBurst = Whole<1, 100_000>;
/// The size of a body in KiB.
pub(super) type BodyKib = Whole<1, 10_240>;
/// The size of a life that is imported, in MiB.
pub(super) type ArchiveMib = Whole<1, 1_048_576>;
/// How long headers, or a body, may take to arrive.
pub(super) type RequestPatience = Seconds<600>;
/// How long a client may go without reading what was sent to it.
pub(super) type ReaderPatience = Seconds<3_600>;
/// How long a request waits for an answer.
pub(super) type AnswerWait = Seconds<600>;
/// How many connections there are at the same time.
pub(super) type Connections = Whole<1, 65_536>;
/// How many streams of events there are at the same time.
pub(super) type EventStreams = Whole<1, 10_000>;
/// How long the export of a tick may wait after the tick has ended.
pub(super) type ExportInterval = Seconds<3_600>;
/// The size of a result of a server's tool in KiB.
pub(super) type ResultKib = Whole<1, 1_024>;
/// How many times one call of a server's tool may request text from the model.
pub(super) type ModelRequests = Whole<0, 20>;
/// The length of a text for a server in tokens.
pub(super) type ModelTokens = Whole<1, 8_192>;
/// How long a server may stay without a call before it is ended.
pub(super) type IdleTime = Seconds<86_400>;
/// How long a call of a server's tool may take.
pub(super) type ToolTimeout = Seconds<3_600>;

/// A whole number within bounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Whole<const LEAST: u32, const MOST: u32>(pub u32);

/// A price in dollars for a million tokens.
#[derive(Clone, Copy, Debug, JsonSchema)]
#[schemars(inline, extend("minimum" = 0, "maximum" = 10_000))]
pub(super) struct Dollars(pub f64);

/// An amount of money in dollars.
#[derive(Clone, Copy, Debug, JsonSchema)]
#[schemars(inline, extend("minimum" = 0, "maximum" = 1_000_000))]
pub struct DollarBudget(pub f64);

impl<'de> Deserialize<'de> for DollarBudget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(deserializer, 0.0..=1_000_000.0, " dollars").map(Self)
    }
}

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
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UpTo<const MOST: u8>(pub f32);

/// A duration of 1 to `MOST` whole seconds.
#[derive(Clone, Copy, Debug)]
pub struct Seconds<const MOST: u64 = 3_600>(pub Duration);

impl<const MOST: u64> Serialize for Seconds<MOST> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_secs().serialize(serializer)
    }
}

impl<const MOST: u64> JsonSchema for Seconds<MOST> {
    fn schema_name() -> Cow<'static, str> {
        format!("SecondsUpTo{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        whole(1, MOST, "seconds")
    }
}

impl<const LEAST: u32, const MOST: u32> JsonSchema for Whole<LEAST, MOST> {
    fn schema_name() -> Cow<'static, str> {
        format!("From{LEAST}To{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        whole(LEAST.into(), MOST.into(), "")
    }
}

impl<const MOST: u8> JsonSchema for UpTo<MOST> {
    fn schema_name() -> Cow<'static, str> {
        format!("UpTo{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": MOST})
    }
}

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

/// Reads a trust score.
pub(super) fn trust<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Trust, D::Error> {
    let score = bounded(deserializer, 0.0..=1.0, "")?;
    Trust::try_new(score).map_err(Error::custom)
}

/// Reads a number within `range`. The error does not name the setting or the number: the caller adds both.
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
